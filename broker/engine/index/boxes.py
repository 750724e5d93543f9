"""Boxes: subscriptions to single events that differ in ranges of at most two numbers (layout notes, 3.5).

Here: the test of an event. Not here: which subscriptions fit (recipes), columns (intervals).
"""

from __future__ import annotations

from typing import Generic, TypeVar, final

from ...events.schema import Row
from .axis import Axis
from .intervals import Intervals

M = TypeVar("M")


@final
class Box(Generic[M]):
    """The subscriptions of a cell with bounds on the numbers of these two axes."""

    def __init__(self, first: Axis, second: Axis) -> None:
        self.first = first
        self.second = second
        self.members: Intervals[M] = Intervals(second.position >= 0)

    def find(self, row: Row, found: list[M]) -> None:
        """Append the members whose ranges contain the event. O(log members + members / 16 + covers)."""
        x = self.first.of(row)
        self.members.find(x, x, self.second.of(row), found)
