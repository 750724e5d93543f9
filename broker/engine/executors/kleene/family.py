"""Subscriptions that differ only in one factor, with one set of runs for all of them (layout notes; kleene notes, 1).

`b.volume < k * a[a.LEN].volume` for many k: the result changes once along the sorted factors. So one search for each
run serves all subscriptions, and the completed ones are a range.

Here: members. Not here: which patterns are alike (measures), runs (columns), matches (numbered_matches).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from typing import final

from mypy_extensions import i64, mypyc_attr

from ...program.target import Target
from ..completions import Served
from ..contract import Member
from ..matches import MatchSource
from ..packed import Floats, floats, put
from .plan import KleenePlan


@final
class FamilyMember(Member):
    """A factor with its subscriptions, and the plan of its own pattern."""

    def __init__(self, factor: float, target: Target, plan: KleenePlan) -> None:
        super().__init__(target)
        self.factor = factor
        self.plan = plan


@final
class Ranks:
    """The members at one moment, by their factors; immutable, so that results may keep it."""

    def __init__(self, members: list[FamilyMember]) -> None:
        self.factors: Floats = floats()
        for at, member in enumerate(members):
            self.factors = put(self.factors, at, member.factor)
        self.targets: list[Target] = [member.target for member in members]


@final
class FactorFamily:
    """All members, by their factors. `search` sets the range `low` to `high`."""

    def __init__(self) -> None:
        self.members: list[FamilyMember] = []
        self.low: i64 = 0
        self.high: i64 = 0
        self._ranks: Ranks | None = None
        self._known: dict[float, FamilyMember] = {}

    def find(self, factor: float) -> FamilyMember | None:
        return self._known.get(factor)

    def enter(self, member: FamilyMember) -> None:
        """Add a member. O(members)."""
        insort(self.members, member, key=_factor)
        self._known[member.factor] = member
        self._ranks = None

    def leave(self, member: FamilyMember) -> None:
        """Remove the member if it serves no subscription any more. O(members)."""
        if member.target.first is None:
            self.members.remove(member)
            del self._known[member.factor]
        self._ranks = None

    def ranks(self) -> Ranks:
        """The present members. O(members) once after each change."""
        ranks = self._ranks
        if ranks is None:
            ranks = self._ranks = Ranks(self.members)
        return ranks

    def search(self, level: float, sign: float, value: float) -> None:
        """Find the members for which the level is above `sign` times factor times value. O(log members)."""
        factors = self.ranks().factors
        low: i64 = 0
        high: i64 = len(factors)
        last = high
        rising = (value > 0.0) == (sign < 0.0)  # whether it holds from some factor on, or up to one
        while low < high:
            middle = (low + high) >> 1
            if (level > sign * (factors[middle] * value)) == rising:
                high = middle
            else:
                low = middle + 1
        if rising:
            self.low, self.high = low, last
        else:
            self.low, self.high = 0, low
        # A product beyond the floats is null, which compares with nothing; such products are at the ends.
        while self.low < self.high and not _finite(factors[self.high - 1] * value):
            self.high -= 1
        while self.low < self.high and not _finite(factors[self.low] * value):
            self.low += 1


def _factor(member: FamilyMember) -> float:
    return member.factor


def _finite(value: float) -> bool:
    return value - value == 0.0


@final
@mypyc_attr(acyclic=True)
class Own(Served):
    """The matches of one member."""

    def __init__(self, target: Target, found: MatchSource) -> None:
        self.target = target
        self.found = found

    def parts(self) -> Iterator[tuple[Target, MatchSource]]:
        yield self.target, self.found
