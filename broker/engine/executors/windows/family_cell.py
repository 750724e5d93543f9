"""The windows of a family in one partition: rectangles of panes and members.

A rectangle is the windows of some panes for some members, in a state of the body. Members are counted in the order of
their constants, so that an event divides each rectangle at few places. Panes, the log and measures are as in a machine
of one subscription, since all members have the same events.

Here: rectangles, and members that come and go. Hot. Not here: the effect of an event (family_stepping).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from .cell import PanePartition, WindowCell
from .pane_groups import StartGroup
from .tables import WindowTables

NEARBY: Final = 8  # rectangles of a state that are looked at to join one with a new one


@final
@mypyc_attr(acyclic=True)
class Rectangle:
    """The panes from `low` to `high`, for the members from `first` to below `upto`."""

    def __init__(self, low: i64, high: i64, first: i64, upto: i64) -> None:
        self.low: i64 = low
        self.high: i64 = high
        self.first: i64 = first
        self.upto: i64 = upto


@final
@mypyc_attr(acyclic=True)
class RectangleGroup(StartGroup):
    """The rectangles of a state, which have no window in common, by their first panes. `oldest`: no pane is older.
    `calm`: how many whole ones have come since a part of one has."""

    def __init__(self, state: i64, rectangles: list[Rectangle], oldest: i64) -> None:
        self.state: i64 = state
        self.rectangles = rectangles
        self.oldest: i64 = oldest
        self.calm: i64 = NEARBY

    def add(self, low: i64, high: i64, first: i64, upto: i64, spare: Rectangle | None = None) -> bool:
        """Add a rectangle, or extend one of the last ones by it. Returns whether it is the `spare` one, if there is
        one, which is in no group."""
        known = self.rectangles
        count: i64 = len(known)
        if count == 0 or low < self.oldest:
            self.oldest = low
        at = count
        while at > 0 and count - at < NEARBY:
            at -= 1
            other = known[at]
            if other.first == first and other.upto == upto and other.high + 1 == low:
                other.high = high
                return False
            if other.low == low and other.high == high:
                if other.upto == first:
                    other.upto = upto
                    return False
                if other.first == upto:
                    other.first = first
                    return False
        if spare is None:
            known.append(Rectangle(low, high, first, upto))
            return False
        spare.first = first
        spare.upto = upto
        known.append(spare)
        return True

    def take(self, other: RectangleGroup) -> None:
        """Add all rectangles of another group. O(rectangles)."""
        self.rectangles += other.rectangles
        self.rectangles.sort(key=_by_pane)
        self.oldest = min(self.oldest, other.oldest)

    def expire(self, least: i64) -> bool:
        """Forget rectangles whose panes are all below a number; returns whether any is left. O(1) amortised."""
        if self.oldest >= least:
            return True
        known = self.rectangles
        gone: i64 = 0
        while gone < len(known) and known[gone].high < least:
            gone += 1
        if gone > 0:
            del known[:gone]
        self.oldest = least
        return len(known) > 0

    def cut(self, least: i64) -> bool:
        """O(rectangles)."""
        kept: list[Rectangle] = []
        for one in self.rectangles:
            if one.high >= least:
                one.low = max(one.low, least)
                kept.append(one)
        self.rectangles = kept
        self.oldest = least
        return len(kept) > 0


def _by_pane(one: Rectangle) -> int:
    return int(one.low)


@final
@mypyc_attr(acyclic=True)
class FamilyCell(PanePartition):
    """A partition. `cell`: its panes, log and measures. `before`: the prefix automata of all members, as ends of ranges
    and states in turn; empty where all are always in the only state."""

    def __init__(self, cell: WindowCell, before: list[int]) -> None:
        self.cell = cell
        self.groups: list[RectangleGroup] = []
        self.before = before

    def insert(self, at: int) -> None:
        """Make room for a member with no windows. O(rectangles)."""
        for group in self.groups:
            apart: list[Rectangle] = []
            for one in group.rectangles:
                if one.first >= at:
                    one.first += 1
                    one.upto += 1
                elif one.upto > at:
                    apart.append(Rectangle(one.low, one.high, at + 1, one.upto + 1))
                    one.upto = at
            if apart:
                group.rectangles += apart
                group.rectangles.sort(key=_by_pane)

    def remove(self, at: int) -> None:
        """Forget a member. O(rectangles)."""
        for group in self.groups:
            for one in group.rectangles:
                one.first -= one.first > at
                one.upto -= one.upto > at
            group.rectangles = [one for one in group.rectangles if one.first < one.upto]
        self.groups = [group for group in self.groups if group.rectangles]
        ranges: list[int] = []
        for place in range(0, len(self.before), 2):
            upto = self.before[place] - (self.before[place] > at)
            if upto > (ranges[-2] if ranges else 0):
                ranges += (upto, self.before[place + 1])
        self.before = ranges
        if not self.groups and self.cell.columns.count > 0:
            self.cell.forget()

    def idle(self, tables: WindowTables, time: i64) -> bool:
        if len(self.groups) > 0:
            return False
        for at in range(1, len(self.before), 2):
            if self.before[at] != tables.initial[0]:
                return False
        return self.cell.idle(tables, time)

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def dump(self) -> list[Any]:
        groups = [
            [int(group.state), int(group.oldest), [int(n) for one in group.rectangles for n in _numbers(one)]]
            for group in self.groups
        ]
        return [self.cell.dump(), groups, list(self.before)]

    def load(self, data: Any) -> None:
        cell, groups, before = data
        self.cell.load(cell)
        self.before = list(before)
        for state, oldest, numbers in groups:
            found = [Rectangle(*numbers[at : at + 4]) for at in range(0, len(numbers), 4)]
            self.groups.append(RectangleGroup(state, found, oldest))

    def check_invariants(self, tables: WindowTables, members: int) -> None:
        """Raise AssertionError if its parts contradict each other. O(rectangles squared)."""
        cell = self.cell
        cell.check_invariants(tables)
        assert bool(self.groups) == (cell.columns.count > 0)
        assert len({int(group.state) for group in self.groups}) == len(self.groups)
        known = [one for group in self.groups for one in group.rectangles]
        for group in self.groups:
            lows = [int(one.low) for one in group.rectangles]
            assert lows == sorted(lows)
            assert group.rectangles
        for at, one in enumerate(known):
            assert 0 <= one.first < one.upto <= members
            assert one.low <= one.high < cell.columns.end()
            for other in known[:at]:
                apart = one.high < other.low or other.high < one.low
                assert apart or one.upto <= other.first or other.upto <= one.first
        ends = self.before[::2]
        assert ends == sorted(set(ends))
        assert not ends or ends[-1] == members


def _numbers(one: Rectangle) -> tuple[i64, i64, i64, i64]:
    return one.low, one.high, one.first, one.upto
