"""Single runs: the whole language, without optimisations (SASE+ 3; semantics 2.3-2.5).

A run waits for a component (`waiting`), or is in a Kleene component with at least one event (`inside`). An event that
does not fit a run's state leaves the run unchanged. The next visit of the run applies its strategy for such events, by
the numbers of events in the stream and in the partition.

Here: the effect of an event on the runs of one key value. Not here: keys (machine), negated events (negation_index),
time that passes after a match (pending).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....algebra.predicate import holds
from ....events.schema import Row
from ...matches.completions import Completions
from ...matches.sources import Assigned, Item
from .cell import RunCell
from .kleene_plan import ANY, NEXT, PARTITION, STRICT
from .negation_index import NegationIndex
from .pending import Pending, order
from .run import KleeneRun, Restored, RunsArchive, TakenEvents, Trail, complete, extended, links, unrolled
from .tables import BEFORE, LINK_BYTES, Edges, Tables

FEW: Final = 16  # runs, links and events up to which useless ones are not searched
NOT_TAKEN: Final = -1


@final
class Runs(RunCell):
    """The runs of one key value, and the completions of the current event: `done`."""

    __slots__ = (
        "again",
        "count",
        "done",
        "events",
        "grown",
        "inside",
        "item",
        "linked",
        "number",
        "pending",
        "place",
        "position",
        "row",
        "settled",
        "tables",
        "time",
        "waiting",
    )

    def __init__(self, tables: Tables, negated: list[NegationIndex], pending: Pending) -> None:
        super().__init__(negated)
        self.tables = tables
        self.pending = pending
        self.waiting: list[list[KleeneRun]] = [[] for _ in tables.edges]
        self.inside: list[list[KleeneRun]] = [[] for _ in tables.edges]
        self.done: list[KleeneRun] = []
        self.grown: list[KleeneRun] = []  # clones that took the current event
        self.events = TakenEvents(0)
        self.count: i64 = 0
        self.linked: i64 = 0  # links of trails that were made and not yet found useless
        self.settled: i64 = 0  # runs, links and events that the last search left
        self.again: i64 = BEFORE  # when a full cell may be searched again
        self.row: Row = ()
        self.time: i64 = 0
        self.position: i64 = 0
        self.place: i64 = 0
        self.item: Item = None
        self.number = NOT_TAKEN

    def step(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item, found: Completions) -> bool:
        self.row, self.time, self.position, self.place, self.item = row, time, position, place, item
        self.number = NOT_TAKEN
        kept = self.count + self.linked + len(self.events.items)
        if kept > 2 * self.settled + FEW or (self.count >= self.tables.runs_max and time >= self.again):
            self.settle(time, position)
            self.again = time + (self.tables.window >> 4) + 1
        edges = self.tables.edges
        k: i64 = self.tables.last
        while k >= 0:  # from the end, so that no run takes the event twice
            here = edges[k]
            if here.kleene and len(self.inside[k]) > 0:
                if mask & here.take:
                    self._visit_inside(k, here, True, mask)
                elif k < self.tables.last and mask & edges[k + 1].begin:
                    self._visit_inside(k, here, False, mask)
            if mask & here.begin:
                if k == 0:
                    self._begin()
                elif len(self.waiting[k]) > 0:
                    self._visit_waiting(k, here)
            k -= 1
        if len(self.done) > 0:
            self._report(found)
        return True

    def _report(self, found: Completions) -> None:
        done = self.done
        self.done = []
        events = self.events
        if len(self.tables.trailing) > 0:
            for run in done:
                self.pending.add((events, run), self.time, self)
            return
        if self.tables.alone:
            if len(done) > 1:
                done = [min(done, key=lambda run: order(events, run.trail, False))]
            self.clear()
        found.add(complete([(events, run) for run in done], self.tables))

    def _begin(self) -> None:
        edges = self.tables.edges[0]
        fresh = self.tables.registers.fresh()
        if edges.begin_rest is not None and not holds(edges.begin_rest, self.row, (), fresh, 0, 0):
            return
        lead: i64 = BEFORE
        for denial in self.tables.leading:
            lead = max(lead, self.negated[denial.number].lead(self.time))
        self._forward(KleeneRun(self.time, self._taken(), lead, fresh, None, 0, 0), 0, False)

    def _visit_waiting(self, k: i64, here: Edges) -> None:
        """Visit the runs that wait for component k, which the event may begin."""
        runs = self.waiting[k]
        self.tables.account.spend(len(runs))
        kept: list[KleeneRun] = []
        for run in runs:
            if self.time - run.start > self.tables.window:
                self.count -= 1
                continue
            self.count -= 1
            if self._awaits(run, here) and self._arrive(run, k, here, True):
                kept.append(run)
                self.count += 1
        self.waiting[k] = kept

    def _awaits(self, run: KleeneRun, here: Edges) -> bool:
        """Whether the run still waits here: its component ignores all events since its last one."""
        if here.strategy == STRICT:
            return self.position == run.position + 1
        return here.strategy != PARTITION or self.place == run.place + 1

    def _arrive(self, run: KleeneRun, k: i64, here: Edges, hit: bool) -> bool:
        """Pass the event to a run that waits for component k; returns whether the run continues to wait."""
        fit = hit and (here.begin_rest is None or holds(here.begin_rest, self.row, (), run.slots, 0, 0))
        stays = here.strategy == ANY or (here.strategy == NEXT and not fit)
        if self._marked(run, here):
            return False  # the same happens whenever it continues
        if fit:
            self._forward(run, k, stays)
        return stays

    def _marked(self, run: KleeneRun, here: Edges) -> bool:
        """Whether a negated event stands between the run's last event and the current one."""
        for number in here.marks:  # noqa: SIM110  a generator here would allocate on the hot path
            if self.negated[number].position > run.position:
                return True
        return False

    def _visit_inside(self, k: i64, here: Edges, hit: bool, mask: i64) -> None:
        """Visit the runs in component k, which may end before the event, take it, both, or neither."""
        runs = self.inside[k]
        self.tables.account.spend(len(runs))
        following = self.tables.edges[k + 1] if k < self.tables.last else None
        ahead = following is not None and mask & following.begin != 0
        kept: list[KleeneRun] = []
        for run in runs:
            if self.time - run.start > self.tables.window:
                self.count -= 1
                continue
            passed = (here.strategy == STRICT and self.position != run.position + 1) or (
                here.strategy == PARTITION and self.place != run.place + 1
            )
            if passed:  # an event in between ended it
                self.count -= 1
                if following is not None and here.ended(run.slots) and self._awaits(run, following):
                    self._move_on(run, k + 1, following, ahead)
                continue
            fit = hit and (here.take_rest is None or holds(here.take_rest, self.row, (), run.slots, 0, 0))
            ignored = here.strategy == ANY or (here.strategy == NEXT and not fit)
            if following is not None and (ahead or not (fit or ignored)) and here.ended(run.slots):
                if fit or ignored:
                    self._peek(run, k + 1, following)
                else:
                    self._move_on(run, k + 1, following, ahead)
            if self._grow(run, k, here, ignored) if fit else ignored:
                kept.append(run)
            else:
                self.count -= 1
        if len(self.grown) > 0:
            kept += self.grown
            self.grown = []
        self.inside[k] = kept

    def _peek(self, run: KleeneRun, k: i64, here: Edges) -> None:
        """Take the event as the first one of the next component."""
        if self._marked(run, here):
            return
        if here.begin_rest is None or holds(here.begin_rest, self.row, (), run.slots, 0, 0):
            self._forward(run, k, True)

    def _move_on(self, run: KleeneRun, k: i64, here: Edges, hit: bool) -> None:
        """Let a run whose Kleene component has ended for good wait for the next component."""
        if self._arrive(run, k, here, hit):
            self.waiting[k].append(run)
            self.count += 1

    def _forward(self, run: KleeneRun, k: i64, clone: bool) -> None:
        """Take the event as the first one of component k, for a clone or for a run that is itself new."""
        tables = self.tables
        run = self._take(run, k, tables.registers.begun(run.slots, k, self.row), clone)
        here = tables.edges[k]
        if k == tables.last and (not here.kleene or here.ended(run.slots)):
            self._complete(run)
        if here.kleene:
            if not here.hopeless(run.slots, k == self.tables.last) and self._room():
                self.inside[k].append(run)
        elif k < tables.last and self._room():
            self.waiting[k + 1].append(run)

    def _grow(self, run: KleeneRun, k: i64, here: Edges, clone: bool) -> bool:
        """Take the event as a further one of component k; returns whether the run itself continues."""
        run = self._take(run, k, self.tables.registers.taken(run.slots, k, self.row), clone)
        if k == self.tables.last and here.ended(run.slots):
            self._complete(run)
        hopeless = here.hopeless(run.slots, k == self.tables.last)
        if clone and not hopeless and self._room():
            self.grown.append(run)
        return clone or not hopeless

    def _taken(self) -> int:
        """The number of the current event, which some run takes."""
        if self.number == NOT_TAKEN:
            self.number = int(self.events.add(self.item, self.time, self.position))
        return self.number

    def _take(self, run: KleeneRun, k: i64, slots: Slots, clone: bool) -> KleeneRun:
        """The run, or a clone, with the event and these registers."""
        before = run.trail
        trail = extended(before, int(k), self._taken())
        if clone or trail[0] is before:
            self.linked += 1
        if clone:
            self.tables.account.spend(1)
            return KleeneRun(run.start, run.first, run.lead, slots, trail, self.position, self.place)
        run.slots, run.trail, run.position, run.place = slots, trail, self.position, self.place
        return run

    def _room(self) -> bool:
        """Count one more run; returns whether the limit allows it."""
        if self.count >= self.tables.runs_max:
            self.lost += 1
            return False
        self.count += 1
        return True

    def _complete(self, run: KleeneRun) -> None:
        """Report a match, unless a leading or look-back negation forbids it. Continuing runs are copied."""
        tables = self.tables
        if len(tables.leading) > 0 and run.lead > self.time - tables.window:
            return
        for denial in tables.looked:
            if self._denied(run, denial.number):
                return
        if len(self.done) >= tables.matches_max:
            self.lost += 1
            return
        tables.account.spend(tables.match_units)
        if tables.edges[tables.last].kleene:
            run = run.copy()
        self.done.append(run)

    def _denied(self, run: KleeneRun, number: i64) -> bool:
        """Whether a logged event of a negation at the start or in the middle forbids a whole match."""
        denial = self.tables.denials[number]
        index = self.negated[number]
        if denial.place == 0:
            rows = index.during(self.time - self.tables.window, run.start - 1)
        else:
            after, before = _bounds_of(self.events, run.trail, denial.place)
            rows = index.between(after, before)
        return index.denies(rows, run.slots, self.tables.account)

    # --- upkeep -------------------------------------------------------------------------------------------------

    def settle(self, time: i64, position: i64) -> i64:
        """Drop the runs that no event from this one on can continue. O(runs, links and events)."""
        tables = self.tables
        place = self.place
        self.count = 0
        for k in range(len(tables.edges)):
            here = tables.edges[k]
            following = tables.edges[k + 1] if k < tables.last else None
            self.waiting[k] = [run for run in self.waiting[k] if self._useful(run, here, False, time, position, place)]
            self.inside[k] = [
                run for run in self.inside[k] if self._useful(run, here, following is not None, time, position, place)
            ]
            self.count += len(self.waiting[k]) + len(self.inside[k])
        self._release()
        return self.count

    def _release(self) -> None:
        """Count the links that are still there, and leave the events behind that no run has."""
        seen: set[int] = set()
        first = int(self.events.end())
        for _, _, run in self.runs():
            first = min(first, int(run.first))
            node: Any = run.trail
            while node is not None and id(node) not in seen:
                seen.add(id(node))
                node = node[0]
        self.linked = len(seen)
        self.events = self.events.turned(first)
        self.settled = self.count + self.linked + len(self.events.items)

    def _useful(self, run: KleeneRun, here: Edges, more: bool, time: i64, position: i64, place: i64) -> bool:
        """Whether an event can continue the run. `more`: the end of the component need not end the run."""
        if time - run.start > self.tables.window:
            return False
        if more or here.strategy >= NEXT:
            return True
        return position <= run.position + 1 if here.strategy == STRICT else place <= run.place + 1

    def clear(self) -> None:
        """Drop all runs."""
        for k in range(len(self.waiting)):
            self.waiting[k] = []
            self.inside[k] = []
        self.count = 0
        self._release()

    def enter(self, events: TakenEvents, runs: list[KleeneRun]) -> None:
        """Continue with these runs, which are in the first component, and the page of their events."""
        self.events = events
        self.inside[0] += runs
        self.count += len(runs)

    def bytes(self) -> i64:
        tables = self.tables
        runs = (self.count + self.owed) * tables.run_bytes
        return runs + self.linked * LINK_BYTES + len(self.events.items) * tables.event_bytes

    def size(self) -> int:
        return int(self.count)

    def partial(self, oldest: i64) -> Iterator[Assigned]:
        for _, _, run in self.runs():
            if run.start >= oldest:
                yield unrolled(self.events, run.trail)

    def check_invariants(self) -> None:
        runs = sum(map(len, self.waiting)) + sum(map(len, self.inside))
        assert runs == self.count, f"{runs} runs, counted {self.count}"
        assert not self.waiting[0], "no run waits for the first component"
        assert not self.done, "matches that were not reported"
        for _, _, run in self.runs():
            found = links(run.trail)
            assert found[0][2] == run.first >= self.events.base, "an event that a run has is forgotten"
            assert found[-1][3] < self.events.end()

    def dump(self, archive: RunsArchive) -> list[Any]:
        waiting = [[archive.run(run) for run in runs] for runs in self.waiting]
        inside = [[archive.run(run) for run in runs] for runs in self.inside]
        return [waiting, inside, int(self.place), archive.page(self.events)]

    def load(self, data: Any, restored: Restored) -> None:
        waiting, inside, self.place, page = data
        self.events = restored.pages[page]
        self.waiting = [[restored.run(run) for run in runs] for runs in waiting]
        self.inside = [[restored.run(run) for run in runs] for runs in inside]
        self.count = sum(map(len, self.waiting)) + sum(map(len, self.inside))

    def runs(self) -> list[tuple[int, bool, KleeneRun]]:
        """All runs: component, whether inside, run."""
        found: list[tuple[int, bool, KleeneRun]] = []
        for k in range(len(self.waiting)):
            found += [(k, False, run) for run in self.waiting[k]]
            found += [(k, True, run) for run in self.inside[k]]
        return found


def _bounds_of(events: TakenEvents, trail: Trail, place: i64) -> tuple[int, int]:
    """The positions in the stream of the last event before a component and of its first event."""
    before = 0
    node: Any = trail
    while node is not None and node[1] >= place:
        before = node[2]
        node = node[0]
    assert node is not None
    return int(events.position(node[3])), int(events.position(before))
