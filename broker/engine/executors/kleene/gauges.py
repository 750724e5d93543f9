"""Measures made to run: the level that an event brings, and what it makes of a run's measure (see measures).

Every comparison becomes `level > measure`: a level that may also be equal is the next float, and both change their sign
where the level has to be lower. A null is a number that compares with nothing. What floats would not hold exactly is
odd: then runs have to do without columns.

Here: one measure, for an event. Not here: columns.
"""

from __future__ import annotations

import math
from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.predicate import computation
from ....algebra.terms import Arithmetic, Attribute, Constant, Register
from ....automaton.analyses.measures import Measure
from ....events.schema import Row

FIRST: Final = 0
LAST: Final = 1
AVERAGE: Final = 2
SUM: Final = 3
MIN: Final = 4
MAX: Final = 5
COUNT: Final = 6
KINDS: Final = {"first": 0, "last": 1, "avg": 2, "sum": 3, "min": 4, "max": 5, "count": 6, "len": 6}

EXACT: Final = 1 << 53
SUMMED: Final = 1 << 31  # of integers up to here, as many as a run may have sum up exactly
NULL: Final = math.nan


@final
class Gauge:
    """One measure. After `read`: `level` and, for a run that takes the event, `value`; `odd`: there are none."""

    def __init__(self, measure: Measure, slots: int) -> None:
        self.kind: i64 = KINDS[measure.kind]
        self.sign = 1.0 if measure.operator[0] == ">" else -1.0
        self.equal = measure.operator.endswith("=")
        self.levels = computation(measure.level)
        self.attribute: i64 = measure.level.position if isinstance(measure.level, Attribute) else -1
        self.values = computation(measure.value)
        self.slots = slots
        self.position = measure.position
        self.factor = 1.0
        self.scaled = False
        self.limit = SUMMED if measure.integer and measure.kind in ("sum", "avg") else EXACT
        self.plain = measure.kind not in ("first", "last")
        factor: Any = measure.factor
        match measure.value:
            case Register(_, position) if not self.plain:
                self.position, self.plain = position, True
            case Arithmetic("*", Constant(float() as factor), Register(_, position, "int" | "float")) if not self.plain:
                self.position, self.plain = position, True
        if factor is not None:
            self.factor = float(factor)
            self.scaled = True
        self.raw = False  # a family multiplies by many factors itself
        self.level = NULL
        self.value = NULL
        self.odd = False

    def read(self, row: Row) -> None:
        """The level of an event."""
        self.odd = False
        level = NULL
        if self.attribute >= 0:
            given: Any = row[self.attribute]
            level = given if type(given) is float else self._number(given, EXACT)
        else:
            level = self._number(self.levels.value(row, (), (), 0, 0), EXACT)
        if self.equal:
            level = math.nextafter(level, math.inf * self.sign)
        self.level = level * self.sign

    def measure(self, row: Row) -> None:
        """What it makes of a run that takes it."""
        self.odd = False
        if self.kind == COUNT:
            self.value = 1.0
            if self.position >= 0 and row[self.position] is None:
                self.odd = True
        elif self.plain:
            value: Any = row[self.position]
            if type(value) is float:
                self.value = value
            else:
                if value is None and self.kind >= AVERAGE:
                    self.odd = True
                self.value = self._number(value, self.limit)
        else:
            self.value = self._number(self.values.value((), (), (row,) * self.slots, 0, 0), EXACT)
        if self.kind <= LAST:
            self.value = self.compared(self.value)

    def compared(self, value: float) -> float:
        """What levels are compared with, of a measure's plain value."""
        if self.raw:
            return value if value - value == 0.0 else NULL
        if self.scaled:
            value = self.factor * value
        if value - value != 0.0:
            return NULL
        return value * self.sign

    def _number(self, value: Any, limit: int) -> float:
        if type(value) is float:
            return value
        if value is None:
            return NULL
        number: int = value
        if number > limit or number < -limit:
            self.odd = True
        return float(number)
