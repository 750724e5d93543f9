"""The constants of a family's members, in the order in which members are counted: ascending by the first constant, then
by the next ones.

Here: those lists. Hot. Not here: what an event makes of them (family_columns).
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, final

from mypy_extensions import i64

from ..packed import Integers, integers_of


@final
class FamilyConstants:
    """`all`: of each member the constants; `by_place`: the same by their place.

    `apart`: members differ at several places. Then, made again by `settle` after a change, `known` has the different
    constants of each place, ascending, and `ranks`, by place and member, the index of its constant among these.
    """

    def __init__(self, width: int) -> None:
        self.all: list[tuple[Any, ...]] = []
        self.by_place: list[list[Any]] = [[] for _ in range(width)]
        self.known: list[list[Any]] = []
        self.ranks: list[Integers] = []
        self.apart = False
        self._counts: list[dict[Any, int]] = [{} for _ in range(width)]  # of members, by place and constant
        self._settled = False

    def insert(self, at: int, constants: tuple[Any, ...]) -> None:
        """O(members), as of a memory move."""
        self.all.insert(at, constants)
        for place, constant in enumerate(constants):
            self.by_place[place].insert(at, constant)
            self._counts[place][constant] = self._counts[place].get(constant, 0) + 1
        self._changed()

    def remove(self, at: int) -> None:
        """O(members), as of a memory move."""
        for place, constant in enumerate(self.all.pop(at)):
            del self.by_place[place][at]
            counts = self._counts[place]
            counts[constant] -= 1
            if counts[constant] == 0:
                del counts[constant]
        self._changed()

    def _changed(self) -> None:
        self.apart = sum([len(counts) > 1 for counts in self._counts]) > 1
        self._settled = False

    def settle(self) -> i64:
        """Have all lists as members are now; returns how many these are. O(members log members) after a change, if
        they differ at several places."""
        if self.apart and not self._settled:
            self._settled = True
            self.known = [sorted(counts) for counts in self._counts]
            self.ranks = []
            for known, constants in zip(self.known, self.by_place):
                index = {constant: at for at, constant in enumerate(known)}
                self.ranks.append(integers_of([index[constant] for constant in constants]))
        return len(self.all)

    def check_invariants(self) -> None:
        assert all(one <= other for one, other in pairwise(self.all))
        for place, constants in enumerate(self.by_place):
            assert constants == [each[place] for each in self.all]
            assert self._counts[place] == Counter(constants)
