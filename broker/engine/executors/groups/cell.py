"""What a host calls of every mechanism: one cell for a key, and the group, which has a cell for each key.

A host gives handles (numbers of its own, which stay), points (coordinates) and rows; it hands on the events of a key in
their order, numbered without a fall over all keys, and takes blocks (blocks). A member's `since` is the number of the
first event that counts for it. `since` may change in a cell: a snapshot takes members from `members.each()`.

Here: that form. Not here: mechanisms, recipes.
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from ....events.instant import FOREVER
from ....events.schema import Row
from .blocks import MatchBlocks
from .members import Members


class GroupCell:
    """The members of a group for one key, and what waits for them."""

    def __init__(self, members: Members) -> None:
        self.members = members

    def join(self, handle: int, point: list[float], since: int) -> None:
        """A member that is not here. O(pages + page)."""
        self.members.put(handle, point, since)

    def leave(self, handle: int, point: list[float]) -> None:
        """The member with that handle, which joined with that point, goes. Raises KeyError."""
        self.members.remove(handle, point)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """An event of the key: writes what it completes."""
        raise AssertionError

    def due(self) -> int:
        """When time is past that, `advance` has something to tell."""
        return FOREVER

    def advance(self, time: i64, out: MatchBlocks) -> None:
        """Time is that, and no event of it was handed on: writes what waited for it."""

    def empty(self) -> bool:
        """Whether nothing would be lost without it. False does no harm."""
        return False

    def dump(self) -> dict[str, Any]:
        """What a snapshot keeps; the members are the host's."""
        return {}

    def load(self, dumped: dict[str, Any]) -> None:
        """Go on from what was dumped; the members have joined before."""

    def statistics(self) -> dict[str, int]:
        return self.members.statistics()

    def check_invariants(self) -> None:
        self.members.check_invariants()
