"""Measures: what the aggregates of windows need of the events of a partition, kept once for all its windows.

All windows that an event completes end at it. So the value of a window is that of a suffix of the events: a difference
of prefix sums, which a pane notes when it begins, or the first entry of a monotone stack behind its beginning. What
neither can say is computed from the rows of the window.

Of the windows that an event completes a closing is noted, which refers to columns, and says values when it is read.

Here: counts, sums and stacks, a class each. Hot. Not here: which aggregates need which measure (tables), reading values
(window_matches).
"""

from __future__ import annotations

from math import copysign
from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Computation, EventValue, Slots
from ....events.schema import Row
from ..packed import Floats, Integers, floats, floats_of, integers, integers_of, put, put_integer
from .window_page import ExtremeClosing, FloatClosing, IntegerClosing, MeasureClosing, first_at_least


def position_of(value: Computation) -> int:
    """The attribute that a value is, if it is nothing else; else -1."""
    return value.position if isinstance(value, EventValue) else -1


@mypyc_attr(acyclic=True)  # a value is computed from rows, which know no measures
class WindowMeasure:
    """A measure of one partition. The panes are those since the last `reset` or `trim`, numbered from 0.

    `rest`: the next measure of the partition. Measures are a chain, since what a list has is looked at before it is
    used.
    """

    rest: WindowMeasure | None = None

    def open(self, pane: i64) -> None:
        """Begin the next pane, before its first event."""
        raise AssertionError

    def push(self, row: Row, times: Slots, position: i64) -> None:
        """Add an event; `times` has its time."""
        raise AssertionError

    def closing(self, first: i64, last: i64) -> MeasureClosing:
        """What windows need that end now and begin at a position from `first` to `last`."""
        raise AssertionError

    def trim(self, panes: i64, first: i64) -> None:
        """Forget the oldest panes, so many; the next one begins at the position `first`. O(panes left)."""
        raise AssertionError

    def reset(self) -> None:
        """Forget all panes and events."""
        raise AssertionError

    def dump(self) -> list[Any]:
        raise AssertionError

    def load(self, data: Any) -> None:
        raise AssertionError


@final
@mypyc_attr(acyclic=True)
class IntegerMeasure(WindowMeasure):
    """The sum of ints, of any size; if it `counts`, how many values are not null."""

    def __init__(self, value: Computation, counts: bool) -> None:
        self.value = value
        self.counts = counts
        self.total = 0
        self.totals: list[int] = []

    def open(self, pane: i64) -> None:
        self.totals.append(self.total)

    def push(self, row: Row, times: Slots, position: i64) -> None:
        value: Any = self.value.value(row, (), times, 1, 1)
        if value is not None:
            self.total += 1 if self.counts else value

    def closing(self, first: i64, last: i64) -> MeasureClosing:
        return IntegerClosing(self.totals, self.total)

    def trim(self, panes: i64, first: i64) -> None:
        self.totals = self.totals[panes:]

    def reset(self) -> None:
        self.total = 0
        self.totals = []

    def dump(self) -> list[Any]:
        # Only differences matter, and a snapshot holds no integer beyond 64 bits.
        first = self.totals[0] if self.totals else self.total
        return [self.total - first, [total - first for total in self.totals]]

    def load(self, data: Any) -> None:
        self.total, self.totals = data[0], list(data[1])


@final
@mypyc_attr(acyclic=True)
class FloatMeasure(WindowMeasure):
    """The sum of floats, as two floats (exact_sums). `greatest`: the greatest magnitude that it had; `count`: how many
    values it has. `sums`: the two floats of each pane."""

    def __init__(self, value: Computation) -> None:
        self.value = value
        self.attribute: i64 = position_of(value)
        self.count: i64 = 0
        self.high = 0.0
        self.low = 0.0
        self.greatest = 0.0
        self.sums: Floats = floats()

    def open(self, pane: i64) -> None:
        sums = self.sums
        at = 2 * pane
        if at + 1 < len(sums):
            sums[at] = self.high
            sums[at + 1] = self.low
        else:
            sums = put(sums, at, self.high)
            self.sums = put(sums, at + 1, self.low)

    def push(self, row: Row, times: Slots, position: i64) -> None:
        at = self.attribute
        found: Any = row[at] if at >= 0 else self.value.value(row, (), times, 1, 1)
        if found is None:
            return
        value: float = found  # it is added as exact_sums says
        self.count += 1
        high = self.high
        total = high + value
        part = total - high
        rest = ((high - (total - part)) + (value - part)) + self.low
        high = total + rest
        self.high = high
        self.low = rest - (high - total)
        magnitude = high if high >= 0.0 else -high
        if magnitude > self.greatest:
            self.greatest = magnitude

    def closing(self, first: i64, last: i64) -> MeasureClosing:
        return FloatClosing(self.sums, self.high, self.low, float(self.count), self.greatest)

    def trim(self, panes: i64, first: i64) -> None:
        self.sums = self.sums[2 * panes :]

    def reset(self) -> None:
        self.count = 0
        self.high = 0.0
        self.low = 0.0
        self.greatest = 0.0
        self.sums = floats()

    def dump(self) -> list[Any]:
        return [int(self.count), self.high, self.low, self.greatest, list(self.sums)]

    def load(self, data: Any) -> None:
        self.count, self.high, self.low, self.greatest, sums = data
        self.sums = floats_of(sums)


@final
@mypyc_attr(acyclic=True)
class ExtremeMeasure(WindowMeasure):
    """The least values, or the `greatest`, behind each position: a stack in which they never fall, or rise, whose first
    entry behind a position is the answer."""

    def __init__(self, value: Computation, greatest: bool) -> None:
        self.value = value
        self.greatest = greatest
        self.positions: Integers = integers()
        self.values: list[Any] = []

    def open(self, pane: i64) -> None:
        pass

    def push(self, row: Row, times: Slots, position: i64) -> None:
        value: Any = self.value.value(row, (), times, 1, 1)
        if value is None:
            return
        values = self.values
        if self.greatest:
            while len(values) > 0 and (values[-1] < value or _same(values[-1], value)):
                values.pop()
        else:
            while len(values) > 0 and (values[-1] > value or _same(values[-1], value)):
                values.pop()
        values.append(value)
        self.positions = put_integer(self.positions, len(values) - 1, position)

    def closing(self, first: i64, last: i64) -> MeasureClosing:
        top: i64 = len(self.values)
        at = first_at_least(self.positions, top, first)
        end = min(first_at_least(self.positions, top, last) + 1, top)
        return ExtremeClosing(self.positions[at:end], self.values[at:end])

    def trim(self, panes: i64, first: i64) -> None:
        top: i64 = len(self.values)
        at = first_at_least(self.positions, top, first)
        self.positions = self.positions[at:top]
        self.values = self.values[at:]

    def reset(self) -> None:
        self.values = []

    def dump(self) -> list[Any]:
        top = len(self.values)
        return [[int(position) for position in self.positions[:top]], list(self.values)]

    def load(self, data: Any) -> None:
        self.positions, self.values = integers_of(data[0]), list(data[1])


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal and told alike: of 0.0 and -0.0, which are equal, the first one is told."""
    return bool(one == other) and (one != 0.0 or copysign(1.0, one) == copysign(1.0, other))
