"""Reads CSV with a header into batches of one stream; `broker.events.columns` converts a text to a value.

A chunk of records is converted column by column. If a column contains anything unusual, the chunk is read again row by
row with `row_from_text`, which either converts it after all or raises an error that says what is wrong.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias, TypeVar

from ..events import Attribute, EventError, Row, StreamDefinition, Value, row_from_text, suggestion
from ..events.errors import shown
from .bad_events import BadEvents
from .batch import BATCH_EVENTS, EventBatch
from .complaint import placed
from .file_times import FileTimes

if TYPE_CHECKING:
    from _csv import Reader

_BOOLS: Final[Mapping[str, bool]] = MappingProxyType({"true": True, "false": False, "True": True, "False": False})

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

    The header's names find the columns; columns that are no attributes are ignored. Records before a bad one are
    yielded before the error is raised, which names the place and the line, or the record is left out.
    """
    clock = FileTimes({stream.name: stream}) if clock is None else clock
    bad = BadEvents() if bad is None else bad
    tells = source.seekable()
    errors = "strict" if bad.stops else "surrogateescape"  # whose letters no attribute may contain
    with io.TextIOWrapper(source, encoding="utf-8-sig", errors=errors, newline="") as text, placed(place):
        reader = csv.reader(text, strict=True, delimiter=separator)
        header = _header(reader)
        columns, time_column = _columns(header, stream), _time_column(header, time)
        for records, lines in _chunks(reader, len(header), place, bad):
            try:
                times = clock.texts([record[time_column] for record in records], stream.name)
                rows = _rows(records, columns)
                complaint = None
            except (ValueError, KeyError, EventError):
                read = _one_by_one(records, lines, stream, columns, time_column, clock, bad, place)
                times, rows, lines, complaint = read
            if times:
                yield EventBatch(stream.name, times, rows, None, None, lines, source.tell() if tells else 0)
            if complaint is not None:
                raise complaint


def _header(reader: Reader) -> list[str]:
    try:
        for record in reader:
            if record:
                return record
    except (csv.Error, UnicodeDecodeError) as error:
        raise _unreadable(error, reader) from None
    raise EventError("expected a header with the names of the columns, found an empty file")


def _columns(header: Sequence[str], stream: StreamDefinition) -> _Columns:
    columns = []
    if len(header) == 1 and ";" in header[0] and len(stream.schema):
        raise EventError(f"expected columns with ',' between them, found ';' in {shown(header[0])}", line=1)
    for attribute in stream.schema.attributes:
        found = header.count(attribute.name)
        if found > 1:
            raise EventError(f"expected the column {attribute.name!r} once, found it {found} times", line=1)
        if not found and not attribute.nullable:
            hint = suggestion(attribute.name, [name for name in header if stream.schema.position(name) < 0])
            raise EventError(f"stream {stream.name!r}: expected a column {attribute.name!r}, found none{hint}", line=1)
        columns.append((attribute, header.index(attribute.name) if found else -1))
    return columns


def _time_column(header: Sequence[str], time: str) -> int:
    found = header.count(time)
    if found != 1:
        names = f"{found} of them" if found else ", ".join(header[:8]) + ", ..." * (len(header) > 8)
        raise EventError(
            f"expected a column {time!r} with the times (--time COLUMN names it), found {names}"
            f"{suggestion(time, header)}",
            line=1,
        )
    return header.index(time)


def _chunks(
    reader: Reader, width: int, place: str, bad: BadEvents
) -> Iterator[tuple[list[list[str]], list[int]]]:
    """Yield records with their line numbers, many at a time, without blank lines."""
    records: list[list[str]] = []
    lines: list[int] = []
    complaint: EventError | None = None
    while True:
        try:
            record = next(reader, None)
        except (csv.Error, UnicodeDecodeError) as error:
            complaint = _unreadable(error, reader)
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


def _unreadable(error: csv.Error | UnicodeDecodeError, reader: Reader) -> EventError:
    if isinstance(error, UnicodeDecodeError):
        what = "expected UTF-8, found other bytes: iconv -t UTF-8 converts the file"
    else:
        what = f"expected CSV, {error}"
    return EventError(what, line=reader.line_num + 1)


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
            return _plain_numbers(texts, float)
        case "bool":
            return [_BOOLS[text] for text in texts]


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
    for record, line in zip(records, lines):
        try:
            time = clock.text(record[time_column], stream.name)
            rows.append(row_from_text(stream, {a.name: record[column] for a, column in columns if column >= 0}))
            times.append(time)
            good.append(line)
        except EventError as error:
            wrong = EventError(str(error), line=line)
            if bad.stops:
                return times, rows, good, wrong
            _leave_out(bad, place, wrong, list(record))
    return times, rows, good, None
