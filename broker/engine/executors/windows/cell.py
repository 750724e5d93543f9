"""The windows of one partition: open starts as panes, and groups of starts that have the same future.

A pane is a start of windows that may still end; panes have ascending numbers. A group is a state of the body automaton
with the panes whose windows are in it, as disjoint intervals of numbers: starts that meet in a state stay together. All
events since the oldest open start are in a log.

Here: panes, groups and the log. Hot. Not here: the effect of an event (stepping), aggregates (measures).

A garbage collector looks at each list and object of each partition, and partitions are many: so there are few of them.
"""

from __future__ import annotations

import itertools
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Slots
from ....events.schema import Row
from ..matches import Item, tuple_item
from .measures import NO_COUNTS, WindowMeasure
from .tables import WindowTables

TRIMMED_MIN: Final = 64  # panes or events that must be useless before columns are moved

# Columns that a query does not need, and rests of groups without any, are these, which stay empty.
NO_ROWS: Final[list[Row]] = []
NO_TIMES: Final[list[int | None]] = []
NO_NUMBERS: Final[list[int]] = []
NO_MEASURES: Final[list[WindowMeasure]] = []


@final
@mypyc_attr(acyclic=True)
class Group:
    """Panes whose windows are in one state: those from `low` to `high`, and earlier ones in the intervals of `rest`,
    which has the first and the last number of each, ascending."""

    def __init__(self, state: i64, low: i64, high: i64, rest: list[int]) -> None:
        self.state: i64 = state
        self.low: i64 = low
        self.high: i64 = high
        self.rest = rest

    def first(self) -> i64:
        """The number of its oldest pane."""
        return self.rest[0] if len(self.rest) > 0 else self.low

    def cut(self, least: i64) -> bool:
        """Forget the panes below a number; returns whether any is left. O(intervals forgotten)."""
        if self.low >= least and (len(self.rest) == 0 or self.rest[0] >= least):
            return True
        if self.high < least:
            return False
        rest = self.rest
        while len(rest) > 0 and rest[1] < least:
            rest = rest[2:]
        if len(rest) > 0:
            if rest[0] < least:
                rest = [int(least), *rest[1:]]
        elif self.low < least:
            self.low = least
        self.rest = rest
        return True

    def merge(self, other: Group) -> None:
        """Add the panes of another group, which are none of these. O(intervals)."""
        if len(other.rest) == 0 and other.low > self.high:
            if other.low == self.high + 1:
                self.high = other.high
                return
            self.rest = [*self.rest, int(self.low), int(self.high)]
            self.low = other.low
            self.high = other.high
            return
        self.take(joined([self.intervals(), other.intervals()]))

    def intervals(self) -> list[int]:
        """All its intervals."""
        return [*self.rest, int(self.low), int(self.high)]

    def take(self, intervals: list[int]) -> None:
        """Have these panes instead."""
        self.low, self.high = intervals[-2], intervals[-1]
        self.rest = intervals[:-2]


def joined(several: list[list[int]]) -> list[int]:
    """The union of intervals, in ascending order. O(n log n)."""
    pairs: list[tuple[int, int]] = []
    for intervals in several:
        for at in range(0, len(intervals), 2):
            pairs.append((intervals[at], intervals[at + 1]))
    pairs.sort()
    found: list[int] = []
    for low, high in pairs:
        if len(found) > 0 and low <= found[-1] + 1:
            if high > found[-1]:
                found[-1] = high
        else:
            found.append(low)
            found.append(high)
    return found


def below(intervals: list[int], end: i64) -> list[int]:
    """The part of intervals below a number. O(intervals)."""
    while len(intervals) > 0 and intervals[-2] >= end:
        intervals = intervals[:-2]
    if len(intervals) > 0 and intervals[-1] >= end:
        intervals[-1] = int(end - 1)
    return intervals


def without(intervals: list[int], less: list[int]) -> list[int]:
    """The first intervals without the second. O(intervals)."""
    found: list[int] = []
    for at in range(0, len(intervals), 2):
        low, high = intervals[at], intervals[at + 1]
        for other in range(0, len(less), 2):
            if less[other + 1] < low:
                continue
            if less[other] > high:
                break
            if less[other] > low:
                found.append(low)
                found.append(less[other] - 1)
            low = less[other + 1] + 1
        if low <= high:
            found.append(low)
            found.append(high)
    return found


@final
@mypyc_attr(acyclic=True)
class PaneColumns:
    """The panes and the log of a partition, for itself and for matches that are not read yet.

    The pane with the number `base` + k began at the event `positions[k]` at the time `began[k]`. The log begins with
    the event number `logged`. The lists grow at the end; to forget something is to have other columns.
    """

    def __init__(
        self, base: i64, positions: list[int], began: list[int], logged: i64, items: list[Item], rows: list[Row]
    ) -> None:
        self.base = base
        self.positions = positions
        self.began = began
        self.logged = logged
        self.items = items
        self.rows = rows

    def end(self) -> i64:
        """The number of the next pane."""
        return self.base + len(self.positions)


@final
@mypyc_attr(acyclic=True)
class WindowCell:
    """A partition.

    `count`: how many events it has had since it has been followed. `marks`: by part the state of the prefix automaton;
    then by part, if windows are bounded, the first pane whose windows are not too long, and the first whose windows are
    too short. `before`: the rows of its newest events, the newest first, and `times` of them. `ends`, for windows that
    wait: by pane, the last event at which there was a window, or -1, and `moments`: times of the log. `upto`: of
    windows of the clock, the newest that it is in; `periods`: by pane, its period. `last`: the time of its newest
    event.
    """

    def __init__(self, key: Row, tables: WindowTables, blank: Row) -> None:
        self.key = key
        self.parts: i64 = tables.parts
        self.count: i64 = 0
        self.marks: list[int] = [0] * int(tables.parts * (3 if tables.bounded else 1))
        self.before: list[Row] = NO_ROWS
        self.times: list[int | None] = NO_TIMES
        if tables.back > 0:
            self.before = [blank] * tables.back
            self.times = [None] * tables.back
        self.groups: list[Group] = []
        self.columns = PaneColumns(0, [], [], 0, [], [] if tables.rows else NO_ROWS)
        self.ends: list[int] = [] if tables.waits else NO_NUMBERS
        self.moments: list[int] = [] if tables.waits else NO_NUMBERS
        self.periods: list[int] = [] if tables.windows.clock is not None else NO_NUMBERS
        self.last: i64 = 0
        self.upto: i64 = 0
        self.many = tables.measured
        self.measures: list[WindowMeasure] = tables.measures() if self.many else NO_MEASURES

    def open(self, time: i64) -> i64:
        """Begin a pane at the current event; returns its number."""
        columns = self.columns
        if len(columns.positions) == 0:
            columns.logged = self.count
        columns.positions.append(int(self.count))
        columns.began.append(int(time))
        if self.many:
            for measure in self.measures:
                measure.open()
        return columns.end() - 1

    def note(self, row: Row, times: Slots, item: Item, rows: bool) -> None:
        """Add the current event to the log and to all measures."""
        self.columns.items.append(item)
        if rows:
            self.columns.rows.append(row)
        if self.many:
            position = self.count
            for measure in self.measures:
                measure.push(row, times, position)

    def forget(self) -> None:
        """Drop all panes and the log: no window is open."""
        old = self.columns
        self.columns = PaneColumns(old.end(), [], [], 0, [], [] if len(old.rows) > 0 else old.rows)
        if len(self.moments) > 0:
            self.ends = []
            self.moments = []
        for measure in self.measures:
            measure.reset()

    def trim(self, first: i64, at_once: bool = False) -> None:
        """Drop the panes below the number `first` and the events before them, if that is worth while.

        O(1) amortised.
        """
        old = self.columns
        dead = first - old.base
        if dead <= 0 or (not at_once and (dead < TRIMMED_MIN or 2 * dead < len(old.positions))):
            return
        start: i64 = old.positions[dead]
        events = start - old.logged
        rows = old.rows[events:] if len(old.rows) > 0 else old.rows
        self.columns = PaneColumns(first, old.positions[dead:], old.began[dead:], start, old.items[events:], rows)
        if len(self.moments) > 0:
            self.ends = self.ends[dead:]
            self.moments = self.moments[events:]
        if len(self.periods) > 0:
            self.periods = self.periods[dead:]
        for measure in self.measures:
            measure.trim(dead, start)

    def idle(self) -> bool:
        """Whether it is as a partition that has had no event."""
        looks = len(self.before) > 0 and self.count > 0
        part: i64
        for part in range(self.parts):
            if self.marks[part] != 0:
                return False
        return len(self.groups) == 0 and not looks and len(self.columns.positions) == 0

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def dump(self) -> list[Any]:
        columns = self.columns
        numbers = [self.count, columns.base, columns.logged, self.last, self.upto]
        return [
            list(self.key),
            [int(number) for number in numbers],
            list(self.marks),
            [list(row) for row in self.before],
            list(self.times),
            [[int(group.state), group.intervals()] for group in self.groups],
            [list(columns.positions), list(columns.began), list(self.ends), list(self.periods)],
            [list(columns.items), [list(row) for row in columns.rows], list(self.moments)],
            [measure.dump() for measure in self.measures],
        ]

    def load(self, data: Any) -> None:
        _, numbers, marks, before, times, groups, panes, log, measures = data
        self.count, base, logged, self.last, self.upto = numbers
        self.marks = list(marks)
        if before:
            self.before, self.times = [tuple(row) for row in before], list(times)
        self.groups = []
        for state, intervals in groups:
            group = Group(state, 0, 0, NO_NUMBERS)
            group.take(list(intervals))
            self.groups.append(group)
        rows = [tuple(row) for row in log[1]] if log[1] else self.columns.rows
        items = [tuple_item(item) for item in log[0]]
        self.columns = PaneColumns(base, list(panes[0]), list(panes[1]), logged, items, rows)
        if log[2]:
            self.ends, self.moments = list(panes[2]), list(log[2])
        if panes[3]:
            self.periods = list(panes[3])
        for measure, saved in zip(self.measures, measures, strict=True):
            measure.load(saved)

    def check_invariants(self, tables: WindowTables) -> None:
        """Raise AssertionError if its parts contradict each other."""
        assert all(len(column) == 0 for column in (NO_ROWS, NO_TIMES, NO_NUMBERS, NO_MEASURES, NO_COUNTS))
        columns = self.columns
        positions = columns.positions
        assert len(positions) == len(columns.began)
        assert not positions or columns.logged == positions[0]
        assert all(one < other for one, other in itertools.pairwise(positions))
        assert len(columns.items) == (self.count - columns.logged if positions else 0)
        assert len(columns.rows) == (len(columns.items) if tables.rows else 0)
        seen: set[int] = set()
        for group in self.groups:
            assert group.state not in seen
            seen.add(int(group.state))
            intervals = group.intervals()
            assert all(low <= high for low, high in zip(intervals[::2], intervals[1::2]))
            assert all(high + 1 < low for high, low in zip(intervals[1::2], intervals[2::2]))
            assert columns.base <= intervals[0] <= intervals[-1] < columns.end()
