"""Pairs that wait for the deadline of their start, in columns: starts in the order of their events, and their pairs.

Deadlines are in the same order, so that no heap is needed: the oldest start is due first. The pairs of a start are a
linked list, oldest first. A pair that will not be a match is dropped when it is the first of the oldest start.

Here: these columns. Hot. Not here: which pairs there are, and which are killed (trailing).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, final

from mypy_extensions import i64

from .columns import Floats, Integers, floats, integers, roomy, with_room, with_room_for_integers

NONE: Final = -1
START_EACH: Final = 4  # integers of a start: its event, its deadline, its first and its last pair
PAIR_EACH: Final = 4  # of a pair: the member's handle, the event that completed it, its time, the start's next pair
WASTE_MAX: Final = 64  # dropped pairs up to which the others stay where they are


@final
class PendingPairs:
    """`first`: where the oldest start is; `upto`: behind the newest one. There is none if they are equal."""

    def __init__(self) -> None:
        self.first: i64 = 0
        self.upto: i64 = 0
        self._starts: Integers = integers()
        self._pairs: Integers = integers()
        self._levels: Floats = floats()
        self._made: i64 = 0  # pairs in the columns
        self._dropped: i64 = 0  # of these

    def add(self, start: i64, deadline: i64, handle: i64, event: i64, time: i64, level: float) -> None:
        """Add a pair of a start, which may be new. O(starts behind it)."""
        at = self._place(start, deadline)
        starts = self._starts
        pair = self._made
        self._pairs = with_room_for_integers(self._pairs, (pair + 1) * PAIR_EACH)
        self._levels = with_room(self._levels, pair + 1)
        pairs, place = self._pairs, pair * PAIR_EACH
        pairs[place], pairs[place + 1], pairs[place + 2], pairs[place + 3] = handle, event, time, NONE
        self._levels[pair] = level
        last = starts[at + 3]
        if last == NONE:
            starts[at + 2] = pair
        else:
            pairs[last * PAIR_EACH + 3] = pair
        starts[at + 3] = pair
        self._made = pair + 1

    def _place(self, start: i64, deadline: i64) -> i64:
        """Where the integers of a start are, which is entered if it is new."""
        starts = self._starts
        i = self.upto
        while i > self.first and starts[(i - 1) * START_EACH] > start:
            i -= 1
        if i > self.first and starts[(i - 1) * START_EACH] == start:
            return (i - 1) * START_EACH
        self._starts = starts = with_room_for_integers(starts, (self.upto + 1) * START_EACH)
        at = i * START_EACH
        j = (self.upto + 1) * START_EACH - 1
        while j >= at + START_EACH:
            starts[j] = starts[j - START_EACH]
            j -= 1
        self.upto += 1
        starts[at], starts[at + 1], starts[at + 2], starts[at + 3] = start, deadline, NONE, NONE
        return at

    def start(self) -> i64:
        """The event of the oldest start."""
        return self._starts[self.first * START_EACH]

    def deadline(self) -> i64:
        """Its deadline."""
        return self._starts[self.first * START_EACH + 1]

    def pair(self) -> i64:
        """Its first pair; NONE if it has none."""
        return self._starts[self.first * START_EACH + 2]

    def handle(self, pair: i64) -> i64:
        """The member of a pair; NONE if it has left."""
        return self._pairs[pair * PAIR_EACH]

    def event(self, pair: i64) -> i64:
        return self._pairs[pair * PAIR_EACH + 1]

    def time(self, pair: i64) -> i64:
        return self._pairs[pair * PAIR_EACH + 2]

    def level(self, pair: i64) -> float:
        return self._levels[pair]

    def drop(self) -> None:
        """Drop the first pair of the oldest start."""
        at = self.first * START_EACH + 2
        after = self._pairs[self._starts[at] * PAIR_EACH + 3]
        self._starts[at] = after
        if after == NONE:
            self._starts[at + 1] = NONE
        self._dropped += 1

    def drop_start(self) -> None:
        """Drop the oldest start, which has no pairs any more. Amortised O(1)."""
        self.first += 1
        if self.first == self.upto:
            self.first = self.upto = self._made = self._dropped = 0
        elif self._dropped > self._made - self._dropped + WASTE_MAX:
            self._compact()

    def _compact(self) -> None:
        """Write the columns anew without what was dropped. O(starts and pairs)."""
        starts, pairs, levels = self._starts, self._pairs, self._levels
        size: i64 = self._made - self._dropped
        fresh, fresh_levels = roomy(integers(), size * PAIR_EACH), with_room(floats(), size)
        made: i64 = 0
        upto: i64 = 0
        i: i64
        for i in range(self.first, self.upto):
            at, to = i * START_EACH, upto * START_EACH
            pair = starts[at + 2]
            begun = made
            while pair != NONE:
                place = pair * PAIR_EACH
                if pairs[place] != NONE:
                    here = made * PAIR_EACH
                    fresh[here], fresh[here + 1], fresh[here + 2] = pairs[place], pairs[place + 1], pairs[place + 2]
                    fresh[here + 3] = made + 1
                    fresh_levels[made] = levels[pair]
                    made += 1
                pair = pairs[place + 3]
            if made > begun:
                fresh[(made - 1) * PAIR_EACH + 3] = NONE
                starts[to], starts[to + 1], starts[to + 2], starts[to + 3] = starts[at], starts[at + 1], begun, made - 1
                upto += 1
        self._pairs, self._levels = fresh, fresh_levels
        self.first, self.upto, self._made, self._dropped = 0, upto, made, 0

    def forget(self, handle: int) -> None:
        """A member has left. O(pairs)."""
        pair: i64
        for pair in range(self._made):
            if self._pairs[pair * PAIR_EACH] == handle:
                self._pairs[pair * PAIR_EACH] = NONE

    # --- for snapshots and tests --------------------------------------------------------------------------------

    def each(self) -> Iterator[tuple[int, int, list[tuple[int, int, int, float]]]]:
        """The starts with their deadlines and the pairs of members that are here: handle, event, time, level."""
        for i in range(int(self.first), int(self.upto)):
            at = i * START_EACH
            found: list[tuple[int, int, int, float]] = []
            pair = int(self._starts[at + 2])
            while pair != NONE:
                place = pair * PAIR_EACH
                handle, event, time, after = (int(self._pairs[place + j]) for j in range(PAIR_EACH))
                if handle != NONE:
                    found.append((handle, event, time, self._levels[pair]))
                pair = after
            if found:
                yield int(self._starts[at]), int(self._starts[at + 1]), found

    def check_invariants(self) -> None:
        starts = [int(self._starts[i * START_EACH]) for i in range(int(self.first), int(self.upto))]
        assert all(one < other for one, other in pairwise(starts))
        deadlines = [int(self._starts[i * START_EACH + 1]) for i in range(int(self.first), int(self.upto))]
        assert deadlines == sorted(deadlines)
        assert sum(len(pairs) for _, _, pairs in self.each()) <= self._made - self._dropped
