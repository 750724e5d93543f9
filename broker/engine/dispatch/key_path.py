"""The key path: passes a batch of events to the machines of one key after the other, instead of event by event.

What the machines of a key remember is then in the processor's caches for all events of the key. The machines see their
events in the same order, and what they complete is put in the order of the events when it is read.

Here: the path of a whole batch through lanes whose machines are all filed by keys. Hot. Not here: other lanes
(batch_path), one event (lanes), links between the events of a key (executors.keyed_events).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ...events.schema import Row
from ..executors.completions import Completions
from ..executors.keyed_events import NO_EVENT, KeyedEvents
from .keyed import KeyReaders
from .lanes import Lane
from .matchers import Clock


@final
class KeyPath:
    """The lanes of one stream."""

    def __init__(self, lanes: list[Lane], clock: Clock) -> None:
        self.lanes = lanes
        self.clock = clock

    def travel(
        self, found: Completions, times: list[int], rows: list[Row], ids: list[int], starts: list[int]
    ) -> None:  # fmt: skip
        """Process a batch of at least one event. What the clock wakes must belong to these lanes.

        A machine that fails is suspended from the event on at which it does; the others process all events.
        """
        items: list[Any] = ids
        events = KeyedEvents(times, rows, items, starts)
        newest: i64 = times[len(times) - 1]
        for lane in self.lanes:
            events.position = lane.position
            if len(lane.indexes) == 1 and lane.indexes[0].parts(lane.keys):
                linked = lane.indexes[0].link(events)
                self._count_linked(lane, linked, events)
                for readers in linked:
                    self._pass(lane, readers, events, found)
            else:
                self._count(lane, events)
                for index in lane.indexes:
                    for readers in index.link(events):
                        self._pass(lane, readers, events, found)
            lane.upkeep(newest, len(times))
        clock = self.clock
        while clock.next < newest:
            found.event = events.after(clock.next)
            clock.advance(times[found.event], found)

    def _count(self, lane: Lane, events: KeyedEvents) -> None:
        """Count the events in their partitions, if a machine of the lane needs that."""
        if len(lane.keys) == 0:
            lane.position += len(events.rows)
            return
        places = events.places
        at: i64
        for at in range(len(events.rows)):
            row = events.rows[at]
            concerns = False
            for index in lane.indexes:
                concerns = concerns or index.of(row) is not None
            places[at] = lane.count(0, row, concerns)

    def _count_linked(self, lane: Lane, linked: list[KeyReaders], events: KeyedEvents) -> None:
        """The same where partitions are keys: one lookup for all events of a key."""
        places, following, rows = events.places, events.following, events.rows
        position, known = lane.indexes[0].single, lane.places
        counted: i64 = 0
        for readers in linked:
            at = readers.first
            key = (rows[at][position],)
            place: i64 = known.get(key, 0)
            while at >= 0:
                place += 1
                places[at] = place
                counted += 1
                at = following[at]
            known[key] = place
        lane.position += len(rows)
        if counted < len(rows):  # others are counted once their partition has begun
            for at in range(len(rows)):
                if places[at] == 0:
                    key = (rows[at][position],)
                    before = known.get(key)
                    if before is not None:
                        known[key] = before + 1

    def _pass(self, lane: Lane, readers: KeyReaders, events: KeyedEvents, found: Completions) -> None:
        """Pass the events of a key to its machines: those that follow a trail go along it together."""
        if len(readers.followers) > 0:
            self._follow(lane, readers, events, found)
        for matcher in readers.others:
            lane.step_linked(matcher, events, readers.first, found)
        readers.first = NO_EVENT

    def _follow(self, lane: Lane, readers: KeyReaders, events: KeyedEvents, found: Completions) -> None:
        trail, followers, following = readers.trail, readers.followers, events.following
        at = readers.first
        while at >= 0:
            found.event = at
            time: i64 = events.times[at]
            trail.position, trail.place = events.position + at + 1, events.places[at]
            trail.add(events.rows[at], time, events.starts[at], events.items[at])
            for matcher in followers:
                lane.lead(matcher, trail, time, found)
            at = following[at]


def key_path(lanes: list[Lane], clock: Clock) -> KeyPath | None:
    """The path through lanes; None if a machine of them is not filed by a key, or a lane has several streams."""
    if any(lane.unfiled or not lane.indexes or len(lane.streams) > 1 for lane in lanes):
        return None
    return KeyPath(lanes, clock)
