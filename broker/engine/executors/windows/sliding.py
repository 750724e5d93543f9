"""Aggregates of windows that move on, from the events that came in and went out, not from all that a window has.

What measures do not say is computed from the rows of a window. Most windows that are read have most events of one that
was read before: so values are kept of the last ones, and moved. All is exact: sums as integers of one scale, which are
rounded once, order in a sorted list, counts by value. So what is told does not depend on how a window was reached.

Nothing here is state: it may be forgotten at any time, and no snapshot has it. Not here: aggregates themselves
(algebra/window_aggregates, from which windows are computed that have few events, or few of one before).
"""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr
from sortedcontainers import SortedList

from ....algebra.functions import bounded
from ....algebra.window_aggregates import aggregate
from ....events.schema import Row, Value
from .tables import AggregatePlan

SHORT: Final = 32  # events up to which a window is read at once
FEW: Final = 4  # windows of an aggregate that are kept to be moved on
LARGE: Final = 2.0**960  # of floats below, no sum that there can be overflows


@mypyc_attr(acyclic=True)
class MovingValue:
    """The value of an aggregate over the events of a window, of which the newest are added, and the oldest dropped.
    Numbers of events ascend; values are not null. O(log events) each."""

    def add(self, value: Any, row: Row, times: Row, number: i64) -> None:
        """Add the value of the next event."""
        raise AssertionError

    def drop(self, value: Any, number: i64) -> None:
        """Drop the value of the oldest event."""
        raise AssertionError

    def now(self, count: int) -> Value:
        """The value for so many events with values, at least one. Raises Overflow where only all events tell."""
        raise AssertionError


@final
class Overflow(Exception):
    """A sum may be beyond the floats on the way to its value."""


def ratio(over: Any, under: Any) -> float:
    """The float nearest to a quotient of ints of any size: compiled, ints that are typed are made floats first."""
    found: float = over / under
    return found


@final
@mypyc_attr(acyclic=True)
class MovingCount(MovingValue):
    """How many values there are."""

    def add(self, value: Any, row: Row, times: Row, number: i64) -> None:
        pass

    def drop(self, value: Any, number: i64) -> None:
        pass

    def now(self, count: int) -> Value:
        return count


@final
@mypyc_attr(acyclic=True)
class MovingSum(MovingValue):
    """Sum, average and deviation: `total` and `squares` are integers, in units of 2**-scale and of its square."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.squared = function == "stdev"
        self.scale = 0
        self.total = 0
        self.squares = 0
        self.floats = 0  # values that are floats
        self.large = 0  # of these, how many are not below LARGE

    def add(self, value: Any, row: Row, times: Row, number: i64) -> None:
        self._put(value, 1)

    def drop(self, value: Any, number: i64) -> None:
        self._put(value, -1)

    def _put(self, value: Any, sign: int) -> None:
        whole = 0
        if isinstance(value, float):
            self.floats += sign
            if not -LARGE < value < LARGE:
                self.large += sign
                return
            over, under = value.as_integer_ratio()
            scale = under.bit_length() - 1
            if scale > self.scale:
                more = scale - self.scale
                self.total <<= more
                self.squares <<= 2 * more
                self.scale = scale
            whole = over << (self.scale - scale)
        else:
            whole = int(value) << self.scale
        self.total += sign * whole
        if self.squared:
            self.squares += sign * whole * whole

    def now(self, count: int) -> Value:
        if self.large > 0:
            raise Overflow
        if self.squared:
            if count < 2:
                return None
            over = count * self.squares - self.total * self.total
            try:
                return math.sqrt(ratio(over, count * (count - 1) << 2 * self.scale))
            except OverflowError:
                return None
        if self.floats == 0:
            total = self.total >> self.scale
            return bounded(total) if self.function == "sum" else bounded(ratio(total, count))
        exact = ratio(self.total, 1 << self.scale)
        return bounded(exact) if self.function == "sum" else bounded(exact / count)


@final
@mypyc_attr(acyclic=True)
class MovingDistinct(MovingValue):
    """An aggregate of different values: `other` has each once."""

    def __init__(self, other: MovingValue) -> None:
        self.other = other
        self.counts: dict[Any, int] = {}

    def add(self, value: Any, row: Row, times: Row, number: i64) -> None:
        known = self.counts.get(value, 0)
        self.counts[value] = known + 1
        if known == 0:
            self.other.add(value, row, times, number)

    def drop(self, value: Any, number: i64) -> None:
        known = self.counts[value]
        if known > 1:
            self.counts[value] = known - 1
        else:
            del self.counts[value]
            self.other.drop(value, number)

    def now(self, count: int) -> Value:
        return self.other.now(len(self.counts))


@final
@mypyc_attr(acyclic=True)
class MovingQuantile(MovingValue):
    """All values in order; of equal ones the oldest comes first."""

    def __init__(self, share: str) -> None:
        exact = Fraction(share)
        self.over = exact.numerator
        self.under = exact.denominator
        self.sorted: Any = SortedList()

    def add(self, value: Any, row: Row, times: Row, number: i64) -> None:
        self.sorted.add(value)

    def drop(self, value: Any, number: i64) -> None:
        self.sorted.remove(value)

    def now(self, count: int) -> Value:
        found: Value = self.sorted[max(-(-self.over * count // self.under) - 1, 0)]
        return found


@final
@mypyc_attr(acyclic=True)
class MovingExtreme(MovingValue):
    """The first of the least values, or of the `greatest`, and what another term is there: each value that none behind
    it is better than, with the numbers of their events. O(1) amortised."""

    def __init__(self, plan: AggregatePlan) -> None:
        self.greatest = plan.function in ("max", "argmax")
        self.other = plan.values[1] if len(plan.values) > 1 else None
        self.best: Any = deque()

    def add(self, value: Any, row: Row, times: Row, number: i64) -> None:
        best = self.best
        if self.greatest:
            while len(best) > 0 and best[-1][1] < value:
                best.pop()
        else:
            while len(best) > 0 and best[-1][1] > value:
                best.pop()
        told = value if self.other is None else self.other.value(row, (), times, 1, 1)
        best.append((int(number), value, told))

    def drop(self, value: Any, number: i64) -> None:
        if self.best[0][0] == number:
            self.best.popleft()

    def now(self, count: int) -> Value:
        found: Value = self.best[0][2]
        return found


def moving_value(plan: AggregatePlan) -> MovingValue:
    """That of an aggregate over no events."""
    found: MovingValue = MovingCount()
    if plan.function == "quantile":
        found = MovingQuantile(plan.share)
    elif plan.function in ("sum", "avg", "stdev"):
        found = MovingSum(plan.function)
    elif plan.function != "count":
        return MovingExtreme(plan)
    return MovingDistinct(found) if plan.distinct else found


@final
@mypyc_attr(acyclic=True)
class MovingWindow:
    """A window that was read: the events from the number `first` to below `upto`; the first argument of the aggregate
    for each, once most of them were read again, and of how many that is not null."""

    def __init__(self, first: i64, upto: i64) -> None:
        self.first = first
        self.upto = upto
        self.value: MovingValue | None = None
        self.values: Any = deque()
        self.count = 0

    def reaches(self, first: i64, upto: i64, along: bool) -> bool:
        """Whether to move on to other events is less than to read them all; if not `along`, another window that ends
        with the same event is none to move on to: it is moved on by itself."""
        if self.first > first or self.upto > upto or (self.upto == upto and self.first < first and not along):
            return False
        return 2 * (first - self.first + upto - self.upto) <= upto - first

    def move(self, plan: AggregatePlan, width: i64, rows: list[Row], logged: i64, first: i64, upto: i64) -> Value:
        """The value for the events from the number `first` to below `upto`; `rows` begins with the event `logged`."""
        moving, values = self.value, self.values
        if moving is None:
            moving = self.value = moving_value(plan)
            self.first = self.upto = first
        at: i64
        value: Any
        for at in range(self.first, first):
            value = values.popleft()
            if value is not None:
                self.count -= 1
                moving.drop(value, at)
        term = plan.values[0]
        for at in range(self.upto, upto):
            row = rows[at - logged]
            times = row[int(width) :] if width >= 0 else ()
            value = term.value(row, (), times, 1, 1)
            values.append(value)
            if value is not None:
                self.count += 1
                moving.add(value, row, times, at)
        self.first, self.upto = first, upto
        if self.count == 0 and plan.function != "count":
            return None
        return moving.now(self.count)


@final
@mypyc_attr(acyclic=True)
class MovingWindows:
    """The last windows of a partition that were read, by the number of the aggregate, the newest ones last. `along`:
    they are those of one event, of which there are many."""

    def __init__(self, along: bool) -> None:
        self.along = along
        self.known: dict[int, list[MovingWindow]] = {}

    def read(self, plan: AggregatePlan, width: i64, rows: list[Row], logged: i64, first: i64, upto: i64) -> Value:
        """The value of an aggregate for the events from the number `first` to below `upto`. `rows` begins with the
        event `logged`; behind `width` attributes, unless that is -1, they have times.

        O(events that came in and went out, times log events), if a window was read from which it moved on; else
        O(events).
        """
        if upto - first > SHORT:
            known = self.known.setdefault(plan.number, [])
            for one in known:
                if one.reaches(first, upto, self.along):
                    known.remove(one)
                    known.append(one)
                    try:
                        return one.move(plan, width, rows, logged, first, upto)
                    except Overflow:
                        return aggregate_of(plan, width, rows[first - logged : upto - logged])
            if len(known) == FEW:
                del known[0]
            known.append(MovingWindow(first, upto))
        return aggregate_of(plan, width, rows[first - logged : upto - logged])


def aggregate_of(plan: AggregatePlan, width: i64, rows: list[Row]) -> Value:
    """The value of an aggregate for all these events. O(events), times log events where their order matters."""
    arguments = [
        [value.value(row, (), row[int(width) :] if width >= 0 else (), 1, 1) for row in rows] for value in plan.values
    ]
    return aggregate(plan.function, plan.distinct, plan.share, arguments)
