"""Which of many intervals contain a number: their ends cut the line into parts, and a part has a list of those over it.

What covers a part contains every number in it; what begins or ends inside is compared. Both lists are in the order of
the lower bounds of a second number: where that has no upper bounds, what covers a part is found without comparing more
than one that does not match.

Here: that form, which does not change. Hot. Not here: intervals that come and go, and when this is worth making
(intervals).
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Final, final

from mypy_extensions import i32, i64

from ...events.batch import zeros
from .columns import COMPILED, Column, column, not_above

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import vec

if not COMPILED:
    globals()["vec"] = {i32: list}

ENDS: Final = 8  # in a part, at first
LISTED_MAX: Final = 32  # places in lists for an interval, on average: parts become larger where it would need more


@final
class Covers:
    """The intervals of these columns, which must not change. O(n log n + places in lists).

    A rank is the place of an interval in the order of `lows2`, if there are `two` numbers. Part 0 is below the first
    cut.
    """

    def __init__(self, lows: Column, highs: Column, lows2: Column, highs2: Column, two: bool) -> None:
        order = list(range(len(lows)))
        if two:
            given = list(lows2)
            order.sort(key=given.__getitem__)
        self._two = two
        self._order = vec[i32](order)
        self._lows, self._highs = _taken(lows, order), _taken(highs, order)
        self._lows2, self._highs2 = column(), column()
        self._bounded = False  # the second number, from above
        if two:
            self._lows2, self._highs2 = _taken(lows2, order), _taken(highs2, order)
            self._bounded = min(list(highs2)) < math.inf
        ends = sorted([each for each in list(lows) + list(highs) if -math.inf < each < math.inf])
        distance = ENDS
        self._cuts = column(sorted({*ends[::distance]}))
        while self._listed() > LISTED_MAX * len(order):
            distance *= 2
            self._cuts = column(sorted({*ends[::distance]}))
        parts: i64 = len(self._cuts) + 1
        self._covering, self._inside = _numbers(0), _numbers(0)
        self._covering_upto, self._inside_upto = zeros(parts), zeros(parts)
        self._list_all(False)
        self._covering = _numbers(_begun(self._covering_upto))
        self._inside = _numbers(_begun(self._inside_upto))
        self._list_all(True)

    def most(self, part: i64) -> int:
        """The most that `find` may find in a part."""
        before: i64 = part - 1
        most = self._covering_upto[part] + self._inside_upto[part]
        if part > 0:
            most -= self._covering_upto[before] + self._inside_upto[before]
        return int(most)

    def part(self, x: float) -> i64:
        """The part in which a number is. O(log n)."""
        return not_above(self._cuts, x, 0, len(self._cuts))

    def find(self, part: i64, x: float, z: float, found: vec[i64]) -> i64:
        """Write the numbers of the intervals around x in this part, and z, to a column that has room for `most`; how
        many there are. By rank. O(found + ends of a part)."""
        two, bounded = self._two, self._bounded
        if two and z != z:
            return 0
        lows2, highs2, order = self._lows2, self._highs2, self._order
        count: i64 = 0
        place: i64
        rank: i64
        covering, upto = self._covering, self._covering_upto
        for place in range(0 if part == 0 else upto[part - 1], upto[part]):
            rank = i64(covering[place])
            if two:
                if lows2[rank] > z:
                    break
                if bounded and highs2[rank] < z:
                    continue
            found[count] = rank
            count += 1
        inside, upto = self._inside, self._inside_upto
        lows, highs = self._lows, self._highs
        for place in range(0 if part == 0 else upto[part - 1], upto[part]):
            rank = i64(inside[place])
            if lows[rank] > x or highs[rank] < x or (two and (lows2[rank] > z or highs2[rank] < z)):
                continue
            at = count
            while at > 0 and found[at - 1] > rank:
                found[at] = found[at - 1]
                at -= 1
            found[at] = rank
            count += 1
        for place in range(count):
            found[place] = i64(order[found[place]])
        return count

    def _listed(self) -> int:
        """The places in lists of those that cover a part. O(n log n)."""
        total: i64 = 0
        rank: i64
        for rank in range(len(self._lows)):
            parts = self._upto(rank) - self._first(rank)
            if parts > 0:
                total += parts
        return int(total)

    def _first(self, rank: i64) -> i64:
        """The first part that an interval may cover."""
        low = self._lows[rank]
        return 0 if low == -math.inf else self.part(low) + 1

    def _upto(self, rank: i64) -> i64:
        """The part behind the last one that an interval may cover."""
        high = self._highs[rank]
        return len(self._cuts) + 1 if high == math.inf else self.part(high)

    def _list_all(self, write: bool) -> None:
        """Count the places in the list of each part; or `write` them, with the counts where the next one goes."""
        covering, inside = self._covering, self._inside
        covering_upto, inside_upto = self._covering_upto, self._inside_upto
        rank: i64
        part: i64
        for rank in range(len(self._lows)):
            low, high = self._lows[rank], self._highs[rank]
            if low > high:
                continue
            first, upto = self._first(rank), self._upto(rank)
            for part in range(first, upto):
                if write:
                    covering[covering_upto[part]] = i32(rank)
                covering_upto[part] += 1
            if low > -math.inf:
                if write:
                    inside[inside_upto[first - 1]] = i32(rank)
                inside_upto[first - 1] += 1
            if high < math.inf and (low == -math.inf or first - 1 < upto):
                if write:
                    inside[inside_upto[upto]] = i32(rank)
                inside_upto[upto] += 1


def _taken(values: Column, order: list[int]) -> Column:
    """The values in another order."""
    made = values[:]
    for to, at in enumerate(order):
        made[to] = values[at]
    return made


def _numbers(count: i64) -> vec[i32]:
    return vec[i32](memoryview(bytes(4 * int(count))).cast("i"))


def _begun(counts: vec[i64]) -> i64:
    """Turn the length of each list into the place where it begins; the length of all of them."""
    total: i64 = 0
    part: i64
    for part in range(len(counts)):
        count = counts[part]
        counts[part] = total
        total += count
    return total
