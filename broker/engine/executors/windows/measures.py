"""Measures: what the aggregates of windows need of the events of a partition, kept once for all its windows.

All windows that an event completes end at it. So the value of a window is that of a suffix of the events: a difference
of prefix sums, which a pane notes when it begins, or the first entry of a monotone stack behind its beginning. What
neither can say is computed from the rows of the window.

One window that an event completes is settled at once, as numbers of a page; of several, a closing refers to columns.

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
from .exact_sums import between
from .window_page import (
    CountClosing,
    ExtremeClosing,
    FloatClosing,
    IntegerClosing,
    MeasureClosing,
    WindowPage,
    first_at_least,
)


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

    def settle(self, page: WindowPage, pane: i64, panes: Integers) -> None:
        """Write the value of the window that ends now, and began with a pane; `panes` as cell.PaneColumns has them."""
        raise AssertionError

    def closing(self, first: i64) -> MeasureClosing:
        """What windows need that end now and begin at a position of at least `first`."""
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
class CountMeasure(WindowMeasure):
    """How many values are not null."""

    def __init__(self, value: Computation) -> None:
        self.value = value
        self.count: i64 = 0
        self.counts: Integers = integers()

    def open(self, pane: i64) -> None:
        self.counts = put_integer(self.counts, pane, self.count)

    def push(self, row: Row, times: Slots, position: i64) -> None:
        if self.value.value(row, (), times, 1, 1) is not None:
            self.count += 1

    def settle(self, page: WindowPage, pane: i64, panes: Integers) -> None:
        page.add_count(self.count - self.counts[pane])

    def closing(self, first: i64) -> MeasureClosing:
        return CountClosing(self.counts, self.count)

    def trim(self, panes: i64, first: i64) -> None:
        self.counts = self.counts[panes:]

    def reset(self) -> None:
        self.count = 0
        self.counts = integers()

    def dump(self) -> list[Any]:
        return [int(self.count), [int(count) for count in self.counts]]

    def load(self, data: Any) -> None:
        self.count, self.counts = data[0], integers_of(data[1])


@final
@mypyc_attr(acyclic=True)
class IntegerMeasure(WindowMeasure):
    """Sum and count of ints, of any size. Unless they are `nullable`, their count is that of the events."""

    def __init__(self, value: Computation, nullable: bool) -> None:
        self.value = value
        self.nullable = nullable
        self.count: i64 = 0
        self.total = 0
        self.counts: Integers = integers()
        self.totals: list[int] = []

    def open(self, pane: i64) -> None:
        if self.nullable:
            self.counts = put_integer(self.counts, pane, self.count)
        self.totals.append(self.total)

    def push(self, row: Row, times: Slots, position: i64) -> None:
        value: Any = self.value.value(row, (), times, 1, 1)
        if value is not None:
            self.count += 1
            self.total += value

    def settle(self, page: WindowPage, pane: i64, panes: Integers) -> None:
        page.values.append(self.total - self.totals[pane])
        if self.nullable:
            page.add_count(self.count - self.counts[pane])

    def closing(self, first: i64) -> MeasureClosing:
        return IntegerClosing(self.counts, self.count, self.totals, self.total)

    def trim(self, panes: i64, first: i64) -> None:
        if self.nullable:
            self.counts = self.counts[panes:]
        self.totals = self.totals[panes:]

    def reset(self) -> None:
        self.count = 0
        self.total = 0
        self.counts = integers()
        self.totals = []

    def dump(self) -> list[Any]:
        # Only differences matter, and a snapshot holds no integer beyond 64 bits.
        first = self.totals[0] if self.totals else self.total
        counts = [int(count) for count in self.counts]
        return [int(self.count), self.total - first, counts, [total - first for total in self.totals]]

    def load(self, data: Any) -> None:
        self.count, self.total, self.totals = data[0], data[1], list(data[3])
        self.counts = integers_of(data[2])


@final
@mypyc_attr(acyclic=True)
class FloatMeasure(WindowMeasure):
    """Sum and count of floats; the sum as two floats (exact_sums). `greatest`: the greatest magnitude that it had.
    `nullable` as of ints. `sums`: the two floats of each pane."""

    def __init__(self, value: Computation, nullable: bool) -> None:
        self.value = value
        self.attribute: i64 = position_of(value)
        self.nullable = nullable
        self.count: i64 = 0
        self.high = 0.0
        self.low = 0.0
        self.greatest = 0.0
        self.counts: Integers = integers()
        self.sums: Floats = floats()

    def open(self, pane: i64) -> None:
        if self.nullable:
            self.counts = put_integer(self.counts, pane, self.count)
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

    def settle(self, page: WindowPage, pane: i64, panes: Integers) -> None:
        sums = self.sums
        exact = between(self.high, self.low, sums[2 * pane], sums[2 * pane + 1], float(self.count), self.greatest)
        page.add_float(exact)
        if self.nullable:
            page.add_count(self.count - self.counts[pane])

    def closing(self, first: i64) -> MeasureClosing:
        return FloatClosing(self.counts, self.count, self.sums, self.high, self.low, self.greatest)

    def trim(self, panes: i64, first: i64) -> None:
        if self.nullable:
            self.counts = self.counts[panes:]
        self.sums = self.sums[2 * panes :]

    def reset(self) -> None:
        self.count = 0
        self.high = 0.0
        self.low = 0.0
        self.greatest = 0.0
        if self.nullable:
            self.counts = integers()
        self.sums = floats()

    def dump(self) -> list[Any]:
        state = [int(self.count), self.high, self.low, self.greatest]
        return [*state, [int(count) for count in self.counts], list(self.sums)]

    def load(self, data: Any) -> None:
        self.count, self.high, self.low, self.greatest, counts, sums = data
        self.sums = floats_of(sums)
        self.counts = integers_of(counts)


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

    def settle(self, page: WindowPage, pane: i64, panes: Integers) -> None:
        top: i64 = len(self.values)
        at = first_at_least(self.positions, top, panes[2 * pane])
        page.values.append(self.values[at] if at < top else None)

    def closing(self, first: i64) -> MeasureClosing:
        top: i64 = len(self.values)
        at = first_at_least(self.positions, top, first)
        return ExtremeClosing(self.positions[at:top], self.values[at:])

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
