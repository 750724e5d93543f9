"""Which windows of the clock a moment is in, which are open, and which partitions have events in them.

A ring has the open windows by their numbers: no more of them can be open than hold one moment. Here: that, for
partitions that are numbered. Hot. Not here: the panes of partitions (packed_panes), telling windows (packed_clock).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64, mypyc_attr

from ....algebra.window_aggregates import ClockGrid
from ..contract import NOTHING_DUE
from ..packed import Integers, integers, put_integer
from .packed_panes import NEVER_IN


@final
@mypyc_attr(acyclic=True)
class EnteredWindow:
    """The partitions with events in a window, in the order of their first ones, and the place of the first of all."""

    def __init__(self) -> None:
        self.slots: Integers = integers()
        self.count: i64 = 0
        self.first: i64 = 0

    def add(self, slot: i64, place: i64) -> None:
        """Add a partition whose first event has this place in the log. O(1) amortised."""
        if self.count == 0:
            self.first = place
        self.slots = put_integer(self.slots, self.count, slot)
        self.count += 1


@final
@mypyc_attr(acyclic=True)
class ClockRing:
    """`windows`: by the number of an open window modulo their count, `room`, what is in it; all open ones are from
    `oldest` to `newest`. From `since` to before `turn`, a moment is in the windows from `earliest` to `latest`."""

    def __init__(self, clock: ClockGrid) -> None:
        self.size: i64 = clock.size
        self.slide: i64 = clock.slide
        self.offset: i64 = clock.offset
        self.room: i64 = clock.size // clock.slide + 2
        self.windows: list[EnteredWindow] = [EnteredWindow() for _ in range(int(self.room))]
        self.oldest: i64 = 0
        self.newest: i64 = NEVER_IN
        self.since: i64 = 0
        self.turn: i64 = 0
        self.earliest: i64 = 0
        self.latest: i64 = 0

    def turn_to(self, time: i64) -> None:
        """Find the windows that a moment is in, and until when these are the same. O(1)."""
        if self.since <= time < self.turn:
            return
        since = time - self.offset
        self.latest = since // self.slide
        self.earliest = (since - self.size) // self.slide + 1
        self.since = time
        self.turn = min((self.latest + 1) * self.slide, self.earliest * self.slide + self.size) + self.offset

    def enter(self, slot: i64, upto: i64, place: i64) -> bool:
        """Enter a partition, which is in windows up to a number, into those of this moment behind; its event has this
        place in the log. Returns whether one of them is now the oldest. O(windows)."""
        newest = self.latest
        number = max(self.earliest, upto + 1)
        oldest = self.newest < self.oldest or number < self.oldest
        if oldest:
            self.oldest = number
        if newest > self.newest:
            self.newest = newest
        where = number % self.room
        while number <= newest:
            self.windows[where].add(slot, place)
            number += 1
            where += 1
            if where == self.room:
                where = 0
        return oldest

    def at(self, number: i64) -> EnteredWindow:
        """What is in the window of a number. O(1)."""
        return self.windows[number % self.room]

    def begin(self, number: i64) -> i64:
        """When a window begins."""
        return number * self.slide + self.offset

    def due(self) -> i64:
        """The last moment of the oldest open window; NOTHING_DUE if none is open."""
        if self.newest < self.oldest:
            return NOTHING_DUE
        return self.begin(self.oldest) + self.size - 1

    def closed(self, number: i64) -> None:
        """All windows before a number are over."""
        self.oldest = number
        if number > self.newest:
            self.newest = NEVER_IN

    def first(self, end: i64) -> i64:
        """The place in the log from which on open windows need it, which ends there."""
        return self.at(self.oldest).first if self.newest >= self.oldest else end

    # --- state -------------------------------------------------------------------------------------------------------

    def opened(self) -> list[tuple[int, list[int]]]:
        """The numbers of the open windows, each with the partitions in it."""
        if self.newest < self.oldest:
            return []
        opened = [(number, self.at(number)) for number in range(int(self.oldest), int(self.newest) + 1)]
        return [(number, [int(slot) for slot in entered.slots[: entered.count]]) for number, entered in opened]

    def load(self, opened: list[tuple[int, list[int]]], first: i64) -> None:
        """The inverse; `first`: the place of the first of all events, which are in no order."""
        for number, slots in opened:
            for slot in slots:
                self.at(number).add(slot, first)
        if len(opened) > 0:
            self.oldest, self.newest = opened[0][0], opened[-1][0]
