"""Reads plain parts of CSV files as columns with pyarrow: many lines at once, no text or row for each value.

A part is taken only if every value in it is as the reader of rows (csv_rows) takes it at first sight: no quotes, no
blank lines, texts in UTF-8, numbers and truth values in their usual spelling. Anything else is left to that reader,
which converts it after all or says what is wrong, and goes on from there; so results and messages are the same.

Here: that decision, and the columns. Not here: rows, headers, what is wrong (csv_rows).
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final, NamedTuple, final

from ..events import Attribute, EventError, StreamDefinition
from ..events.arrow import read_times, read_usual
from ..events.columns import texts_of
from ..events.schema import TEXTS
from .batch import BATCH_EVENTS, EventBatch
from .column_rows import ColumnRows
from .file_times import FileTimes

PART_LINES: Final = 16 * BATCH_EVENTS
"""So many lines are parsed at once, and then divided into batches as lines one by one are."""
_PIECE: Final = 2**20
_HELD: Final = 2**24  # a part has no more bytes, however long its lines are
_FIELD: Final = 2**16  # half of what a field may have in the reader of rows
_TYPES: Final = {"string": "string", "string[]": "string", "int": "int64", "float": "float64", "bool": "bool"}
_STRANGE: Final = (b'"', b"\0")
_HEXADECIMAL: Final = (b"0x", b"0X")  # which pyarrow takes for ints


class CsvColumn(NamedTuple):
    """An attribute, and the index of its column."""

    attribute: Attribute
    at: int


@final
class LineParts:
    """A source of bytes in parts of so many lines. `consumed`: bytes of the parts that were taken."""

    def __init__(self, source: BinaryIO) -> None:
        self.consumed = 0
        self._source = source
        self._held = b""
        self._ended = False

    def next(self, lines: int) -> bytes:
        """The next lines, fewer at the end, without taking them. O(bytes)."""
        while not self._ended and self._held.count(b"\n") < lines:
            if len(self._held) > _HELD:
                return self._held[: self._held.rfind(b"\n") + 1]
            piece = self._source.read(_PIECE)
            self._ended = not piece
            self._held += piece
        return self._held[: _end_of(self._held, lines)]

    def take(self, part: bytes) -> None:
        """Take the part that was returned."""
        self.consumed += len(part)
        self._held = self._held[len(part) :]

    def rest(self) -> io.BufferedReader:
        """All that was not taken."""
        return io.BufferedReader(_Rest(self._held, self._source))


class _Rest(io.RawIOBase):
    """Bytes that were read, and then those of their source."""

    def __init__(self, held: bytes, source: BinaryIO) -> None:
        self._held = memoryview(held)
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._held:
            found = self._source.read(len(buffer))
            buffer[: len(found)] = found
            return len(found)
        count = min(len(buffer), len(self._held))
        buffer[:count] = self._held[:count]
        self._held = self._held[count:]
        return count


def _end_of(data: bytes, lines: int) -> int:
    """Where that many lines end; at the end if there are fewer. O(bytes)."""
    if data.count(b"\n") <= lines:
        return len(data)
    begin, end, before = 0, len(data), 0
    while end - begin > 1:
        middle = (begin + end) // 2
        found = data.count(b"\n", begin, middle)
        if before + found >= lines:
            end = middle
        else:
            begin, before = middle, before + found
    return end


def available() -> bool:
    """Whether pyarrow is installed."""
    try:
        import pyarrow
        import pyarrow.csv
    except ImportError:
        return False
    return hasattr(pyarrow, "csv")


def read_columns(
    parts: LineParts,
    width: int,
    stream: StreamDefinition,
    columns: Sequence[CsvColumn],
    time_column: int,
    clock: FileTimes,
    separator: str,
    tells: bool,
) -> Iterator[EventBatch]:
    """Yield batches of the plain parts behind the header, which is a line.

    Ends before the first part that is not plain, and at the end of the source.
    """
    line = 2
    while True:
        part = parts.next(PART_LINES)
        if not part:
            return
        table = _table(part, width, columns, time_column, stream.name in clock.plain, separator)
        if table is None:
            return
        moments = table.column(str(time_column)).combine_chunks()
        try:
            plain = stream.name in clock.plain
            times = read_times(moments) if plain else clock.texts(moments.to_pylist(), stream.name)
            made = {each.attribute.name: _column(stream, each, table) for each in columns}
        except (ValueError, KeyError, EventError):
            return
        parts.take(part)
        rows = ColumnRows(made, stream.schema.names, len(times))
        for begin in range(0, len(times), BATCH_EVENTS):
            chosen = slice(begin, begin + BATCH_EVENTS)
            count = len(times[chosen])
            places = range(line + begin, line + begin + count)
            yield EventBatch(
                stream.name, times[chosen], rows[chosen], None, None, places, parts.consumed if tells else 0
            )
        line += len(times)


def _table(
    part: bytes, width: int, columns: Sequence[CsvColumn], time_column: int, plain: bool, separator: str
) -> Any:
    """The columns of a part by the numbers of the file's columns; None if the part is not plain."""
    import pyarrow
    from pyarrow import csv

    lines = part.count(b"\n") + (not part.endswith(b"\n"))
    types = {str(each.at): _TYPES[each.attribute.type] for each in columns}
    types[str(time_column)] = "int64" if plain else "string"
    if not _plain(part, "int64" in types.values()):
        return None
    try:
        table = csv.read_csv(
            io.BytesIO(part),
            csv.ReadOptions(use_threads=False, block_size=len(part) + 1, column_names=list(map(str, range(width)))),
            csv.ParseOptions(delimiter=separator),
            csv.ConvertOptions(
                column_types={name: pyarrow.type_for_alias(kind) for name, kind in types.items()},
                include_columns=list(types),
                null_values=[""],
                true_values=["true", "True"],
                false_values=["false", "False"],
            ),
        )
    except (pyarrow.ArrowException, ValueError):
        return None
    # A line that is no record, or a record of several lines: then nobody knows the lines of the others.
    return table.combine_chunks() if len(table) == lines and _whole(table, columns, time_column) else None


def _plain(part: bytes, whole_numbers: bool) -> bool:
    """Whether lines are records, all of whose bytes are texts, and no field can be too long. O(bytes)."""
    if any(strange in part for strange in _STRANGE):
        return False
    if b"\r" in part and part.count(b"\r") != part.count(b"\r\n"):
        return False
    if whole_numbers and any(strange in part for strange in _HEXADECIMAL):
        return False
    for begin in range(0, len(part) - _FIELD, _FIELD):
        if part.find(b"\n", begin, begin + _FIELD) < 0:
            return False
    try:
        return part.isascii() or bool(part.decode())
    except UnicodeDecodeError:
        return False


def _whole(table: Any, columns: Sequence[CsvColumn], time_column: int) -> bool:
    """Whether nulls are only where they may be, and all floats are finite."""
    from pyarrow import compute

    if table.column(str(time_column)).null_count:
        return False
    for attribute, at in columns:
        column = table.column(str(at))
        if attribute.type in ("string", TEXTS):
            continue
        if column.null_count and not attribute.nullable:
            return False
        if attribute.type == "float" and compute.all(compute.is_finite(column)).as_py() is False:
            return False
    return True


def _column(stream: StreamDefinition, each: CsvColumn, table: Any) -> Any:
    from pyarrow import compute

    column = table.column(str(each.at))
    if each.attribute.type == TEXTS:
        texts = [texts_of(text) for text in column.to_pylist()]
        if any(each is None and text for each, text in zip(texts, column.to_pylist())):
            raise ValueError
        return texts
    if each.attribute.type == "string" and each.attribute.nullable:
        column = compute.if_else(compute.equal(column, ""), None, column)
    return read_usual(stream, each.attribute, column.combine_chunks())
