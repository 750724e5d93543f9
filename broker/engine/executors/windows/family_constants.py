"""The constants of a family's members, in the order in which members are counted: ascending by the first constant, then
by the next ones.

Here: those lists. Hot. Not here: what an event makes of them (family_columns).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, final

from mypy_extensions import i64

from ..packed import Integers, integers_of


@final
class FamilyConstants:
    """`all`: of each member the constants.

    The others are made again by `settle` after a change: the constants by their place in `by_place`, and the different
    ones of each place, ascending, in `known`. `apart`: members differ at several places; then `ranks` has, by place and
    member, the index of its constant among the known ones.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.all: list[tuple[Any, ...]] = []
        self.by_place: list[list[Any]] = []
        self.known: list[list[Any]] = []
        self.ranks: list[Integers] = []
        self.apart = False
        self._settled = False

    def insert(self, at: int, constants: tuple[Any, ...]) -> None:
        self.all.insert(at, constants)
        self._settled = False

    def remove(self, at: int) -> None:
        del self.all[at]
        self._settled = False

    def settle(self) -> i64:
        """Have all lists as members are now; returns how many these are. O(members log members) after a change."""
        if not self._settled:
            self._settled = True
            self.by_place = [[constants[place] for constants in self.all] for place in range(self.width)]
            self.known = [sorted(set(constants)) for constants in self.by_place]
            self.apart = sum([len(known) > 1 for known in self.known]) > 1
            self.ranks = []
            for place in range(self.width if self.apart else 0):
                index = {constant: at for at, constant in enumerate(self.known[place])}
                self.ranks.append(integers_of([index[constant] for constant in self.by_place[place]]))
        return len(self.all)

    def check_invariants(self) -> None:
        assert all(one <= other for one, other in pairwise(self.all))
        assert not self._settled or self.by_place == [list(each) for each in zip(*self.all)]
