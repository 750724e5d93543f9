"""What is noted of the windows of a batch when they are complete, to be read later.

A row of `Completions` has the numbers of the windows that end together; beside it a page has what measures say of them.
So a window that nobody reads costs no object. Here: pages, and what measures say. Hot. Not here: measures (measures),
reading (window_matches, pane_matches).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ..packed import Floats, Integers
from .exact_sums import between

# Kinds of rows, and their numbers; `columns` is the index of the partition's columns in the page.
ENDED: Final = 0  # that one event completes: columns, that event, its time, closings, and intervals of panes
OVER: Final = 1  # that waited: columns, and of each the first and the last event and their times
ENDED_NUMBERS: Final = 4
OVER_NUMBERS: Final = 4  # of each


@mypyc_attr(acyclic=True)
class MeasureClosing:
    """What a measure says of the moment at which windows end, for reading later. It refers to columns of panes, which
    only grow."""

    def value(self, pane: i64, first: i64) -> Any:
        """Its value for the window that begins with the pane of this index, at the event number `first`."""
        raise AssertionError


NO_CLOSINGS: Final[list[MeasureClosing]] = []
"""Those of no measures; it stays empty."""


@final
@mypyc_attr(acyclic=True)
class IntegerClosing(MeasureClosing):
    def __init__(self, totals: list[int], total: int) -> None:
        self.totals = totals
        self.total = total

    def value(self, pane: i64, first: i64) -> Any:
        return self.total - self.totals[pane]


@final
@mypyc_attr(acyclic=True)
class FloatClosing(MeasureClosing):
    def __init__(self, sums: Floats, high: float, low: float, additions: float, greatest: float) -> None:
        self.sums = sums
        self.high = high
        self.low = low
        self.additions = additions
        self.greatest = greatest

    def value(self, pane: i64, first: i64) -> Any:
        sums = self.sums
        return between(self.high, self.low, sums[2 * pane], sums[2 * pane + 1], self.additions, self.greatest)


@final
@mypyc_attr(acyclic=True)
class ExtremeClosing(MeasureClosing):
    def __init__(self, positions: Integers, values: list[Any]) -> None:
        self.positions = positions
        self.values = values

    def value(self, pane: i64, first: i64) -> Any:
        at = first_at_least(self.positions, len(self.values), first)
        return self.values[at] if at < len(self.values) else None


@mypyc_attr(acyclic=True)
class SharedColumns:
    """Columns of a partition, or of all, to which pages refer: they only grow."""


@final
@mypyc_attr(acyclic=True)
class WindowPage:
    """What is beside the rows of a batch, of all machines. `columns`: of partitions (pane_columns), or the logs of all
    partitions of a machine (batch_log). `values`: of the windows of pane tables."""

    def __init__(self) -> None:
        self.columns: list[SharedColumns] = []
        self.values: list[Any] = []
        self.closings: list[list[MeasureClosing]] = [NO_CLOSINGS]

    def of(self, columns: SharedColumns) -> i64:
        """The index of these columns. O(1): again the same only if they are those of the row before."""
        known = self.columns
        at: i64 = len(known) - 1
        if at < 0 or known[at] is not columns:
            known.append(columns)
            at += 1
        return at

    def close(self, closings: list[MeasureClosing]) -> i64:
        """The index of these closings."""
        if len(closings) == 0:
            return 0
        self.closings.append(closings)
        return len(self.closings) - 1


def first_at_least(ascending: Integers, count: i64, least: i64) -> i64:
    """The index of the first of so many numbers that is at least this one; `count` if none is. O(log)."""
    low: i64 = 0
    high = count
    while low < high:
        middle = (low + high) >> 1
        if ascending[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low
