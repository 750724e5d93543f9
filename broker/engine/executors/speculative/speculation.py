"""The timelines of all keys of one automaton, and the changes of its results.

Here: the key of an event, withdrawals by id, final results, changes of arcs. A result that was found and lost within
one batch is not reported. Not here: one key (timeline), reports to subscribers (the host).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....automaton.automaton import Arc, Automaton
from ....events.instant import FOREVER
from ....events.schema import Row
from ...account import UNLIMITED
from .arcs import ArcTable
from .nodes import Node, Stepper
from .timeline import Change, Entry, Timeline


@final
class Speculation:
    """`newest`: the time of the newest event; `promised`: no earlier event comes; -FOREVER before either.

    `withdrawable`: events may be withdrawn by their ids, which must then be different. `runs_max`: the most nodes of an
    event.
    """

    def __init__(self, automaton: Automaton, withdrawable: bool = True, runs_max: int = UNLIMITED) -> None:
        self.automaton = automaton
        self.withdrawable = withdrawable
        self.table = ArcTable(automaton)
        self.stepper = Stepper(self.table, runs_max)
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
        """Process an event of the stream with that number. O(log events of its key), and the changes that it causes."""
        key: Row = tuple([row[position] for position in self._keys[stream]])
        if None in key:
            return
        timeline = self.timeline(key)
        entry = Entry(stream, time, order, id, item, row, self.table.classify(stream, row))
        timeline.insert(entry, self.changes)
        if self.withdrawable:
            self._places[id] = (timeline, time, order)
        if time > self.newest:
            self.newest = time

    def timeline(self, key: Row) -> Timeline:
        """The timeline of a key, which is made if there is none."""
        timeline = self.timelines.get(key)
        if timeline is None:
            timeline = self.timelines[key] = Timeline(self.stepper, key, self._begins, self._within)
        return timeline

    def work(self) -> i64:
        """The number of nodes made so far."""
        return self.stepper.made

    def retract(self, id: int) -> bool:
        """Withdraw an event; False if no event with that id can be withdrawn."""
        place = self._places.pop(id, None)
        if place is None:
            return False
        timeline, time, order = place
        timeline.remove(timeline.place(time, order), self.changes)
        return True

    def punctuate(self, time: int) -> None:
        """Promise that no event before that time comes or is withdrawn any more. O(keys with something to drop)."""
        self.promised = time
        for key, timeline in list(self.timelines.items()):
            if len(timeline.times) > 0 and timeline.times[0] < time:
                for id in timeline.clean(time):
                    self._places.pop(id, None)
            if timeline.idle(time):
                del self.timelines[key]

    # --- arcs ---------------------------------------------------------------------------------------------------

    def write(self, arcs: tuple[Arc, ...], begin: int, end: int) -> None:
        """Set the arcs, which change for the events of [begin, end). O(arcs, and events in the interval).

        Stored events of the interval are processed again; the state that earlier events led to stays.
        """
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
        """The changes of results since the last call, without results that came and went in between. O(changes)."""
        changes, self.changes = self.changes, []
        if all(change.inserted for change in changes):
            return changes
        net: dict[tuple[object, ...], int] = {}
        for change in changes:
            mark = _mark(change)
            net[mark] = net.get(mark, 0) + (1 if change.inserted else -1)
        kept: list[Change] = []
        for change in reversed(changes):  # the last change of a result decides
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
        if not self.withdrawable:
            return
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
