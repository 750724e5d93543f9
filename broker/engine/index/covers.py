"""Which of many intervals contain a number: their ends cut the line into parts, and a part has a list of those over it.

What covers a part contains every number in it; what begins or ends inside is compared. Both lists are in the order of
the lower bounds of a second number, so that what a number rules out is the end of each: those that are found can be
counted without looking at them, where the second number has no upper bounds.

Here: that form, which does not change, so that who has counted may ask later for what was counted. Hot. Not here:
intervals that come and go, and when this is worth making (intervals).
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
    cut. A list is of ranks, ascending.
    """

    def __init__(self, lows: Column, highs: Column, lows2: Column, highs2: Column, two: bool) -> None:
        self._two = two
        self._order = ascending(lows2) if two else vec[i64](range(len(lows)))
        self._uppers = column()  # of the second number, by rank; empty if there are none
        if two and min(list(highs2)) < math.inf:
            self._uppers = _taken(highs2, self._order)
        self._bounds = self._by_rank(lows, highs, lows2)  # low, high and lower bound of the second number
        # By rank: the first part that an interval covers, and the part behind the last one.
        self._firsts, self._uptos = zeros(len(lows)), zeros(len(lows))
        sorted_highs = packed_floats(sorted(highs))
        distance: i64 = ENDS
        self._cuts = _cuts(lows, sorted_highs, distance)
        while self._locate() > LISTED_MAX * len(lows):
            distance *= 2
            self._cuts = _cuts(lows, sorted_highs, distance)
        # Of each part, where the list of what covers it begins, and that of what begins or ends inside.
        self._begins = zeros(2 * len(self._cuts) + 3)
        self._count_places()
        self._lists = _numbers(_begun(self._begins))
        self._list()
        self._firsts, self._uptos = zeros(0), zeros(0)

    def most(self, part: i64) -> int:
        """The most that `find` may find in a part."""
        return int(self._begins[2 * part + 2] - self._begins[2 * part])

    def part(self, x: float) -> i64:
        """The part in which a number is. O(log n)."""
        return not_above(self._cuts, x, 0, len(self._cuts))

    def count(self, x: float, z: float) -> i64:
        """How many intervals are around x, and z. O(log n + ends of a part), and O(found) if z has upper bounds."""
        two, lists, bounds, begins = self._two, self._lists, self._bounds, self._begins
        if x != x or (two and z != z):
            return 0
        part = not_above(self._cuts, x, 0, len(self._cuts))
        begin, inside, end = begins[2 * part], begins[2 * part + 1], begins[2 * part + 2]
        upto = inside
        if two:  # the first one of a higher bound
            low = begin
            while low < upto:
                middle = (low + upto) >> 1
                if bounds[3 * i64(lists[middle]) + 2] <= z:
                    low = middle + 1
                else:
                    upto = middle
        count = upto - begin
        place: i64
        for place in range(inside, end):
            at: i64 = 3 * i64(lists[place])
            if two and bounds[at + 2] > z:
                break
            if bounds[at] <= x and bounds[at + 1] >= x:
                count += 1
        if len(self._uppers) > 0:
            count -= self._beyond(begin, upto, x, z) + self._beyond(inside, end, x, z)
        return count

    def _beyond(self, begin: i64, end: i64, x: float, z: float) -> i64:
        """Of those in a stretch of a list that are around x, and begin below z, how many end below it."""
        lists, bounds, uppers = self._lists, self._bounds, self._uppers
        count: i64 = 0
        place: i64
        for place in range(begin, end):
            rank = i64(lists[place])
            if bounds[3 * rank + 2] <= z and uppers[rank] < z and bounds[3 * rank] <= x and bounds[3 * rank + 1] >= x:
                count += 1
        return count

    def find(self, part: i64, x: float, z: float, found: vec[i64]) -> i64:
        """Write the numbers of the intervals around x in this part, and z, to a column that has room for `most`; how
        many there are. By rank. O(found + ends of a part)."""
        two, lists, bounds, begins, order = self._two, self._lists, self._bounds, self._begins, self._order
        if x != x or (two and z != z):
            return 0
        uppers = self._uppers
        bounded = len(uppers) > 0
        place, at = begins[2 * part], begins[2 * part + 1]
        last, end = at, begins[2 * part + 2]
        upto: i64 = len(order)
        count: i64 = 0
        while True:
            inside = upto
            if at < end:
                inside = i64(lists[at])
                if two and bounds[3 * inside + 2] > z:
                    inside, at = upto, end
            while place < last:  # those that cover the part and come before it
                rank = i64(lists[place])
                if rank > inside or (two and bounds[3 * rank + 2] > z):
                    break
                place += 1
                if not (bounded and uppers[rank] < z):
                    found[count] = order[rank]
                    count += 1
            if inside == upto:
                return count
            at += 1
            if bounds[3 * inside] <= x and bounds[3 * inside + 1] >= x and not (bounded and uppers[inside] < z):
                found[count] = order[inside]
                count += 1

    def found(self, x: float, z: float) -> vec[i64]:
        """The numbers of the intervals around x, and z, by rank. O(log n + found + ends of a part)."""
        part = self.part(x)
        numbers = zeros(self.most(part))
        return numbers[: self.find(part, x, z, numbers)]

    def _by_rank(self, lows: Column, highs: Column, lows2: Column) -> Column:
        """The bounds that lists are compared with, beside each other. O(n)."""
        order, two = self._order, self._two
        made = float_zeros(3 * len(order))
        rank: i64
        for rank in range(len(order)):
            number = order[rank]
            made[3 * rank], made[3 * rank + 1] = lows[number], highs[number]
            if two:
                made[3 * rank + 2] = lows2[number]
        return made

    def _locate(self) -> int:
        """Find the parts that each interval covers; how many these are in all. O(n log n)."""
        bounds, cuts, firsts, uptos = self._bounds, self._cuts, self._firsts, self._uptos
        many: i64 = len(cuts)
        total: i64 = 0
        rank: i64
        for rank in range(len(firsts)):
            low, high = bounds[3 * rank], bounds[3 * rank + 1]
            first: i64 = 0 if low == -math.inf else not_above(cuts, low, 0, many) + 1
            upto: i64 = many + 1 if high == math.inf else not_above(cuts, high, 0, many)
            firsts[rank], uptos[rank] = first, upto
            if upto > first:
                total += upto - first
        return int(total)

    def _count_places(self) -> None:
        """Count the places in the lists of each part. O(n + parts)."""
        bounds, firsts, uptos, counts = self._bounds, self._firsts, self._uptos, self._begins
        parts: i64 = len(self._cuts) + 1
        rank: i64
        part: i64
        for rank in range(len(firsts)):
            low, high = bounds[3 * rank], bounds[3 * rank + 1]
            if low > high:
                continue
            first, upto = firsts[rank], uptos[rank]
            if first < upto:
                counts[2 * first] += 1
                if upto < parts:
                    counts[2 * upto] -= 1
            if low > -math.inf:
                counts[2 * first - 1] += 1
            if high < math.inf and (low == -math.inf or first - 1 < upto):
                counts[2 * upto + 1] += 1
        for part in range(1, parts):
            counts[2 * part] += counts[2 * part - 2]

    def _list(self) -> None:
        """Write the lists, with the places where the next of each goes. O(n + places)."""
        bounds, firsts, uptos, lists, ends = self._bounds, self._firsts, self._uptos, self._lists, self._begins
        rank: i64
        part: i64
        for rank in range(len(firsts)):
            low, high = bounds[3 * rank], bounds[3 * rank + 1]
            if low > high:
                continue
            number = i32(rank)
            first, upto = firsts[rank], uptos[rank]
            for part in range(first, upto):
                place = ends[2 * part]
                lists[place] = number
                ends[2 * part] = place + 1
            if low > -math.inf:
                lists[ends[2 * first - 1]] = number
                ends[2 * first - 1] += 1
            if high < math.inf and (low == -math.inf or first - 1 < upto):
                lists[ends[2 * upto + 1]] = number
                ends[2 * upto + 1] += 1
        at: i64 = len(ends) - 1
        while at > 0:  # each list begins where the one before ends
            ends[at] = ends[at - 1]
            at -= 1
        ends[0] = 0


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
