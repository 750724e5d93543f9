"""Families: sibling states that differ only in thresholds, as sorted columns instead of states (layout notes, 2).

All subscriptions `name = X AND price > c`, then the next X with `price < d`, share everything except c and d. One event
starts a single run in them, a cohort, which stands for the members whose c it satisfies. The next event completes the
members among these whose interval (c, d) contains both values.

Here: the two searches of the runtime. Not here: which subscriptions fit (recipes), columns (intervals).
"""

from __future__ import annotations

from typing import Generic, TypeVar, final

from ...events.schema import Row
from .axis import Axis
from .intervals import Intervals

M = TypeVar("M")


@final
class Family(Generic[M]):
    """Members as intervals: the first event must reach `low`, the second must not exceed `high`."""

    def __init__(self, start: Axis, forward: Axis) -> None:
        self.start = start
        self.forward = forward
        self.members: Intervals[M] = Intervals(False)

    def starts_any(self, row: Row) -> bool:
        """Whether an event starts any member. O(1)."""
        return self.members.any_below(self.start.of(row))

    def count(self, row: Row) -> int:
        """The number of members that an event starts. O(log members)."""
        x = self.start.of(row)
        return self.members.below(x) if x == x else 0

    def completed(self, started: Row, row: Row, found: list[M]) -> None:
        """Append the members that one event started and another completes. O(log members + members / 16 + found)."""
        self.members.find(self.start.of(started), self.forward.of(row), 0.0, found)
