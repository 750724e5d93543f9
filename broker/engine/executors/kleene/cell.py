"""The interface of a cell: the partial matches of one key value of one pattern, in any representation.

Here: that interface. Not here: a representation (runs, columns, buffer), keys (machine).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mypy_extensions import i64

from ....events.schema import Row
from ...matches.completions import Completions
from ...matches.sources import Assigned, Item
from ...program.account import Account
from .negation_index import NegationIndex
from .run import Restored, RunsArchive


class RunCell:
    """`negated`: the negated events, by negation. `owed`: matches that wait until time has passed.

    `lost`: how often a limit was hit since the last reading. `held`: the bytes that the account knows of.
    """

    __slots__ = ("held", "lost", "negated", "owed", "upto")

    def __init__(self, negated: list[NegationIndex]) -> None:
        self.negated = negated
        for index in negated:
            index.users += 1
        self.held: i64 = 0
        self.lost: i64 = 0
        self.owed: i64 = 0
        self.upto: i64 = -(1 << 62)  # nonoverlap: the end in the stream of the last result that time completed

    def step(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item, found: Completions) -> bool:
        """Process an event that satisfies the inputs in `mask`; appends its completions.

        False, without any change, if this representation cannot take the event.
        """
        raise AssertionError

    def settle(self, time: i64, position: i64) -> i64:
        """Drop what no event from this one on can continue; returns the remaining size."""
        raise AssertionError

    def bytes(self) -> i64:
        """What it takes in memory, estimated. O(1)."""
        raise AssertionError

    def weigh(self, account: Account) -> None:
        """Tell the account what it takes now."""
        size = self.bytes()
        account.held += size - self.held
        self.held = size

    def size(self) -> int:
        """The number of runs, or of entries that stand for runs."""
        raise AssertionError

    def partial(self, oldest: i64) -> Iterator[Assigned]:
        """The runs that began at that time or later, for users."""
        raise AssertionError

    def check_invariants(self) -> None:
        raise AssertionError

    def dump(self, archive: RunsArchive) -> list[Any]:
        """The state as plain values, without negated events and matches that wait for time."""
        raise AssertionError

    def load(self, data: Any, restored: Restored) -> None:
        """The inverse, into a new cell."""
        raise AssertionError
