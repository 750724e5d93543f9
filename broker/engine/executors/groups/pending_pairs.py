"""Pairs that wait for the deadline of their start, in columns: starts in the order of their events, and their pairs.

Deadlines are in the same order, so that no heap is needed: the oldest start is due first. The pairs of a start, which
may have events in between, are a linked list, oldest first. A pair that will not be a match is dropped when it is the
first of the oldest start. Rows of pairs that were dropped are a linked list, too, and are used again.

Here: these columns. Hot. Not here: which pairs there are, and which are killed (late_pairs).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final, final

from mypy_extensions import i64

from ..packed import shifted_integers
from .blocks import MatchBlocks
from .columns import Integers, integers, integers_from, with_room_for_integers
from .starts import Starts

NONE: Final = -1
START_EACH: Final = 4  # integers of a start: its event, its deadline, its first and its last pair
PAIR_EACH: Final = 4  # of a pair: the member's handle, the event that completed it, its time, the start's next pair
WASTE_MAX: Final = 16  # dropped starts up to which the others stay where they are
KEPT_MAX: Final = 256  # pairs up to which columns without any stay as long as they were


@final
class PendingPairs:
    """`first`: where the oldest start is; `upto`: behind the newest one. There is none if they are equal.

    `pairs`: the rows of pairs, for who walks along the pairs of a start; `each_pair`: the integers of a row. `between`:
    how many events a pair has between its first and its last one, which are behind the others."""

    def __init__(self, between: i64 = 0) -> None:
        self.each_pair: i64 = PAIR_EACH + between
        self.first: i64 = 0
        self.upto: i64 = 0
        self.pairs: Integers = integers()
        self._starts: Integers = integers()
        self._made: i64 = 0  # rows of pairs
        self._free: i64 = NONE  # the first of those that are not used

    def add(self, start: i64, deadline: i64, handle: i64, event: i64, time: i64, between: list[int]) -> None:
        """Add a pair of a start, which may be new. O(log), and O(starts behind it) if it is new."""
        at = self._place(start, self.first)
        if at == self.upto or self._starts[at * START_EACH] != start:
            self._enter(at, start, deadline)
        self._open(1)
        self._append(at, handle, event, time, integers_from(between), 0)

    def add_all(
        self, known: Starts, within: i64, events: Integers, first: i64, count: i64,
        handle: i64, event: i64, time: i64,
    ) -> None:  # fmt: skip
        """Add pairs of a member with so many starts, whose events are there from `first` on, ascending, each before its
        events in between; `known` has their times. As `add` for each, but most are next to the one before."""
        at = self.first
        seen: i64 = 0
        self._open(count)
        i: i64
        for i in range(count):
            place = first + i * (self.each_pair - PAIR_EACH + 1)
            start = events[place]
            at = self._place(start, at)
            if at == self.upto or self._starts[at * START_EACH] != start:
                seen = known.since_event(start, seen, known.count)
                self._enter(at, start, known.times[seen] + within)
            self._append(at, handle, event, time, events, place + 1)
            at += 1

    def _place(self, start: i64, low: i64) -> i64:
        """The first start, from one on, that is not before another. O(log)."""
        starts, high = self._starts, self.upto
        if low < high and starts[low * START_EACH] >= start:
            return low
        while low < high:
            middle = (low + high) >> 1
            if starts[middle * START_EACH] < start:
                low = middle + 1
            else:
                high = middle
        return low

    def _enter(self, i: i64, start: i64, deadline: i64) -> None:
        """Enter a start without pairs. O(starts behind it)."""
        self._starts = starts = with_room_for_integers(self._starts, (self.upto + 1) * START_EACH)
        at = i * START_EACH
        j = (self.upto + 1) * START_EACH - 1
        while j >= at + START_EACH:
            starts[j] = starts[j - START_EACH]
            j -= 1
        self.upto += 1
        starts[at], starts[at + 1], starts[at + 2], starts[at + 3] = start, deadline, NONE, NONE

    def _open(self, count: i64) -> None:
        """Room for so many more pairs, whatever rows are free."""
        self.pairs = with_room_for_integers(self.pairs, (self._made + count) * self.each_pair)

    def _append(self, i: i64, handle: i64, event: i64, time: i64, between: Integers, first: i64) -> None:
        """Add a pair to a start, for which there is room. The events in between are there from `first` on."""
        pairs, starts, pair, at = self.pairs, self._starts, self._free, i * START_EACH
        each = self.each_pair
        if pair != NONE:
            self._free = pairs[pair * each + 3]
        else:
            pair = self._made
            self._made = pair + 1
        place = pair * each
        pairs[place] = handle
        pairs[place + 1] = event
        pairs[place + 2] = time
        pairs[place + 3] = NONE
        j: i64
        for j in range(each - PAIR_EACH):
            pairs[place + PAIR_EACH + j] = between[first + j]
        last = starts[at + 3]
        if last == NONE:
            starts[at + 2] = pair
        else:
            pairs[last * each + 3] = pair
        starts[at + 3] = pair

    def start(self) -> i64:
        """The event of the oldest start."""
        return self._starts[self.first * START_EACH]

    def deadline(self) -> i64:
        """Its deadline."""
        return self._starts[self.first * START_EACH + 1]

    def pair(self) -> i64:
        """Its first pair; NONE if it has none."""
        return self._starts[self.first * START_EACH + 2]

    def alike(self, pair: i64, other: i64) -> bool:
        """Whether a pair has the events of another one of its start; not if that is NONE."""
        if other == NONE:
            return False
        pairs, place, before = self.pairs, pair * self.each_pair, other * self.each_pair
        j: i64
        for j in range(PAIR_EACH, self.each_pair):
            if pairs[place + j] != pairs[before + j]:
                return False
        return pairs[place + 1] == pairs[before + 1]

    def tell(self, pair: i64, out: MatchBlocks) -> None:
        """Write the events of a pair of the oldest start."""
        pairs, place = self.pairs, pair * self.each_pair
        out.add_number(self.start())
        j: i64
        for j in range(PAIR_EACH, self.each_pair):
            out.add_number(pairs[place + j])
        out.add_number(pairs[place + 1])

    def drop(self) -> None:
        """Drop the first pair of the oldest start."""
        at = self.first * START_EACH + 2
        pair = self._starts[at]
        after = self.pairs[pair * self.each_pair + 3]
        self._starts[at] = after
        if after == NONE:
            self._starts[at + 1] = NONE
        self.pairs[pair * self.each_pair + 3] = self._free
        self._free = pair

    def drop_start(self) -> None:
        """Drop the oldest start with its pairs. Amortised O(1)."""
        at = self.first * START_EACH
        last = self._starts[at + 3]
        if last != NONE:
            self.pairs[last * self.each_pair + 3] = self._free
            self._free = self._starts[at + 2]
        self.first += 1
        if self.first == self.upto:
            self.first = self.upto = self._made = 0
            self._free = NONE
            if len(self.pairs) > KEPT_MAX * self.each_pair:
                self.pairs = integers()
        elif self.first > self.upto - self.first + WASTE_MAX:
            shifted_integers(self._starts, self.first * START_EACH, self.upto * START_EACH)
            self.first, self.upto = 0, self.upto - self.first

    def forget(self, handle: int) -> None:
        """A member has left. O(pairs)."""
        pair: i64
        for pair in range(self._made):
            if self.pairs[pair * self.each_pair] == handle:
                self.pairs[pair * self.each_pair] = NONE

    def used(self, events: set[int]) -> None:
        """Add the events of all pairs of members that are here. O(pairs)."""
        starts, pairs = self._starts, self.pairs
        i: i64
        for i in range(self.first, self.upto):
            pair = starts[i * START_EACH + 2]
            before: i64 = NONE
            while pair != NONE:
                place = pair * self.each_pair
                if pairs[place] != NONE and not self.alike(pair, before):
                    if before == NONE:
                        events.add(int(starts[i * START_EACH]))
                    before = pair
                    events.add(int(pairs[place + 1]))
                    events.update(int(pairs[j]) for j in range(place + PAIR_EACH, place + self.each_pair))
                pair = pairs[place + 3]

    # --- for snapshots and tests --------------------------------------------------------------------------------

    def each(self) -> Iterator[tuple[int, int, list[tuple[Any, ...]]]]:
        """The starts with their deadlines and the pairs of members that are here: handle, event, time, and what is in
        between."""
        for i in range(int(self.first), int(self.upto)):
            at = i * START_EACH
            found: list[tuple[Any, ...]] = []
            pair = int(self._starts[at + 2])
            while pair != NONE:
                place = pair * int(self.each_pair)
                handle, event, time, after, *between = (int(self.pairs[place + j]) for j in range(int(self.each_pair)))
                if handle != NONE:
                    found.append((handle, event, time, *between))
                pair = after
            if found:
                yield int(self._starts[at]), int(self._starts[at + 1]), found

    def check_invariants(self) -> None:
        starts = [int(self._starts[i * START_EACH]) for i in range(int(self.first), int(self.upto))]
        assert all(one < other for one, other in pairwise(starts))
        deadlines = [int(self._starts[i * START_EACH + 1]) for i in range(int(self.first), int(self.upto))]
        assert deadlines == sorted(deadlines)
        free, unused = 0, int(self._free)
        while unused != NONE:
            free, unused = free + 1, int(self.pairs[unused * int(self.each_pair) + 3])
        assert sum(len(pairs) for _, _, pairs in self.each()) <= self._made - free
