"""The operands of a line of which one repeats, and what decides which events each member takes.

Here: that form, and the registers of a run whose events are known. Not here: what an event does (selection).
"""

from __future__ import annotations

import math
from typing import Final, cast, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....algebra.predicate import All, holds
from ....events.instant import FOREVER
from ....events.schema import Row
from ..registers import LENGTH, Registers
from .columns import INFINITY, NAN, Floats, filled
from .coordinates import REGISTER, CoordinateBound, number_of
from .steps import StepClause

LARGE: Final = 1e15  # more events than an operand has


@final
class RunNumber:
    """A number of a run: what a slot holds, or an attribute of the row there, if `position` is not -1."""

    def __init__(self, slot: int, position: int) -> None:
        self.slot: i64 = slot
        self.position: i64 = position

    def of(self, slots: Slots) -> float:
        held = slots[self.slot]
        if self.position < 0:
            return number_of(held)
        return NAN if held is None else number_of(cast(Row, held)[self.position])


@final
class SelectionTemplate:
    """`firsts`: what the first, or only, event of each operand up to the one that repeats is asked; `takes`: what a
    further event of that one is asked. `asked`: both. `last`: what ends a match; with `closes` an event of its own.

    Of `last`, `closing` is what the event alone is asked; `lengths` bound the number of events that the operand has;
    `compared` is what is left, which reads `numbers` of the run, or its slots, None for nothing; with `once` it has one
    answer for all runs that have taken the same event last. `counts`: slots with the number of events that it reads.
    `registers`: those of a run, by operand.
    """

    def __init__(
        self, d: int, firsts: list[StepClause], takes: StepClause, last: StepClause, numbers: list[RunNumber],
        registers: Registers, window: int,
    ) -> None:  # fmt: skip
        repeats = len(firsts) - 1
        self.d: i64 = d
        self.window: i64 = window
        self.steps: i64 = len(firsts)
        self.closes = len(registers.firsts) > len(firsts)
        self.asked = [*firsts, takes]
        self.x: Floats = filled(d, INFINITY)  # scratch for one event
        self.top: Floats = filled(d, INFINITY)
        self.closing = StepClause([bound for bound in last.bounds if bound.of_event], last.guard)
        counts = {fold.slot for fold in registers.folds[repeats] if fold.kind == LENGTH}
        self.lengths: list[CoordinateBound] = []
        compared: list[CoordinateBound] = []
        for bound in last.bounds:
            if not bound.of_event:
                counted = bound.source == REGISTER and int(numbers[bound.register].slot) in counts
                (self.lengths if counted else compared).append(bound)
        self.compared = StepClause(compared) if compared or last.compares is not None else None
        self.earlier: All | None = None if last.compares is None else last.compares.condition
        read = {int(numbers[bound.register].slot) for bound in compared if bound.register >= 0}
        read |= {slot for bound in compared for slot in bound.slots}
        read |= set() if last.compares is None else set(last.compares.slots)
        self.once = read - {-1} <= set(registers.lasts[repeats])
        self.counts = sorted(read & counts)
        self.numbers = numbers
        self.registers = registers
        self._found: Floats = filled(max(1, len(numbers)), NAN)

    def begun(self, rows: list[Row]) -> Slots:
        """The registers of a run with these first events of its operands. O(slots x operands)."""
        slots = self.registers.fresh()
        for operand, row in enumerate(rows):
            slots = self.registers.begun(slots, operand, row)
        return slots

    def last(self, row: Row) -> Slots:
        """What registers have of an operand's last event, and no more. O(slots)."""
        return self.registers.begun(self.registers.fresh(), self.steps - 1, row)

    def taken(self, slots: Slots, row: Row) -> Slots:
        """The registers after one more event. O(slots)."""
        return self.registers.taken(slots, self.steps - 1, row)

    def counted(self, slots: Slots, length: int) -> Slots:
        """The registers of an operand with so many events, if something compares that with more than a constant."""
        if len(self.counts) == 0:
            return slots
        fresh = list(slots)
        for slot in self.counts:
            fresh[slot] = length
        return tuple(fresh)

    def lengths_for(self, points: Floats, at: i64) -> tuple[i64, i64]:
        """How many events the operand has at least, and at most, for the member whose point is at `at`. O(bounds)."""
        least: i64 = 1
        most: i64 = FOREVER
        for bound in self.lengths:
            number = _whole(points[at + bound.coordinate])
            if bound.sign > 0.0:
                if number > least:
                    least = number
            elif -number < most:
                most = -number
        return least, most

    def ends(self, slots: Slots, points: Floats, at: i64, row: Row, time: i64) -> bool:
        """Whether the event ends a run with these registers for the member whose point is at `at`."""
        compared = self.compared
        if compared is None:
            return True
        x, d = self.x, self.d
        for bound in compared.bounds:
            if bound.register >= 0:
                self._found[bound.register] = self.numbers[bound.register].of(slots)
            if len(bound.slots) > 0:
                bound.rows = cast("tuple[Row, ...]", slots)
        j: i64
        for j in range(d):
            x[j] = INFINITY
        if not compared.narrows(row, time, time, self._found, 0, x, 0):
            return False
        for j in range(d):
            if not points[at + j] <= x[j]:
                return False
        return self.earlier is None or holds(self.earlier, row, (), slots, 0, 0)

    def values(self, rows: list[Row]) -> Slots:
        """The registers of a match with these events, the last one ending it."""
        steps = int(self.steps)
        last = len(rows) - 1 if self.closes else len(rows)
        slots = self.begun(rows[:steps])
        for row in rows[steps:last]:
            slots = self.taken(slots, row)
        return self.registers.begun(slots, self.steps, rows[last]) if self.closes else slots


def _whole(number: float) -> i64:
    """The least whole number that is not less; as far as an operand may have so many events."""
    if number >= LARGE:
        return FOREVER
    return -FOREVER if number <= -LARGE else math.ceil(number)
