"""Intervals of one number, or of two, in sorted columns: finds those that contain a value (layout notes, 3.5).

They are sorted by lower end, so that candidates are a prefix. Each block of 16 has its greatest upper end, so that
blocks that end too early are skipped. The bounds of a second number are in further columns. Bounds are closed floats,
infinite if there is none: a strict bound is the next float.

Families of states are such intervals too: values above `low` start a member, values not above `high` complete it.

Here: columns, scans, and changes to them. Not here: the meaning of the numbers (ranges, family) or of the members
(transition).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from contextlib import suppress
from itertools import accumulate
from typing import Any, Final, Generic, NamedTuple, TypeVar, final

from mypy_extensions import i64

from .columns import BLOCK, COMPILED, Column, below, column, inserted, maxima, not_above, removed

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import append, vec

if not COMPILED:
    globals()["vec"] = {i64: list}

AT_ONCE: Final = 4_096  # up to this size a new member is inserted at once; larger columns collect some first
SORTED_SO: Final = 64  # found members that are put in order by insertion, at most

M = TypeVar("M")


class Bounds(NamedTuple):
    """Closed bounds of the first number and of the second."""

    low: float
    high: float
    low2: float = -math.inf
    high2: float = math.inf


@final
class Intervals(Generic[M]):
    """Members by their bounds. `two`: whether any has bounds of a second number.

    `found`: the numbers of those that were looked for last. `kept`: what a reader has made of all of them; it is None
    after a change.
    """

    def __init__(self, two: bool, at_once: int = AT_ONCE) -> None:
        self.two = two
        self._at_once = at_once
        self._lows: Column = column()
        self._highs: Column = column()
        self._lows2: Column = column()
        self._highs2: Column = column()
        self._tops: Column = column()
        self._tallest: Column = column()
        self._members: list[M] = []
        self._fresh: dict[Bounds, M] = {}  # not in the columns yet
        self._stale = False
        self._lent = False  # somebody keeps the list of members as it is now
        self.found = vec[i64]()
        self.kept: object | None = None

    def __len__(self) -> int:
        return len(self._members) + len(self._fresh)

    def members(self) -> list[M]:
        """All of them, by their bounds."""
        self._settle()
        return list(self._members)

    def lent(self) -> list[M]:
        """All of them, as they stay where another member comes or goes: `found` has the places in it. O(1)."""
        self._settle()
        self._lent = True
        return self._members

    def bounds(self, at: int) -> Bounds:
        """The bounds of the member with that number in `members`."""
        if self.two:
            return Bounds(self._lows[at], self._highs[at], self._lows2[at], self._highs2[at])
        return Bounds(self._lows[at], self._highs[at])

    # --- changes ------------------------------------------------------------------------------------------------

    def fill(self, entries: list[tuple[Bounds, M]]) -> None:
        """Replace everything; equal bounds may come more than once. O(n log n)."""
        order = sorted(range(len(entries)), key=lambda i: entries[i][0])
        bounds = [entries[i][0] for i in order]
        self._lows, self._highs = column(b.low for b in bounds), column(b.high for b in bounds)
        if self.two:
            self._lows2, self._highs2 = column(b.low2 for b in bounds), column(b.high2 for b in bounds)
        self._change()
        self._members = [entries[i][1] for i in order]
        self._fresh = {}

    def get(self, bounds: Bounds) -> M | None:
        """The member with these bounds. O(log n)."""
        if self._fresh:
            fresh = self._fresh.get(bounds)
            if fresh is not None:
                return fresh
        at = self._find(bounds)
        return self._members[at] if at >= 0 else None

    def put(self, bounds: Bounds, member: M) -> None:
        """Add a member with new bounds. O(n) moves of machine words, amortised O(log n) in bulk."""
        n = len(self._members)
        if n <= self._at_once:
            self._insert(bounds, member)
            return
        self.kept = None
        self._fresh[bounds] = member
        if len(self._fresh) > (n >> 2):
            self._settle()

    def replace(self, bounds: Bounds, member: M) -> None:
        """Replace the member with the same bounds."""
        self._settle()
        self._part()
        self._members[self._find(bounds)] = member

    def remove(self, bounds: Bounds) -> None:
        """Remove the member with these bounds. O(n) moves of machine words."""
        self._settle()
        self._change()
        at = self._find(bounds)
        self._lows, self._highs = removed(self._lows, at), removed(self._highs, at)
        if self.two:
            self._lows2, self._highs2 = removed(self._lows2, at), removed(self._highs2, at)
        del self._members[at]

    def _settle(self) -> None:
        """Put all collected members into the columns."""
        fresh = self._fresh
        if not fresh:
            return
        if len(fresh) << 6 < len(self._members):
            for bounds, member in fresh.items():
                self._insert(bounds, member)
            self._fresh = {}
        else:
            known = [(self.bounds(at), member) for at, member in enumerate(self._members)]
            self.fill([*known, *fresh.items()])

    def _insert(self, bounds: Bounds, member: M) -> None:
        self._change()
        at = self._place(bounds, True)
        self._lows, self._highs = inserted(self._lows, at, bounds.low), inserted(self._highs, at, bounds.high)
        if self.two:
            self._lows2 = inserted(self._lows2, at, bounds.low2)
            self._highs2 = inserted(self._highs2, at, bounds.high2)
        self._members.insert(at, member)

    def _change(self) -> None:
        """Before a change of the bounds: what was made of them does not hold any more."""
        self._stale = True
        self._part()

    def _part(self) -> None:
        """Before a change of the members: leave them as they are to whoever keeps them. O(members) if anybody does."""
        self.kept = None
        if self._lent:
            self._lent = False
            self._members = self._members.copy()

    def _find(self, bounds: Bounds) -> int:
        """The index of a member with these bounds, -1 if there is none."""
        return self._place(bounds, False)

    def _place(self, bounds: Bounds, insert: bool) -> int:
        """The index of these bounds in the columns, or where to insert them; -1 if they are to be found and are not."""
        first: i64 = 0
        last: i64 = len(self._members)
        columns = [(self._lows, bounds.low), (self._highs, bounds.high)]
        if self.two:
            columns += [(self._lows2, bounds.low2), (self._highs2, bounds.high2)]
        for values, level in columns:
            first, last = below(values, level, first, last), not_above(values, level, first, last)
            if first == last:
                return first if insert else -1
        return first

    # --- scans --------------------------------------------------------------------------------------------------

    def any_below(self, x: float) -> bool:
        """Whether a member's lower end is not above x. O(1)."""
        if self._fresh:
            self._settle()
        return self._lows[0] <= x if len(self._members) else False

    def below(self, x: float) -> int:
        """The number of members whose lower end is not above x. O(log n)."""
        self._settle()
        return not_above(self._lows, x, 0, len(self._members))

    def find(self, x: float, y: float, z: float, found: list[M]) -> None:
        """Append the members with low <= x, y <= high and low2 <= z <= high2, as `search` finds them."""
        count = self.search(x, y, z)
        members, numbers = self._members, self.found
        j: i64
        for j in range(count):
            found.append(members[numbers[j]])

    def search(self, x: float, y: float, z: float) -> i64:
        """Have the numbers of the members with low <= x, y <= high and low2 <= z <= high2 in `found`; how many.

        They are in the order of their bounds, of the second number first. NaN is in no interval. O(log n + n/16 in the
        prefix + found).
        """
        if x != x:
            return 0
        if self._fresh:
            self._settle()
        n: i64 = len(self._members)
        if not COMPILED:
            return self._listed(x, y, z)
        if self._stale:
            self._tops = maxima(self._highs)
            self._tallest = self._tops[:]
            block: i64
            for block in range(1, len(self._tallest)):
                if self._tallest[block] < self._tallest[block - 1]:
                    self._tallest[block] = self._tallest[block - 1]
            self._stale = False
        return self._scan(not_above(self._lows, x, 0, n), y, z)

    def _scan(self, upto: i64, y: float, z: float) -> i64:
        """The same among the first members, up to one of them, of which no low is above x."""
        if upto == 0:
            return 0
        two = self.two
        highs, tops, tallest = self._highs, self._tops, self._tallest
        lows2, highs2 = self._lows2, self._highs2
        last = (upto - 1) >> 4
        first = last
        while first > 0 and tallest[first - 1] >= y:
            first -= 1
        numbers = self.found
        count: i64 = 0
        block: i64
        j: i64
        for block in range(first, last + 1):
            if tops[block] >= y:
                begin = block << 4
                end = begin + BLOCK
                if end > upto:
                    end = upto
                if count + BLOCK > len(numbers):
                    self._make_room(2 * count + BLOCK)
                    numbers = self.found
                for j in range(begin, end):
                    if highs[j] >= y and (not two or (lows2[j] <= z and highs2[j] >= z)):
                        numbers[count] = j
                        count += 1
        if two and count > 1:
            self._arrange(count)
        return count

    def _listed(self, x: float, y: float, z: float) -> i64:
        """The same interpreted, where lists take a fraction of a loop's time: from the first whose high, or an earlier
        one's, reaches y."""
        if self._stale:
            self._tallest = column(accumulate(self._highs, max))
            self._stale = False
        lows: Any = self._lows
        tallest: Any = self._tallest
        candidates = range(bisect_left(tallest, y), bisect_right(lows, x))
        if not candidates:
            return 0
        highs: Any = self._highs
        if self.two:
            lows2: Any = self._lows2
            highs2: Any = self._highs2
            hits = [j for j in candidates if highs[j] >= y and lows2[j] <= z <= highs2[j]]
            if len(hits) > 1:
                hits.sort(key=lows2.__getitem__)
        else:
            hits = [j for j in candidates if highs[j] >= y]
        numbers: Any = self.found
        numbers[: len(hits)] = hits
        return len(hits)

    def _arrange(self, count: i64) -> None:
        """Put so many found into the order of their second lower bounds."""
        numbers, lows2 = self.found, self._lows2
        j: i64
        if count > SORTED_SO:
            ordered: list[int] = sorted([int(numbers[j]) for j in range(count)], key=self._second_of)
            for j in range(count):
                numbers[j] = ordered[j]
            return
        for j in range(1, count):
            number = numbers[j]
            second = lows2[number]
            at = j
            while at > 0 and lows2[numbers[at - 1]] > second:
                numbers[at] = numbers[at - 1]
                at -= 1
            numbers[at] = number

    def _second_of(self, at: int) -> float:
        return self._lows2[at]

    def _make_room(self, size: i64) -> None:
        """Have room for so many in `found`. Amortised O(1)."""
        found = self.found
        free: i64 = 0
        while len(found) < size:
            if COMPILED:
                found = append(found, free)
            else:
                found.append(free)  # type: ignore[attr-defined]  # a list
        self.found = found

    def check_invariants(self) -> None:
        self._settle()
        n = len(self._members)
        assert len(self._lows) == len(self._highs) == n
        assert len(self._lows2) == len(self._highs2) == (n if self.two else 0)
        bounds = [self.bounds(at) for at in range(n)]
        assert bounds == sorted(bounds)
        if not self._stale and not COMPILED:
            assert list(self._tallest) == list(accumulate(self._highs, max))
        elif not self._stale:
            highs = list(self._highs)
            tops = [max(highs[i : i + BLOCK]) for i in range(0, n, BLOCK)]
            assert list(self._tops) == tops
            assert list(self._tallest) == list(accumulate(tops, max))
