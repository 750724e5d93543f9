"""The partitions of sessions as numbers, and those with an open session in the order of their newest events.

Here: these numbers, and the queue. Hot. Not here: when sessions begin and end, and their events (sessions).
"""

from __future__ import annotations

import itertools
from typing import Any, Final, final

from mypy_extensions import i64

from ..contract import NOTHING_DUE
from ..packed import Integers, integers, roomy
from .batch_log import NOTHING

# The numbers of a partition. A session is open if it has events.
LAST: Final = 0  # the time of its newest event
BEGUN: Final = 1  # the time of the first event of its session
NEWEST: Final = 2  # the place of the newest event in the log
EVENTS: Final = 3  # how many the open session has
BEFORE: Final = 4  # the partition with an open session whose newest event came before, or NOBODY
BEHIND: Final = 5  # likewise behind
WIDTH: Final = 6
NOBODY: Final = -1
NEVER: Final = -(1 << 62)  # the time of the newest event, if there was none


@final
class SessionPartitions:
    """`slots`: where each partition has its `numbers`; `free`: where one was that is forgotten, and `forgotten` how
    many were. Those with open sessions are a queue, the one that had its newest event first at the `front`."""

    def __init__(self) -> None:
        self.slots: dict[Any, int] = {}
        self.free: list[int] = []
        self.forgotten: i64 = 0
        self.numbers: Integers = integers()
        self.room: i64 = 0
        self.front: i64 = NOBODY
        self.back: i64 = NOBODY

    def add(self, key: Any) -> i64:
        """The place of a new partition."""
        place: i64 = 0
        if len(self.free) > 0:
            place = self.free.pop()
        else:
            place = self.room
            self.room += WIDTH
            if len(self.numbers) < self.room:
                self.numbers = roomy(self.numbers, self.room)
        self.slots[key] = int(place)
        numbers = self.numbers
        numbers[place + LAST] = NEVER
        numbers[place + NEWEST] = NOTHING
        numbers[place + EVENTS] = 0
        return place

    def append(self, place: i64) -> None:
        """Put a partition at the back of the queue."""
        numbers = self.numbers
        back = self.back
        numbers[place + BEFORE] = back
        numbers[place + BEHIND] = NOBODY
        self.back = place
        if back == NOBODY:
            self.front = place
        else:
            numbers[back + BEHIND] = place

    def unlink(self, place: i64) -> None:
        """Take a partition out of the queue."""
        numbers = self.numbers
        before, behind = numbers[place + BEFORE], numbers[place + BEHIND]
        if behind == NOBODY:
            self.back = before
        else:
            numbers[behind + BEFORE] = before
        if before == NOBODY:
            self.front = behind
        else:
            numbers[before + BEHIND] = behind

    def begin_at(self, place: i64) -> None:
        """Have this partition at the front, and forget those before it in the queue; NOBODY: all."""
        self.front = place
        if place == NOBODY:
            self.back = NOBODY
        else:
            self.numbers[place + BEFORE] = NOBODY

    def due(self, gap: i64) -> i64:
        """The last moment of the first open session; NOTHING_DUE if none is open."""
        return NOTHING_DUE if self.front == NOBODY else self.numbers[self.front + LAST] + gap

    def forget_idle(self, time: i64, gap: i64) -> None:
        """Forget partitions without a session, if all that comes begins one. O(partitions)."""
        numbers = self.numbers
        idle: list[Any] = []
        for key, slot in self.slots.items():
            place: i64 = slot
            if numbers[place + NEWEST] == NOTHING and time - numbers[place + LAST] > gap:
                idle.append(key)
        for key in idle:
            self.free.append(self.slots.pop(key))
            self.forgotten += 1

    def queue(self) -> list[int]:
        """The places of the partitions with open sessions, from front to back."""
        found: list[int] = []
        place = self.front
        while place != NOBODY:
            found.append(int(place))
            place = self.numbers[place + BEHIND]
        return found

    def check_invariants(self) -> None:
        """Raise AssertionError if its parts contradict each other."""
        numbers = self.numbers
        places = sorted([*self.slots.values(), *self.free])
        assert places == list(range(0, int(self.room), WIDTH))
        opened = [place for place in self.slots.values() if numbers[place + NEWEST] != NOTHING]
        queue = self.queue()
        assert sorted(queue) == sorted(opened)
        assert self.back == (queue[-1] if queue else NOBODY)
        assert all(numbers[behind + BEFORE] == place for place, behind in itertools.pairwise(queue))
        lasts = [numbers[place + LAST] for place in queue]
        assert lasts == sorted(lasts)
