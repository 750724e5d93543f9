"""Pages: up to 256 members as rows of coordinates, in blocks of 16 that know their least corner.

The blocks are in the order of one coordinate, the page's axis, so that neighbours share a block; within a block rows
are in order of arrival. A hole is a row of NaN, which no search finds. Spreading a page changes the slots of its
members, so other files use handles.

Here: the rows of one page, and changes to them. Hot. Not here: the page of a member, searches (members).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from .blocks import MatchBlocks
from .columns import INFINITY, NAN, Floats, Integers, filled, filled_integers, floats, integers, put, put_integer

BLOCK: Final = 16  # rows: a power of two, with its logarithm
SHIFT: Final = 4
BLOCKS_MAX: Final = 16
FULL: Final = 192  # members: with more, every second insertion would spread the page
AFTER_SPREAD: Final = 11  # members in a block
NONE: Final = -1  # the handle of a hole


@final
class MemberPage:
    """Columns of rows: `points` (d each), `handles`, `since`; and of blocks: `least` (d each), `greatest` (the first
    coordinate's)."""

    def __init__(self, d: i64, axis: i64) -> None:
        self.d: i64 = d
        self.axis: i64 = axis
        self.count: i64 = 0
        self.slots: i64 = 0
        self.points: Floats = floats()
        self.handles: Integers = integers()
        self.since: Integers = integers()
        self.least: Floats = floats()
        self.greatest: Floats = floats()

    def insert(self, point: Floats, at: i64, handle: i64, since: i64) -> bool:
        """Add a row; False if the page is full and must be split. O(1), or O(page) if it spreads."""
        if self._insert(self._block_of(point, at), point, at, handle, since):
            return True
        if self.count >= FULL:
            return False
        self.spread(self.axis)
        return self._insert(self._block_of(point, at), point, at, handle, since)

    def _block_of(self, point: Floats, at: i64) -> i64:
        """The last block that begins at or below the point, on the axis."""
        d, axis, least = self.d, self.axis, self.least
        value = point[at + axis]
        block: i64 = (self.slots + BLOCK - 1) >> SHIFT
        block -= 1
        while block > 0 and not least[block * d + axis] <= value:
            block -= 1
        return block

    def _insert(self, block: i64, point: Floats, at: i64, handle: i64, since: i64) -> bool:
        d = self.d
        if block < 0:  # the first row of all
            block = 0
            self.least, self.greatest = filled(d, INFINITY), filled(1, -INFINITY)
        slot = block << SHIFT
        end = slot + BLOCK
        upto = min(end, self.slots)
        handles = self.handles
        while slot < upto and handles[slot] != NONE:
            slot += 1
        if slot == end:
            return False
        j: i64
        for j in range(d):
            self.points = put(self.points, slot * d + j, point[at + j])
        self.handles = put_integer(self.handles, slot, handle)
        self.since = put_integer(self.since, slot, since)
        if slot == self.slots:
            self.slots += 1
        self.count += 1
        least = self.least
        for j in range(d):
            if point[at + j] < least[block * d + j]:
                least[block * d + j] = point[at + j]
        if point[at] > self.greatest[block]:
            self.greatest[block] = point[at]
        return True

    def slot_of(self, handle: i64) -> i64:
        """The slot of a member's row; -1 if it is not here. O(page)."""
        handles = self.handles
        slot: i64
        for slot in range(self.slots):
            if handles[slot] == handle:
                return slot
        return -1

    def remove(self, slot: i64) -> None:
        """Make a hole. O(block)."""
        d, points = self.d, self.points
        j: i64
        for j in range(d):
            points[slot * d + j] = NAN
        self.handles[slot] = NONE
        self.count -= 1
        self._measure(slot >> SHIFT)

    def _measure(self, block: i64) -> None:
        """Compute the corners of a block again."""
        d, points, least = self.d, self.points, self.least
        top = -INFINITY
        j: i64
        for j in range(d):
            least[block * d + j] = INFINITY
        slot = block << SHIFT
        end = slot + BLOCK
        if end > self.slots:
            end = self.slots
        while slot < end:
            for j in range(d):
                if points[slot * d + j] < least[block * d + j]:
                    least[block * d + j] = points[slot * d + j]
            if points[slot * d] > top:
                top = points[slot * d]
            slot += 1
        self.greatest[block] = top

    def write_dominated(
        self, above: float, x: Floats, at: i64, young: bool, first: i64, out: MatchBlocks, begun: i64, copied: bool
    ) -> None:
        """Write the handles of the rows that the values from `at` on dominate, and whose first coordinate is above
        another. `young`: rows may be younger than the event `first`, for which they do not count. `copied`: their
        points, too; `begun`: where the search began to write. O(blocks and rows that the corners let through).

        Columns that few rows need are read where they are: a search of many groups waits for the memory of each.
        """
        bounded = above == above
        x0 = x[at]
        several = self.d > 1  # the first two are compared without a loop
        x1 = x[at + 1] if several else x0
        d, points, least = self.d, self.points, self.least
        greatest = self.greatest if bounded else least
        ascending = self.axis == 0  # blocks behind one that begins too high begin higher
        handles, upto = out.room_for_members(self.count), out.members_upto
        blocks: i64 = (self.slots + BLOCK - 1) >> SHIFT
        block: i64 = -1
        corner = -d
        j: i64 = 0
        while block + 1 < blocks:
            block += 1
            corner += d
            if bounded and greatest[block] <= above:
                continue
            first_least = least[corner]
            if not first_least <= x0:
                if ascending and first_least < INFINITY:  # one without members begins nowhere
                    break
                continue
            if several and not least[corner + 1] <= x1:
                continue
            j = 2
            while j < d and least[corner + j] <= x[at + j]:
                j += 1
            if j < d:
                continue
            slot = block << SHIFT
            end = slot + BLOCK
            if end > self.slots:
                end = self.slots
            base = slot * d
            while slot < end:
                value = points[base]
                if value <= x0 and not value <= above and (not several or points[base + 1] <= x1):
                    j = 2
                    while j < d and points[base + j] <= x[at + j]:
                        j += 1
                    if j >= d and not (young and self.since[slot] > first):
                        handles[upto] = self.handles[slot]
                        if copied:
                            out.add_hit(points, base, d, upto - begun, self.since[slot])
                        upto += 1
                slot += 1
                base += d
        out.members_upto = upto

    def nearest(self, x: Floats, at: i64, axis: i64, best: float) -> float:
        """The least coordinate on that axis of the members that the values dominate on the others, if it is less than
        `best`. O(blocks and rows that the corners let through)."""
        d, points, least, slots = self.d, self.points, self.least, self.slots
        block: i64 = 0  # where the block begins in `least`
        slot: i64 = 0
        j: i64 = 0
        while slot < slots:
            end = slot + BLOCK
            if end > slots:
                end = slots
            j = 0
            while j < d and (least[block + j] < best if j == axis else least[block + j] <= x[at + j]):
                j += 1
            block += d
            if j < d:
                slot = end
                continue
            while slot < end:
                base = slot * d
                slot += 1
                if not points[base + axis] < best:  # a hole is NaN
                    continue
                j = 0
                while j < d and (j == axis or points[base + j] <= x[at + j]):
                    j += 1
                if j == d:
                    best = points[base + axis]
        return best

    def order(self, axis: i64) -> Integers:
        """The occupied slots, ascending by a coordinate. O(page), or its square for an axis other than the page's."""
        d, points, handles = self.d, self.points, self.handles
        found = filled_integers(self.count, 0)
        n: i64 = 0
        slot: i64
        for slot in range(self.slots):
            if handles[slot] == NONE:
                continue
            value = points[slot * d + axis]
            j = n
            while j > 0 and points[found[j - 1] * d + axis] > value:
                found[j] = found[j - 1]
                j -= 1
            found[j] = slot
            n += 1
        return found

    def spread(self, axis: i64) -> None:
        """Distribute the rows evenly over blocks, with room in each for new rows."""
        order = self.order(axis)
        self.axis = axis
        self.take(self, order, 0, self.count)

    def take(self, source: MemberPage, order: Integers, first: i64, upto: i64) -> None:
        """Replace all rows by the rows `first` to `upto` of a page, in the given order."""
        d, n = self.d, upto - first
        blocks = (n + AFTER_SPREAD - 1) // AFTER_SPREAD
        if blocks > BLOCKS_MAX:
            blocks = BLOCKS_MAX
        old, old_handles, old_since = source.points, source.handles, source.since
        size = blocks << SHIFT
        points, handles, since = filled(size * d, NAN), filled_integers(size, NONE), filled_integers(size, 0)
        least, greatest = filled(blocks * d, INFINITY), filled(blocks, -INFINITY)
        i = first
        j: i64
        block: i64
        for block in range(blocks):
            slot = block << SHIFT
            end = first + n * (block + 1) // blocks
            while i < end:
                row = order[i]
                for j in range(d):
                    value = old[row * d + j]
                    points[slot * d + j] = value
                    if value < least[block * d + j]:
                        least[block * d + j] = value
                if old[row * d] > greatest[block]:
                    greatest[block] = old[row * d]
                handles[slot], since[slot] = old_handles[row], old_since[row]
                slot += 1
                i += 1
        self.points, self.handles, self.since = points, handles, since
        self.least, self.greatest = least, greatest
        self.count, self.slots = n, size

    def check_invariants(self) -> None:
        d = self.d
        taken = 0
        for block in range(len(self.greatest)):
            least, top = [INFINITY] * d, -INFINITY
            for slot in range(block << SHIFT, min((block + 1) << SHIFT, self.slots)):
                point = [self.points[slot * d + j] for j in range(d)]
                if self.handles[slot] == NONE:
                    assert all(value != value for value in point), "a hole is NaN"
                    continue
                taken += 1
                least = [min(a, b) for a, b in zip(least, point)]
                top = max(top, point[0])
            assert [self.least[block * d + j] for j in range(d)] == least, "a block knows its least corner"
            assert self.greatest[block] == top
        assert taken == self.count
