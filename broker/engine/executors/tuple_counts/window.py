"""Ways through a span of states, counted for all its first events within a window: the common form of all methods.

Here: that form. Not here: a method (window_sums, window_subtracting, window_stacks), ways that leave a span and
witnesses (window_counting).
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64, mypyc_attr

from .kept_times import UNCHANGING
from .tuples import unpacked


@mypyc_attr(acyclic=True)
class Window:
    """`ways[q]`: how many are in the span's state q with a first event no longer ago than `bound`; from `due` on the
    oldest event is too old."""

    __slots__ = ("bound", "due", "ways")

    def __init__(self, bound: i64, size: i64) -> None:
        self.bound = bound
        self.due: i64 = UNCHANGING
        self.ways: list[int] = [0] * size

    def take(self, moves: list[int], begun: list[int], time: i64) -> None:
        """An event that moves ways, (from, to), flat, late states first, and begins some, (state, number), flat. After
        `expire`; neither list is changed later."""
        raise AssertionError

    def expire(self, time: i64) -> None:
        """Drop what is too old at that time."""
        raise AssertionError

    def holds(self, at: i64) -> bool:
        """Whether a later event can find ways in the span's state of that number."""
        return self.ways[at] != 0

    def size(self) -> int:
        """Events kept."""
        raise AssertionError

    def check_invariants(self) -> None:
        assert all(way >= 0 for way in self.ways)
        assert self.size() > 0 or self.due == UNCHANGING  # the latest time is as far as what is never due

    def dump(self) -> list[Any]:
        """The state as plain values."""
        raise AssertionError

    def load(self, data: Any) -> None:
        """The inverse of `dump`, into a new window; this method reads events as they were taken."""
        for time, moves, begun in data:
            self.take(list(moves), unpacked(begun), time)


def identity(size: int) -> list[list[int]]:
    return [[int(i == j) for j in range(size)] for i in range(size)]
