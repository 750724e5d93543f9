"""Reads CSV with a header into batches of one stream; `broker.events.columns` converts a text to a value.

A chunk of records is converted column by column. If a column contains anything unusual, the chunk is read again row by
row with `row_from_text`, which either converts it after all or raises an error that says what is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias, TypeVar

from ..events import Attribute, EventError, Row, StreamDefinition, Value, row_from_text, suggestion
from ..events.errors import shown
from ..events.file_form import column_hint
from .bad_events import BadEvents
from .batch import BATCH_EVENTS, EventBatch
from .complaint import conversion, placed
from .file_times import FileTimes

if TYPE_CHECKING:
    from _csv import Reader

_BOOLS: Final[Mapping[str, bool]] = MappingProxyType({"true": True, "false": False, "True": True, "False": False})

_PIECE: Final = 2**16

Number = TypeVar("Number", int, float)

_Columns: TypeAlias = Sequence[tuple[Attribute, int]]
"""The attributes of the stream, each with its index in a record; -1 if the file does not have it, so that it is
null."""


def read_csv(
    source: BinaryIO,
    place: str,
    stream: StreamDefinition,
    time: str,
    clock: FileTimes | None = None,
    bad: BadEvents | None = None,
    separator: str = ",",
) -> Iterator[EventBatch]:
    """Yield the records of a source as batches; `time` is the column of the times. `position` counts bytes. O(bytes).

    The header's names find the columns, or those that the stream's form says; others are ignored. Records before a bad
    one are yielded before the error is raised, which names the place and the line, or the record is left out.
    """
    clock = FileTimes({stream.name: stream}) if clock is None else clock
    bad = BadEvents() if bad is None else bad
    tells = source.seekable()
    with placed(place):
        errors = "strict" if bad.stops else "surrogateescape"  # whose letters no attribute may contain
        reader = csv.reader(lines_of(source, errors), strict=True, delimiter=separator)
        header = header_of(reader)
        columns, time_column = _columns(header, stream, separator), _time_column(header, time, clock)
        for records, lines in _chunks(reader, len(header), place, bad):
            try:
                times = clock.texts([record[time_column] for record in records], stream.name)
                if stream.files.decimal == ",":
                    raise ValueError
                rows = _rows(records, columns)
                complaint = None
            except (ValueError, KeyError, EventError):
                read = _one_by_one(records, lines, stream, columns, time_column, clock, bad, place)
                times, rows, lines, complaint = read
            if times:
                yield EventBatch(stream.name, times, rows, None, None, lines, source.tell() if tells else 0)
            if complaint is not None:
                raise complaint


def lines_of(source: BinaryIO, errors: str = "strict") -> Iterator[str]:
    """The lines of a source with their ends, as they come, without a mark of its order of bytes.

    Raises UnicodeDecodeError where a line is reached that is no UTF-8.
    """
    pieces: list[bytes] = []
    begins = True
    while True:
        piece: bytes = source.read1(_PIECE)  # type: ignore[attr-defined]  # all sources have it
        pieces.append(piece)
        end = piece.rfind(b"\n") + 1
        if piece and not end:
            continue
        data = b"".join(pieces)
        end = len(data) - len(piece) + end if piece else len(data)
        pieces = [data[end:]]
        data = data[:end]
        if begins:
            data, begins = data.removeprefix(codecs.BOM_UTF8), False
        try:
            text = data.decode(errors=errors)
        except UnicodeDecodeError as error:
            good = data[: data.rfind(b"\n", 0, error.start) + 1]
            yield from io.StringIO(good.decode(), newline="")
            raise
        yield from io.StringIO(text, newline="")
        if not piece:
            return


def header_of(reader: Reader) -> list[str]:
    """The names of the columns. Raises EventError."""
    try:
        for record in reader:
            if record:
                "".join(record).encode()
                return record
    except (csv.Error, UnicodeError) as error:
        raise unreadable(error, reader.line_num - isinstance(error, UnicodeEncodeError)) from None
    raise EventError("expected a header with the names of the columns, found an empty file")


def other_separator(header: Sequence[str], separator: str) -> str | None:
    """What is between the columns of a header that seems to have one only."""
    others = ";\t|," if len(header) == 1 else ""
    return next((each for each in others if each != separator and each in header[0]), None)


def named_columns(header: Sequence[str], stream: StreamDefinition, separator: str) -> list[str]:
    """The header with the attributes' names for their columns. Raises EventError, also for another separator."""
    other = other_separator(header, separator)
    if other is not None and len(stream.schema):
        written = "tab" if other == "\t" else other
        raise EventError(
            f"expected columns with {separator!r} between them, found {other!r} in {shown(header[0])}; "
            f"write --separator {written!r}",
            line=1,
        )
    try:
        return stream.files.renamed(header, stream.schema)
    except EventError as error:
        raise EventError(str(error), line=1) from None


def _columns(header: Sequence[str], stream: StreamDefinition, separator: str) -> _Columns:
    columns = []
    header = named_columns(header, stream, separator)
    for attribute in stream.schema.attributes:
        found = header.count(attribute.name)
        if found > 1:
            raise EventError(f"expected the column {attribute.name!r} once, found it {found} times", line=1)
        if not found and not attribute.nullable:
            hint = column_hint(attribute.name, [name for name in header if stream.schema.position(name) < 0])
            raise EventError(f"stream {stream.name!r}: expected a column {attribute.name!r}, found none{hint}", line=1)
        columns.append((attribute, header.index(attribute.name) if found else -1))
    return columns


def _time_column(header: Sequence[str], time: str, clock: FileTimes) -> int:
    if clock.now:
        return 0  # any
    found = header.count(time)
    if found != 1:
        names = f"{found} of them" if found else ", ".join(header[:8]) + ", ..." * (len(header) > 8)
        raise EventError(
            f"expected a column {time!r} with the times (--time COLUMN names it), found {names}"
            f"{suggestion(time, header)}",
            line=1,
        )
    return header.index(time)


def _chunks(reader: Reader, width: int, place: str, bad: BadEvents) -> Iterator[tuple[list[list[str]], list[int]]]:
    """Yield records with their line numbers, many at a time, without blank lines."""
    records: list[list[str]] = []
    lines: list[int] = []
    complaint: EventError | None = None
    while True:
        try:
            record = next(reader, None)
        except (csv.Error, UnicodeDecodeError) as error:
            complaint = unreadable(error, reader.line_num)
            if bad.stops:
                break
            _leave_out(bad, place, complaint, None)
            continue
        if record is None:
            complaint = None
            break
        if len(record) == width:
            records.append(record)
            lines.append(reader.line_num)
            if len(records) == BATCH_EVENTS:
                yield records, lines
                records, lines = [], []
        elif record:
            complaint = EventError(f"expected {width} fields, found {len(record)}", line=reader.line_num)
            if bad.stops:
                break
            _leave_out(bad, place, complaint, record)
    if records:
        yield records, lines
    if complaint is not None:
        raise complaint


def _leave_out(bad: BadEvents, place: str, error: EventError, record: list[str] | None) -> None:
    reason = str(error).removeprefix(f"line {error.line}: ")
    bad.refuse(f"{place}: line {error.line}", EventError(reason), record)


def unreadable(error: csv.Error | UnicodeError, lines: int) -> EventError:
    """What is wrong with the line behind so many, and what to do about it."""
    if isinstance(error, UnicodeDecodeError | UnicodeEncodeError):
        begin = error.object[:2]
        written = begin.encode(errors="surrogateescape") if isinstance(begin, str) else begin
        what = f"expected UTF-8, found other bytes: {conversion(written)}"
    else:
        what = f"expected CSV, {error}"
    return EventError(what, line=lines + 1)


def _rows(records: Sequence[Sequence[str]], columns: _Columns) -> list[Row]:
    if not columns:
        return [()] * len(records)
    values = [
        [None] * len(records) if column < 0 else _values(attribute, [record[column] for record in records])
        for attribute, column in columns
    ]
    return list(zip(*values))


def _values(attribute: Attribute, texts: Sequence[str]) -> Sequence[Value]:
    """Convert a column. Raises ValueError or KeyError if it contains anything unusual."""
    if attribute.type == "string":
        return [text or None for text in texts] if attribute.nullable else texts
    if attribute.nullable and "" in texts:
        known = iter(_values(attribute, [text for text in texts if text]))
        return [next(known) if text else None for text in texts]
    match attribute.type:
        case "int":
            return _plain_numbers(texts, int)
        case "float":
            numbers = _plain_numbers(texts, float)
            if not all(map(isfinite, numbers)):
                raise ValueError
            return numbers
        case "bool":
            return [_BOOLS[text] for text in texts]
        case _:
            raise ValueError  # lists, which the checks of texts read


def _plain_numbers(texts: Sequence[str], kind: Callable[[str], Number]) -> list[Number]:
    # Python would also accept 1_000 and the digits of other scripts, which are no numbers in CSV.
    joined = "".join(texts)
    if "_" in joined or not joined.isascii():
        raise ValueError
    return list(map(kind, texts))


def _one_by_one(
    records: Sequence[Sequence[str]],
    lines: Sequence[int],
    stream: StreamDefinition,
    columns: _Columns,
    time_column: int,
    clock: FileTimes,
    bad: BadEvents,
    place: str,
) -> tuple[list[int], list[Row], list[int], EventError | None]:
    """Return the times, rows and lines of the good records; where a bad one stops, those before it and its error."""
    times: list[int] = []
    rows: list[Row] = []
    good: list[int] = []
    decimal = stream.files.decimal or "."
    for record, line in zip(records, lines):
        try:
            time = clock.text(record[time_column], stream.name)
            texts = {a.name: record[column] for a, column in columns if column >= 0}
            rows.append(row_from_text(stream, texts, decimal))
            times.append(time)
            good.append(line)
        except EventError as error:
            wrong = EventError(str(error), line=line)
            if bad.stops:
                return times, rows, good, wrong
            _leave_out(bad, place, wrong, list(record))
    return times, rows, good, None
