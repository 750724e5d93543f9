"""Measures ready to run: an event's level, its effect on a run's measure, and the measures of all runs as columns.

Every comparison becomes `level > measure`. For a level that may be equal it uses the next float, and if the level must
be lower, both change their sign. A null is a number that compares with nothing. Values that floats cannot hold exactly
are odd: they make runs do without columns (see broker.automaton.analyses.measures).

Here: one measure, for an event, and its columns. Hot. Not here: the set of runs (columns, stacks).
"""

from __future__ import annotations

import math
from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.predicate import computation
from ....algebra.terms import Arithmetic, Attribute, Constant, Register
from ....automaton.analyses.measures import Measure, Measures
from ....events.schema import Row
from ..packed import Floats, Integers, floats, put, shifted

FIRST: Final = 0
LAST: Final = 1
AVERAGE: Final = 2
SUM: Final = 3
MIN: Final = 4
MAX: Final = 5
COUNT: Final = 6
KINDS: Final = {"first": 0, "last": 1, "avg": 2, "sum": 3, "min": 4, "max": 5, "count": 6, "len": 6}

EXACT: Final = 1 << 53
SUMMED: Final = 1 << 31  # sums of integers up to this are exact, for as many as a run may have
NULL: Final = math.nan


@final
class MeasureReader:
    """One measure.

    `read` sets `level` and, for a run that takes the event, `value`; `odd`: these have no exact value.
    """

    def __init__(self, measure: Measure, slots: int) -> None:
        self.kind: i64 = KINDS[measure.kind]
        self.sign = 1.0 if measure.operator[0] == ">" else -1.0
        self.equal = measure.operator.endswith("=")
        self.lasting = measure.lasting
        self.levels = computation(measure.level)
        self.attribute: i64 = measure.level.position if isinstance(measure.level, Attribute) else -1
        self.values = computation(measure.value)
        self.slots = slots
        self.position = measure.position
        self.limit = SUMMED if measure.integer and measure.kind in ("sum", "avg") else EXACT
        self.plain = self.kind > LAST
        factor: Any = measure.factor
        match measure.value:
            case Register(_, position) if not self.plain:
                self.position, self.plain = position, True
            case Arithmetic("*", Constant(float() as factor), Register(_, position, "int" | "float")) if not self.plain:
                self.position, self.plain = position, True
        self.scaled = factor is not None
        self.factor = float(factor) if factor is not None else 1.0
        self.ordered = False  # a null has no place among ordered values
        self.asked = False  # a group has many constants here, of which these are the least and the greatest:
        self.other = self.factor
        self.several = False
        self.level = NULL
        self.value = NULL
        self.given = NULL  # before it was compared
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
        """Compute the measure of a run that takes the event."""
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
                if value is None and (self.ordered or self.kind >= AVERAGE):
                    self.odd = True
                self.value = self._number(value, self.limit)
        else:
            self.value = self._number(self.values.value((), (), (row,) * self.slots, 0, 0), EXACT)
        self.given = self.value
        if self.kind <= LAST:
            self.value = self.compared(self.value)

    def compared(self, value: float) -> float:
        """The number that levels are compared with, from a measure's plain value."""
        if self.asked:
            return self._least(value)
        if self.scaled:
            value = self.factor * value
        return value * self.sign if value - value == 0.0 else NULL

    def bound(self, least: float, opposite: float, factor: bool, several: bool) -> None:
        """Set a group's constants: their least coordinate, and a factor's least opposite (analyses.coordinates)."""
        self.asked = True
        self.several = several
        if not factor:
            self.level = math.nextafter(-least, math.inf)
        elif self.sign > 0.0:
            self.scaled, self.factor, self.other = True, least, -opposite
        else:
            self.scaled, self.factor, self.other = True, -opposite, least

    def _least(self, value: float) -> float:
        """The least number that some constant of a group makes of a measure."""
        if value - value != 0.0:
            return NULL
        if not self.scaled:
            return value * self.sign
        product = (self.factor if value >= 0.0 else self.other) * value
        if product - product != 0.0:  # it may be finite with other constants
            return -math.inf if self.several else NULL
        return product * self.sign

    def _number(self, value: Any, limit: int) -> float:
        if type(value) is float:
            return value
        if value is None:
            return NULL
        number: int = value
        if number > limit or number < -limit:
            self.odd = True
        return float(number)


@final
class MeasureReaders:
    """The measures of a pattern, for one machine and one event at a time."""

    def __init__(self, measures: Measures, slots: int) -> None:
        self.take = [MeasureReader(measure, slots) for measure in measures.take]
        self.begin = [MeasureReader(measure, slots) for measure in measures.begin]
        self.end = [MeasureReader(measure, slots) for measure in measures.end]
        self.all = [*self.take, *self.begin, *self.end]
        self.version: i64 = 0  # of the constants of a group
        for reader in self.all:
            if reader in self.end or reader.lasting:
                reader.read(())  # its level is a constant

    def read(self, row: Row, takes: bool, ends: bool) -> bool:
        """Read the levels of an event; returns whether all of them are numbers."""
        if takes:
            for reader in self.take:
                reader.read(row)
                if reader.odd:
                    return False
        if ends:
            for reader in self.begin:
                reader.read(row)
                if reader.odd:
                    return False
        return True

    def measure(self, row: Row) -> bool:
        """Compute the measures after the event; returns whether all of them are numbers."""
        for reader in self.all:
            reader.measure(row)
            if reader.odd:
                return False
        return True


@final
class MeasureColumn:
    """One measure of all runs of a cell, in `values`. Aggregates also have `totals`, averages `numbers`; what a group's
    constants bound has `given` if it is no aggregate."""

    def __init__(self, reader: MeasureReader) -> None:
        self.reader = reader
        self.values: Floats = floats()
        self.given: Floats = floats()
        self.totals: Floats = floats()
        self.numbers: Floats = floats()

    def begin(self, at: i64) -> None:
        """Add a run that begins with the event which the reader has measured."""
        reader = self.reader
        if reader.kind <= LAST:
            self.values = put(self.values, at, reader.value)
            if reader.asked:
                self.given = put(self.given, at, reader.given)
            return
        self.values = put(self.values, at, reader.compared(reader.value))
        self.totals = put(self.totals, at, reader.value)
        if reader.kind == AVERAGE:
            self.numbers = put(self.numbers, at, 1.0)

    def take(self, takers: Integers, count: i64) -> None:
        """Update the runs at these indices, which take the event that the reader has measured. O(count)."""
        reader = self.reader
        kind = reader.kind
        values, totals, numbers = self.values, self.totals, self.numbers
        value = reader.value
        i: i64
        j: i64
        if kind == LAST:
            for i in range(count):
                values[takers[i]] = value
            if reader.asked:
                for i in range(count):
                    self.given[takers[i]] = reader.given
        elif kind == AVERAGE:
            simple = not (reader.scaled or reader.asked or reader.sign < 0.0)
            for i in range(count):
                j = takers[i]
                total = totals[j] + value
                number = numbers[j] + 1.0
                totals[j] = total
                numbers[j] = number
                values[j] = total / number if simple and total - total == 0.0 else reader.compared(total / number)
        elif kind != FIRST:
            for i in range(count):
                j = takers[i]
                total = totals[j]
                if kind == MIN:
                    total = min(total, value)
                elif kind == MAX:
                    total = max(total, value)
                else:
                    total += value
                totals[j] = total
                values[j] = reader.compared(total)

    def measured(self, at: i64) -> float:
        """The measure of a run, not yet compared; only where a group's constants bound it."""
        if self.reader.kind <= LAST:
            return self.given[at]
        return self.totals[at] / self.numbers[at] if self.reader.kind == AVERAGE else self.totals[at]

    def compare(self, first: i64, upto: i64) -> None:
        """Compare the runs from `first` on with other constants of a group. O(runs)."""
        j: i64
        for j in range(first, upto):
            self.values[j] = self.reader.compared(self.measured(j))

    def failed(self, at: i64) -> bool:
        """Whether a run fails the constant of this measure for ever."""
        value = self.values[at]
        return self.reader.lasting and value == value and not self.reader.level > value

    def move(self, at: i64, to: i64) -> None:
        """Move a run to another row."""
        self.values[to] = self.values[at]
        if len(self.given) > 0:
            self.given[to] = self.given[at]
        if self.reader.kind > LAST:
            self.totals[to] = self.totals[at]
        if self.reader.kind == AVERAGE:
            self.numbers[to] = self.numbers[at]

    def shift(self, first: i64, upto: i64) -> None:
        """Move the runs from `first` on to the front."""
        shifted(self.values, first, upto)
        if len(self.given) > 0:
            shifted(self.given, first, upto)
        if self.reader.kind > LAST:
            shifted(self.totals, first, upto)
        if self.reader.kind == AVERAGE:
            shifted(self.numbers, first, upto)

    def check_invariants(self, head: i64, upto: i64) -> None:
        assert len(self.values) >= upto
        if self.reader.kind > LAST:
            for j in range(head, upto):
                number = self.numbers[j] if self.reader.kind == AVERAGE else 1.0
                value, found = self.reader.compared(self.totals[j] / number), self.values[j]
                assert value == found or (value != value and found != found)
