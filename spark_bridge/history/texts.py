"""Converts files of CSV and JSON lines to events, as `foretell run` reads them, and rejects invalid lines.

CSV has a header. JSON lines are objects: events as the broker writes them, or, with `Columns`, flat objects whose keys
are the columns. Blank lines are skipped, and so are the broker's punctuations, because a history is sorted. Lines that
change something within a stream are not events, and are rejected.
"""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, final

from broker.events import (
    Attribute,
    DefinitionError,
    Event,
    EventError,
    Input,
    Punctuation,
    Retraction,
    Row,
    StreamDefinition,
    SubscribeLine,
    UnknownStream,
    UnsubscribeLine,
    UpdateLine,
    Value,
    parse_instant,
    parse_line,
    row_from_mapping,
    row_from_text,
    suggestion,
)
from broker.events.file_form import paths_of

from .form import Run, batch_of, columns_of
from .mapping import Columns
from .tables import check_start, id_of, instant_of, read_schema, rejected

if TYPE_CHECKING:
    import pyarrow

CHUNK_ROWS: Final = 4_096
"""The number of records converted at a time."""

_DIGITS_MAX: Final = 40
_OTHERS: Final[Mapping[type[Input], str]] = {
    Retraction: "a retraction",
    SubscribeLine: "a subscription",
    UnsubscribeLine: "the end of a subscription",
    UpdateLine: "an update of a subscription",
}
_BOOLS: Final[Mapping[str, bool]] = {"true": True, "false": False, "True": True, "False": False}


def separator_of(columns: Columns) -> str:
    """What is between the fields of a file of CSV."""
    return columns.stream.files.separator or ","


def csv_header(file: Path, separator: str = ",") -> list[str]:
    """The names of the columns. Raises DefinitionError with the file."""
    try:
        with _readable(file) as text:
            for record in csv.reader(text, strict=True, delimiter=separator):
                if record:
                    "".join(record).encode()
                    return record
    except (csv.Error, UnicodeEncodeError) as error:
        raise DefinitionError(f"{file}: expected CSV with a header, found none: {error}") from None
    raise DefinitionError(f"{file}: expected a header with the names of the columns, found an empty file")


def read_csv(
    file: Path, columns: Columns, streams: Mapping[str, StreamDefinition], first_id: int
) -> Iterator[pyarrow.RecordBatch]:
    """The events and rejects of a file in `read_schema`; the records have ids from `first_id` on. O(bytes).

    Raises DefinitionError with the file if it cannot be read to its end.
    """
    gathering = _Gathering(streams, str(file))
    with _readable(file) as text:
        lines = _Kept(text)
        reader = csv.reader(lines, strict=True, delimiter=separator_of(columns))
        header: list[str] = []
        places: dict[str, int] = {}
        count = 0
        while True:
            try:
                record = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                gathering.reject(f"line {reader.line_num}", f"expected CSV, {error}", lines.taken())
                count += 1
                continue
            raw = lines.taken()
            if not record:
                continue
            if not header:
                header = record
                places = {name: header.index(name) for name in columns.needed(header, str(file))}
                continue
            identity = first_id + count
            count += 1
            if len(record) != len(header):
                reason = f"expected {len(header)} fields, found {len(record)}"
                gathering.reject(f"line {reader.line_num}", reason, raw)
            else:
                gathering.record(reader.line_num, record, identity, raw)
                if len(gathering.records) == CHUNK_ROWS:
                    yield from gathering.csv(columns, places)
        yield from gathering.csv(columns, places)


def read_json_lines(
    file: Path, columns: Columns | None, streams: Mapping[str, StreamDefinition], first_id: int
) -> Iterator[pyarrow.RecordBatch]:
    """The same for JSON lines; `columns` None: lines as the broker reads and writes them."""
    gathering = _Gathering(streams, str(file))
    count = 0
    with _readable(file) as text:
        for number, line in enumerate(text, 1):
            if not line or line.isspace():
                continue
            place = f"line {number}"
            try:
                if columns is None:
                    found = _event(line, streams, first_id + count)
                else:
                    found = _flat(line, columns, first_id + count)
            except (EventError, UnknownStream) as error:
                reason = str(error).removeprefix(f"{place}: ").removeprefix("line 1: ")
                gathering.reject(place, reason, line.rstrip("\r\n"))
                count += 1
                continue
            if found is None:
                continue
            count += 1
            gathering.event(*found)
            if gathering.full:
                yield from gathering.rest()
    yield from gathering.rest()


def _event(line: str, streams: Mapping[str, StreamDefinition], identity: int) -> tuple[str, int, Row, int, int] | None:
    event = parse_line(line, 1)
    if isinstance(event, Punctuation):
        return None
    if not isinstance(event, Event):
        raise EventError(f"expected events in a history, found {_OTHERS[type(event)]}")
    stream = streams.get(event.stream)
    if stream is None:
        hint = suggestion(event.stream, streams)
        raise UnknownStream(f"expected a declared stream, found {event.stream[:128]!r}{hint}")
    data = event.data
    if isinstance(data, tuple):
        if len(data) != len(stream.schema):
            raise EventError(f"stream {stream.name!r}: expected {len(stream.schema)} values, found {len(data)}")
        data = dict(zip(stream.schema.names, data))
    row = row_from_mapping(stream, data)
    return stream.name, event.time, row, identity if event.id is None else event.id, event.start


def _flat(line: str, columns: Columns, identity: int) -> tuple[str, int, Row, int, int]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EventError(f"expected a JSON object, found none ({str(error)[:80]})") from None
    if not isinstance(record, dict):
        raise EventError("expected a JSON object, found another value")
    record = {**paths_of(record), **record}
    if columns.time not in record:
        raise EventError(f"column {columns.time!r}: expected a time, found nothing")
    time = start = instant_of(record[columns.time], columns.time, columns.stream.files)
    if columns.start is not None and record.get(columns.start) is not None:
        start = instant_of(record[columns.start], columns.start)
        check_start(start, time, columns.start)
    if columns.id is not None:
        identity = id_of(record.get(columns.id), columns.id)
    present = [a for a in columns.stream.schema.attributes if columns.of(a) in record]
    row = row_from_mapping(columns.stream, {a.name: record[columns.of(a)] for a in present})
    return columns.stream.name, time, row, identity, start


@final
class _Gathering:
    """Collects the events and rejects of one file until there are enough for a batch."""

    def __init__(self, streams: Mapping[str, StreamDefinition], file: str) -> None:
        self._schema = read_schema(streams)
        self._columns = columns_of(streams)
        self._file = file
        self._runs: dict[str, tuple[str, list[int], list[Row], list[int], list[int]]] = {}
        self._rejects: tuple[list[str], list[str], list[str]] = ([], [], [])
        self._count = 0
        self.records: list[tuple[int, list[str], int, str]] = []  # line, fields, id, the line itself

    @property
    def full(self) -> bool:
        return self._count >= CHUNK_ROWS

    def reject(self, place: str, reason: str, raw: str) -> None:
        for column, text in zip(self._rejects, (place, reason, raw)):
            column.append(text)
        self._count += 1

    def record(self, line: int, fields: list[str], identity: int, raw: str) -> None:
        self.records.append((line, fields, identity, raw))

    def event(self, stream: str, time: int, row: Row, identity: int, start: int) -> None:
        _, times, rows, ids, starts = self._runs.setdefault(stream, (stream, [], [], [], []))
        times.append(time)
        rows.append(row)
        ids.append(identity)
        starts.append(start)
        self._count += 1

    def csv(self, columns: Columns, places: Mapping[str, int]) -> Iterator[pyarrow.RecordBatch]:
        """The records so far, converted by column if possible, otherwise one by one."""
        records, self.records = self.records, []
        if not records:
            yield from self.rest()
            return
        try:
            run = _plain(records, columns, places)
            # Errors that the text does not show: half a surrogate pair, an int of too many bits.
            yield batch_of(run, self._columns, self._schema)
        except (ValueError, KeyError, OverflowError, EventError):
            for line, fields, identity, raw in records:
                try:
                    self.event(columns.stream.name, *_one(fields, identity, columns, places))
                except EventError as error:
                    self.reject(f"line {line}", str(error), raw)
        yield from self.rest()

    def rest(self) -> Iterator[pyarrow.RecordBatch]:
        """The collected events and rejects, if there are any."""
        runs, self._runs = self._runs, {}
        for run in runs.values():
            yield batch_of(run, self._columns, self._schema)
        places, reasons, raws = self._rejects
        if reasons:
            yield rejected(self._schema, self._file, places, reasons, raws, False)
            self._rejects = ([], [], [])
        self._count = 0


def _plain(
    records: Sequence[tuple[int, list[str], int, str]], columns: Columns, places: Mapping[str, int]
) -> Run:
    """Records as a run. Raises ValueError, KeyError or EventError for anything unusual in them."""

    def texts(column: str) -> list[str]:
        place = places[column]
        return [fields[place] for _, fields, _, _ in records]

    form = columns.stream.files
    if form.decimal == "," or form.time_format is not None:
        raise ValueError  # one by one
    stamps = texts(columns.time)
    try:
        times = _numbers(stamps, int)
    except ValueError:
        times = [parse_instant(text) for text in stamps]
    ids = [identity for _, _, identity, _ in records] if columns.id is None else _numbers(texts(columns.id), int)
    if columns.start is not None or not all(map(_is_instant, times)):
        raise ValueError
    attributes = columns.stream.schema.attributes
    values = [
        _values(attribute, texts(columns.of(attribute))) if columns.of(attribute) in places else [None] * len(records)
        for attribute in attributes
    ]
    rows: list[Row] = list(zip(*values)) if values else [()] * len(records)
    return columns.stream.name, times, rows, ids, times


def _is_instant(time: int) -> bool:
    return -(2**61) <= time <= 2**61


def _values(attribute: Attribute, texts: Sequence[str]) -> Sequence[Value]:
    """The values of a column. Raises ValueError or KeyError for anything unusual."""
    if attribute.type == "string":
        return [text or None for text in texts] if attribute.nullable else texts
    if attribute.nullable and "" in texts:
        known = iter(_values(attribute, [text for text in texts if text]))
        return [next(known) if text else None for text in texts]
    match attribute.type:
        case "int":
            return _numbers(texts, int)
        case "float":
            numbers = _numbers(texts, float)
            if any(number - number != 0.0 for number in numbers):
                raise ValueError
            return numbers
        case "bool":
            return [_BOOLS[text] for text in texts]
        case _:
            raise ValueError  # lists, one by one


def _numbers(texts: Sequence[str], kind: Callable[[str], Any]) -> list[Any]:
    # Python also accepts 1_000 and the digits of every script, which are not numbers in CSV.
    joined = "".join(texts)
    if "_" in joined or not joined.isascii() or max(map(len, texts), default=0) > _DIGITS_MAX:
        raise ValueError
    return list(map(kind, texts))


def _one(
    fields: Sequence[str], identity: int, columns: Columns, places: Mapping[str, int]
) -> tuple[int, Row, int, int]:
    form = columns.stream.files
    time = start = instant_of(fields[places[columns.time]], columns.time, form)
    if columns.start is not None and fields[places[columns.start]].strip():
        start = instant_of(fields[places[columns.start]], columns.start)
        check_start(start, time, columns.start)
    if columns.id is not None:
        text = fields[places[columns.id]].strip()
        whole = text.isascii() and text.removeprefix("-").isdecimal() and len(text) < _DIGITS_MAX
        identity = id_of(int(text) if whole else text, columns.id)
    present = [a for a in columns.stream.schema.attributes if columns.of(a) in places]
    texts = {a.name: fields[places[columns.of(a)]] for a in present}
    row = row_from_text(columns.stream, texts, form.decimal or ".")
    return time, row, identity, start


@final
class _Kept:
    """Iterates over lines, and keeps those of the present record."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._taken: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._taken.append(line)
        return line

    def taken(self) -> str:
        """The lines since the last call."""
        text = "".join(self._taken).rstrip("\r\n")
        self._taken.clear()
        return text


@contextmanager
def _readable(file: Path) -> Iterator[IO[str]]:
    """The text of a file; bytes that are not UTF-8 are rejected later, with their value.

    Raises DefinitionError if the file cannot be read, even in the middle of it.
    """
    packed = file.name.lower().endswith(".gz")
    try:
        with open(file, "rb") as source:
            unpacked: Any = gzip.GzipFile(fileobj=source) if packed else source
            with TextIOWrapper(unpacked, encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
                yield text
    except (OSError, EOFError, zlib.error) as error:
        raise DefinitionError(f"{file}: expected a file that can be read, found: {error}") from None
