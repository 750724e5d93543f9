"""Reads the files of a command one after the other, or sorts their events by time, however many there are: parts are
sorted in memory, kept in files, and merged.

Events of equal time keep the order of the files. At most PART_EVENTS events or PART_BYTES bytes are in memory, and a
merge reads MERGED_PARTS files at a time.
"""

from __future__ import annotations

import heapq
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, TypeAlias, cast, final

from ..events import ForetellError, StreamDefinition, check_rows
from .bad_events import BadEvents, values_of
from .batch import BATCH_EVENTS, EventBatch, answers
from .complaint import BadInput
from .reading import EventReader, Reading

PART_EVENTS: Final = 200_000
PART_BYTES: Final = 2**26
MERGED_PARTS: Final = 64
READ_BYTES: Final = 2**16
"""Of each file of a merge at a time."""

_Key: TypeAlias = tuple[int, int]
"""The time and the number of an event."""


@contextmanager
def sorted_events(reading: Reading, files: Iterable[str]) -> Iterator[EventReader]:
    """The events of all files as one reader, sorted by time. Raises as reading them does, and BadInput for a line that
    is no event. O(events * log events)."""
    with tempfile.TemporaryDirectory(prefix="foretell-sort-") as folder:
        parts = _Parts(folder)
        for file in files:
            with reading.open(file) as source:
                for batch in _events(source):
                    parts.add(batch, source, reading.streams, reading.bad)
        yield EventReader(_batches(parts.merged()), "events sorted by time", "row", None)


def sources(reading: Reading, files: Iterable[str], sort: bool = False) -> Iterator[EventReader]:
    """The files one after the other, each open while it is read; with `sort` as one, sorted by time."""
    if sort:
        with sorted_events(reading, files) as source:
            yield source
        return
    for file in files:
        with reading.open(file) as source:
            yield source


def _events(source: EventReader) -> Iterator[EventBatch]:
    for item in source.items:
        if not isinstance(item, EventBatch):
            raise BadInput(f"{source.where(item.place)}: expected only events with --sort, as other lines have no time")
        yield item


@final
class _Parts:
    """Sorted files of packed events: `levels[n]` holds those that were merged n times."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._events: list[tuple[int, int, bytes]] = []
        self._bytes = 0
        self._count = 0
        self._files = 0
        self._levels: list[list[str]] = [[]]

    def add(
        self, batch: EventBatch, source: EventReader, streams: Mapping[str, StreamDefinition], bad: BadEvents
    ) -> None:
        """Take the events of a batch that fit their stream; the others are bad."""
        import msgpack

        def checked(part: EventBatch) -> EventBatch:
            rows = check_rows(streams[part.stream], part.rows)
            return EventBatch(part.stream, part.times, list(rows), part.ids, part.starts, part.places, part.position)

        def leave_out(place: str, error: ForetellError, part: EventBatch) -> None:
            bad.refuse(place, error, values_of(part, streams))

        for good in answers(batch, source.where, checked, None if bad.stops else leave_out):
            for index, time in enumerate(good.times):
                identity = None if good.ids is None else good.ids[index]
                start = time if good.starts is None else good.starts[index]
                event = (time, self._count, good.stream, identity, start, source.where(good.places[index]))
                packed: bytes = msgpack.packb((*event, good.rows[index]))
                self._events.append((time, self._count, packed))
                self._count += 1
                self._bytes += len(packed)
        if len(self._events) >= PART_EVENTS or self._bytes >= PART_BYTES:
            self._spill()

    def merged(self) -> Iterator[list[Any]]:
        """All events in order."""
        if not any(self._levels) and len(self._events) < PART_EVENTS:
            self._events.sort()
            return _unpacked(packed for _, _, packed in self._events)
        self._spill()
        return _merge([file for level in self._levels for file in level])

    def _spill(self) -> None:
        self._events.sort()
        self._keep((packed for _, _, packed in self._events), 0)
        self._events, self._bytes = [], 0

    def _keep(self, events: Iterable[bytes], level: int) -> None:
        path = os.path.join(self._folder, str(self._files))
        self._files += 1
        with open(path, "wb") as file:
            file.writelines(events)
        if level == len(self._levels):
            self._levels.append([])
        self._levels[level].append(path)
        if len(self._levels[level]) >= MERGED_PARTS:
            import msgpack

            parts, self._levels[level] = self._levels[level], []
            self._keep((cast("bytes", msgpack.packb(event)) for event in _merge(parts)), level + 1)
            for part in parts:
                os.remove(part)


def _merge(files: list[str]) -> Iterator[list[Any]]:
    return heapq.merge(*[_read(file) for file in files], key=_key)


def _key(event: list[Any]) -> _Key:
    return event[0], event[1]


def _read(path: str) -> Iterator[list[Any]]:
    import msgpack

    with open(path, "rb") as file:
        yield from msgpack.Unpacker(cast("BinaryIO", file), max_buffer_size=PART_BYTES, read_size=READ_BYTES)


def _unpacked(events: Iterable[bytes]) -> Iterator[list[Any]]:
    import msgpack

    for packed in events:
        yield msgpack.unpackb(packed)


def _batches(events: Iterable[list[Any]]) -> Iterator[EventBatch]:
    """The events in batches of one stream, of which all or none have ids."""
    held: list[list[Any]] = []
    count = 0
    for event in events:
        if held and (
            len(held) >= BATCH_EVENTS or held[0][2] != event[2] or (held[0][3] is None) != (event[3] is None)
        ):
            count += len(held)
            yield _batch(held, count)
            held = []
        held.append(event)
    if held:
        yield _batch(held, count + len(held))


def _batch(held: list[list[Any]], position: int) -> EventBatch:
    times = [event[0] for event in held]
    starts = [event[4] for event in held]
    ids = None if held[0][3] is None else [event[3] for event in held]
    places = [event[5] for event in held]
    rows = [tuple(event[6]) for event in held]
    return EventBatch(held[0][2], times, rows, ids, None if starts == times else starts, places, position)
