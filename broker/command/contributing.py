"""The values of the events that results list by id in their lineage (`--with-events`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, final

from ..events import Row, StreamDefinition
from .batch import EventBatch

EVENTS_MAX: Final = 1_000_000
"""So many events are kept; a result that lists an older one has null in its place."""


@final
class Contributing:
    """The newest events by id. O(1) an event. `count`: so many events have been published."""

    __slots__ = ("_count", "_events", "_streams")

    def __init__(self, streams: Mapping[str, StreamDefinition], count: Callable[[], int]) -> None:
        self._streams = streams
        self._count = count
        self._events: dict[int, tuple[str, int, Row]] = {}

    def note(self, batch: EventBatch) -> None:
        """Keep the events of a batch that is published next; without ids of their own they are numbered."""
        first = self._count() + 1
        ids = batch.ids if batch.ids is not None else range(first, first + len(batch.times))
        for number, time, row in zip(ids, batch.times, batch.rows):
            self._events[number] = batch.stream, time, row
        while len(self._events) > EVENTS_MAX:
            del self._events[next(iter(self._events))]

    def line(self, result: dict[str, Any]) -> dict[str, Any]:
        """The result with `events`, in the order of its lineage."""
        lineage = result.get("lineage")
        return result if lineage is None else {**result, "events": [self._event(number) for number in lineage]}

    def _event(self, number: int) -> dict[str, Any] | None:
        known = self._events.get(number)
        if known is None:
            return None
        stream, time, row = known
        names = self._streams[stream].schema.names
        return {"id": number, "stream": stream, "time": time, "data": dict(zip(names, row))}
