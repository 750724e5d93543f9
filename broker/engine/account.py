"""Work as a number: what one subscription's machine may do, counted where it is done, the same wherever it is replayed.

A unit is a partial match that is looked at or made; a match that is told counts MATCH_UNITS. An account holds `most`
units at first and at most; each event that concerns the machine earns `earned`. Who needs more than is left is
exhausted in the middle of the event: so one event costs at most `most`, and many cost `earned` each on average.

A machine that is exhausted, or fails by a mistake of ours, is suspended: what it keeps is given up, whatever the state
that it was left in, and it takes no more events. Machines share nothing, so all others are as if it had never been.

Here: counting, and the names of reasons. Not here: who is suspended when (lanes).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

MATCH_UNITS: Final = 10  # it is made, written and sent
PACKED_BITS: Final = 4  # runs that are rows of numbers: so many halvings of their number are units
UNLIMITED: Final = 1 << 60

# Why a subscription is suspended.
NOT_SUSPENDED: Final = 0
EXHAUSTED: Final = 1
FAILED: Final = 2


@final
class Exhausted(Exception):
    """The account is empty."""


@final
class Account:
    """`left` units of `most`."""

    __slots__ = ("earned", "left", "most")

    def __init__(self, most: int, earned: int) -> None:
        self.most: i64 = most
        self.earned: i64 = earned
        self.left: i64 = most

    def earn(self) -> None:
        """One more event."""
        self.left = min(self.left + self.earned, self.most)

    def spend(self, units: i64) -> None:
        """Raises Exhausted where so many are not left; then none is."""
        self.left -= units
        if self.left < 0:
            self.left = 0
            raise Exhausted


def reason_of(error: Exception) -> int:
    """Why a machine is suspended that has raised this."""
    return EXHAUSTED if isinstance(error, Exhausted) else FAILED
