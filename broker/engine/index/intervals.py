"""Intervals of one number, or of two, in sorted columns: finds those that contain a value (layout notes, 3.5).

They are sorted by lower end, so that candidates are a prefix. Each block of 16 has its greatest upper end, so that
blocks that end too early are skipped. The bounds of a second number are in further columns. Bounds are closed floats,
infinite if there is none: a strict bound is the next float.

Here: columns, and scans of them. Not here: the meaning of the numbers (ranges) or of the members (arcs).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Any, Generic, NamedTuple, TypeVar, final

from mypy_extensions import i64

from .columns import BLOCK, COMPILED, column, maxima, not_above

M = TypeVar("M")


class Bounds(NamedTuple):
    """Closed bounds of the first number and of the second."""

    low: float
    high: float
    low2: float = -math.inf
    high2: float = math.inf


@final
class Intervals(Generic[M]):
    """Members by their bounds, of which equal ones may come more than once. `two`: there is a second number.

    O(n log n) to make; they do not change.
    """

    def __init__(self, entries: list[tuple[Bounds, M]], two: bool) -> None:
        order = sorted(range(len(entries)), key=lambda i: entries[i][0])
        bounds = [entries[i][0] for i in order]
        self.two = two
        self._members = [entries[i][1] for i in order]
        self._lows, self._highs = column(b.low for b in bounds), column(b.high for b in bounds)
        self._lows2, self._highs2 = column(), column()
        if two:
            self._lows2, self._highs2 = column(b.low2 for b in bounds), column(b.high2 for b in bounds)
        self._tops = maxima(self._highs)
        if not COMPILED:
            self._tallest = column(accumulate(self._highs, max))
            return
        self._tallest = self._tops[:]
        block: i64
        for block in range(1, len(self._tallest)):
            if self._tallest[block] < self._tallest[block - 1]:
                self._tallest[block] = self._tallest[block - 1]

    def __len__(self) -> int:
        return len(self._members)

    def find(self, x: float, z: float, found: list[M]) -> None:
        """Append the members with low <= x <= high and low2 <= z <= high2. NaN is in no interval. O(log n + n/16 in the
        prefix + found)."""
        if x != x:
            return
        if not COMPILED:
            self._listed(x, z, found)
            return
        upto = not_above(self._lows, x, 0, len(self._members))
        if upto == 0:
            return
        two, members = self.two, self._members
        highs, tops, tallest = self._highs, self._tops, self._tallest
        lows2, highs2 = self._lows2, self._highs2
        last = (upto - 1) >> 4
        first = last
        while first > 0 and tallest[first - 1] >= x:
            first -= 1
        block: i64
        j: i64
        for block in range(first, last + 1):
            if tops[block] >= x:
                begin = block << 4
                end = begin + BLOCK
                if end > upto:
                    end = upto
                for j in range(begin, end):
                    if highs[j] >= x and (not two or (lows2[j] <= z and highs2[j] >= z)):
                        found.append(members[j])

    def _listed(self, x: float, z: float, found: list[M]) -> None:
        """The same interpreted, where lists take a fraction of a loop's time: from the first whose high, or an earlier
        one's, reaches x."""
        lows: Any = self._lows
        highs: Any = self._highs
        tallest: Any = self._tallest
        candidates = range(bisect_left(tallest, x), bisect_right(lows, x))
        members = self._members
        if self.two:
            lows2: Any = self._lows2
            highs2: Any = self._highs2
            found += [members[j] for j in candidates if highs[j] >= x and lows2[j] <= z <= highs2[j]]
        else:
            found += [members[j] for j in candidates if highs[j] >= x]
