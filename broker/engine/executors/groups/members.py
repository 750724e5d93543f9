"""The members of a group for one key: points, and the search for the members that a vector of values dominates.

Pages have 256 rows in blocks of 16, with the least corner of each block, each page and all members (`root`). The rows
of a page are one region of the space, cut along the first coordinate if there are at most two, otherwise along one
coordinate after the other, as in a k-d tree. Minima over rows in order of a coordinate form a search tree of fan-out 16
(notes on groups, 4).

A member has a stable handle from the host, a point, and the number of the event from which on runs count for it. Equal
points may occur, also in several pages.

Here: changes and searches. Hot. Not here: rows (pages), the meaning of coordinates (coordinates).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, final

from mypy_extensions import i64

from .blocks import MatchBlocks
from .columns import INFINITY, NAN, Floats, filled, floats, floats_from, with_room
from .pages import BLOCK, NONE, SHIFT, MemberPage

ONE_AXIS_MAX: Final = 2  # coordinates up to which rows are in the order of the first one
PAGES_FEW: Final = 4  # that are searched sooner than a point is computed


@final
class Members:
    """Columns of pages: `_least` (d each), `_greatest` (the first coordinate's), `_low` and `_high` (the region).

    `_sole`: the only page, whose corners are those of all: most groups have one.
    """

    def __init__(self, d: int) -> None:
        assert d > 0, "a template without constants has no group"
        self.d: i64 = d
        self.count: i64 = 0
        self.newest: i64 = -1  # the greatest `since` so far
        self.root: Floats = filled(d, INFINITY)  # at most the least corner
        self.top: float = -INFINITY  # at least the greatest first coordinate
        self._pages: list[MemberPage] = []
        self._least: Floats = floats()
        self._greatest: Floats = floats()
        self._low: Floats = floats()
        self._high: Floats = floats()
        self._sole: MemberPage | None = None

    # --- changes ------------------------------------------------------------------------------------------------

    def put(self, handle: int, point: list[float], since: int = 0) -> None:
        """Add a new member. O(pages + page)."""
        d = self.d
        assert len(point) == d
        assert all(value == value for value in point), "a point has no NaN"
        place = floats_from(point)
        if not self._pages:
            self._add_page(filled(d, -INFINITY), filled(d, INFINITY))
        at = self._page_of(place, -1)
        while not self._pages[at].insert(place, 0, handle, since):
            self._split(at)
            at = self._page_of(place, -1)
        self.count += 1
        if since > self.newest:
            self.newest = since
        j: i64
        for j in range(d):
            if place[j] < self._least[at * d + j]:
                self._least[at * d + j] = place[j]
            if place[j] < self.root[j]:
                self.root[j] = place[j]
        if place[0] > self._greatest[at]:
            self._greatest[at] = place[0]
        if place[0] > self.top:
            self.top = place[0]
        self._sole = self._pages[0] if len(self._pages) == 1 else None

    def remove(self, handle: int, point: list[float]) -> None:
        """Remove the member with that handle and point. O(pages + page). Raises KeyError."""
        place = floats_from(point)
        at = self._page_of(place, handle)
        if at < 0:
            raise KeyError(handle)
        page = self._pages[at]
        page.remove(page.slot_of(handle))
        if page.count << 2 < page.slots and page.slots > BLOCK:
            page.spread(page.axis)
        self.count -= 1
        self._measure(at)
        self._measure_root()
        if self.count == 0:
            self._pages = []
            self._least, self._greatest, self._low, self._high = floats(), floats(), floats(), floats()
        self._sole = self._pages[0] if len(self._pages) == 1 else None

    def nearby(self, handle: int) -> list[float] | None:
        """The point of a member, if there are few pages to look for it. O(a page)."""
        if len(self._pages) > PAGES_FEW:
            return None
        return self.member(handle)[0]

    def since(self, handle: int, point: list[float]) -> i64:
        """The number of the event from which on runs count for the member at that point. O(pages + page)."""
        page = self._pages[self._page_of(floats_from(point), handle)]
        return page.since[page.slot_of(handle)]

    def _page_of(self, point: Floats, handle: i64) -> i64:
        """The last page whose region contains the point and, if a handle is given, that member; -1 if none."""
        d, low, high = self.d, self._low, self._high
        at: i64 = len(self._pages) - 1
        while at >= 0:
            j: i64 = 0
            base = at * d
            while j < d and low[base + j] <= point[j] <= high[base + j]:
                j += 1
            if j == d and (handle < 0 or self._pages[at].slot_of(handle) >= 0):
                return at
            at -= 1
        return -1

    def _add_page(self, low: Floats, high: Floats) -> None:
        d = self.d
        at: i64 = len(self._pages)
        self._pages.append(MemberPage(d, 0))
        size = (at + 1) * d
        self._least, self._greatest = with_room(self._least, size), with_room(self._greatest, at + 1)
        self._low, self._high = with_room(self._low, size), with_room(self._high, size)
        j: i64
        for j in range(d):
            self._low[at * d + j], self._high[at * d + j] = low[j], high[j]

    def _split(self, at: i64) -> None:
        """Split a page in the middle of an axis. The next axis is the next one to split along."""
        d = self.d
        page = self._pages[at]
        axis = page.axis
        order = page.order(axis)
        half = page.count >> 1
        cut = page.points[order[half] * d + axis]
        low, high = filled(d, 0.0), filled(d, 0.0)
        j: i64
        for j in range(d):
            low[j], high[j] = self._low[at * d + j], self._high[at * d + j]
        low[axis] = cut
        self._add_page(low, high)
        self._high[at * d + axis] = cut
        other = self._pages[-1]
        other.take(page, order, half, page.count)
        page.take(page, order, 0, half)
        if d > ONE_AXIS_MAX:
            following: i64 = axis + 1 if axis + 1 < d else 0
            page.spread(following)
            other.spread(following)
        self._measure(at)
        self._measure(len(self._pages) - 1)

    def _measure(self, at: i64) -> None:
        """Compute the corners of a page again."""
        d, page = self.d, self._pages[at]
        j: i64
        for j in range(d):
            self._least[at * d + j] = INFINITY
        top = -INFINITY
        block: i64
        for block in range(len(page.greatest)):
            for j in range(d):
                if page.least[block * d + j] < self._least[at * d + j]:
                    self._least[at * d + j] = page.least[block * d + j]
            if page.greatest[block] > top:
                top = page.greatest[block]
        self._greatest[at] = top

    def _measure_root(self) -> None:
        d = self.d
        root = self.root
        j: i64
        for j in range(d):
            root[j] = INFINITY
        self.top = -INFINITY
        at: i64
        for at in range(len(self._pages)):
            if self._greatest[at] > self.top:
                self.top = self._greatest[at]
            for j in range(d):
                if self._least[at * d + j] < root[j]:
                    root[j] = self._least[at * d + j]

    # --- questions ----------------------------------------------------------------------------------------------

    def possible(self, x: Floats, at: i64) -> bool:
        """Whether the values from `at` on may dominate a member; a wrong yes costs a search. O(d)."""
        d, root = self.d, self.root
        j: i64 = 0
        while j < d and root[j] <= x[at + j]:
            j += 1
        return j == d

    def find(self, x: Floats, at: i64, first: i64, out: MatchBlocks, above: float = NAN) -> i64:
        """Write the handles of the members that the values dominate and for which runs from event `first` on count,
        of those whose first coordinate is above a value, if one is given.

        Returns their number. O(pages + blocks and rows that the corners let through).
        """
        if not self.possible(x, at):
            return 0
        return self._search(above, x, at, first, out, False)

    def find_points(self, x: Floats, at: i64, out: MatchBlocks) -> i64:
        """The same for any `since`; `out` gets the members' points."""
        if not self.possible(x, at):
            return 0
        return self._search(NAN, x, at, INFINITE, out, True)

    def _search(self, above: float, x: Floats, at: i64, first: i64, out: MatchBlocks, copied: bool) -> i64:
        d = self.d
        young = first < self.newest  # some members may be younger than the run
        begun = out.members_upto
        bounded = above == above
        if bounded and self.top <= above:
            return 0
        sole = self._sole
        if sole is not None:
            sole.write_dominated(above, x, at, young, first, out, begun, copied)
            return out.members_upto - begun
        corners, tops = self._least, self._greatest
        number: i64 = 0
        j: i64 = 0
        for page in self._pages:
            base = number * d
            top = tops[number]
            number += 1
            if top <= above:
                continue
            j = 0
            while j < d and corners[base + j] <= x[at + j]:
                j += 1
            if j == d:
                page.write_dominated(above, x, at, young, first, out, begun, copied)
        return out.members_upto - begun

    def find_any(self, x: Floats, first: i64, out: MatchBlocks) -> i64:
        """The same for members with any coordinate that is at most its value. O(blocks, and rows let through)."""
        d = self.d
        young = first < self.newest
        begun = out.members_upto
        upto = begun
        j: i64 = 0
        while j < d and not self.root[j] <= x[j]:
            j += 1
        if j == d:
            return 0
        for page in self._pages:
            out.members_upto = upto
            handles = out.room_for_members(page.count)
            points, own, least = page.points, page.handles, page.least
            slot: i64 = 0
            slots = page.slots
            while slot < slots:
                base = (slot >> SHIFT) * d
                end = slot + BLOCK
                if end > slots:
                    end = slots
                j = 0
                while j < d and not least[base + j] <= x[j]:
                    j += 1
                if j == d:
                    slot = end
                    continue
                base = slot * d
                while slot < end:
                    j = 0
                    while j < d and not points[base + j] <= x[j]:
                        j += 1
                    if j < d and not (young and page.since[slot] > first):
                        handles[upto] = own[slot]
                        upto += 1
                    slot += 1
                    base += d
        out.members_upto = upto
        return upto - begun

    def nearest(self, x: Floats, at: i64, axis: i64) -> float:
        """The least coordinate on that axis of the members that the values dominate on the other axes; inf if none.

        O(pages + what the corners let through).
        """
        best = INFINITY
        d, root = self.d, self.root
        j: i64 = 0
        base: i64 = 0
        while j < d and (j == axis or root[j] <= x[at + j]):
            j += 1
        if j < d:
            return best
        sole = self._sole
        if sole is not None:
            return sole.nearest(x, at, axis, best)
        corners = self._least
        for page in self._pages:
            j = 0
            while j < d and (corners[base + j] < best if j == axis else corners[base + j] <= x[at + j]):
                j += 1
            base += d
            if j == d:
                best = page.nearest(x, at, axis, best)
        return best

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def each(self) -> Iterator[tuple[int, list[float], int]]:
        """Handle, point and `since` of all members."""
        d = self.d
        for page in self._pages:
            for slot in range(page.slots):
                if page.handles[slot] != NONE:
                    point = [page.points[slot * d + j] for j in range(d)]
                    yield int(page.handles[slot]), point, int(page.since[slot])

    def member(self, handle: int) -> tuple[list[float], int]:
        """Point and `since` of one member. O(pages x the search for a slot)."""
        d = self.d
        for page in self._pages:
            slot = page.slot_of(handle)
            if slot >= 0:
                return [page.points[slot * d + j] for j in range(d)], int(page.since[slot])
        raise AssertionError("each member is in a page")

    def check_invariants(self) -> None:
        d = self.d
        total = 0
        for number, page in enumerate(self._pages):
            page.check_invariants()
            total += int(page.count)
            low, high = (list(c[number * d : (number + 1) * d]) for c in (self._low, self._high))
            least = list(self._least[number * d : (number + 1) * d])
            for slot in range(page.slots):
                if page.handles[slot] != NONE:
                    for j in range(d):
                        value = page.points[slot * d + j]
                        assert low[j] <= value <= high[j], "a member lies in its page's region"
                        assert least[j] <= value
                        assert self.root[j] <= value
                    assert page.points[slot * d] <= min(self._greatest[number], self.top)
                    assert page.since[slot] <= self.newest
        assert total == self.count


INFINITE: Final = 1 << 60  # later than any event
