"""Chooses how many events of a batch to match in one piece, so that it takes about PIECE_NANOSECONDS, as measured."""

from __future__ import annotations

from typing import Final, final

from ..wire import BATCH_EVENTS_MAX

PIECE_NANOSECONDS: Final = 20_000_000
"""What everybody else waits for a piece of an expensive batch. A single event may take longer."""

FIRST_EVENTS: Final = 64


@final
class SliceSizer:
    """`events` of the next piece: at once fewer where one took too long, at most twice as many where it did not."""

    __slots__ = ("events",)

    def __init__(self) -> None:
        self.events = FIRST_EVENTS

    def took(self, events: int, nanoseconds: int) -> None:
        """So many events took so long. O(1)."""
        if nanoseconds > PIECE_NANOSECONDS:
            self.events = max(1, min(events, self.events) * PIECE_NANOSECONDS // nanoseconds)
        elif events >= self.events:
            more = self.events * PIECE_NANOSECONDS // max(1, nanoseconds)
            self.events = min(2 * self.events, more, BATCH_EVENTS_MAX)
