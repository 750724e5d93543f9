"""The windows of one partition: open starts as panes, and groups of starts that have the same future.

A pane is a start of windows that may still end; panes have ascending numbers. A group is a state of the body automaton
with the panes whose windows are in it, as disjoint intervals of numbers: starts that meet in a state stay together. All
events since the oldest open start are in a log.

Here: panes, groups and the log. Hot. Not here: the effect of an event (stepping), aggregates (measures).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....events.schema import Row
from ..matches import Item, tuple_item
from .measures import Measure
from .tables import WindowTables

TRIMMED_MIN: Final = 64  # panes or events that must be useless before columns are moved

# Partitions are many: columns that a query does not need are these, which stay empty.
NO_ROWS: Final[list[Row]] = []
NO_TIMES: Final[list[int | None]] = []
NO_NUMBERS: Final[list[int]] = []
NO_MEASURES: Final[list[Measure]] = []


@final
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
            self.rest.append(int(self.low))
            self.rest.append(int(self.high))
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
class WindowCell:
    """A partition.

    `count`: how many events it has had; `states`: those of the prefix automata; `before`: the rows of its newest
    events, the newest first, and `times` of them. The pane with the number `base` + k began at the event `positions[k]`
    at the time `began[k]`. The log begins with the event number `logged`. `low`, by part: the first pane whose windows
    are not too long; `ripe`: the first whose windows are too short. `ends`, for windows that wait: by pane, the last
    event at which there was a window, or -1. `upto`: of windows of the clock, the newest that it is in.
    """

    def __init__(self, key: Row, tables: WindowTables, blank: Row) -> None:
        self.key = key
        self.count: i64 = 0
        self.states: list[int] = [0] * int(tables.parts)
        self.before: list[Row] = NO_ROWS
        self.times: list[int | None] = NO_TIMES
        if tables.back > 0:
            self.before = [blank] * tables.back
            self.times = [None] * tables.back
        self.groups: list[Group] = []
        self.base: i64 = 0
        self.positions: list[int] = []
        self.began: list[int] = []
        self.logged: i64 = 0
        self.items: list[Item] = []
        self.rows: list[Row] = [] if tables.rows else NO_ROWS
        self.low: list[int] = NO_NUMBERS
        self.ripe: list[int] = NO_NUMBERS
        if tables.bounded:
            self.low = [0] * int(tables.parts)
            self.ripe = [0] * int(tables.parts)
        self.ends: list[int] = [] if tables.waits else NO_NUMBERS
        self.moments: list[int] = [] if tables.waits else NO_NUMBERS  # times of the log
        self.last: i64 = 0  # the time of its newest event
        self.upto: i64 = 0
        self.many = tables.measured
        self.measures: list[Measure] = tables.measures() if self.many else NO_MEASURES

    def open(self, time: i64) -> i64:
        """Begin a pane at the current event; returns its number."""
        if len(self.positions) == 0:
            self.logged = self.count
        self.positions.append(int(self.count))
        self.began.append(int(time))
        if self.many:
            for measure in self.measures:
                measure.open()
        return self.base + len(self.positions) - 1

    def note(self, row: Row, times: Slots, time: i64, item: Item, rows: bool) -> None:
        """Add the current event to the log and to all measures."""
        self.items.append(item)
        if rows:
            self.rows.append(row)
        if self.many:
            position = self.count
            for measure in self.measures:
                measure.push(row, times, position)

    def forget(self) -> None:
        """Drop all panes and the log: no window is open."""
        self.base += len(self.positions)
        self.positions = []
        self.began = []
        self.items = []
        if len(self.rows) > 0:
            self.rows = []
        if len(self.ends) > 0:
            self.ends = []
            self.moments = []
        for measure in self.measures:
            measure.reset()
        part: i64
        for part in range(len(self.low)):
            self.low[part] = int(self.base)
            self.ripe[part] = int(self.base)

    def trim(self, first: i64, at_once: bool = False) -> None:
        """Drop the panes below the number `first` and the events before them, if that is worth while.

        Columns are replaced, not changed: matches that are not read yet refer to them. O(1) amortised.
        """
        dead = first - self.base
        if dead <= 0 or (not at_once and (dead < TRIMMED_MIN or 2 * dead < len(self.positions))):
            return
        start: i64 = self.positions[dead]
        events = start - self.logged
        self.positions = self.positions[dead:]
        self.began = self.began[dead:]
        self.items = self.items[events:]
        if len(self.rows) > 0:
            self.rows = self.rows[events:]
        if len(self.moments) > 0:
            self.ends = self.ends[dead:]
            self.moments = self.moments[events:]
        self.logged = start
        self.base = first
        for measure in self.measures:
            measure.trim(dead, start)
        part: i64
        for part in range(len(self.low)):
            if self.low[part] < first:
                self.low[part] = int(first)
            if self.ripe[part] < first:
                self.ripe[part] = int(first)

    def idle(self) -> bool:
        """Whether it is as a partition that has had no event."""
        return self.count == 0 or (
            len(self.groups) == 0 and len(self.before) == 0 and not any(self.states) and len(self.positions) == 0
        )

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def dump(self) -> list[Any]:
        return [
            list(self.key),
            [int(self.count), int(self.base), int(self.logged), int(self.last), int(self.upto)],
            list(self.states),
            [list(row) for row in self.before],
            list(self.times),
            [[int(group.state), group.intervals()] for group in self.groups],
            [list(self.positions), list(self.began), list(self.low), list(self.ripe), list(self.ends)],
            [list(self.items), [list(row) for row in self.rows], list(self.moments)],
            [measure.dump() for measure in self.measures],
        ]

    def load(self, data: Any) -> None:
        _, numbers, states, before, times, groups, panes, log, measures = data
        self.count, self.base, self.logged, self.last, self.upto = numbers
        self.states = list(states)
        if before:
            self.before, self.times = [tuple(row) for row in before], list(times)
        self.groups = []
        for state, intervals in groups:
            group = Group(state, 0, 0, [])
            group.take(list(intervals))
            self.groups.append(group)
        self.positions, self.began = list(panes[0]), list(panes[1])
        self.items = [tuple_item(item) for item in log[0]]
        if panes[2]:
            self.low, self.ripe = list(panes[2]), list(panes[3])
        if log[1]:
            self.rows = [tuple(row) for row in log[1]]
        if log[2]:
            self.ends, self.moments = list(panes[4]), list(log[2])
        for measure, saved in zip(self.measures, measures, strict=True):
            measure.load(saved)

    def check_invariants(self, tables: WindowTables) -> None:
        """Raise AssertionError if its parts contradict each other."""
        assert all(len(column) == 0 for column in (NO_ROWS, NO_TIMES, NO_NUMBERS, NO_MEASURES))
        end = self.base + len(self.positions)
        assert len(self.positions) == len(self.began)
        assert not self.positions or self.logged == self.positions[0] or tables.windows.clock is not None
        assert all(one < other for one, other in zip(self.positions, self.positions[1:]))
        assert len(self.items) == (self.count - self.logged if self.positions else 0)
        assert not tables.rows or len(self.rows) == len(self.items)
        seen: set[int] = set()
        for group in self.groups:
            assert group.state not in seen
            seen.add(int(group.state))
            intervals = group.intervals()
            assert all(low <= high for low, high in zip(intervals[::2], intervals[1::2]))
            assert all(high + 1 < low for high, low in zip(intervals[1::2], intervals[2::2]))
            assert self.base <= intervals[0] <= intervals[-1] < end
