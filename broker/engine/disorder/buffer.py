"""The buffer of an engine: the events that are not final yet, in the order in which they will be processed.

That order is the one of times, then of ids, then of arrival. Events can be withdrawn from it by their ids, which are
then different.

Here: that order. Not here: when events become final (watermarks), where they go (reordering).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple, final

from sortedcontainers import SortedList

from ...events.schema import Row


class HeldEvent(NamedTuple):
    """An event that is not final. `arrival`: its number among all events of the engine."""

    time: int
    number: int
    arrival: int
    stream: str
    start: int
    row: Row


@final
class ReorderBuffer:
    """Events by time, id and arrival; and by id those that are `known` by it."""

    def __init__(self) -> None:
        self.events: Any = SortedList()  # arrivals differ, so that no later field is compared
        self.known: dict[int, HeldEvent] = {}

    def __len__(self) -> int:
        return len(self.events)

    def add(self, events: Iterable[HeldEvent], known: bool) -> None:
        """Add a batch. O(log events) for each."""
        batch = list(events)
        self.events.update(batch)
        if known:
            self.known |= {event.number: event for event in batch}

    def withdraw(self, number: int) -> HeldEvent | None:
        """Take out the event with that id; None if there is none."""
        event = self.known.pop(number, None)
        if event is not None:
            self.events.remove(event)
        return event

    def widen(self, stream: str, width: int) -> None:
        """Fill up the rows of a stream, which has got an attribute, with null. O(all)."""
        before: list[HeldEvent] = list(self.events)
        self.events.clear()
        for event in before:
            known = self.known.get(event.number) is event
            row = (*event.row, *[None] * (width - len(event.row))) if event.stream == stream else event.row
            self.add([event._replace(row=row)], known)

    def forget(self, stream: str) -> None:
        """Drop the events of a stream. O(all)."""
        gone: list[HeldEvent] = [event for event in self.events if event.stream == stream]
        for event in gone:
            self.events.remove(event)
            if self.known.get(event.number) is event:
                del self.known[event.number]

    def release(self, time: int) -> list[HeldEvent]:
        """Take out all events before a time, in order. O(their number)."""
        upto = self.events.bisect_left((time,))
        if upto == 0:
            return []
        found: list[HeldEvent] = list(islice(self.events, upto))
        del self.events[:upto]
        for event in found:
            if self.known.get(event.number) is event:
                del self.known[event.number]
        return found

    def check_invariants(self) -> None:
        """Raise AssertionError if the two views contradict each other."""
        self.events._check()
        held = {id(event) for event in self.events}
        assert all(id(event) in held for event in self.known.values())

    def dump(self) -> Any:
        return [[*event[:5], list(event.row), self.known.get(event.number) is event] for event in self.events]

    def load(self, data: Any) -> None:
        for time, number, arrival, stream, start, row, known in data:
            self.add([HeldEvent(time, number, arrival, stream, start, tuple(row))], known)
