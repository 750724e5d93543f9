"""Folds: lines of steps in which a run takes every next event of its key as long as a condition holds.

This is CEL's FOLD, alone or with NEXT and other FOLDs before and behind it. The condition has no constants, or one
conjunction with some; the run reports, or also moves on, at each event at which the end condition of its step holds.

A fold works like a chain, but runs stay. Their values bound the conditions of the members on the events of steps so
far; the conditions at the end of a step (counts, durations, sums) are evaluated anew at each event. `need` is the least
constant of one of them among the members that the run's values leave, so that most events need no lookup. It may be too
low, never too high: joining and leaving do not update it, and a run's members are older than the run.

What a run remembers is the same for all members and computed once, with the values that the language defines. Counters
are machine numbers, if nothing else changes while a run goes on. A condition on an event and the one taken before it is
tested once for all runs that took that one.

Here: the effect of an event on the runs of a key. Hot. Not here: columns of runs (fold_runs), the conditions
(fold_template). A new run comes before those that continue, as in the engine.
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....algebra.predicate import holds
from ....events.schema import Row
from ...matches.sources import Lineage, PartialMatch, flattened
from ..trace import mixed
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats
from .epoch_runs import EpochRuns, linked, traced
from .fold_runs import BEGAN, BORN, COUNTERS, DEPTH, FIRST, NUMBER, TAKEN, TOUCHED, TRACE, FoldRuns, tuple_slots
from .fold_template import FoldClause, FoldStep, FoldTemplate
from .members import Members
from .stamps import Stamps

UNTOUCHED: Final = -(1 << 62)  # in snapshots: earlier than any epoch
BEFORE: Final = -(1 << 62)


@final
class FoldCell(GroupCell):
    """The runs of a key: those that wait from epochs before `now`, and those of `now`, in the order in which they took
    their last events."""

    def __init__(
        self, template: FoldTemplate, epochs: EpochRuns, stamps: Stamps | None = None, members: Members | None = None
    ) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self.template = template
        self.now: i64 = BEFORE
        self._epochs = epochs
        self._counters: list[int] = epochs.counters
        self._steps: list[int] = epochs.counter_steps
        self._counter: i64 = -1  # the place of the counter that `need` of the only step is about
        end = template.steps[0]
        if end.counts and int(end.end[0].slot) in self._counters:
            self._counter = COUNTERS + self._counters.index(int(end.end[0].slot))
        self._stamps = Stamps() if stamps is None else stamps
        self._waiting = FoldRuns(int(template.d), len(self._counters))
        self._new = FoldRuns(int(template.d), len(self._counters))
        self._untouched: i64 = 0  # how many waiting ones
        self._number: i64 = 0  # of the newest run
        self._traced: i64 = 0  # what the current event adds to a digest
        self._stamped: i64 = -1  # the run that the newest stamp is for
        self._pair: Row | None = None  # an event that was taken before the current one, at a step
        self._at: FoldStep | None = None
        self._paired = False  # whether the current one may follow it

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(runs), and one lookup for each run that may report."""
        start = self.began
        length = time - start + 1
        if time > self.now:
            self._turn(time)
        self._stamped = -1
        self._pair = None
        self._traced = traced(self.item)
        self._begin(row, time, event, length)
        waiting = self._waiting
        if waiting.count == 0 or (self.template.passes and not self._seen_by_some(row)):
            return
        numbers, each = waiting.integers, waiting.each
        before: i64 = -1
        i: i64
        for i in range(waiting.count):
            place = i * each
            if numbers[place + NUMBER] != before:
                # Alternatives go on as alternatives; another event of the epoch makes other runs.
                before = numbers[place + NUMBER]
                self._number += 1
            if numbers[place + TAKEN] < start:  # otherwise they overlap, and the event does not exist for the run
                step = self.template.steps[numbers[place + DEPTH]]
                if step.sees is not None and not self._sees(step, step.sees, i, row, time, length):
                    continue
                if numbers[place + TOUCHED] == 0:
                    numbers[place + TOUCHED] = 1
                    self._untouched -= 1
                if step.take is None:
                    self._go_on(step, i, waiting.floats, i * (waiting.d + 1), row, time, length, out)
                elif not self._ends(step, waiting.rows[i]):
                    self._step(step, step.take, i, row, time, length, out)

    def _turn(self, time: i64) -> None:
        """Begin another epoch. Runs that no event of the last one affected continue to wait.

        O(new runs), and O(runs) if the last epoch has affected only some.
        """
        waiting, new = self._waiting, self._new
        i: i64
        if 0 < self._untouched == waiting.count:
            for i in range(new.count):
                waiting.add(new, i)
            new, waiting = waiting, new
        elif self._untouched > 0:
            both = FoldRuns(int(new.d), int(new.each) - COUNTERS)
            for i in range(waiting.count):
                if waiting.integers[i * waiting.each + TOUCHED] == 0:
                    both.add(waiting, i)
            for i in range(new.count):
                both.add(new, i)
            new = both
        self.now = time
        waiting.clear()
        self._waiting, self._new = new, waiting
        self._untouched = new.count

    def _begin(self, row: Row, time: i64, event: i64, length: i64) -> None:
        template, members, new = self.template, self.members, self._new
        self._number += 1
        j: i64
        for clause in template.begin:
            if clause.misses(row, members):
                continue
            new.room()
            x, at = new.floats, new.count * (new.d + 1)
            for j in range(template.d):
                x[at + j] = INFINITY
            if not clause.narrows(row, time, time, x, at, x, at):
                continue
            if not members.possible(x, at) or not clause.admits(row):
                continue
            x[at + template.d] = -INFINITY
            numbers, place = new.integers, new.count * new.each
            numbers[place + FIRST], numbers[place + NUMBER] = event, self._number
            numbers[place + BEGAN], numbers[place + BORN] = self.began, time
            numbers[place + TRACE] = mixed(0, self._traced, 1)
            numbers[place + TAKEN], numbers[place + TOUCHED], numbers[place + DEPTH] = time, 0, 0
            slots = self._epochs.filled(0, row, (), (), int(length), int(length))
            at = place + COUNTERS
            for slot in self._counters:
                numbers[at] = slots[slot]
                at += 1
            new.close(row, slots, linked(None, self.item) if self._epochs.lineage else None)
            self.noted = event

    def _ends(self, step: FoldStep, bound: Row) -> bool:
        """Whether it is known that the event does not follow the one that a run took last."""
        return self._pair is bound and self._at is step and not self._paired

    def _seen_by_some(self, row: Row) -> bool:
        """Whether runs may see the event, by what it is asked alone; notes that for each step."""
        some = False
        for step in self.template.steps:
            sees = step.sees
            step.seen = sees is None or not sees.alone or sees.rest is None or holds(sees.rest, row, (), (), 0, 0)
            some = some or step.seen
        return some

    def _sees(self, step: FoldStep, sees: FoldClause, run: i64, row: Row, time: i64, length: i64) -> bool:
        """Whether a run does not let the event pass."""
        if sees.alone:
            return step.seen
        waiting = self._waiting
        return sees.narrows(row, time, length, time, waiting.rows[run], self._slots(waiting, run), self.template.x, 0)

    def _slots(self, runs: FoldRuns, run: i64) -> Slots:
        """The slots of a run, counters included."""
        slots = runs.slots[run]
        if len(self._counters) == 0:
            return slots
        made = list(slots)
        at = run * runs.each + COUNTERS
        for slot in self._counters:
            made[slot] = int(runs.integers[at])
            at += 1
        return tuple(made)

    def _follows(
        self, step: FoldStep, take: FoldClause, run: i64, row: Row, time: i64, length: i64, at: i64
    ) -> bool:  # fmt: skip
        """Lower the values at that place of the new runs to those of the event, if the run may take it."""
        waiting, x = self._waiting, self._new.floats
        bound = waiting.rows[run]
        began = waiting.integers[run * waiting.each + BEGAN]
        if not take.pairwise:
            return take.narrows(row, time, length, began, bound, self._slots(waiting, run), x, at)
        link, bounds = self.template.link, len(take.bounds) > 0
        j: i64
        if self._pair is not bound or self._at is not step:
            self._pair, self._at = bound, step
            if bounds:
                for j in range(self.template.d):
                    link[j] = INFINITY
            self._paired = take.narrows(row, time, length, began, bound, (), link, 0)
        if bounds and self._paired:
            for j in range(self.template.d):
                if link[j] < x[at + j]:
                    x[at + j] = link[j]
        return self._paired

    def _step(
        self, step: FoldStep, take: FoldClause, run: i64, row: Row, time: i64, length: i64, out: MatchBlocks
    ) -> None:  # fmt: skip
        """Let a run take the event, if its condition holds, and go on for those whose end condition holds."""
        template, members, waiting, new = self.template, self.members, self._waiting, self._new
        d = template.d
        new.room()
        own, at, base = new.floats, new.count * (d + 1), run * (d + 1)
        j: i64
        for j in range(d + 1):
            own[at + j] = waiting.floats[base + j]
        if not self._follows(step, take, run, row, time, length, at) or not members.possible(own, at):
            return
        need = own[at + d]
        if need == -INFINITY and step.need >= 0:  # most runs end before anybody asks
            need = members.nearest(own, at, step.need)
            if need == INFINITY:
                return
            own[at + d] = need
        numbers, place, old = new.integers, new.count * new.each, run * waiting.each
        before = waiting.integers
        for j in range(new.each):
            numbers[place + j] = before[old + j]
        numbers[place + NUMBER] = self._number
        numbers[place + TRACE] = mixed(before[old + TRACE], self._traced, numbers[place + DEPTH] + 1)
        numbers[place + TAKEN], numbers[place + TOUCHED] = time, 0
        slots = waiting.slots[run]
        if len(self._counters) > 0:
            j = place + COUNTERS
            for more in self._steps:
                numbers[j] += more
                j += 1
        else:
            span = time - before[old + BEGAN] + 1
            slots = self._epochs.filled(step.taking, row, waiting.rows[run], slots, int(length), int(span))
        lineage: Lineage = linked(waiting.lineage(run), self.item) if self._epochs.lineage else None
        new.close(row, slots, lineage)
        counter = self._counter
        if counter >= 0 and step.sign * float(before[old + counter] + step.end[0].added) < need:
            return
        self._go_on(step, run, own, at, row, time, length, out)

    def _go_on(
        self, step: FoldStep, run: i64, own: Floats, at: i64, row: Row, time: i64, length: i64, out: MatchBlocks
    ) -> None:
        """Let a run, whose values are there, move on with the event, or report, for the members whose end condition
        holds."""
        template, members, waiting = self.template, self.members, self._waiting
        x, numbers, place, need = template.x, waiting.integers, run * waiting.each, own[at + waiting.d]
        bound, slots, began = waiting.rows[run], self._slots(waiting, run), numbers[place + BEGAN]
        begun = out.members_upto
        j: i64
        for clause in step.end:
            for j in range(template.d):
                x[j] = own[at + j]
            if not clause.narrows(row, time, length, began, bound, slots, x, 0):
                continue
            if step.need >= 0 and x[step.need] < need:
                continue
            if not step.last:
                if members.possible(x, 0):
                    self._move(step, run, row, time, length)
                continue
            found = out.members_upto
            if members.find(x, 0, numbers[place + FIRST], out) > 0 and template.unions:
                if numbers[place + NUMBER] != self._stamped:
                    self._stamped = numbers[place + NUMBER]
                    self._stamps.next()
                self._stamps.thin(out, found)
        if out.members_upto > begun:
            trace, lineage = numbers[place + TRACE], waiting.lineage(run)
            out.close_run(begun, PartialMatch(bound, slots, began, numbers[place + BORN], trace, lineage))

    def _move(self, step: FoldStep, run: i64, row: Row, time: i64, length: i64) -> None:
        """Move a run to the next step, with the template's values."""
        waiting, new, x, d = self._waiting, self._new, self.template.x, self.template.d
        new.room()
        at, place, old = new.count * (d + 1), new.count * new.each, run * waiting.each
        j: i64
        for j in range(d):
            new.floats[at + j] = x[j]
        new.floats[at + d] = -INFINITY
        numbers, before = new.integers, waiting.integers
        for j in range(new.each):
            numbers[place + j] = before[old + j]
        depth = before[old + DEPTH] + 1
        self._number += 1
        numbers[place + NUMBER] = self._number
        numbers[place + TRACE] = mixed(before[old + TRACE], self._traced, depth + 1)
        numbers[place + TAKEN], numbers[place + TOUCHED], numbers[place + DEPTH] = time, 0, depth
        span = time - before[old + BEGAN] + 1
        slots = self._epochs.filled(step.moving, row, waiting.rows[run], waiting.slots[run], int(length), int(span))
        new.close(row, slots, linked(waiting.lineage(run), self.item) if self._epochs.lineage else None)

    def close_epoch(self) -> None:
        self._turn(BEFORE)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """The first events of a member's runs: the others are not kept."""
        found: list[tuple[int, ...]] = []
        for runs, run in self._alive():
            first = int(runs.integers[run * runs.each + FIRST])
            base = run * (int(runs.d) + 1)
            if first >= since and all(p <= runs.floats[base + j] for j, p in enumerate(point)):
                found.append((first,))
        return list(dict.fromkeys(found))

    def _alive(self) -> list[tuple[FoldRuns, int]]:
        """The runs that a later epoch sees, in their order."""
        waiting, new = self._waiting, self._new
        found = [(waiting, i) for i in range(waiting.count) if waiting.integers[i * waiting.each + TOUCHED] == 0]
        return found + [(new, i) for i in range(new.count)]

    def quiet(self, time: i64) -> bool:
        return self._new.count == 0 and self._untouched == 0 and (self._waiting.count == 0 or self.now < time)

    def oldest(self, event: i64) -> i64:
        for runs in (self._waiting, self._new):
            i: i64
            for i in range(runs.count):
                event = min(event, runs.integers[i * runs.each + FIRST])
        return event

    def used(self, events: set[int]) -> None:
        for runs in (self._waiting, self._new):
            events.update(int(runs.integers[i * runs.each + FIRST]) for i in range(runs.count))

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {"number": int(self._number), "runs": [*self._dumped(self._waiting), *self._dumped(self._new)]}

    def _dumped(self, runs: FoldRuns) -> list[Any]:
        found = []
        d, each = int(runs.d), int(runs.each)
        for run in range(runs.count):
            values = [runs.floats[run * (d + 1) + j] for j in range(d + 1)]
            numbers = [int(runs.integers[run * each + j]) for j in range(COUNTERS)]
            first, number, began, born, trace, taken, touched, depth = numbers
            lineage = runs.lineage(run)
            found.append(
                [
                    runs.rows[run], list(self._slots(runs, run)), began, born, trace,
                    None if lineage is None else flattened(lineage), values[:d], values[d], first, number, taken,
                    int(self.now) if touched else UNTOUCHED, depth,
                ]
            )  # fmt: skip
        return found

    def load(self, dumped: dict[str, Any]) -> None:
        self._number = dumped["number"]
        runs = dumped["runs"]
        self.now = max((max(saved[10], saved[11]) for saved in runs), default=BEFORE)
        for saved in runs:
            row, slots, began, born, trace, contributed, x, need, first, number, taken, touched, *depth = saved
            lineage: Lineage = None
            for item in contributed or ():
                lineage = (lineage, item)
            filled_slots = tuple_slots(slots)
            counters = [filled_slots[slot] for slot in self._counters]
            numbers = [first, number, began, born, trace, taken, int(touched != UNTOUCHED), *(depth or [0]), *counters]
            to = self._new if taken == self.now else self._waiting
            to.put([*x, need], numbers, tuple(row), filled_slots, lineage)
            self._untouched += to is self._waiting and touched == UNTOUCHED

    def check_invariants(self) -> None:
        self.members.check_invariants()
        for runs in (self._waiting, self._new):
            assert len(runs.rows) == len(runs.slots) >= runs.count
        waiting = self._waiting
        assert self._untouched == sum(
            waiting.integers[i * waiting.each + TOUCHED] == 0 for i in range(int(waiting.count))
        )
        assert all(self._new.integers[i * self._new.each + TAKEN] >= self.now for i in range(int(self._new.count)))
