"""What is noted of the windows of a batch when they are complete, to be read later.

A row of `Completions` has the numbers of one or several windows that one event completes; beside it a page has columns
of values. So a window that nobody reads costs no object. Here: pages, and what measures say of several windows. Hot.
Not here: measures (measures), reading (window_matches).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ..packed import Floats, Integers, floats, integers, put, put_integer, roomy_floats

# Kinds of rows, and their numbers; `columns` is the index of the partition's columns in the page.
ONE: Final = 0  # a single one: columns, pane, last event, its time, where floats, counts, values begin
SEVERAL: Final = 1  # of panes: columns, last event, its time, how many windows, closings, and intervals of panes
OVER: Final = 2  # that waited: columns, and of each the first and the last event and their times
ONE_NUMBERS: Final = 7
SEVERAL_NUMBERS: Final = 5
COUNTED: Final = 3  # where that has how many windows
OVER_NUMBERS: Final = 4  # of each


@mypyc_attr(acyclic=True)
class MeasureClosing:
    """What a measure says of the moment at which windows end, for reading later. It refers to columns of panes, which
    only grow."""


NO_CLOSINGS: Final[list[MeasureClosing]] = []
"""Those of no measures; it stays empty."""


@final
@mypyc_attr(acyclic=True)
class CountClosing(MeasureClosing):
    def __init__(self, counts: Integers, count: i64) -> None:
        self.counts = counts
        self.count = count


@final
@mypyc_attr(acyclic=True)
class IntegerClosing(MeasureClosing):
    def __init__(self, counts: Integers, count: i64, totals: list[int], total: int) -> None:
        self.counts = counts
        self.count = count
        self.totals = totals
        self.total = total


@final
@mypyc_attr(acyclic=True)
class FloatClosing(MeasureClosing):
    def __init__(self, counts: Integers, count: i64, sums: Floats, high: float, low: float, most: float) -> None:
        self.counts = counts
        self.count = count
        self.sums = sums
        self.high = high
        self.low = low
        self.greatest = most


@final
@mypyc_attr(acyclic=True)
class ExtremeClosing(MeasureClosing):
    def __init__(self, positions: Integers, values: list[Any]) -> None:
        self.positions = positions
        self.values = values


@mypyc_attr(acyclic=True)
class SharedColumns:
    """Columns of a partition, or of all. `shared`: a page has referred to them, so that they may only grow."""

    shared: bool = False


@final
@mypyc_attr(acyclic=True)
class WindowPage:
    """The columns beside the rows of a batch, of all machines. `columns`: of partitions (pane_columns), or the logs of
    all partitions of a machine (batch_log)."""

    def __init__(self) -> None:
        self.columns: list[SharedColumns] = []
        self.floats: Floats = floats()
        self.float_count: i64 = 0
        self.counts: Integers = integers()
        self.count_count: i64 = 0
        self.values: list[Any] = []
        self.closings: list[list[MeasureClosing]] = [NO_CLOSINGS]

    def add_float(self, value: float) -> None:
        at = self.float_count
        self.floats = put(self.floats, at, value)
        self.float_count = at + 1

    def reserve(self, count: i64) -> Floats:
        """The floats, with room for so many more behind `float_count`. O(1) amortised."""
        if len(self.floats) < self.float_count + count:
            self.floats = roomy_floats(self.floats, self.float_count + count)
        return self.floats

    def add_count(self, count: i64) -> None:
        at = self.count_count
        self.counts = put_integer(self.counts, at, count)
        self.count_count = at + 1

    def of(self, columns: SharedColumns) -> i64:
        """The index of these columns. O(1): again the same only if they are those of the row before."""
        known = self.columns
        at: i64 = len(known) - 1
        if at < 0 or known[at] is not columns:
            columns.shared = True
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
