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
    """The members of a group for one key, and what waits for them. The host sets `position` and `place`, the number of
    the event in its stream and in its partition, where a template asks for adjacent events, and `began`, when it did,
    where times are epochs. `noted`: the last event
    that a match to come may have; `alarm`: when the host means to wake it."""

    def __init__(self, members: Members) -> None:
        self.members = members
        self.position: i64 = 0
        self.place: i64 = 0
        self.began: i64 = 0
        self.noted: i64 = -1
        self.alarm = FOREVER

    def join(self, handle: int, point: list[float], since: int) -> None:
        """A member that is not here. O(pages + page)."""
        self.members.put(handle, point, since)

    def leave(self, handle: int, point: list[float]) -> None:
        """The member with that handle, which joined with that point, goes. Raises KeyError."""
        self.members.remove(handle, point)
        self.forget(handle)

    def forget(self, handle: int) -> None:
        """Drop what waits for a member alone, which is no longer one."""

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """An event of the key: writes what it completes."""
        raise AssertionError

    def due(self) -> int:
        """When time is past that, `advance` has something to tell."""
        return FOREVER

    def first(self) -> int:
        """The event that begins what `due` is of."""
        return 0

    def advance(self, time: i64, out: MatchBlocks) -> None:
        """Time is that, and no event of it was handed on: writes what waited for it."""

    def advance_first(self, out: MatchBlocks) -> None:
        """Writes what the event `first` began, which is due."""

    def quiet(self, time: i64) -> bool:
        """Whether nothing waits for an event at that time or later. False does no harm."""
        return False

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """The runs of a member with that point, for people: of each its events. O(what waits)."""
        return []

    def used(self, events: set[int]) -> None:
        """Add the events that a match to come may have."""

    def close_epoch(self) -> None:
        """The newest epoch is over, although a later event may have its time."""

    def empty(self) -> bool:
        """Whether nothing would be lost without it. False does no harm."""
        return self.members.count == 0 and self.quiet(0)

    def dump(self) -> dict[str, Any]:
        """What a snapshot keeps; the members are the host's."""
        return {}

    def load(self, dumped: dict[str, Any]) -> None:
        """Go on from what was dumped; the members have joined before."""

    def statistics(self) -> dict[str, int]:
        return self.members.statistics()

    def check_invariants(self) -> None:
        self.members.check_invariants()
