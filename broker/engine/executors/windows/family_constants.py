"""The constants of a family's members, in the order in which members are counted: ascending by the first constant, then
by the next ones.

Here: those lists. Hot. Not here: what an event makes of them (family_columns).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import Any, final

from mypy_extensions import i64

from ...index.columns import EXACT, Column, below, column, inserted, maxima, minima, removed


@final
class FamilyConstants:
    """`all`: of each member the constants, of which there are `width`; `by_slot`: the same by their places.

    `levels`: likewise as packed floats, while all of a place are numbers that floats hold exactly; `odd` counts the
    others, and while there are any, the levels are out of date. `unlike`: the places where members differ. `least` and
    `most`: of each block of levels (index/columns), once `bound` has been called after a change.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.all: list[tuple[Any, ...]] = []
        self.by_slot: list[list[Any]] = [[] for _ in range(width)]
        self.levels: list[Column] = [column() for _ in range(width)]
        self.odd: list[int] = [0] * width
        self.unlike: list[int] = []
        self.least: list[Column] = []
        self.most: list[Column] = []
        self.bounded = False

    def insert(self, at: int, constants: tuple[Any, ...]) -> None:
        """O(members)."""
        self.bounded = False
        self.all.insert(at, constants)
        for slot in range(self.width):
            constant = constants[slot]
            known = self.by_slot[slot]
            if len(known) > 0 and known[0] != constant and slot not in self.unlike:
                self.unlike = sorted([*self.unlike, slot])
            known.insert(at, constant)
            if not exact(constant):
                self.odd[slot] += 1
            elif self.odd[slot] == 0:
                self.levels[slot] = inserted(self._taken(slot), at, float(constant))

    def remove(self, at: int) -> None:
        """O(members)."""
        self.bounded = False
        del self.all[at]
        for slot in range(self.width):
            known = self.by_slot[slot]
            if not exact(known.pop(at)):
                self.odd[slot] -= 1
                if self.odd[slot] == 0:
                    self.levels[slot] = column([float(constant) for constant in known])
            elif self.odd[slot] == 0:
                self.levels[slot] = removed(self._taken(slot), at)
        kept: list[int] = []
        for slot in self.unlike:
            known = self.by_slot[slot]
            if any(constant != known[0] for constant in known):
                kept.append(slot)
        self.unlike = kept

    def _taken(self, slot: int) -> Column:
        """The column of a place, which has no other owner until it is put back."""
        levels = self.levels[slot]
        self.levels[slot] = column()
        return levels

    def bound(self) -> None:
        """Find the bounds of all blocks. O(members) after a change."""
        if not self.bounded:
            self.least = [minima(levels) for levels in self.levels]
            self.most = [maxima(levels) for levels in self.levels]
            self.bounded = True

    def below(self, slot: int, value: Any) -> i64:
        """How many constants are below a value, where no other place has unlike ones. O(log members)."""
        if self.odd[slot] == 0 and exact(value):
            levels = self.levels[slot]
            return below(levels, float(value), 0, len(levels))
        return bisect_left(self.by_slot[slot], value)

    def upto(self, slot: int, value: Any, low: i64) -> i64:
        """How many are not above it, of which `low` are below. O(log members)."""
        known = self.by_slot[slot]
        if low < len(known) and known[low] == value:
            return bisect_right(known, value, low)
        return low

    def check_invariants(self) -> None:
        assert all(one <= other for one, other in pairwise(self.all))
        for slot, known in enumerate(self.by_slot):
            assert known == [constants[slot] for constants in self.all]
            assert (slot in self.unlike) == any(each != known[0] for each in known)
            assert self.odd[slot] == sum(not exact(constant) for constant in known)
            assert self.odd[slot] > 0 or list(self.levels[slot]) == known
            assert not self.bounded or self.least[slot] == minima(self.levels[slot])
            assert not self.bounded or self.most[slot] == maxima(self.levels[slot])


def exact(number: Any) -> bool:
    """Whether it is a number that a float holds exactly."""
    return type(number) is float or (type(number) is int and -EXACT <= number <= EXACT)
