"""The windows of a family in one partition: rectangles of panes and members.

A rectangle is the windows of some panes for some members, in a state of the body. Members are counted in the order of
their constants, so that an event divides each rectangle at few places. Panes, the log and measures are as in a machine
of one subscription, since all members have the same events.

Here: rectangles, and members that come and go. Hot. Not here: the effect of an event (family_stepping).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ..packed import Integers, integers, integers_of, lengthened
from .cell import WindowCell
from .pane_groups import StartGroup
from .tables import WindowTables

NEARBY: Final = 8  # rectangles of a state that are looked at to join one with a new one
SIDES: Final = 4  # numbers of a rectangle: panes from and to, members from and to below
ROOMY: Final = 4  # rectangles for which a group has room at first


@final
@mypyc_attr(acyclic=True)
class RectangleGroup(StartGroup):
    """The rectangles of a state, which have no window in common. `sides`: of the first `count` rectangles in turn, the
    panes from and to, the members from and to below. `oldest`: no pane is older."""

    def __init__(self, state: i64, oldest: i64) -> None:
        super().__init__(state)
        self.sides: Integers = integers()
        self.count: i64 = 0
        self.oldest: i64 = oldest

    def first(self) -> i64:
        """O(rectangles)."""
        first: i64 = -1
        at: i64
        for at in range(0, SIDES * self.count, SIDES):
            low = self.sides[at]
            if first < 0 or low < first:
                first = low
        return max(first, self.oldest) if first >= 0 else -1

    def add(self, low: i64, high: i64, first: i64, upto: i64) -> None:
        """Add a rectangle, or extend one of the last ones by it. O(1)."""
        sides = self.sides
        at = SIDES * self.count
        end = max(0, at - SIDES * NEARBY)
        while at > end:
            at -= SIDES
            if sides[at] == low and sides[at + 1] == high:
                if sides[at + 3] == first:
                    sides[at + 3] = upto
                    return
                if sides[at + 2] == upto:
                    sides[at + 2] = first
                    return
            elif sides[at + 1] + 1 == low and sides[at + 2] == first and sides[at + 3] == upto:
                sides[at + 1] = high
                return
        self.put(low, high, first, upto)

    def put(self, low: i64, high: i64, first: i64, upto: i64) -> None:
        """Add a rectangle that extends none. O(1), amortised."""
        at = SIDES * self.count
        if at == 0 or low < self.oldest:
            self.oldest = low
        self.count += 1
        if at + SIDES > len(self.sides):
            self.sides = lengthened(self.sides, max(SIDES * ROOMY, 2 * at))
        sides = self.sides
        sides[at] = low
        sides[at + 1] = high
        sides[at + 2] = first
        sides[at + 3] = upto

    def take(self, other: RectangleGroup) -> None:
        """Add all rectangles of another group. O(these)."""
        sides = other.sides
        at: i64
        for at in range(0, SIDES * other.count, SIDES):
            self.put(sides[at], sides[at + 1], sides[at + 2], sides[at + 3])

    def cut(self, least: i64) -> bool:
        """O(rectangles), if some panes are older."""
        if self.oldest >= least:
            return True
        sides = self.sides
        many = self.count
        self.count = 0
        at: i64
        for at in range(0, SIDES * many, SIDES):
            if sides[at + 1] >= least:
                self.put(max(sides[at], least), sides[at + 1], sides[at + 2], sides[at + 3])
        return self.count > 0

    def rectangles(self) -> list[list[int]]:
        """Their sides. O(rectangles)."""
        sides = [int(side) for side in self.sides[: SIDES * self.count]]
        return [sides[at : at + SIDES] for at in range(0, len(sides), SIDES)]

    def have(self, rectangles: list[list[int]]) -> None:
        """Have these rectangles instead. O(n)."""
        self.sides = integers_of([side for one in rectangles for side in one])
        self.count = len(rectangles)


@final
@mypyc_attr(acyclic=True)
class FamilyCell:
    """A partition. `cell`: its panes, log and measures. `before`: the prefix automata of all members, as ends of ranges
    and states in turn; empty where all are always in the only state."""

    def __init__(self, cell: WindowCell, before: list[int]) -> None:
        self.cell = cell
        self.groups: list[RectangleGroup] = []
        self.before = before

    def insert(self, at: int) -> None:
        """Make room for a member with no windows. O(rectangles)."""
        for group in self.groups:
            found: list[list[int]] = []
            for low, high, first, upto in group.rectangles():
                if first < at:
                    found.append([low, high, first, min(upto, at)])
                if upto > at:
                    found.append([low, high, max(first, at) + 1, upto + 1])
            group.have(found)

    def remove(self, at: int) -> None:
        """Forget a member. O(rectangles)."""
        for group in self.groups:
            found = [[low, high, a - (a > at), b - (b > at)] for low, high, a, b in group.rectangles()]
            group.have([one for one in found if one[2] < one[3]])
        self.groups = [group for group in self.groups if group.count > 0]
        ranges: list[int] = []
        for place in range(0, len(self.before), 2):
            upto = self.before[place] - (self.before[place] > at)
            if upto > (ranges[-2] if ranges else 0):
                ranges += (upto, self.before[place + 1])
        self.before = ranges
        if not self.groups and self.cell.columns.count > 0:
            self.cell.forget()

    def idle(self, tables: WindowTables, time: i64) -> bool:
        """As WindowCell says."""
        for at in range(1, len(self.before), 2):
            if self.before[at] != tables.initial[0]:
                return False
        return self.cell.idle(tables, time)

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def dump(self) -> list[Any]:
        groups = [
            [int(group.state), int(group.oldest), [side for one in group.rectangles() for side in one]]
            for group in self.groups
        ]
        return [self.cell.dump(), groups, list(self.before)]

    def load(self, data: Any) -> None:
        cell, groups, before = data
        self.cell.load(cell)
        self.before = list(before)
        for state, oldest, sides in groups:
            group = RectangleGroup(state, oldest)
            group.sides = integers_of(sides)
            group.count = len(sides) // SIDES
            self.groups.append(group)

    def check_invariants(self, tables: WindowTables, members: int) -> None:
        """Raise AssertionError if its parts contradict each other. O(rectangles squared)."""
        cell = self.cell
        cell.check_invariants(tables)
        assert bool(self.groups) == (cell.columns.count > 0)
        assert len({int(group.state) for group in self.groups}) == len(self.groups)
        known = [one for group in self.groups for one in group.rectangles()]
        assert all(group.count > 0 for group in self.groups)
        for at, (low, high, first, upto) in enumerate(known):
            assert 0 <= first < upto <= members
            assert low <= high < cell.columns.end()
            for other in known[:at]:
                assert high < other[0] or other[1] < low or upto <= other[2] or other[3] <= first
        ends = self.before[::2]
        assert ends == sorted(set(ends))
        assert not ends or ends[-1] == members
