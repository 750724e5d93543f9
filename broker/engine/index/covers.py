"""Which of many intervals contain a number: their ends cut the line into parts, and a part has a list of those over it.

What covers a part contains every number in it; what begins or ends inside is compared. Both lists are in the order of
the lower bounds of a second number, which stand beside what covers a part: where that number has no upper bounds, it is
found without comparing more than one that does not match, and nothing is looked up of those that do.

Here: that form, which does not change. Hot. Not here: intervals that come and go, and when this is worth making
(intervals).
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Final, final

from mypy_extensions import i32, i64

from ...events.batch import float_zeros, packed_floats, zeros
from .columns import COMPILED, Column, ascending, column, not_above

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import vec

if not COMPILED:
    globals()["vec"] = {i32: list, i64: list}

ENDS: Final = 8  # in a part, at first
LISTED_MAX: Final = 24  # places in lists for an interval, on average: parts become larger where it would need more


@final
class Covers:
    """The intervals of these columns, in the order of `lows`, which must not change. O(n log n + places in lists).

    A rank is the place of an interval in the order of `lows2`, if there are `two` numbers. Part 0 is below the first
    cut.
    """

    def __init__(self, lows: Column, highs: Column, lows2: Column, highs2: Column, two: bool) -> None:
        order = ascending(lows2) if two else vec[i64](range(len(lows)))
        self._two = two
        self._order = order
        self._lows, self._highs = _taken(lows, order), _taken(highs, order)
        self._lows2, self._highs2 = column(), column()
        self._bounded = False  # the second number, from above
        if two:
            self._lows2, self._highs2 = _taken(lows2, order), _taken(highs2, order)
            self._bounded = min(list(highs2)) < math.inf
        # By rank: the first part that an interval covers, and the part behind the last one.
        self._firsts, self._uptos = zeros(len(order)), zeros(len(order))
        sorted_highs = _taken(highs, ascending(highs))
        distance: i64 = ENDS
        self._cuts = _cuts(lows, sorted_highs, distance)
        while self._locate() > LISTED_MAX * len(order):
            distance *= 2
            self._cuts = _cuts(lows, sorted_highs, distance)
        parts: i64 = len(self._cuts) + 1
        self._covering_upto, self._inside_upto = zeros(parts), zeros(parts)
        self._count()
        self._covering = _numbers(_begun(self._covering_upto))
        self._inside = _numbers(_begun(self._inside_upto))
        self._list()
        self._seconds = column()  # of what covers a part, the lower bounds of the second number
        self._uppers = highs2  # its upper bounds, by number
        if two:
            self._put_beside()

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
        seconds, uppers, lows2, highs2 = self._seconds, self._uppers, self._lows2, self._highs2
        lows, highs, order = self._lows, self._highs, self._order
        covering, inside = self._covering, self._inside
        place: i64 = 0
        at: i64 = 0
        if part > 0:
            place, at = self._covering_upto[part - 1], self._inside_upto[part - 1]
        upto, end = self._covering_upto[part], self._inside_upto[part]
        count: i64 = 0
        number: i64
        while at < end:
            rank = i64(inside[at])
            if two and lows2[rank] > z:
                break
            at += 1
            if lows[rank] > x or highs[rank] < x or (bounded and highs2[rank] < z):
                continue
            own = order[rank]
            while place < upto:  # those that cover the part and come before it
                number = i64(covering[place])
                if two:
                    second = seconds[place]
                    if second > lows2[rank] or (second == lows2[rank] and number > own):
                        break
                    if bounded and uppers[number] < z:
                        place += 1
                        continue
                elif number > own:
                    break
                found[count] = number
                count += 1
                place += 1
            found[count] = own
            count += 1
        while place < upto:
            if two:
                if seconds[place] > z:
                    break
                if bounded and uppers[i64(covering[place])] < z:
                    place += 1
                    continue
            found[count] = i64(covering[place])
            count += 1
            place += 1
        return count

    def _locate(self) -> int:
        """Find the parts that each interval covers; how many these are in all. O(n log n)."""
        lows, highs, cuts, firsts, uptos = self._lows, self._highs, self._cuts, self._firsts, self._uptos
        many: i64 = len(cuts)
        total: i64 = 0
        rank: i64
        for rank in range(len(lows)):
            low, high = lows[rank], highs[rank]
            first: i64 = 0 if low == -math.inf else not_above(cuts, low, 0, many) + 1
            upto: i64 = many + 1 if high == math.inf else not_above(cuts, high, 0, many)
            firsts[rank], uptos[rank] = first, upto
            if upto > first:
                total += upto - first
        return int(total)

    def _put_beside(self) -> None:
        """Have numbers instead of ranks of what covers a part, and the bounds by which these are ranked. O(places)."""
        covering, order, lows2 = self._covering, self._order, self._lows2
        self._seconds = seconds = float_zeros(len(covering))
        place: i64
        for place in range(len(covering)):
            rank = i64(covering[place])
            seconds[place] = lows2[rank]
            covering[place] = i32(order[rank])

    def _count(self) -> None:
        """Count the places in the lists of each part. O(n + parts)."""
        lows, highs, firsts, uptos = self._lows, self._highs, self._firsts, self._uptos
        covering, inside = self._covering_upto, self._inside_upto
        parts: i64 = len(covering)
        rank: i64
        part: i64
        for rank in range(len(lows)):
            low, high = lows[rank], highs[rank]
            if low > high:
                continue
            first, upto = firsts[rank], uptos[rank]
            if first < upto:
                covering[first] += 1
                if upto < parts:
                    covering[upto] -= 1
            if low > -math.inf:
                inside[first - 1] += 1
            if high < math.inf and (low == -math.inf or first - 1 < upto):
                inside[upto] += 1
        for part in range(1, parts):
            covering[part] += covering[part - 1]

    def _list(self) -> None:
        """Write the lists, with the counts where the next of each goes. O(n + places)."""
        lows, highs, firsts, uptos = self._lows, self._highs, self._firsts, self._uptos
        covering, inside = self._covering, self._inside
        covering_upto, inside_upto = self._covering_upto, self._inside_upto
        rank: i64
        part: i64
        for rank in range(len(lows)):
            low, high = lows[rank], highs[rank]
            if low > high:
                continue
            number = i32(rank)
            first, upto = firsts[rank], uptos[rank]
            for part in range(first, upto):
                place = covering_upto[part]
                covering[place] = number
                covering_upto[part] = place + 1
            if low > -math.inf:
                inside[inside_upto[first - 1]] = number
                inside_upto[first - 1] += 1
            if high < math.inf and (low == -math.inf or first - 1 < upto):
                inside[inside_upto[upto]] = number
                inside_upto[upto] += 1


def _taken(values: Column, order: vec[i64]) -> Column:
    """The values in another order."""
    made = values[:]
    to: i64
    for to in range(len(order)):
        made[to] = values[order[to]]
    return made


def _cuts(lows: Column, highs: Column, distance: i64) -> Column:
    """Each so many-th of the finite ends, each value once, of columns that ascend. O(n)."""
    count: i64 = len(lows)
    made = packed_floats([0.0] * int(2 * count // distance + 1))
    low: i64 = 0
    high: i64 = 0
    many: i64 = 0
    until: i64 = 0  # ends before the next cut
    while low < count or high < count:
        if high == count or (low < count and lows[low] <= highs[high]):
            end = lows[low]
            low += 1
        else:
            end = highs[high]
            high += 1
        if end == -math.inf or end == math.inf:
            continue
        if until == 0:
            until = distance
            if many == 0 or made[many - 1] < end:
                made[many] = end
                many += 1
        until -= 1
    return made[:many]


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
