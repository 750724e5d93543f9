"""Trails: the last events of one key, for machines that look back at them instead of keeping partial matches.

A ring holds the events of the newest epochs, as many as the deepest reader asks for. Events have numbers, from 1 on.
All machines whose events have this key share the trail.

Here: adding events, epochs. Hot. Not here: who reads a trail (broker.engine.dispatch.keyed), what a machine makes of it
(each executor).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...events.schema import Row
from .matches import Item
from .packed import Integers, integers, roomy

BEFORE: Final = -(1 << 62)  # earlier than any event
ROOM_MIN: Final = 8  # a power of two


@final
class KeyTrail:
    """`row`, `time`, `start`, `item`: the newest event. `number`: its number, so the count of events. `position` and
    `place`: the numbers that it has in its lane, and in its partition, if that is counted.

    `epoch`: the count of epochs, `begun` the number of the first event of the newest one, at `now`. `plain`: the first
    epoch from which on every event ends when it begins. `depth`: how many epochs are kept, the newest included; 1 keeps
    the newest event alone, and counts no epochs. `overflows`: how often the limit `most` was hit, with which all
    earlier events were dropped. The event `n` is at `n & mask` of the columns; `first` has the number of the first
    event of its epoch.
    """

    def __init__(self, most: i64) -> None:
        self.most: i64 = most
        self.row: Row = ()
        self.time: i64 = BEFORE
        self.start: i64 = BEFORE
        self.item: Item = 0
        self.position: i64 = 0
        self.place: i64 = 0
        self.number: i64 = 0
        self.epoch: i64 = 0
        self.begun: i64 = 1
        self.now: i64 = BEFORE
        self.plain: i64 = BEFORE
        self.depth: i64 = 1
        self.overflows: i64 = 0
        self.mask: i64 = -1
        self.rows: list[Row] = []
        self.items: list[Item] = []
        self.times: Integers = integers()
        self.first: Integers = integers()
        self._least: i64 = 1  # earlier events are not here
        self._needed: i64 = 1  # at most the number of the earliest event of the kept epochs

    def deepen(self, depth: i64) -> None:
        """Keep at least so many epochs from now on. O(events kept)."""
        if depth <= self.depth:
            return
        if self.depth == 1:
            self._least = self._needed = self.number + 1
            self.now = BEFORE
        self.depth = depth
        room: i64 = ROOM_MIN
        while room < 2 * depth:
            room <<= 1
        self._make_room(room, self.number)

    def least(self) -> i64:
        """The number of the earliest event that is here. O(1)."""
        reach = self.number - self.mask
        return max(self._least, reach)

    def add(self, row: Row, time: i64, start: i64, item: Item) -> None:
        """Add an event. Amortised O(1)."""
        self.row = row
        self.time = time
        self.start = start
        self.item = item
        number = self.number + 1
        self.number = number
        if self.depth == 1:
            return
        if time > self.now:
            self.now = time
            self.epoch += 1
            self.begun = number
        if start < time:
            self.plain = self.epoch + 1
        if number - self._needed > self.mask:
            self._reach()
        at = number & self.mask
        self.rows[at] = row
        self.items[at] = item
        self.times[at] = time
        self.first[at] = self.begun

    def close(self) -> None:
        """End the newest epoch, although a later event may have the same time."""
        self.now = BEFORE

    def closed(self) -> bool:
        """Whether the next event begins an epoch, whatever its time."""
        return self.now == BEFORE

    def _reach(self) -> None:
        """Find the earliest event that is needed, and make room where the ring would lose it. O(depth), or O(events)"""
        least: i64 = self.number - 1 - self.mask
        if least < self._least:
            least = self._least
        needed = self.begun
        epochs = self.depth - 1
        while epochs > 0 and needed > least:
            needed = self.first[(needed - 1) & self.mask]
            epochs -= 1
        if needed < least:
            needed = least
        if self.number - needed >= self.most:
            self.overflows += 1
            needed = self._least = self.number
        self._needed = needed
        if self.number - needed > self.mask:
            self._make_room(2 * (self.mask + 1), self.number - 1)

    def _make_room(self, room: i64, newest: i64) -> None:
        """Enlarge the ring, which has the events up to `newest`. O(room)."""
        if room <= self.mask + 1:
            return
        rows, items, times, first, mask = self.rows, self.items, self.times, self.first, self.mask
        if newest - mask > self._least:
            self._least = newest - mask
        blank: Row = ()
        nothing: Item = 0
        self.rows, self.items = [blank] * room, [nothing] * room
        self.times, self.first = roomy(integers(), room), roomy(integers(), room)
        self.mask = room - 1
        n: i64
        for n in range(self._least, newest + 1):
            if mask >= 0:
                self.rows[n & self.mask], self.items[n & self.mask] = rows[n & mask], items[n & mask]
                self.times[n & self.mask], self.first[n & self.mask] = times[n & mask], first[n & mask]

    def check_invariants(self) -> None:
        assert self.depth == 1 or self.mask + 1 >= 2 * self.depth
        if self.depth == 1:
            return
        n: i64
        for n in range(self.least(), self.number + 1):
            assert self.first[n & self.mask] <= n
