"""The work budget of one subscription's machine. Work is a deterministic count, so a replay counts the same.

One unit is a partial match that a machine examines or makes; a reported match costs MATCH_UNITS. An account starts with
`most` units and never holds more; each event that concerns the machine adds `earned`. A machine that needs more units
than are left is exhausted in the middle of the event. So one event costs at most `most`, and many events cost `earned`
each on average.

A machine that is exhausted, or fails by a defect of this program, is suspended: its state is dropped, however
inconsistent, and it receives no more events. Machines share nothing, so the others are not affected.

Memory is counted, too, in bytes that are estimated from numbers of runs and events, and so equal in each build.

Here: counting, and the names of reasons. Not here: suspending (lanes).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

MATCH_UNITS: Final = 10  # a match is made, written and sent
PACKED_BITS: Final = 4  # for packed runs: each 2 ** PACKED_BITS rows of numbers cost one unit
UNLIMITED: Final = 1 << 60

# Reasons for which a subscription is suspended.
NOT_SUSPENDED: Final = 0
EXHAUSTED: Final = 1
FAILED: Final = 2
FULL: Final = 3


@final
class Exhausted(Exception):
    """The account is empty."""


@final
class Full(Exception):
    """A machine needs more memory than it may have, and cannot go on with less."""


@final
class Account:
    """`left` units of `most`, and `held` bytes of `room`, which are estimated."""

    __slots__ = ("earned", "held", "left", "most", "room")

    def __init__(self, most: int, earned: int, room: int = UNLIMITED) -> None:
        self.held: i64 = 0
        self.room: i64 = room
        self.most: i64 = most
        self.earned: i64 = earned
        self.left: i64 = most

    def earn(self) -> None:
        """Add the units that one event earns."""
        self.left = min(self.left + self.earned, self.most)

    def turn_over(self, events: i64, units: i64) -> None:
        """Earn and spend so many units, of which there are enough for all events without what these earn. O(events)."""
        event: i64
        for event in range(events):  # noqa: B007  compiled, a number
            self.left = min(self.left + self.earned, self.most) - units

    def widen(self, most: int, earned: int) -> None:
        """Add what one more, or one less, of the subscriptions that share it has alone."""
        self.most += most
        self.earned += earned
        self.left = max(0, self.left + most)

    def spend(self, units: i64) -> None:
        """Spend units. Raises Exhausted, and empties the account, if fewer are left."""
        self.left -= units
        if self.left < 0:
            self.left = 0
            raise Exhausted


def reason_of(error: Exception) -> int:
    """The reason for which a machine that raised this error is suspended."""
    return EXHAUSTED if isinstance(error, Exhausted) else FULL if isinstance(error, Full) else FAILED
