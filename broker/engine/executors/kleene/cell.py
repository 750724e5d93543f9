"""The partial matches of one key value of one pattern: the common form of all representations.

Here: that form. Not here: a representation (runs, columns, buffer), keys (machine).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mypy_extensions import i64

from ....events.schema import Row
from ..completions import Completions
from ..matches import Assigned, Item
from .run import Restored, RunsArchive
from .shadows import Shadow


class RunCell:
    """`shadows` by negation. `owed`: matches that wait until time has passed; `lost`: how often a limit was hit, since
    somebody last asked."""

    __slots__ = ("lost", "owed", "shadows", "upto")

    def __init__(self, shadows: list[Shadow]) -> None:
        self.shadows = shadows
        for shadow in shadows:
            shadow.users += 1
        self.lost: i64 = 0
        self.owed: i64 = 0
        self.upto: i64 = -(1 << 62)  # nonoverlap: where in the stream the last result that time completed ended

    def step(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item, found: Completions) -> bool:
        """An event that satisfies the inputs in `mask`; appends what it completes. False, and nothing is changed, where
        this representation cannot take it."""
        raise AssertionError

    def settle(self, time: i64, position: i64) -> i64:
        """Let go of what no event from this one on can go on with; how much is left."""
        raise AssertionError

    def size(self) -> int:
        """Runs, or what stands for runs."""
        raise AssertionError

    def partial(self, oldest: i64) -> Iterator[Assigned]:
        """The runs that began at that time or later, for people."""
        raise AssertionError

    def check_invariants(self) -> None:
        raise AssertionError

    def dump(self, archive: RunsArchive) -> list[Any]:
        """All of it as plain values, but what is in shadows or waits for time."""
        raise AssertionError

    def load(self, data: Any, restored: Restored) -> None:
        """The inverse, into a new one."""
        raise AssertionError
