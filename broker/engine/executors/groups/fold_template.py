"""The form of folds: a line of steps, of which some take events again and again.

Here: the conditions, and how they bound the values of a run. Hot. Not here: the runs (fold_runs), the effect of an
event on them (fold).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation, Slots
from ....algebra.predicate import All, holds
from ....events.schema import Row
from .columns import INFINITY, Floats, filled
from .coordinates import REGISTER, CoordinateBound, narrowed, number_of
from .steps import StepClause

NONE: Final = -1


@final
class FoldClause:
    """Bounds, whose registers are `values` in order, and what is left of the condition; both may read the run.

    `pairwise`: they read nothing of a run but the event that it took last. `slot`: the first value is this slot, plus
    `added`; NONE if it is something else. `alone`: they read the event alone.
    """

    def __init__(
        self, bounds: list[CoordinateBound], values: list[Computation], rest: All | None, pairwise: bool = False,
        slot: int = NONE, added: int = 0, alone: bool = False,
    ) -> None:  # fmt: skip
        self.bounds = bounds
        self.values = values
        self.rest = rest
        self.pairwise = pairwise
        self.slot: i64 = slot
        self.added: i64 = added
        self.alone = alone
        self._registers: Floats = filled(len(values), 0.0)

    def narrows(
        self, row: Row, time: i64, length: i64, began: i64, bound: Row, slots: Slots, x: Floats, at: i64
    ) -> bool:
        """Lower the values to those of an event that a run sees; False if it satisfies the condition for nobody."""
        span = time - began + 1
        if self.rest is not None and not holds(self.rest, row, bound, slots, int(length), int(span)):
            return False
        if len(self.bounds) == 0:
            return True
        registers = self._registers
        for at_value, value in enumerate(self.values):
            registers[at_value] = number_of(value.value(row, bound, slots, int(length), int(span)))
        return narrowed(self.bounds, row, time, began, registers, 0, x, at)


@final
class FoldStep:
    """A state in which runs wait. `take`: the condition on an event that a run takes and waits on, None if the next
    event moves it or ends it; `end`: on one that moves it on, or reports; `sees`: what an event is asked beyond the
    key, or a run lets it pass. `taking` and `moving`: the arcs by which a run's slots change.

    `last`: it reports. `need`: the coordinate of the value that decides most often whether there is somebody to go on
    for, -1 for none; `counts`: it is a counter, `sign` times.
    """

    def __init__(
        self, take: FoldClause | None, end: list[FoldClause], sees: FoldClause | None = None, taking: int = 1,
        moving: int = 2,
    ) -> None:  # fmt: skip
        self.take = take
        self.end = end
        self.sees = sees
        self.seen = True  # scratch: whether runs see the current event, by what it is asked alone
        self.last = False
        self.taking: i64 = taking
        self.moving: i64 = moving
        self.need: i64 = NONE
        self.counts = False
        self.sign = 1.0
        if len(end) == 1 and take is not None:
            for bound in end[0].bounds:
                if bound.source == REGISTER:
                    self.need = bound.coordinate
                    self.sign = bound.sign
                    self.counts = bound.register == 0 and end[0].slot >= 0


@final
class FoldTemplate:
    """`begin`: the condition on the first event; `steps`: the states behind it."""

    def __init__(self, d: int, begin: list[StepClause], steps: list[FoldStep]) -> None:
        self.d: i64 = d
        self.begin = begin
        self.steps = steps
        steps[-1].last = True
        self.passes = any(step.sees is not None for step in steps)
        """Whether runs let some events pass."""
        self.unions = len(begin) > 1 or any(len(step.end) > 1 for step in steps)
        self.x: Floats = filled(d, INFINITY)  # scratch for one event of one cell
        self.link: Floats = filled(d, INFINITY)  # what the event leaves to a run whose last event is the cell's `_pair`
