"""The timelines of all keys of one automaton, and what becomes of its results.

Here: events to their keys, withdrawals by id, what is final, arcs that come and go; within a batch what was found and
lost again is not told. Not here: one key (timeline), what a subscriber is told (the host).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....automaton.automaton import Arc, Automaton
from ....events.instant import FOREVER
from ....events.schema import Row
from .arcs import ArcTable
from .nodes import Node, Stepper
from .timeline import Change, Entry, Timeline


@final
class Speculation:
    """`newest`: the time of the newest event, `promised`: no earlier event comes; None before either."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.table = ArcTable(automaton)
        self.stepper = Stepper(self.table)
        self.timelines: dict[Row, Timeline] = {}
        self.changes: list[Change] = []
        self.newest = -FOREVER
        self.promised = -FOREVER
        self._within: i64 = FOREVER if automaton.within is None else automaton.within
        self._keys: list[tuple[int, ...]] = [source.key for source in automaton.sources]
        self._begins = Node(0, 0, 0, 0, automaton.initial, 0, None)
        self._places: dict[int, tuple[Timeline, int, int]] = {}  # by id: where an event is that is not final

    # --- events -------------------------------------------------------------------------------------------------

    def take(self, stream: i64, time: i64, order: i64, id: i64, item: Any, row: Row) -> None:
        """An event of the stream with that number. O(log events of its key), and what it changes."""
        key: Row = tuple([row[position] for position in self._keys[stream]])
        if None in key:
            return
        timeline = self.timelines.get(key)
        if timeline is None:
            timeline = self.timelines[key] = Timeline(self.stepper, key, self._begins, self._within)
        entry = Entry(stream, time, order, id, item, row, self.table.classify(stream, row))
        timeline.insert(entry, self.changes)
        self._places[id] = (timeline, time, order)
        if time > self.newest:
            self.newest = time

    def retract(self, id: int) -> bool:
        """An event is withdrawn; False if none of that id can be."""
        place = self._places.pop(id, None)
        if place is None:
            return False
        timeline, time, order = place
        timeline.remove(timeline.place(time, order), self.changes)
        return True

    def punctuate(self, time: int) -> None:
        """No event before that time comes, or goes, any more. O(keys with something that goes)."""
        self.promised = time
        for key, timeline in list(self.timelines.items()):
            if len(timeline.times) > 0 and timeline.times[0] < time:
                for id in timeline.clean(time):
                    del self._places[id]
            if timeline.idle(time):
                del self.timelines[key]

    # --- arcs ---------------------------------------------------------------------------------------------------

    def write(self, arcs: tuple[Arc, ...], begin: int, end: int) -> None:
        """The arcs are these, which differ from those before for the events of [begin, end). Events that are kept there
        are looked at again; state that earlier ones led to stays. O(arcs, and events in the interval)."""
        asks = self.table.write(arcs)
        for timeline in self.timelines.values():
            if asks:
                for entry in timeline.entries:
                    entry.klass = self.table.classify(entry.stream, entry.row)
            first = timeline.place(begin, -FOREVER)
            if first < len(timeline.entries):
                timeline.renew(first, timeline.place(end, -FOREVER), self.changes)

    # --- results ------------------------------------------------------------------------------------------------

    def settle(self) -> list[Change]:
        """What has become of results since the last call, without what came and went meanwhile. O(changes)."""
        changes, self.changes = self.changes, []
        if all(change.inserted for change in changes):
            return changes
        net: dict[tuple[object, ...], int] = {}
        for change in changes:
            mark = _mark(change)
            net[mark] = net.get(mark, 0) + (1 if change.inserted else -1)
        kept: list[Change] = []
        for change in reversed(changes):  # the last word on a result is the one that stays
            mark = _mark(change)
            if net[mark] == (1 if change.inserted else -1):
                net[mark] = 0
                kept.append(change)
        kept.reverse()
        return kept

    def statistics(self) -> dict[str, int]:
        entries = [entry for timeline in self.timelines.values() for entry in timeline.entries]
        return {
            "speculative_keys": len(self.timelines),
            "speculative_events": len(entries),
            "speculative_nodes": sum(len(entry.block) for entry in entries),
            "speculative_repairs": sum(int(timeline.visited) for timeline in self.timelines.values()),
        }

    def check_invariants(self) -> None:
        for timeline in self.timelines.values():
            timeline.check_invariants()
        kept = {int(entry.id) for timeline in self.timelines.values() for entry in timeline.entries}
        assert kept == set(self._places), "what can be withdrawn is what is kept"


def _mark(change: Change) -> tuple[object, ...]:
    node = change.node
    return (int(change.time), int(node.start), int(node.order), int(node.state), int(node.trace), node.registers)


def lineage(links: Any) -> list[int]:
    """The ids of the events that a run took, in their order."""
    found: list[int] = []
    while links is not None:
        links, last = links
        found.append(last)
    found.reverse()
    return found
