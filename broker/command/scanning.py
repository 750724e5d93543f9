"""Looks through events before a run (`check --events`): types, nulls, order, candidates for a key. Nothing is matched.

Rows are read without the declared types, so that all findings are reported and not the first. At most ROWS_MAX rows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from math import isfinite
from typing import Any, BinaryIO, Final, Literal, TypeAlias, final

from ..events import (
    Event,
    EventError,
    ForetellError,
    StreamDefinition,
    as_datetime,
    format_instant,
    is_enveloped,
    parse_line,
    parse_object,
    suggestion,
)
from ..events.arrow_paths import without_structs
from ..events.columns import texts_of
from ..events.file_form import TIME_COLUMN, FileForm, column_hint, paths_of
from ..events.schema import TEXTS
from .complaint import placed
from .csv_rows import header_of, lines_of, named_columns, unreadable
from .json_lines import not_utf8
from .reading import Format, Reading, format_of
from .sources import STANDARD_INPUT, opened, place_of

ROWS_MAX: Final = 100_000
VALUES_MAX: Final = 10_000
"""An attribute with more different values is no key, and they are not counted further."""

Verdict: TypeAlias = Literal["ok", "note", "bad"]

TWICE: Final = "columns of one name"
NO_NUMBER: Final = "NaN or infinite"
OTHERS: Final = ("lists", TWICE, NO_NUMBER, "other values")
"""What no attribute can be."""
_OTHER: Final = object()

_INT: Final = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")
_FLOAT: Final = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_COMMA: Final = re.compile(r"\s*[+-]?[0-9]+,[0-9]+\s*")
COMMA: Final = "number with a comma"
_FITS: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset({"string"}),
    "int": frozenset({"int"}),
    "float": frozenset({"int", "float"}),
    "bool": frozenset({"bool"}),
    TEXTS: frozenset({TEXTS}),
}


@final
@dataclass(slots=True)
class ColumnFindings:
    """What was found of one column: how often each type and where first, and how many different values."""

    kinds: dict[str, tuple[int, str]] = field(default_factory=dict)
    values: set[object] = field(default_factory=set)

    def add(self, value: object, kind: str, place: str) -> None:
        count, first = self.kinds.get(kind, (0, place))
        self.kinds[kind] = count + 1, first
        if value is not None and kind != TEXTS and kind not in OTHERS and len(self.values) <= VALUES_MAX:
            self.values.add(value)


@final
class _Stream:
    """What was found of one stream."""

    def __init__(self, definition: StreamDefinition) -> None:
        self.definition = definition
        self.rows = 0
        self.columns: dict[str, ColumnFindings] = {}
        self.least: int | None = None
        self.newest: int | None = None
        self.late: list[str] = []
        self.late_count = 0
        self.wrong_times: list[str] = []

    def time(self, time: int, place: str) -> None:
        self.least = time if self.least is None else min(time, self.least)
        if self.newest is not None and time < self.newest:
            self.late_count += 1
            if not self.late:
                self.late.append(place)
        else:
            self.newest = time


def scan(reading: Reading, files: list[str]) -> Iterator[tuple[Verdict, str]]:
    """The findings, in words. Raises OSError, and ForetellError for a file that cannot be read as its format."""
    found: dict[str, _Stream] = {}
    lines: list[str] = []
    rows = 0
    for file in files:
        for place, name, time, values, texts in islice(rows_of(reading, file, lines), ROWS_MAX - rows):
            rows += 1
            definition = reading.streams.get(name)
            if definition is None:
                lines.append(f"{place}: expected a declared stream, found {name!r}{suggestion(name, reading.streams)}")
                continue
            stream = found.setdefault(name, _Stream(definition))
            stream.rows += 1
            try:
                stream.time(reading.times.text(time, name) if texts else reading.times.instant(time, name), place)
            except EventError as error:
                if not stream.wrong_times:
                    reading.times.plain.add(name)  # tell it once
                stream.wrong_times.append(f"{place}: {error}")
            note(stream.columns, values, definition.files if texts else None, place)
    if rows >= ROWS_MAX:
        yield "note", f"the first {ROWS_MAX:,} rows were read"
    if lines:
        yield "bad", f"{_many(len(lines), 'line')} cannot be read, the first: {lines[0]}"
    if not rows:
        yield "bad", "no events were found"
    for stream in found.values():
        yield from _findings(stream, reading.time)


def note(columns: dict[str, ColumnFindings], values: Mapping[str, Any], form: FileForm | None, place: str) -> None:
    """Add a row to what was found of each column; `form`: that of texts of a table, None: no texts. O(values)."""
    for key, value in values.items():
        if form is None:
            kind = _kind(value)
        else:
            kind = TWICE if value is None else _kind_of_text(value, form.decimal == ",")
        columns.setdefault(key, ColumnFindings()).add(None if kind == "null" else value, kind, place)


def divides(column: ColumnFindings, rows: int) -> bool:
    """Whether a column of texts or whole numbers may be a key: it has a value in each row, and each several times."""
    return "null" not in column.kinds and 2 <= len(column.values) <= min(rows // 2, VALUES_MAX)


def _findings(stream: _Stream, time_column: str) -> Iterator[tuple[Verdict, str]]:
    name, definition = stream.definition.name, stream.definition
    if stream.wrong_times:
        yield "bad", f"{name}: {_many(len(stream.wrong_times), 'wrong time')}, the first: {stream.wrong_times[0]}"
    if stream.least is not None and stream.newest is not None:
        since, until = format_instant(stream.least), format_instant(stream.newest)
        yield "ok", f"{name}: {_many(stream.rows, 'row')} from {since} to {until}"
    if stream.late_count:
        yield (
            "bad",
            f"{name}: {_many(stream.late_count, 'row')} earlier than one before, the first: {stream.late[0]}; --sort "
            "sorts them",
        )
    for attribute in definition.schema.attributes:
        column = stream.columns.get(attribute.name)
        place = f"{name}.{attribute.name}"
        present = 0 if column is None else sum(count for count, _ in column.kinds.values())
        nulls = stream.rows - present + (0 if column is None else column.kinds.get("null", (0, ""))[0])
        if nulls and not attribute.nullable and not _is_text(column, attribute.type):
            declared = f'declare {attribute.name} = "{attribute.type}?"'
            if not present:
                undeclared = [each for each in stream.columns if definition.schema.position(each) < 0]
                declared = column_hint(attribute.name, undeclared).removeprefix("; ") or declared
            yield "bad", f"{place}: {nulls:,} of {stream.rows:,} are null or missing; {declared}"
        elif nulls:
            yield "note", f"{place}: {nulls:,} of {stream.rows:,} are null or empty"
        if column is None:
            continue
        fitting = _FITS[attribute.type] | {"null"}
        misfits = {kind: found for kind, found in column.kinds.items() if kind not in fitting}
        if attribute.type == "string" and _only_texts(column):
            misfits = {kind: found for kind, found in misfits.items() if kind in (*OTHERS, TEXTS)}
        for kind, (count, first) in misfits.items():
            values = f"{_many(count, 'value')} of type {kind}"
            yield "bad", f"{place}: {values}, declared {attribute.type}, the first: {first}"
        distinct = len(column.values)
        more = distinct > VALUES_MAX
        many = f"more than {VALUES_MAX:,} different values" if more else _many(distinct, "different value")
        may_be_key = attribute.type in ("string", "int") and not nulls and divides(column, stream.rows)
        hint = "; a candidate for key" if may_be_key and definition.key is None else ""
        yield "ok", f"{place}: {attribute.type}" + ("" if attribute.type == TEXTS else f", {many}{hint}")
    for key, column in stream.columns.items():
        if definition.schema.position(key) < 0 and key not in (TIME_COLUMN, time_column):
            kinds = " and ".join(sorted(column.kinds))
            yield "note", f"{name}: {key!r} ({kinds}) is not declared and ignored"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _is_text(column: ColumnFindings | None, kind: str) -> bool:
    """Whether an empty text is a value: in CSV, for a string."""
    return kind == "string" and column is not None and _only_texts(column)


def _only_texts(column: ColumnFindings) -> bool:
    return all(isinstance(value, str) for value in column.values)


def rows_of(
    reading: Reading, file: str, wrong: list[str]
) -> Iterator[tuple[str, str, Any, Mapping[str, Any], bool]]:
    """Of each row: place, stream, time, values by name, and whether these are texts of a table. The names are those of
    attributes, or of their columns and paths where there is no attribute. Raises OSError, ForetellError."""
    kind = reading.format or format_of(file)
    place = place_of(file)
    with opened(file) as (source, extent):
        if kind == "jsonl":
            for number, line in enumerate(source, 1):
                if not line.strip():
                    continue
                try:
                    row = _json_row(reading, line.decode("utf-8-sig" if number == 1 else "utf-8"), number)
                except UnicodeDecodeError as error:
                    wrong.append(f"{place}: line {number}: {not_utf8(line, error)}")
                except ForetellError as error:
                    wrong.append(f"{place}: {error}")
                else:
                    if row is not None:
                        yield f"{place}: line {number}", *row, False
            return
        definition = reading.definition()
        if kind in ("csv", "tsv"):
            with placed(place):
                yield from _csv_rows(reading, source, place, kind, wrong)
            return
        from .parquet_rows import open_parquet

        whole = extent is None or file == STANDARD_INPUT
        with placed(place), open_parquet(source.read() if whole else file, place) as table:
            import pyarrow

            number = 0
            try:
                for batch in table.iter_batches(10_000):
                    found = without_structs(batch)
                    names = found.schema.names
                    whole_numbers = _whole_columns(definition)
                    columns = [column_values(each, name in whole_numbers) for name, each in zip(names, found.columns)]
                    for values in zip(*columns):
                        number += 1
                        record = dict(zip(names, values))
                        yield f"{place}: row {number}", definition.name, *_timed(reading, record), False
            except (pyarrow.ArrowException, ValueError, OSError) as error:
                raise EventError(f"expected columns that can be read, found after row {number}: {error}") from None


def _csv_rows(
    reading: Reading, source: BinaryIO, place: str, kind: Format, wrong: list[str]
) -> Iterator[tuple[str, str, Any, Mapping[str, Any], bool]]:
    """The records of a file, as a run reads them. Raises EventError."""
    definition, separator = reading.definition(), reading.separator(kind)
    reader = csv.reader(lines_of(source, "surrogateescape"), strict=True, delimiter=separator)
    header = header_of(reader)
    names = named_columns(header, definition, separator)
    time = header.index(reading.time) if reading.time in header else None
    twice = {each: None for each in names if names.count(each) > 1}
    while True:
        try:
            record = next(reader, None)
            if record is None:
                return
            at = f"{place}: line {reader.line_num}"
            "".join(record).encode()
        except (csv.Error, UnicodeError) as error:
            wrong.append(f"{place}: {unreadable(error, reader.line_num - isinstance(error, UnicodeError))}")
            continue
        if len(record) == len(header):
            values: dict[str, Any] = {each: text for each, text in zip(names, record) if each or each in header}
            values.update(twice)
            yield at, definition.name, "" if time is None else record[time], values, True
        elif record:
            wrong.append(f"{at}: expected {len(header)} fields, found {len(record)}")


def _whole_columns(stream: StreamDefinition) -> set[str]:
    """The columns of the attributes that are ints."""
    return {stream.files.column(each.name) for each in stream.schema.attributes if each.type == "int"}


def column_values(column: Any, whole: bool) -> list[Any]:
    """The values of a column of Parquet as they are attributes: moments are datetimes in UTC, decimals are numbers.
    `whole`: floats are ints where they can be."""
    import pyarrow

    from .parquet_rows import instants

    kind = column.type
    if pyarrow.types.is_timestamp(kind) or pyarrow.types.is_date(kind):
        return [None if each is None else as_datetime(each) for each in instants(column)]
    if pyarrow.types.is_decimal(kind):
        whole = whole or kind.scale <= 0
        column = column.cast("float64")
    try:
        found: list[Any] = column.to_pylist()
        if whole and column.type == "float64":
            return [int(each) if each is not None and each.is_integer() else each for each in found]
    except (ValueError, OverflowError):  # what Python has no type for, such as nanoseconds
        return [_OTHER] * len(column)
    return found


def _json_row(reading: Reading, line: str, number: int) -> tuple[str, Any, Mapping[str, Any]] | None:
    record = parse_object(line, number)
    if not is_enveloped(record) and reading.stream is not None:
        definition = reading.definition()
        return definition.name, *_timed(reading, paths_of(record))
    event = parse_line(line, number, lambda value, stream: 0)  # the time is judged later
    if not isinstance(event, Event):
        return None
    names = reading.streams[event.stream].schema.names if event.stream in reading.streams else ()
    values = paths_of(event.data) if isinstance(event.data, dict) else dict(zip(names, event.data))
    return event.stream, record.get("time"), values


def _timed(reading: Reading, record: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """The time of a record, and its values by attribute."""
    time = record.get(reading.time)
    names = {column: name for name, column in reading.definition().files.columns.items()}
    return "" if time is None else time, {names.get(each, each): value for each, value in record.items()}


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int():
            return "int" if -(2**63) <= value < 2**63 else "float"
        case float():
            return "float" if isfinite(value) else NO_NUMBER
        case str():
            return "string"
        case datetime():
            return "int"
        case list() | tuple():
            return TEXTS if all(isinstance(each, str) for each in value) else "lists"
    return "other values"


def _kind_of_text(text: str, comma: bool) -> str:
    if text == "":
        return "null"
    if _INT.fullmatch(text):
        return _kind(int(text))
    if (_COMMA if comma else _FLOAT).fullmatch(text):
        return "float"
    if not comma and _COMMA.fullmatch(text):
        return COMMA
    if texts_of(text) is not None:
        return TEXTS
    return "bool" if text.strip().lower() in ("true", "false") else "string"
