"""The events that a group may still need: for later matches, and for results that are not read yet.

A group numbers its events. This file stores them by number, with values, time and item. The results of a batch keep the
page that they were found with; a sweep makes a new page of the events that are still needed. Not here: which events are
needed (each mechanism).
"""

from __future__ import annotations

from typing import Any, Final, cast, final

from mypy_extensions import i64

from ....events.schema import Row
from ...matches.sources import Item
from .columns import Integers, integers, roomy

SWEEP_MIN: Final = 64  # few, since each group of a key has such a page
EACH: Final = 3  # integers of an event


@final
class EventPage:
    """Events by ascending number. It only grows, at its end. `_numbers`: the number, start and time of each; `_events`:
    its row and item. Few columns, because an event that many groups keep waits for the memory of each.

    `room`: for how many events there is room at first.
    """

    def __init__(self, room: int = 0) -> None:
        self._numbers: Integers = integers()
        if room > 0:
            self._numbers = roomy(self._numbers, EACH * room)
        self._events: list[object] = []
        self.count: i64 = 0

    def add(self, number: i64, row: Row, start: i64, time: i64, item: Item) -> None:
        at: i64 = EACH * self.count
        if len(self._numbers) < at + EACH:
            self._numbers = roomy(self._numbers, at + EACH)
        numbers = self._numbers
        numbers[at] = number
        numbers[at + 1] = start
        numbers[at + 2] = time
        self._events.append(row)
        self._events.append(item)
        self.count += 1

    def since(self, number: i64) -> EventPage:
        """A page of the events from a number on, with room until it has `grown`. O(events there)."""
        at = self.place(number)
        page = EventPage()
        page.count = self.count - at
        page._numbers = roomy(self._numbers[EACH * at : EACH * self.count], EACH * (2 * page.count + SWEEP_MIN + 1))
        page._events = self._events[2 * at :]
        return page

    def row(self, at: i64) -> Row:
        return cast(Row, self._events[2 * at])

    def item(self, at: i64) -> Item:
        return cast(Item, self._events[2 * at + 1])

    def number(self, at: i64) -> i64:
        return self._numbers[EACH * at]

    def start(self, at: i64) -> i64:
        return self._numbers[EACH * at + 1]

    def time(self, at: i64) -> i64:
        return self._numbers[EACH * at + 2]

    def place(self, number: i64) -> i64:
        """The index of an event, which must be here. O(log)."""
        numbers = self._numbers
        low: i64 = 0
        high: i64 = self.count
        while low < high:
            middle = (low + high) >> 1
            if numbers[EACH * middle] < number:
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
        return self.page.row(self.page.place(number))

    def grown(self) -> bool:
        """Whether the page has twice as many events as after the last sweep."""
        return self.page.count > 2 * self._kept + SWEEP_MIN

    def drop(self, before: i64) -> bool:
        """Drop the events before a number, if these are half of them or more. O(events that stay)."""
        page = self.page
        if 2 * page.place(before) < page.count:
            return False
        self.page = page = page.since(before)
        self._kept = page.count
        return True

    def sweep(self, used: set[int]) -> None:
        """Make another page with these events only. O(events)."""
        old, page = self.page, EventPage(2 * len(used) + SWEEP_MIN + 1)
        at: i64
        for at in range(old.count):
            if int(old.number(at)) in used:
                page.add(old.number(at), old.row(at), old.start(at), old.time(at), old.item(at))
        self.page = page
        self._kept = page.count

    def dump(self) -> list[Any]:
        page = self.page
        return [
            [int(page.number(at)), list(page.row(at)), int(page.start(at)), int(page.time(at)), page.item(at)]
            for at in range(int(page.count))
        ]

    def load(self, dumped: Any) -> None:
        """Restore the result of `dump`, also after it was written and read."""
        self.page = EventPage()
        for number, row, start, time, item in dumped:
            known = (item[0], tuple(item[1])) if isinstance(item, list | tuple) else item
            self.page.add(number, tuple(row), start, time, known)
        self._kept = self.page.count

    def check_invariants(self) -> None:
        page = self.page
        assert all(page.number(at - 1) < page.number(at) for at in range(1, int(page.count)))
