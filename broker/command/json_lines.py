"""Reads a file of JSON lines into batches; `broker.events.lines` defines what a line may contain.

Decoding each line separately takes several times as long as decoding many together. So this module decodes the lines of
a block as one JSON list. It passes only lines that do not look like plain events to `parse_line`, which also explains
what is wrong with a bad line. Joining lines is safe: each line starts and ends with a brace, and the seam between two
lines cannot be inside a string. So lines that are no objects could only combine to one with a list inside an event, and
events with a list among their values are not accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Final, Protocol, TypeAlias, cast, final

from ..events import (
    LONGEST_LINE,
    Event,
    EventError,
    ForetellError,
    Input,
    Row,
    StreamDefinition,
    is_enveloped,
    parse_line,
    parse_object,
    row_from_mapping,
)
from ..events.lines import DECODER
from .bad_events import BadEvents
from .batch import BATCH_EVENTS, Control, EventBatch, Item, stream_named
from .complaint import conversion, placed
from .file_times import FileTimes
from .flat_events import FlatEvents

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


def read_json_lines(source: ByteSource, place: str, gathering: Gathering) -> Iterator[Item]:
    """Yield the batches and control lines of a source, in order; `position` counts bytes. O(bytes).

    `gathering` may have read other sources before. Events before a bad line are yielded before the error is raised,
    which names the place and the line, or the line is left out.
    """
    position, number = 0, 1
    for block in _blocks(source):
        position += len(block)
        lines, complaint = _lines(block.removeprefix(_MARK) if number == 1 else block, number)
        if complaint is not None and not gathering.bad.stops:
            lines, complaint = _decodable(block, number, place, gathering.bad), None
        try:
            yield from gathering.take(lines, number, position, place)
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
                yield rest  # already too long for a line, which its reader refuses
                rest = _behind_line(source)
    if rest:
        yield rest


def _behind_line(source: ByteSource) -> bytes:
    """What follows the end of the present line, in the block where it is."""
    while block := source.read1(BLOCK_BYTES):
        if b"\n" in block:
            return block[block.find(b"\n") + 1 :]
    return b""


def _lines(block: bytes, number: int) -> tuple[list[str], ForetellError | None]:
    """Return the lines of a block without line ends; if one is not UTF-8, those before it and the error."""
    complaint: ForetellError | None = None
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        good = block[: block.rfind(b"\n", 0, error.start) + 1]
        line = number + good.count(b"\n")
        complaint = EventError(not_utf8(block, error), line=line)
        text = good.decode()
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines, complaint


def _decodable(block: bytes, number: int, place: str, bad: BadEvents) -> list[str]:
    """The lines of a block; those that are not UTF-8 are left out, and an empty one is in their place."""
    found: list[str] = []
    for offset, line in enumerate(block.removesuffix(b"\n").split(b"\n")):
        try:
            found.append(line.removeprefix(_MARK if number + offset == 1 else b"").decode().removesuffix("\r"))
        except UnicodeDecodeError as error:
            wrong = EventError(not_utf8(line, error))
            bad.refuse(f"{place}: line {number + offset}", wrong, line.decode(errors="replace"))
            found.append("")
    return found


def not_utf8(data: bytes, error: UnicodeDecodeError) -> str:
    """What is wrong with bytes, and what to do about it."""
    return f"expected UTF-8, found byte 0x{data[error.start]:02x}: {conversion(data)}"


def _decoded(lines: list[str]) -> list[dict[str, object]] | None:
    """Return one object for each line, or None if the lines must be parsed one by one."""
    text = f"[{_SEAM.join(lines)}]"
    if not text.startswith("[{") or not text.endswith("}]") or text.count("}" + _SEAM + "{") != len(lines) - 1:
        return None
    if max(map(len, lines)) * 4 > LONGEST_LINE:
        return None
    try:
        values: list[dict[str, object]] = DECODER.decode(text)
    except (ValueError, RecursionError, EventError):
        return None
    return values if len(values) == len(lines) else None


@final
class Gathering:
    """Collects events until the stream changes or the batch is full. One object for all files of a command.

    `flat`: reads lines that are the plain values of an event.
    """

    __slots__ = ("_columns", "_count", "_flat", "_named", "_readers", "_stream", "_streams", "_times", "bad")

    def __init__(
        self,
        streams: Mapping[str, StreamDefinition],
        times: FileTimes | None = None,
        bad: BadEvents | None = None,
        flat: FlatEvents | None = None,
    ) -> None:
        self._streams = streams
        self._times = FileTimes(streams) if times is None else times
        self.bad = BadEvents() if bad is None else bad
        self._flat = flat
        self._readers = {name: _reader(definition) for name, definition in streams.items()}
        self._stream = ""
        self._columns: tuple[list[int], list[Row], list[int], list[int], list[int]] = ([], [], [], [], [])
        self._count = 0  # events so far; the id of an event without one
        self._named = False  # whether any collected event has an id

    def take(self, lines: list[str], number: int, position: int, place: str) -> Iterator[Item]:
        """Read lines, the first of which has this number. Raises the error of a bad line, with its number."""
        records = _decoded(lines) if lines else None
        for offset, text in enumerate(lines):
            plain = None if records is None else self._plain(records[offset])
            if plain is None and (text == "" or text.isspace()):
                continue
            if plain is not None:
                stream, time, row, identity = plain
                start = time
            else:
                try:
                    line = self._parsed(text, number + offset)
                    row = self._row(line, number + offset) if isinstance(line, Event) else ()
                except EventError as error:
                    if self.bad.stops:
                        raise
                    reason = str(error).removeprefix(f"line {number + offset}: ")
                    self.bad.refuse(f"{place}: line {number + offset}", EventError(reason), text)
                    continue
                if not isinstance(line, Event):
                    yield from self.rest(position)
                    yield Control(line, number + offset, position)
                    continue
                stream, time, start, identity = line.stream, line.time, line.start, line.id
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
            if self._flat is not None and not ("stream" in record and "data" in record):
                return self._flat.plain(record, self._times)
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
            if stream not in self._times.plain:
                time = self._times.written(time, stream)
            width, row = self._readers[stream]
            if len(data) != width:
                return None
            # The engine checks the values, once.
            return stream, time, cast("Row", row(data)), identity
        except (KeyError, EventError):
            return None

    def _parsed(self, text: str, line: int) -> Input:
        if self._flat is not None:
            record = parse_object(text, line)
            if not is_enveloped(record):
                try:
                    return self._flat.event(record, self._times)
                except EventError as error:
                    raise EventError(str(error), line=line) from None
        return parse_line(text, line, self._times.written)

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
