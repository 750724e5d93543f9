"""Reads a file of JSON lines into batches; `broker.events.lines` defines what a line may contain.

Decoding each line separately takes several times as long as decoding many together. So this module decodes the lines of
a block as one JSON list. It passes only lines that do not look like plain events to `parse_line`, which also explains
what is wrong with a bad line. Joining lines is safe: each line starts and ends with a brace, and the seam between two
lines cannot be inside a string. So lines that are no objects could only combine to one with a list inside an event, and
events with a list among their values are not accepted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Final, NoReturn, Protocol, TypeAlias, cast, final

from ..events import LONGEST_LINE, Event, EventError, ForetellError, Row, StreamDefinition, parse_line, row_from_mapping
from .batch import BATCH_EVENTS, Control, EventBatch, Item, stream_named
from .complaint import placed

BLOCK_BYTES: Final = 2**18
"""The bytes read at a time; from a pipe, those that are available."""

_SEAM: Final = "\n,\n"
_MARK: Final = b"\xef\xbb\xbf"
_IDS: Final = 2**63

_Reader: TypeAlias = tuple[int, Callable[[Mapping[str, object]], tuple[object, ...]]]
"""The number of values of a stream's events, and the function that makes a row from the values by attribute."""


class ByteSource(Protocol):
    """A source of bytes: returns at most so many, and none at the end."""

    def read1(self, size: int, /) -> bytes: ...


def read_json_lines(source: ByteSource, place: str, streams: Mapping[str, StreamDefinition]) -> Iterator[Item]:
    """Yield the batches and control lines of a source, in order; `position` counts bytes. O(bytes).

    Events before a bad line are yielded before the error is raised, which names the place and the line.
    """
    gathering = _Gathering(streams)
    position, number = 0, 1
    for block in _blocks(source):
        position += len(block)
        lines, complaint = _lines(block.removeprefix(_MARK) if number == 1 else block, number)
        try:
            yield from gathering.take(lines, number, position)
        except ForetellError as error:
            complaint = error
        # Events from a pipe must not wait for the next block, so all complete lines are passed on.
        yield from gathering.rest(position)
        if complaint is not None:
            with placed(place):
                raise complaint
        number += len(lines)


def _blocks(source: ByteSource) -> Iterator[bytes]:
    """Yield blocks of whole lines."""
    rest = b""
    while block := source.read1(BLOCK_BYTES):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
            if len(rest) > LONGEST_LINE + BLOCK_BYTES:
                break  # already too long for a line; parse_line raises the error
    if rest:
        yield rest


def _lines(block: bytes, number: int) -> tuple[list[str], ForetellError | None]:
    """Return the lines of a block without line ends; if one is not UTF-8, those before it and the error."""
    complaint: ForetellError | None = None
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        good = block[: block.rfind(b"\n", 0, error.start) + 1]
        line = number + good.count(b"\n")
        complaint = EventError(f"expected UTF-8, found byte 0x{block[error.start]:02x}", line=line)
        text = good.decode()
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines, complaint


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError
    return unique


def _constant(name: str) -> NoReturn:
    raise ValueError


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)
"""As strict as `parse_line`, which explains what this one refuses."""


def _decoded(lines: list[str]) -> list[dict[str, object]] | None:
    """Return one object for each line, or None if the lines must be parsed one by one."""
    text = f"[{_SEAM.join(lines)}]"
    if not text.startswith("[{") or not text.endswith("}]") or text.count("}" + _SEAM + "{") != len(lines) - 1:
        return None
    if max(map(len, lines)) * 4 > LONGEST_LINE:
        return None
    try:
        values: list[dict[str, object]] = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return values if len(values) == len(lines) else None


@final
class _Gathering:
    """Collects events until the stream changes or the batch is full. One object for each file."""

    __slots__ = ("_columns", "_count", "_named", "_readers", "_stream", "_streams")

    def __init__(self, streams: Mapping[str, StreamDefinition]) -> None:
        self._streams = streams
        self._readers = {name: _reader(definition) for name, definition in streams.items()}
        self._stream = ""
        self._columns: tuple[list[int], list[Row], list[int], list[int], list[int]] = ([], [], [], [], [])
        self._count = 0  # events so far; the id of an event without one
        self._named = False  # whether any collected event has an id

    def take(self, lines: list[str], number: int, position: int) -> Iterator[Item]:
        """Read lines, the first of which has this number. Raises the error of a bad line, with its number."""
        records = _decoded(lines) if lines else None
        for offset, text in enumerate(lines):
            plain = None if records is None else self._plain(records[offset])
            if plain is not None:
                stream, time, row, identity = plain
                start = time
            elif text == "" or text.isspace():
                continue
            else:
                line = parse_line(text, number + offset)
                if not isinstance(line, Event):
                    yield from self.rest(position)
                    yield Control(line, number + offset, position)
                    continue
                stream, time, start = line.stream, line.time, line.start
                row = self._row(line, number + offset)
                identity = line.id
            times, rows, ids, starts, places = self._columns
            if stream != self._stream or len(times) >= BATCH_EVENTS:
                yield from self.rest(position)
                times, rows, ids, starts, places = self._columns
                self._stream = stream
            self._count += 1
            times.append(time)
            rows.append(row)
            if identity is None:
                ids.append(self._count)
            else:
                ids.append(identity)
                self._named = True
            starts.append(start)
            places.append(number + offset)

    def rest(self, position: int) -> Iterator[EventBatch]:
        """Yield the events collected so far, if any."""
        times, rows, ids, starts, places = self._columns
        if times:
            self._columns = ([], [], [], [], [])
            named = ids if self._named else None
            self._named = False
            yield EventBatch(self._stream, times, rows, named, None if starts == times else starts, places, position)

    def _plain(self, record: dict[str, object]) -> tuple[str, int, Row, int | None] | None:
        """Return the event of a record that has all attributes by name and nothing unusual; None for any other."""
        try:
            stream, time, data = record["stream"], record["time"], record["data"]
            identity: int | None = None
            if len(record) == 4:
                named = record["id"]
                if type(named) is not int or not -_IDS <= named < _IDS:
                    return None
                identity = named
            elif len(record) != 3:
                return None
            if type(stream) is not str or type(time) is not int or type(data) is not dict:
                return None
            width, row = self._readers[stream]
            if len(data) != width:
                return None
            # The engine checks the values, once.
            return stream, time, cast("Row", row(data)), identity
        except KeyError:
            return None

    def _row(self, event: Event, line: int) -> Row:
        try:
            stream = stream_named(self._streams, event.stream)
            return event.data if isinstance(event.data, tuple) else row_from_mapping(stream, event.data)
        except ForetellError as error:
            raise EventError(str(error), line=line) from error


def _reader(stream: StreamDefinition) -> _Reader:
    names = stream.schema.names
    if len(names) > 1:
        return len(names), itemgetter(*names)
    return len(names), lambda data: tuple([data[name] for name in names])
