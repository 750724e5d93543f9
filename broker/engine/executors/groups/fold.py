"""Folds: a run takes every next event of its key as long as a condition holds, and reports wherever its end holds.

This is CEL's FOLD. The condition has no constants, or one conjunction with some; the run reports at each event at which
its end condition holds.

A fold works like a chain, but the run stays. Its values bound the conditions of its members at the start and on the
events taken; the conditions at the end (counts, durations, sums) are evaluated anew at each event. `need` is the least
constant of one of them among the members that the run's values leave, so that most events need no lookup. It may be too
low, never too high: joining and leaving do not update it, and a run's members are older than the run.

What a run remembers is the same for all members and computed once, with the values that the language defines.

Here: the runs of a key. Not here: conditions without registers (steps). A new run comes before those that continue, as
in the engine.
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Computation, Slots
from ....algebra.predicate import All, holds
from ....events.schema import Row
from ..matches import Lineage, PartialMatch, flattened
from ..trace import mixed
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, filled, floats_from
from .coordinates import REGISTER, CoordinateBound, narrowed, number_of
from .epoch_runs import EpochRuns, linked, traced
from .members import Members
from .stamps import Stamps
from .steps import StepClause

UNTOUCHED: Final = -(1 << 62)  # earlier than any epoch


@final
class FoldClause:
    """Bounds, whose registers are `values` in order, and what is left of the condition; both may read the run."""

    def __init__(self, bounds: list[CoordinateBound], values: list[Computation], rest: All | None) -> None:
        self.bounds = bounds
        self.values = values
        self.rest = rest
        self._registers: Floats = filled(len(values), 0.0)

    def narrows(self, row: Row, time: i64, length: i64, run: PartialMatch, x: Floats) -> bool:
        """Lower the values to those of an event that a run sees; False if it satisfies the condition for nobody."""
        bound, slots = run.row, run.slots
        span = time - run.t0 + 1
        if not holds(self.rest, row, bound, slots, int(length), int(span)):
            return False
        registers = self._registers
        for at, value in enumerate(self.values):
            registers[at] = number_of(value.value(row, bound, slots, int(length), int(span)))
        return narrowed(self.bounds, row, time, run.t0, registers, 0, x, 0)


@final
class FoldTemplate:
    """`begin`, `take` and `end`: the conditions on the first event, on each further one, and on one that reports.

    `need`: the coordinate of the value that decides most often whether there is somebody to report to, -1 for none.
    """

    def __init__(self, d: int, begin: list[StepClause], take: FoldClause, end: list[FoldClause]) -> None:
        self.d: i64 = d
        self.begin = begin
        self.take = take
        self.end = end
        self.unions = len(begin) > 1 or len(end) > 1
        self.need: i64 = -1
        if len(end) == 1:
            for bound in end[0].bounds:
                if bound.source == REGISTER:
                    self.need = bound.coordinate


@final
@mypyc_attr(acyclic=True)
class FoldRun(PartialMatch):
    """A run, for the members whose points its values `x` dominate.

    `first` is the number of its first event, `number` that of the run: alternatives of its start share it, and are
    neighbours. It bound its last event at `taken`. `touched` is the epoch in which an event affected it: it still sees
    the other events of that epoch, and the first later visit drops it.
    """

    __slots__ = ("first", "need", "number", "taken", "touched", "x")

    def __init__(
        self,
        row: Row,
        slots: Slots,
        t0: i64,
        born: i64,
        trace: i64,
        lineage: Lineage,
        x: Floats,
        need: float,
        first: i64,
        number: i64,
        taken: i64,
    ) -> None:
        self.row = row
        self.slots = slots
        self.t0 = t0
        self.born = born
        self.trace = trace
        self.lineage = lineage
        self.x = x
        self.need = need
        self.first: i64 = first
        self.number: i64 = number
        self.taken: i64 = taken
        self.touched: i64 = UNTOUCHED


@final
class FoldCell(GroupCell):
    """The runs of a key, in the order in which they took their last events."""

    def __init__(
        self, template: FoldTemplate, epochs: EpochRuns, stamps: Stamps | None = None, members: Members | None = None
    ) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self.template = template
        self._epochs = epochs
        self._stamps = Stamps() if stamps is None else stamps
        self._runs: list[FoldRun] = []
        self._number: i64 = 0  # of the newest run
        self._stamped: i64 = -1  # the run that the newest stamp is for
        self._x: Floats = filled(template.d, INFINITY)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(runs), and one lookup for each run that may report."""
        start = self.began
        length = time - start + 1
        runs = self._runs
        n: i64 = len(runs)  # new runs come behind these
        self._stamped = -1
        self._begin(row, time, event, length)
        kept: i64 = 0
        before: i64 = -1
        j: i64
        for j in range(n):
            run = runs[j]
            if run.number != before:  # alternatives go on as alternatives; another event of the epoch makes other runs
                before = run.number
                self._number += 1
            if run.touched < time and run.touched != UNTOUCHED:
                continue
            if run.taken < start:  # otherwise they overlap, and the event does not exist for the run
                self._step(run, row, time, length, out)
                run.touched = time
            runs[kept] = run
            kept += 1
        if kept < n:
            del runs[kept:n]

    def _begin(self, row: Row, time: i64, event: i64, length: i64) -> None:
        template, members, x = self.template, self.members, self._x
        self._number += 1
        j: i64
        for clause in template.begin:
            if clause.misses(row, members):
                continue
            for j in range(template.d):
                x[j] = INFINITY
            if not narrowed(clause.bounds, row, time, time, x, 0, x, 0):
                continue
            if not members.possible(x, 0) or not clause.admits(row):
                continue
            slots = self._epochs.filled(0, row, (), (), int(length), int(length))
            trace = mixed(0, traced(self.item), 1)
            lineage = linked(None, self.item) if self._epochs.lineage else None
            self._runs.append(
                FoldRun(row, slots, self.began, time, trace, lineage, x[:], -INFINITY, event, self._number, time)
            )
            self.noted = event

    def _step(self, run: FoldRun, row: Row, time: i64, length: i64, out: MatchBlocks) -> None:
        """Let a run take the event, if its condition holds, and report it to those whose end condition holds."""
        template, members = self.template, self.members
        own = run.x
        j: i64
        if len(template.take.bounds) > 0:  # its values may become less; otherwise runs share them
            own = run.x[:]
        if not template.take.narrows(row, time, length, run, own):
            return
        if not members.possible(own, 0):
            return
        need = run.need
        if need == -INFINITY and template.need >= 0:  # most runs end before anybody asks
            need = members.nearest(own, 0, template.need)
            if need == INFINITY:
                return
        span = time - run.t0 + 1
        slots = self._epochs.filled(1, row, run.row, run.slots, int(length), int(span))
        trace = mixed(run.trace, traced(self.item), 1)
        lineage = linked(run.lineage, self.item) if self._epochs.lineage else None
        self._runs.append(
            FoldRun(row, slots, run.t0, run.born, trace, lineage, own, need, run.first, self._number, time)
        )
        x = self._x
        begun = out.members_upto
        for clause in template.end:
            for j in range(template.d):
                x[j] = own[j]
            if not clause.narrows(row, time, length, run, x):
                continue
            if template.need >= 0 and x[template.need] < need:
                continue
            found = out.members_upto
            if members.find(x, 0, run.first, out) > 0 and template.unions:
                if run.number != self._stamped:
                    self._stamped = run.number
                    self._stamps.next()
                self._stamps.thin(out, found)
        if out.members_upto > begun:
            out.close_run(begun, run)

    def close_epoch(self) -> None:
        self._runs = [run for run in self._runs if run.touched == UNTOUCHED]

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """The first events of a member's runs: the others are not kept."""
        found = [
            (int(run.first),)
            for run in self._runs
            if run.touched == UNTOUCHED and run.first >= since and all(p <= x for p, x in zip(point, run.x))
        ]
        return list(dict.fromkeys(found))

    def quiet(self, time: i64) -> bool:
        return not any(run.touched == UNTOUCHED or run.touched >= time for run in self._runs)

    def used(self, events: set[int]) -> None:
        events.update(int(run.first) for run in self._runs)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        runs = [
            [
                run.row, list(run.slots), int(run.t0), int(run.born), int(run.trace),
                None if run.lineage is None else flattened(run.lineage), list(run.x), run.need, int(run.first),
                int(run.number), int(run.taken), int(run.touched),
            ]
            for run in self._runs
        ]  # fmt: skip
        return {"number": int(self._number), "runs": runs}

    def load(self, dumped: dict[str, Any]) -> None:
        self._number = dumped["number"]
        self._runs = [_loaded(saved) for saved in dumped["runs"]]

    def statistics(self) -> dict[str, int]:
        return {**self.members.statistics(), "runs": len(self._runs)}

    def check_invariants(self) -> None:
        self.members.check_invariants()
        for run in self._runs:
            assert len(run.x) == self.template.d
            assert run.touched == UNTOUCHED or run.touched > run.taken


def _loaded(saved: Any) -> FoldRun:
    row, slots, t0, born, trace, contributed, x, need, first, number, taken, touched = saved
    lineage: Lineage = None
    for item in contributed or ():
        lineage = (lineage, item)
    filled_slots = tuple([tuple(slot) if isinstance(slot, list | tuple) else slot for slot in slots])
    run = FoldRun(
        tuple(row), filled_slots, t0, born, trace, lineage, floats_from(list(x)), need, first, number, taken
    )  # fmt: skip
    run.touched = touched
    return run
