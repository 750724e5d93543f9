"""The timelines of all keys of one automaton, and the changes of its results.

Here: the key of an event, withdrawals, final results, changes of arcs, when memory is compacted. A result that
was found and lost within one batch is not reported. Not here: one key (timeline), reports to subscribers (the host).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....automaton.automaton import Arc, Automaton
from ....events.instant import FOREVER
from ....events.schema import Row
from ...program.account import UNLIMITED
from .arcs import ArcTable
from .arena import Arena, NodeLayout, Records
from .changes import Changes
from .compaction import Compaction
from .entries import TimelineEntry
from .kept import keep_runs, kept_runs
from .nodes import BlockStepper
from .timeline import Timeline
from .visits import Visits
from .wait_states import wait_states

LISTS_MAX: Final = 131_072  # lists of arcs, of states and classes, beyond which classes are forgotten
CLASSES_MIN: Final = 256  # classes that are always kept
SLACK: Final = 256  # nodes beyond three times the live ones, at which the arena is compacted: as many automata have one


class SpeculationSwitches(NamedTuple):
    """For comparison: `sharing` of blocks by events that every run ignores, `waiting`: states that ignore keep their
    runs apart, `cutting`: classes of events are looked up by regions. `slack`: how many nodes are wasted, at most,
    beyond those that are there. `classes_max`: how many classes of events are known, or twice those of the stored ones;
    0: as the number of states says.
    """

    sharing: bool = True
    waiting: bool = True
    cutting: bool = True
    slack: int = SLACK
    classes_max: int = 0


STANDARD: Final = SpeculationSwitches()


@final
class Speculation:
    """`newest`: the time of the newest event; `promised`: no earlier event comes. -FOREVER before either.

    `runs_max`: the most nodes of an event, and the most runs of a key that wait.

    `labels`: what digests say of the targets of arcs. `passed`: events and promises since all keys were cleaned.
    """

    def __init__(
        self,
        automaton: Automaton,
        runs_max: int = UNLIMITED,
        labels: list[int] | None = None,
        switches: SpeculationSwitches = STANDARD,
    ) -> None:
        self.automaton = automaton
        self.sharing = switches.sharing
        self.layout = NodeLayout(automaton)
        self.arena = Arena(self.layout)
        self._spare = Arena(self.layout)
        self.table = ArcTable(automaton, self.layout, labels, switches.cutting)
        self.classes_max: i64 = switches.classes_max or max(CLASSES_MIN, LISTS_MAX // max(1, len(automaton.states)))
        self.within: i64 = FOREVER if automaton.within is None else automaton.within
        states = wait_states(automaton, self.layout) if switches.waiting else []
        self.table.waiting = states
        self.stepper = BlockStepper(self.table, self.arena, automaton, self.within, runs_max)
        self.visits: Visits | None = Visits(self.stepper) if len(states) > 0 else None
        self.timelines: dict[Row, Timeline] = {}
        self.changes = Changes(self.layout)
        self.newest: i64 = -FOREVER
        self.promised: i64 = -FOREVER
        self.slack: i64 = switches.slack
        self.full = self.full_links = self.slack
        self._keys: list[tuple[int, ...]] = [source.key for source in automaton.sources]
        self._alone: Timeline | None = None  # of the only key, where there is no BY
        self.passed: i64 = 0

    # --- events -------------------------------------------------------------------------------------------------

    def take(self, stream: i64, time: i64, order: i64, id: i64, row: Row) -> None:
        """Process an event of the stream with that number. O(log events of its key), and the changes that it causes."""
        timeline = self._alone
        if timeline is None:
            timeline = self._timeline(stream, row)
            if timeline is None:
                return
        if self.arena.count > self.full or self.arena.linked > self.full_links:
            self.compact()
        klass = self.table.classify(stream, row)
        if klass >= self.classes_max:
            self._classify_again()
            klass = self.table.classify(stream, row)
        entry = TimelineEntry(stream, time, order, id, row, klass)
        timeline.insert(entry, self.changes)
        if time > self.newest:
            self.newest = time
        self.passed += 1

    def take_batch(self, stream: i64, times: list[int], orders: list[int], ids: list[int], rows: list[Row]) -> None:
        """The same for many events of a stream, in the order of their arrival."""
        i: i64
        for i in range(len(times)):
            self.take(stream, times[i], orders[i], ids[i], rows[i])

    def _classify_again(self) -> None:
        """Forget the classes of which no event is stored. O(events); amortised O(1) an event of a new class."""
        table = self.table
        table.forget_classes()
        for timeline in self.timelines.values():
            for entry in timeline.entries:
                entry.klass = table.classify(entry.stream, entry.row)
        self.classes_max = max(self.classes_max, 2 * len(table.classes.known))

    def _timeline(self, stream: i64, row: Row) -> Timeline | None:
        """The timeline of a row's key; None if the key has a null."""
        key = self._key(stream, row)
        timeline = self.timelines.get(key)
        if timeline is None and None not in key:
            timeline = self.timeline(key)
        if len(key) == 0:
            self._alone = timeline
        return timeline

    def _key(self, stream: i64, row: Row) -> Row:
        positions = self._keys[stream]
        if len(positions) == 1:
            return (row[positions[0]],)
        return tuple([row[position] for position in positions])

    def timeline(self, key: Row) -> Timeline:
        """The timeline of a key, which is made if there is none."""
        timeline = self.timelines.get(key)
        if timeline is None:
            timeline = self.timelines[key] = Timeline(self.stepper, key, self.sharing, self.visits)
        return timeline

    def work(self) -> i64:
        """The number of nodes made so far, and of meetings of runs that wait and events."""
        return self.stepper.made + self.stepper.met

    def retract(self, stream: i64, time: i64, order: i64, row: Row) -> bool:
        """Withdraw an event that was taken so; False if it is not there, or final. Costs as `take`."""
        timeline = self.timelines.get(self._key(stream, row))
        if timeline is None or time < self.promised:
            return False
        at = timeline.place(time, order)
        if at == len(timeline.entries) or timeline.entries[at].time != time or timeline.entries[at].order != order:
            return False
        timeline.remove(at, self.changes)
        return True

    # --- time ---------------------------------------------------------------------------------------------------

    def punctuate(self, time: int) -> None:
        """Promise that no event before that time comes or is withdrawn any more, and now and then forget what only
        such events would need. O(1), amortised; at most O(keys and what is dropped)."""
        self.promised = time
        self.passed += 1
        if self.passed < len(self.timelines):
            return
        self.passed = 0
        for key, timeline in list(self.timelines.items()):
            timeline.clean(time)
            if timeline.idle(time):
                del self.timelines[key]
                self._alone = None
        self.table.forget(time)

    def punctuate_key(self, key: Row, time: int) -> None:
        """Promise so of the events with that key alone. O(events dropped)."""
        timeline = self.timelines.get(key)
        if timeline is not None:
            timeline.clean(time)

    def compact(self) -> None:
        """Drop the nodes that no block has any more. O(keys, events, nodes and links); amortised O(1) a node."""
        compaction = Compaction(self.arena, self._spare)
        visited: i64 = len(self.timelines)
        for timeline in self.timelines.values():
            compaction.line(timeline)
            visited += len(timeline.entries)
        compaction.finish(self.changes)
        self.full = 3 * self.arena.count + visited + self.slack
        self.full_links = 3 * self.arena.linked + visited + self.slack

    # --- arcs ---------------------------------------------------------------------------------------------------

    def write(self, arcs: tuple[Arc, ...], begin: int, end: int) -> None:
        """Set the arcs, which change for the events of [begin, end). O(arcs, and events in the interval).

        Stored events of the interval are processed again; the state that earlier events led to stays.
        """
        self._stop_waiting()
        classes = self.table.write(arcs)
        if not classes and begin > self.newest:
            return
        for timeline in self.timelines.values():
            if classes:
                for entry in timeline.entries:
                    entry.klass = self.table.classify(entry.stream, entry.row)
            first = timeline.place(begin, -FOREVER)
            if first < len(timeline.entries):
                timeline.renew(first, timeline.place(end, -FOREVER), self.changes)

    def _stop_waiting(self) -> None:
        """Where arcs change, no state waits any more, for good: with other arcs the results of such runs may be others.
        O(events and nodes), the first time."""
        if self.visits is None:
            return
        kept = [(timeline, kept_runs(timeline)) for timeline in self.timelines.values()]
        for state in self.table.stop_waiting():
            self.stepper.marked[state] = 0
        self.visits = None
        for timeline, runs in kept:
            timeline.runs = timeline.visits = None
            keep_runs(timeline, runs)
            timeline.compute_all()

    # --- results ------------------------------------------------------------------------------------------------

    def settle(self) -> Changes:
        """The changes of results since the last call, without results that came and went in between. O(changes)."""
        changes = self.changes
        changes.settle(self.arena)
        self.turn()
        return changes

    def turn(self) -> None:
        """Collect further changes apart from those so far."""
        self.changes = Changes(self.layout, self.changes.count)

    def waiting_runs(self, now: int) -> Iterator[tuple[Row, int, int, Slots]]:
        """The runs that an event at the newest time, or at `now` if that is later, may find: key, state, time of the
        first event, registers."""
        oldest = max(now, int(self.newest)) - int(self.within)
        for key, timeline in self.timelines.items():
            found: list[tuple[Records, int]] = [(self.arena, node) for node in timeline.newest_nodes()]
            if timeline.runs is not None:
                found += [(timeline.runs, at) for at in timeline.runs.endless()]
            for records, at in found:
                state, begun = int(records.state(at)), int(records.start(at))
                if state > 0 and begun > oldest:
                    yield key, state, begun, records.registers(at)

    def statistics(self) -> dict[str, int]:
        lines = list(self.timelines.values())
        return {
            "speculative_keys": len(lines),
            "speculative_events": sum(len(timeline.entries) for timeline in lines),
            "speculative_nodes": sum(int(entry.count) for timeline in lines for entry in timeline.entries),
            "speculative_repairs": sum(int(timeline.visited) for timeline in lines),
        }

    def check_invariants(self) -> None:
        for timeline in self.timelines.values():
            timeline.check_invariants()
