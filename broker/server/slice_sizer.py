"""Chooses how many events of a batch to match in one piece, from measured times, so that it takes PIECE_NANOSECONDS."""

from __future__ import annotations

from typing import Final, final

from ..wire import BATCH_EVENTS_MAX

PIECE_NANOSECONDS: Final = 20_000_000
"""How long other clients wait for a piece of an expensive batch. A single event may take longer."""

FIRST_EVENTS: Final = 64


@final
class SliceSizer:
    """`events`: the size of the next piece; fewer after a slow piece, at most twice as many after a fast one."""

    __slots__ = ("events",)

    def __init__(self) -> None:
        self.events = FIRST_EVENTS

    def took(self, events: int, nanoseconds: int) -> None:
        """Note the time that a piece took. O(1)."""
        if nanoseconds > PIECE_NANOSECONDS:
            self.events = max(1, min(events, self.events) * PIECE_NANOSECONDS // nanoseconds)
        elif events >= self.events:
            more = self.events * PIECE_NANOSECONDS // max(1, nanoseconds)
            self.events = min(2 * self.events, more, BATCH_EVENTS_MAX)
