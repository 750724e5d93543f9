"""The interface of every mechanism of groups: a cell for each key.

A host gives handles (its own stable numbers), points (coordinates) and rows. It passes the events of a key in their
order, with numbers that do not decrease over all keys, and takes blocks (blocks). A member's `since` is the number of
the first event that counts for it.

Here: that interface. Not here: mechanisms, recipes.
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from ....events.instant import FOREVER
from ....events.schema import Row
from ...matches.sources import Assigned, Item
from .blocks import MatchBlocks
from .members import Members


class GroupCell:
    """The members of a group for one key, and their waiting runs.

    The host sets `position` and `place`, the number of the event in its stream and in its partition, if a template asks
    for adjacent events; `item`; and `began`, the start of the event, if times are epochs. `noted`: the last event
    that a later match may have. `alarm`: the time at which the host will wake the cell; `awaited`: the
    first event of the run that is due then.
    """

    def __init__(self, members: Members) -> None:
        self.members = members
        self.position: i64 = 0
        self.place: i64 = 0
        self.began: i64 = 0
        self.item: Item = 0
        self.noted: i64 = -1
        self.lost: i64 = 0  # how often a limit was hit since the host last asked
        self.alarm = FOREVER
        self.awaited = 0

    def forget(self, handle: int) -> None:
        """Drop the state of a single member that has left."""

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key; writes its completions."""
        raise AssertionError

    def due(self) -> int:
        """The time after which `advance` has something to report."""
        return FOREVER

    def first(self) -> int:
        """The first event of the run for which `due` was set."""
        return 0

    def advance(self, time: i64, out: MatchBlocks) -> None:
        """Time has reached `time`, and none of its events were passed yet: write the matches that waited for it."""

    def advance_first(self, out: MatchBlocks) -> None:
        """Write the due matches that the event `first` began."""

    def quiet(self, time: i64) -> bool:
        """Whether no run waits for an event at that time or later. A wrong False is harmless."""
        return False

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """The runs of a member with that point, for users: the events of each. O(waiting runs)."""
        return []

    def assigned(self, handle: int, point: list[float], since: int, time: i64) -> list[Assigned] | None:
        """The same with their events, if the cell itself keeps these; else None."""
        return None

    def used(self, events: set[int]) -> None:
        """Add the events that a later match may have."""

    def oldest(self, event: i64) -> i64:
        """An event, at most the given one, before which a later match has none; 0 if that is not known.
        O(runs behind a second step)."""
        return 0

    def close_epoch(self) -> None:
        """End the newest epoch, although a later event may have the same time."""

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {}

    def load(self, dumped: dict[str, Any]) -> None:
        """Restore dumped state; the members have joined before."""

    def check_invariants(self) -> None:
        self.members.check_invariants()
