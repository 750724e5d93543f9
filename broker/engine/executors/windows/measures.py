"""Measures: what the aggregates of windows need of the events of a partition, kept once for all its windows.

All windows that an event completes end at it. So the value of a window is that of a suffix of the events: a difference
of prefix sums, which a pane notes when it begins, or the first entry of a monotone stack behind its beginning. What
neither can say is computed from the rows of the window.

Here: measures, one class each. Hot. Not here: which aggregates need which (tables), reading values (window_matches).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Computation, Slots
from ....events.schema import Row
from .exact_sums import added_high, added_low

NO_COUNTS: Final[list[int]] = []
"""The counts of values where none is null; it stays empty."""


@mypyc_attr(acyclic=True)
class MeasureClosing:
    """What a measure says of the moment at which windows end, for reading later. It refers to columns of panes, which
    only grow."""


NO_CLOSINGS: Final[list[MeasureClosing]] = []
"""Those of no measures; it stays empty."""


@final
@mypyc_attr(acyclic=True)
class CountClosing(MeasureClosing):
    def __init__(self, counts: list[int], count: i64) -> None:
        self.counts = counts
        self.count = count


@final
@mypyc_attr(acyclic=True)
class IntegerClosing(MeasureClosing):
    def __init__(self, counts: list[int], count: i64, totals: list[int], total: int) -> None:
        self.counts = counts
        self.count = count
        self.totals = totals
        self.total = total


@final
@mypyc_attr(acyclic=True)
class FloatClosing(MeasureClosing):
    def __init__(
        self, counts: list[int], count: i64, highs: list[float], lows: list[float], high: float, low: float, most: float
    ) -> None:
        self.counts = counts
        self.count = count
        self.highs = highs
        self.lows = lows
        self.high = high
        self.low = low
        self.greatest = most


@final
@mypyc_attr(acyclic=True)
class ExtremeClosing(MeasureClosing):
    def __init__(self, positions: list[int], values: list[Any]) -> None:
        self.positions = positions
        self.values = values


@mypyc_attr(acyclic=True)  # a value is computed from rows, which know no measures
class WindowMeasure:
    """A measure of one partition. The panes are those since the last `reset` or `trim`."""

    def open(self) -> None:
        """Begin a pane, before its first event."""
        raise AssertionError

    def push(self, row: Row, times: Slots, position: i64) -> None:
        """Add an event; `times` has its time."""
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
        self.counts: list[int] = []

    def open(self) -> None:
        self.counts.append(int(self.count))

    def push(self, row: Row, times: Slots, position: i64) -> None:
        if self.value.value(row, (), times, 1, 1) is not None:
            self.count += 1

    def closing(self, first: i64) -> MeasureClosing:
        return CountClosing(self.counts, self.count)

    def trim(self, panes: i64, first: i64) -> None:
        self.counts = self.counts[panes:]

    def reset(self) -> None:
        self.count = 0
        self.counts = []

    def dump(self) -> list[Any]:
        return [int(self.count), list(self.counts)]

    def load(self, data: Any) -> None:
        self.count, self.counts = data[0], list(data[1])


@final
@mypyc_attr(acyclic=True)
class IntegerMeasure(WindowMeasure):
    """Sum and count of ints, of any size. Unless they are `nullable`, their count is that of the events."""

    def __init__(self, value: Computation, nullable: bool) -> None:
        self.value = value
        self.nullable = nullable
        self.count: i64 = 0
        self.total = 0
        self.counts: list[int] = [] if nullable else NO_COUNTS
        self.totals: list[int] = []

    def open(self) -> None:
        if self.nullable:
            self.counts.append(int(self.count))
        self.totals.append(self.total)

    def push(self, row: Row, times: Slots, position: i64) -> None:
        value: Any = self.value.value(row, (), times, 1, 1)
        if value is not None:
            self.count += 1
            self.total += value

    def closing(self, first: i64) -> MeasureClosing:
        return IntegerClosing(self.counts, self.count, self.totals, self.total)

    def trim(self, panes: i64, first: i64) -> None:
        if self.nullable:
            self.counts = self.counts[panes:]
        self.totals = self.totals[panes:]

    def reset(self) -> None:
        self.count = 0
        self.total = 0
        if self.nullable:
            self.counts = []
        self.totals = []

    def dump(self) -> list[Any]:
        # Only differences matter, and a snapshot holds no integer beyond 64 bits.
        first = self.totals[0] if self.totals else self.total
        return [int(self.count), self.total - first, list(self.counts), [total - first for total in self.totals]]

    def load(self, data: Any) -> None:
        self.count, self.total, self.totals = data[0], data[1], list(data[3])
        if self.nullable:
            self.counts = list(data[2])


@final
@mypyc_attr(acyclic=True)
class FloatMeasure(WindowMeasure):
    """Sum and count of floats; the sum as two floats (exact_sums). `greatest`: the greatest magnitude that it had.
    `nullable` as of ints."""

    def __init__(self, value: Computation, nullable: bool) -> None:
        self.value = value
        self.nullable = nullable
        self.count: i64 = 0
        self.high = 0.0
        self.low = 0.0
        self.greatest = 0.0
        self.counts: list[int] = [] if nullable else NO_COUNTS
        self.highs: list[float] = []
        self.lows: list[float] = []

    def open(self) -> None:
        if self.nullable:
            self.counts.append(int(self.count))
        self.highs.append(self.high)
        self.lows.append(self.low)

    def push(self, row: Row, times: Slots, position: i64) -> None:
        found: Any = self.value.value(row, (), times, 1, 1)
        if found is not None:
            value: float = found
            self.count += 1
            high, low = self.high, self.low
            self.high = added_high(high, low, value)
            self.low = added_low(high, low, value)
            magnitude = abs(self.high)
            if magnitude > self.greatest:
                self.greatest = magnitude

    def closing(self, first: i64) -> MeasureClosing:
        return FloatClosing(self.counts, self.count, self.highs, self.lows, self.high, self.low, self.greatest)

    def trim(self, panes: i64, first: i64) -> None:
        if self.nullable:
            self.counts = self.counts[panes:]
        self.highs = self.highs[panes:]
        self.lows = self.lows[panes:]

    def reset(self) -> None:
        self.count = 0
        self.high = 0.0
        self.low = 0.0
        self.greatest = 0.0
        if self.nullable:
            self.counts = []
        self.highs = []
        self.lows = []

    def dump(self) -> list[Any]:
        state = [int(self.count), self.high, self.low, self.greatest]
        return [*state, list(self.counts), list(self.highs), list(self.lows)]

    def load(self, data: Any) -> None:
        self.count, self.high, self.low, self.greatest, counts, highs, lows = data
        self.highs, self.lows = list(highs), list(lows)
        if self.nullable:
            self.counts = list(counts)


@final
@mypyc_attr(acyclic=True)
class ExtremeMeasure(WindowMeasure):
    """The least values, or the `greatest`, behind each position: a stack in which they only rise, or fall."""

    def __init__(self, value: Computation, greatest: bool) -> None:
        self.value = value
        self.greatest = greatest
        self.positions: list[int] = []
        self.values: list[Any] = []

    def open(self) -> None:
        pass

    def push(self, row: Row, times: Slots, position: i64) -> None:
        value: Any = self.value.value(row, (), times, 1, 1)
        if value is None:
            return
        values = self.values
        if self.greatest:
            while len(values) > 0 and values[-1] <= value:
                values.pop()
                self.positions.pop()
        else:
            while len(values) > 0 and values[-1] >= value:
                values.pop()
                self.positions.pop()
        values.append(value)
        self.positions.append(int(position))

    def closing(self, first: i64) -> MeasureClosing:
        at = first_at_least(self.positions, first)
        return ExtremeClosing(self.positions[at:], self.values[at:])

    def trim(self, panes: i64, first: i64) -> None:
        at = first_at_least(self.positions, first)
        self.positions = self.positions[at:]
        self.values = self.values[at:]

    def reset(self) -> None:
        self.positions = []
        self.values = []

    def dump(self) -> list[Any]:
        return [list(self.positions), list(self.values)]

    def load(self, data: Any) -> None:
        self.positions, self.values = list(data[0]), list(data[1])


def first_at_least(ascending: list[int], least: i64) -> i64:
    """The index of the first number that is at least this one. O(log)."""
    low: i64 = 0
    high: i64 = len(ascending)
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low
