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
class RevisedPartition:
    """The events of a partition that are not final, by time and number. `found`: by event, the windows that it ends;
    `told`: those of them that subscribers know; `gone`: those that they know of withdrawn events.

    `marks`: ascending, before how many events the partition was as in `cells`, None where it had had none; the first
    one is before all events. `late`: the first event that has not been played yet, UNTOUCHED if all have; `fresh`: the
    first one whose windows have not been told.
    """

    def __init__(self, key: Any) -> None:
        self.key = key
        self.times: list[int] = []
        self.numbers: list[int] = []
        self.items: list[Item] = []
        self.rows: list[Row] = []
        self.found: list[list[Matched]] = []
        self.told: list[list[Matched]] = []
        self.gone: list[Matched] = []
        self.marks: list[int] = [0]
        self.cells: list[WindowCell | None] = [None]
        self.late = UNTOUCHED
        self.fresh = 0

    def place(self, time: int, number: int) -> int:
        """The index of an event, or where it belongs. O(log events, and events of that time)."""
        at = bisect_left(self.times, time)
        while at < len(self.times) and self.times[at] == time and self.numbers[at] < number:
            at += 1
        return at

    def append(self, time: int, number: int, item: Item, row: Row) -> None:
        self.times.append(time)
        self.numbers.append(number)
        self.items.append(item)
        self.rows.append(row)
        self.found.append(NO_WINDOWS)
        self.told.append(NO_WINDOWS)

    def insert(self, at: int, time: int, number: int, item: Item, row: Row) -> None:
        self.times.insert(at, time)
        self.numbers.insert(at, number)
        self.items.insert(at, item)
        self.rows.insert(at, row)
        self.found.insert(at, NO_WINDOWS)
        self.told.insert(at, NO_WINDOWS)

    def remove(self, begin: int, end: int) -> None:
        """Forget events."""
        for column in (self.times, self.numbers, self.items, self.rows, self.found, self.told):
            del column[begin:end]

    def spoil(self, at: int) -> None:
        """Events have to be played from this one on."""
        if self.late == UNTOUCHED or at < self.late:
            self.late = at
        while self.marks[-1] > at:
            self.marks.pop()
            self.cells.pop()
