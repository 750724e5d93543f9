"""The events that a group may still need: for later matches, and for results that are not read yet.

A group numbers its events. This file stores them by number, with values, time and item. The results of a batch keep the
page that they were found with; a sweep makes a new page of the events that are still needed. Not here: which events are
needed (each mechanism).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from ..matches import Item
from .columns import Integers, integers, put_integer

SWEEP_MIN: Final = 256


@final
class EventPage:
    """Events by ascending number. It only grows, at its end."""

    def __init__(self) -> None:
        self.numbers: Integers = integers()
        self.times: Integers = integers()
        self.starts: Integers = integers()
        self.rows: list[Row] = []
        self.items: list[Item] = []

    def add(self, number: i64, row: Row, start: i64, time: i64, item: Item) -> None:
        at: i64 = len(self.rows)
        self.numbers = put_integer(self.numbers, at, number)
        self.times = put_integer(self.times, at, time)
        self.starts = put_integer(self.starts, at, start)
        self.rows.append(row)
        self.items.append(item)

    def place(self, number: i64) -> i64:
        """The index of an event, which must be here. O(log)."""
        low: i64 = 0
        high: i64 = len(self.rows)
        while low < high:
            middle = (low + high) >> 1
            if self.numbers[middle] < number:
                low = middle + 1
            else:
                high = middle
        return low


@final
class KeptEvents:
    """The current page of a group."""

    def __init__(self) -> None:
        self.page = EventPage()
        self._kept: i64 = 0  # events after the last sweep

    def add(self, number: i64, row: Row, start: i64, time: i64, item: Item) -> None:
        """Add an event that a later match may have."""
        self.page.add(number, row, start, time, item)

    def row(self, number: i64) -> Row:
        """The values of an event."""
        return self.page.rows[self.page.place(number)]

    def grown(self) -> bool:
        """Whether the page has twice as many events as after the last sweep."""
        return len(self.page.rows) > 2 * self._kept + SWEEP_MIN

    def sweep(self, used: set[int]) -> None:
        """Make another page with these events only. O(events)."""
        old, page = self.page, EventPage()
        for at, row in enumerate(old.rows):
            if int(old.numbers[at]) in used:
                page.add(old.numbers[at], row, old.starts[at], old.times[at], old.items[at])
        self.page = page
        self._kept = len(page.rows)

    def dump(self) -> list[Any]:
        page = self.page
        return [
            [int(page.numbers[at]), list(row), int(page.starts[at]), int(page.times[at]), page.items[at]]
            for at, row in enumerate(page.rows)
        ]

    def load(self, dumped: Any) -> None:
        """Restore the result of `dump`, also after it was written and read."""
        self.page = EventPage()
        for number, row, start, time, item in dumped:
            known = (item[0], tuple(item[1])) if isinstance(item, list | tuple) else item
            self.page.add(number, tuple(row), start, time, known)
        self._kept = len(self.page.rows)

    def check_invariants(self) -> None:
        numbers = self.page.numbers
        assert all(numbers[at - 1] < numbers[at] for at in range(1, len(self.page.rows)))
