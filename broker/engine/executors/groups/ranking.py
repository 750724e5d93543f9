"""A ranking: the members of a group in the order of the only constant in which they differ.

Members often differ in one constant, although a template has several: then whoever has a match is a stretch of the
ranking, which two searches find, however many they are. A factor is one constant with two coordinates, itself and its
opposite, so that the stretch has two ends.

The constant is that in which the first two unequal members differ. Members that differ elsewhere stand apart, and while
there are any, nobody asks the ranking.

Here: that order, kept as members join and leave. Hot. Not here: members that differ in several constants (members).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from mypy_extensions import i64

from ...index.columns import below, not_above
from .blocks import RankedMembers
from .columns import Floats, floats, floats_from, integers, put, put_integer
from .coordinates import FACTOR, CoordinateBound


@final
class Ranking:
    """`axis`: the coordinate by which members are ranked; -1 while all that are ranked are equal. `apart`: the count of
    members that are not ranked. `held`: unread results have the column, so that a change makes a copy. `low` and
    `high`: the stretch that the last question found.
    """

    def __init__(self, bounds: list[CoordinateBound]) -> None:
        self.axis: i64 = -1
        self.apart: i64 = 0
        self.count: i64 = 0
        self.levels: Floats = floats()
        self.column = RankedMembers(integers())
        self.held = False
        self.low: i64 = 0
        self.high: i64 = 0
        self._usual: Floats = floats()  # the point of the ranked members, but for the axis
        self._coordinates: list[int] = sorted({int(bound.coordinate) for bound in bounds})
        self._factors: set[int] = {int(bound.coordinate) for bound in bounds if bound.source == FACTOR}
        self._factor = False  # whether the axis is one
        self._until_ranked: i64 = 0  # changes to come before all are ranked anew

    # --- changes ------------------------------------------------------------------------------------------------

    def put(self, handle: i64, point: list[float]) -> None:
        """Add a member. O(members) moves of machine words."""
        self._until_ranked -= 1
        if self.count == 0 and self.apart == 0:
            self._usual = floats_from(point)
            self.axis = -1
            self._factor = False
        other = self._other(point)
        if other >= 0 and self.axis < 0 and self._other(point, other) < 0:
            self._turn(other)
            other = -1
        if other >= 0:
            self.apart += 1
            return
        level = point[self.axis] if self.axis >= 0 else 0.0
        at = not_above(self.levels, level, 0, self.count)
        n = self.count
        self.levels = put(self.levels, n, level)
        self.count = n + 1
        self._own(n)
        column = self.column
        column.handles = put_integer(column.handles, n, handle)
        column.count = n + 1
        handles, levels, j = column.handles, self.levels, n
        while j > at:
            handles[j] = handles[j - 1]
            levels[j] = levels[j - 1]
            j -= 1
        handles[at] = handle
        levels[at] = level

    def remove(self, handle: i64, point: list[float]) -> None:
        """Remove a member. O(members)."""
        self._until_ranked -= 1
        if self._other(point) >= 0:
            self.apart -= 1
            return
        n = self.count
        at: i64 = 0
        while self.column.handles[at] != handle:
            at += 1
        self.count = n - 1
        self._own(n)
        handles, levels = self.column.handles, self.levels
        self.column.count = n - 1
        while at < n - 1:
            handles[at] = handles[at + 1]
            levels[at] = levels[at + 1]
            at += 1

    def stale(self) -> bool:
        """Whether the ranked members have gone, so that the others may be ranked; true at most once in as many changes
        as there are members."""
        return self.count == 0 and self.apart > 0 and self._until_ranked <= 0

    def rank(self, members: Iterable[tuple[int, list[float], int]]) -> None:
        """Rank all members anew. O(members x log members)."""
        self.apart = self.count = 0
        self.column, self.held = RankedMembers(integers()), False
        self.levels = floats()
        for handle, point, _ in sorted(members, key=_by_point):  # so that each goes to the end
            self.put(handle, point)
        self._until_ranked = self.count + self.apart

    def _other(self, point: list[float], axis: i64 = -1) -> i64:
        """The first coordinate, but for the axis or another one in its place, in which a point is unusual; or -1."""
        if axis < 0:
            axis = self.axis
        usual = self._usual
        for at in self._coordinates:
            if at != axis and point[at] != usual[at]:
                return at
        return -1

    def _turn(self, axis: i64) -> None:
        """Rank the members, which are equal so far, by a coordinate from now on."""
        self.axis = axis
        self._factor = int(axis) in self._factors
        j: i64
        for j in range(self.count):
            self.levels[j] = self._usual[axis]

    def _own(self, count: i64) -> None:
        if self.held:
            fresh = integers()
            j: i64
            for j in range(count):
                fresh = put_integer(fresh, j, self.column.handles[j])
            self.column, self.held = RankedMembers(fresh), False

    # --- questions ----------------------------------------------------------------------------------------------

    def find(self, x: Floats) -> bool:
        """Find the stretch of members that the values dominate; whether there are any. O(log members)."""
        usual, axis = self._usual, self.axis
        for place in self._coordinates:
            j: i64 = place
            if j != axis:
                if not usual[j] <= x[j] or (place in self._factors and not -usual[j] <= x[j + 1]):
                    return False
        self.low, self.high = 0, self.count
        if axis >= 0:
            self.high = not_above(self.levels, x[axis], 0, self.count)
            if self._factor:
                self.low = below(self.levels, -x[axis + 1], 0, self.count)
        return self.low < self.high

    def check_invariants(self, points: dict[int, list[float]]) -> None:
        """`points`: those of all members."""
        assert self.count + self.apart == len(points)
        ranked = [int(self.column.handles[at]) for at in range(self.count)]
        assert ranked == [int(self.column.handles[at]) for at in range(self.column.count)]
        assert all(self._other(points[handle]) < 0 for handle in ranked)
        assert sum(self._other(point) >= 0 for point in points.values()) == self.apart
        levels = [self.levels[at] for at in range(self.count)]
        if self.axis >= 0:
            assert levels == sorted(points[handle][int(self.axis)] for handle in ranked)


def _by_point(member: tuple[int, list[float], int]) -> list[float]:
    return member[1]
