"""The events of a partition that are not final, with the windows that each has ended, and marks to set it back to.

Here: these columns. Hot. Not here: who plays the events, and tells what they change (reviser).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Final, final

from ....events.schema import Row
from ...matches.sources import Item, Matched
from .cell import WindowCell

UNTOUCHED: Final = -1
NO_WINDOWS: Final[list[Matched]] = []
"""Those of an event that ends none; it stays empty."""


@final
class RevisedEvent:
    """An event that is not final. `found`: the windows that it ends; `told`: those of them that subscribers know."""

    def __init__(self, time: int, number: int, item: Item, row: Row) -> None:
        self.time = time
        self.number = number
        self.item = item
        self.row = row
        self.found = NO_WINDOWS
        self.told = NO_WINDOWS


def place(event: RevisedEvent) -> tuple[int, int]:
    """What events are ordered by."""
    return (event.time, event.number)


@final
class RevisedPartition:
    """The `events` of a partition that are not final, by time and number. `gone`: the windows that subscribers know of
    withdrawn events.

    `marks`: ascending, before how many events the partition was as in `cells`, None where it had had none; the first
    one is before all events. `late`: the first event that has not been played yet, UNTOUCHED if all have; `fresh`: the
    first one whose windows have not been told.
    """

    def __init__(self, key: Any) -> None:
        self.key = key
        self.events: list[RevisedEvent] = []
        self.gone: list[Matched] = []
        self.marks: list[int] = [0]
        self.cells: list[WindowCell | None] = [None]
        self.late = UNTOUCHED
        self.fresh = 0

    def place(self, time: int, number: int) -> int:
        """The index of an event, or where it belongs. O(log events)."""
        return bisect_left(self.events, (time, number), key=place)

    def spoil(self, at: int) -> None:
        """Events have to be played from this one on."""
        if self.late == UNTOUCHED or at < self.late:
            self.late = at
        while self.marks[-1] > at:
            self.marks.pop()
            self.cells.pop()
