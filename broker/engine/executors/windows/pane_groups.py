"""Groups of panes whose windows have the same future, as intervals of their numbers; and what is done with intervals.

Starts that meet in a state stay together. Hot. Not here: panes themselves (cell), when groups move (stepping).
"""

from __future__ import annotations

from typing import Final, TypeVar, final

from mypy_extensions import i64, mypyc_attr

from ..packed import Integers

NONE_YET: Final = -1


@mypyc_attr(acyclic=True)
class StartGroup:
    """Open starts with the same future: in a state of the body automaton."""

    def __init__(self, state: i64) -> None:
        self.state: i64 = state

    def first(self) -> i64:
        """The number of its oldest pane; -1 if it has none."""
        raise AssertionError

    def cut(self, least: i64) -> bool:
        """Forget the panes below a number; returns whether any is left."""
        raise AssertionError


Starts = TypeVar("Starts", bound=StartGroup)


def cut_all(groups: list[Starts], least: i64) -> list[Starts]:
    """The groups that have panes from a number on, without those below. O(groups and what is forgotten)."""
    kept: list[Starts] = []
    for group in groups:
        if group.cut(least):
            kept.append(group)
    return kept


def drop_ended(groups: list[Starts], terminal: Integers) -> i64:
    """Drop the groups without panes, and those in states that lead nowhere. Returns the number of the oldest pane that
    others have, -1 if none is left. O(groups)."""
    first: i64 = -1
    kept: i64 = 0
    at: i64
    for at in range(len(groups)):
        group = groups[at]
        pane = group.first()
        if terminal[group.state] == 0 and pane >= 0:
            if kept == 0 or pane < first:
                first = pane
            if kept < at:
                groups[kept] = group
            kept += 1
    if kept < len(groups):
        del groups[kept:]
    return first


def oldest(groups: list[Starts], end: i64) -> i64:
    """The number of the oldest pane of all groups; `end` if there is none. O(groups)."""
    for group in groups:
        end = min(end, group.first())
    return end


@final
@mypyc_attr(acyclic=True)
class Group(StartGroup):
    """Panes whose windows are in one state. `intervals`: the first and the last number of each interval of them,
    ascending.

    `last`, of windows that wait for their end: the last event at which all its panes had a window, and `moment` its
    time; NONE_YET if they have none, or not all the same.
    """

    def __init__(self, state: i64, intervals: list[int]) -> None:
        super().__init__(state)
        self.intervals = intervals
        self.last: i64 = NONE_YET
        self.moment: i64 = 0

    def first(self) -> i64:
        return self.intervals[0]

    def cut(self, least: i64) -> bool:
        """O(intervals, where some are forgotten)."""
        intervals = self.intervals
        if intervals[0] >= least:
            return True
        if intervals[-1] < least:
            return False
        gone = 0
        while intervals[gone + 1] < least:
            gone += 2
        if gone > 0:
            del intervals[:gone]
        if intervals[0] < least:
            intervals[0] = int(least)
        return True

    def add(self, pane: i64) -> None:
        """Add a new pane. O(1)."""
        intervals = self.intervals
        if intervals[-1] == pane - 1:
            intervals[-1] = int(pane)
        else:
            intervals.append(int(pane))
            intervals.append(int(pane))

    def merge(self, other: Group) -> None:
        """Add the panes of another group, which are none of these. O(intervals)."""
        newest = self.intervals[-1]
        if other.intervals[0] > newest + 1:
            self.intervals.extend(other.intervals)
        elif other.intervals[0] == newest + 1:
            self.intervals[-1:] = other.intervals[1:]
        else:
            self.intervals = joined([self.intervals, other.intervals])

    def panes(self) -> list[int]:
        """The numbers of its panes. O(panes)."""
        found: list[int] = []
        intervals = self.intervals
        for at in range(0, len(intervals), 2):
            found += range(intervals[at], intervals[at + 1] + 1)
        return found

    def copied(self) -> Group:
        copy = Group(self.state, self.intervals[:])
        copy.last = self.last
        copy.moment = self.moment
        return copy


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
    kept = len(intervals)
    while kept > 0 and intervals[kept - 2] >= end:
        kept -= 2
    found = intervals[:kept]
    if kept > 0 and found[-1] >= end:
        found[-1] = int(end - 1)
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
