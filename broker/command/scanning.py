"""Looks through events before a run (`check --events`): types, nulls, order, candidates for a key. Nothing is matched.

Rows are read without the declared types, so that all findings are reported and not the first. At most ROWS_MAX rows.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any, Final, Literal, TypeAlias, final

from ..events import (
    Event,
    EventError,
    ForetellError,
    StreamDefinition,
    format_instant,
    is_enveloped,
    parse_line,
    parse_object,
    suggestion,
)
from .reading import TIME_COLUMN, Reading, format_of
from .sources import STANDARD_INPUT, opened, place_of

ROWS_MAX: Final = 100_000
VALUES_MAX: Final = 10_000
"""An attribute with more different values is no key, and they are not counted further."""

Verdict: TypeAlias = Literal["ok", "note", "bad"]

_INT: Final = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_FLOAT: Final = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_FITS: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset({"string"}),
    "int": frozenset({"int"}),
    "float": frozenset({"int", "float"}),
    "bool": frozenset({"bool"}),
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
        if value is not None and len(self.values) <= VALUES_MAX:
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
            note(stream.columns, values, texts, place)
    if rows >= ROWS_MAX:
        yield "note", f"the first {ROWS_MAX:,} rows were read"
    if lines:
        yield "bad", f"{_many(len(lines), 'line')} cannot be read, the first: {lines[0]}"
    if not rows:
        yield "bad", "no events were found"
    for stream in found.values():
        yield from _findings(stream, reading.time)


def note(columns: dict[str, ColumnFindings], values: Mapping[str, Any], texts: bool, place: str) -> None:
    """Add a row to what was found of each column. O(values)."""
    for key, value in values.items():
        kind = _kind_of_text(value) if texts else _kind(value)
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
            yield "bad", f"{place}: {nulls:,} of {stream.rows:,} are null or missing; {declared}"
        elif nulls:
            yield "note", f"{place}: {nulls:,} of {stream.rows:,} are null or empty"
        if column is None:
            continue
        fitting = _FITS[attribute.type] | {"null"}
        misfits = {kind: found for kind, found in column.kinds.items() if kind not in fitting}
        if attribute.type == "string" and _only_texts(column):
            misfits = {}
        for kind, (count, first) in misfits.items():
            values = f"{_many(count, 'value')} of type {kind}"
            yield "bad", f"{place}: {values}, declared {attribute.type}, the first: {first}"
        distinct = len(column.values)
        more = distinct > VALUES_MAX
        many = f"more than {VALUES_MAX:,} different values" if more else _many(distinct, "different value")
        may_be_key = attribute.type in ("string", "int") and not nulls and divides(column, stream.rows)
        hint = "; a candidate for key" if may_be_key and definition.key is None else ""
        yield "ok", f"{place}: {attribute.type}, {many}{hint}"
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
    """Of each row: place, stream, time, values by name, and whether these are texts of a table."""
    kind = reading.format or format_of(file)
    place = place_of(file)
    with opened(file) as (source, extent):
        if kind == "jsonl":
            with io.TextIOWrapper(source, "utf-8-sig", errors="replace") as text:
                for number, line in enumerate(text, 1):
                    if not line.strip():
                        continue
                    try:
                        row = _json_row(reading, line, number)
                    except ForetellError as error:
                        wrong.append(f"{place}: {error}")
                        continue
                    if row is not None:
                        yield f"{place}: line {number}", *row, False
            return
        definition = reading.definition()
        if kind in ("csv", "tsv"):
            with io.TextIOWrapper(source, "utf-8-sig", errors="replace", newline="") as text:
                records = csv.DictReader(text, delimiter="\t" if kind == "tsv" else ",")
                for record in records:
                    at = f"{place}: line {records.line_num}"
                    if None in record or None in record.values():
                        wrong.append(f"{at}: expected {len(records.fieldnames or ())} fields")
                        continue
                    yield at, definition.name, _time(reading, record), record, True
            return
        from .parquet_rows import open_parquet

        whole = extent is None or file == STANDARD_INPUT
        with open_parquet(source.read() if whole else file, place) as table:
            number = 0
            for batch in table.iter_batches(10_000):
                for record in batch.to_pylist():
                    number += 1
                    yield f"{place}: row {number}", definition.name, _time(reading, record), record, False


def _json_row(reading: Reading, line: str, number: int) -> tuple[str, Any, Mapping[str, Any]] | None:
    record = parse_object(line, number)
    if not is_enveloped(record):
        definition = reading.definition()
        return definition.name, _time(reading, record), record
    event = parse_line(line, number, lambda value, stream: 0)  # the time is judged later
    if not isinstance(event, Event):
        return None
    names = reading.streams[event.stream].schema.names if event.stream in reading.streams else ()
    values = event.data if isinstance(event.data, dict) else dict(zip(names, event.data))
    return event.stream, record.get("time"), values


def _time(reading: Reading, record: Mapping[str, Any]) -> Any:
    time = record.get(reading.time)
    return "" if time is None else moment(time)


def moment(value: Any) -> Any:
    """A time as it is read from Parquet: a date is its beginning, and both are UTC without a zone, as in a run."""
    if isinstance(value, datetime):
        return value if value.utcoffset() is not None else value.replace(tzinfo=UTC)
    return datetime(value.year, value.month, value.day, tzinfo=UTC) if isinstance(value, date) else value


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case str():
            return "string"
    return "other values"


def _kind_of_text(text: str) -> str:
    if text == "":
        return "null"
    if _INT.fullmatch(text):
        return "int"
    if _FLOAT.fullmatch(text):
        return "float"
    return "bool" if text.strip().lower() in ("true", "false") else "string"
