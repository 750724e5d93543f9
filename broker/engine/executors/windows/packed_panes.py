"""Partitions as numbers, with their panes in rings of numbers and their sums beside them.

A partition is known as long as it has panes of open windows; its place is used again. Here: these numbers. Hot. Not
here: which windows an event is in, and when they end (packed_clock, packed_count).
"""

from __future__ import annotations

import itertools
from typing import Any, Final, final

from mypy_extensions import i64

from ....events.short_texts import NO_WORD, UNKNOWN, ShortTexts, word_of
from ..packed import COMPILED, Integers, integers, roomy
from .batch_log import NOTHING, BatchLog
from .packed_sums import PackedSums
from .tables import WindowTables

# The numbers of a partition; behind them those of its panes.
UPTO: Final = 0  # the newest window that it is in
EVENTS: Final = 1  # how many it has had since it is known
NEWEST: Final = 2  # the place of its newest event in the log
LAST: Final = 3  # the time of that
HEAD: Final = 4  # the place in the ring of its first pane of an open window
COUNT: Final = 5  # how many panes it has from that one on
WORD: Final = 6  # that of its key, if it is found by that
GIVEN: Final = 7  # the newest window that has been given up
PANES: Final = 8
# The numbers of a pane.
PERIOD: Final = 0
BEFORE: Final = 1  # how many events the partition had before it
BEGUN: Final = 2  # the time of its first event
PANE: Final = 3

TRIES: Final = 1_024  # keys that are not found by words, beyond those that are, until these are no longer looked up
SPARE: Final = 256  # words of partitions that have gone, at least, that are kept
NEVER_IN: Final = -(1 << 62)
"""The number of a window before all that there can be."""


@final
class PackedPanes:
    """`slots`: the number of each partition, by key, `words` the same of short texts that have come again, and `keyed`
    their inverse; `free`: those of none, and `freed` how often a partition has become none. A partition has `width` of
    the `numbers`, and up to `room` panes. `known` and `unknown`: how many were found by words, and how many were not.
    """

    def __init__(self, tables: WindowTables, room: int) -> None:
        self.tables = tables
        self.room: i64 = room
        self.width: i64 = PANES + PANE * room
        self.sums = PackedSums(tables, room)
        self.slots: dict[Any, int] = {}
        self.words = ShortTexts()
        self.known: i64 = 0
        self.unknown: i64 = 0
        self.keyed: list[Any] = []
        self.free: list[int] = []
        self.freed: i64 = 0
        self.numbers: Integers = integers()

    def of(self, key: Any, most: i64) -> i64:
        """The number of a key's partition, of a new one if it has none; UNKNOWN if there are `most` others already.
        Amortised O(1)."""
        word: i64 = NO_WORD
        if COMPILED and self.unknown <= self.known + TRIES and isinstance(key, str):
            word = word_of(key)
            if word != NO_WORD:
                slot = self.words.code(word)
                if slot != UNKNOWN and self.numbers[slot * self.width + WORD] == word:
                    self.known += 1
                    return slot
                self.unknown += 1
        found = self.slots.get(key)
        if found is not None:
            if word != NO_WORD:
                self._note(word, found)
            return found
        if len(self.slots) >= most:
            return UNKNOWN
        return self._add(key)

    def _add(self, key: Any) -> i64:
        """The number of a new partition."""
        slot: i64 = len(self.keyed)
        if len(self.free) > 0:
            slot = self.free.pop()
            self.keyed[slot] = key
        else:
            self.keyed.append(key)
            if len(self.numbers) < (slot + 1) * self.width:
                self.numbers = roomy(self.numbers, (slot + 1) * self.width)
        self.slots[key] = int(slot)
        numbers = self.numbers
        own = slot * self.width
        numbers[own + UPTO] = NEVER_IN
        numbers[own + EVENTS] = 0
        numbers[own + NEWEST] = NOTHING
        numbers[own + HEAD] = 0
        numbers[own + COUNT] = 0
        numbers[own + WORD] = NO_WORD
        numbers[own + GIVEN] = NEVER_IN
        self.sums.begin(slot)
        return slot

    def open(self, slot: i64, period: i64, time: i64) -> i64:
        """Begin a pane of a partition in a period, before its first event; returns its place in the ring. Its sums
        begin with the event (packed_sums)."""
        numbers = self.numbers
        own = slot * self.width
        count = numbers[own + COUNT]
        pane = numbers[own + HEAD] + count
        if pane >= self.room:
            pane -= self.room
        at = own + PANES + PANE * pane
        numbers[at + PERIOD] = period
        numbers[at + BEFORE] = numbers[own + EVENTS]
        numbers[at + BEGUN] = time
        numbers[own + COUNT] = count + 1
        numbers[own + UPTO] = period
        return pane

    def head(self, slot: i64, period: i64) -> i64:
        """The place in the ring of the first pane of a period or a later one, before which all are forgotten; -1 if
        there is none. O(1) amortised."""
        numbers = self.numbers
        own = slot * self.width
        room = self.room
        pane, count = numbers[own + HEAD], numbers[own + COUNT]
        while count > 0 and numbers[own + PANES + PANE * pane + PERIOD] < period:
            count -= 1
            pane += 1
            if pane == room:
                pane = 0
        numbers[own + HEAD] = pane
        numbers[own + COUNT] = count
        if count == 0:
            pane = -1
        return pane

    def leave(self, slot: i64, period: i64) -> None:
        """Forget the panes of a partition before a period; the partition, if it has no others."""
        if self.head(slot, period) < 0:
            del self.slots[self.keyed[slot]]
            self.keyed[slot] = None
            self.numbers[slot * self.width + WORD] = NO_WORD
            self.free.append(int(slot))
            self.freed += 1

    def give_up(self, slot: i64, events_max: i64) -> None:
        """Give up the oldest windows of a partition, so that it keeps at most so many events. Amortised O(1)."""
        numbers = self.numbers
        own = slot * self.width
        while self.events(slot) > events_max:
            period = numbers[own + PANES + PANE * numbers[own + HEAD] + PERIOD]
            numbers[own + GIVEN] = period
            self.head(slot, period + 1)
        if numbers[own + COUNT] == 0:
            numbers[own + NEWEST] = NOTHING

    def _note(self, word: i64, slot: i64) -> None:
        """Have a partition found by its word, which has come again. Words of those that have gone are forgotten now and
        then."""
        numbers = self.numbers
        if self.words.count > SPARE + 4 * len(self.slots):
            self.words = ShortTexts()
            for other in self.slots.values():
                if numbers[other * self.width + WORD] != NO_WORD:
                    self.words.put(numbers[other * self.width + WORD], other)
        numbers[slot * self.width + WORD] = word
        self.words.put(word, slot)

    def events(self, slot: i64) -> i64:
        """How many events of its panes a partition has."""
        numbers = self.numbers
        own = slot * self.width
        if numbers[own + COUNT] == 0:
            return 0
        return numbers[own + EVENTS] - numbers[own + PANES + PANE * numbers[own + HEAD] + BEFORE]

    def count(self, slot: int) -> int:
        """How many panes a partition has."""
        return int(self.numbers[slot * self.width + COUNT])

    # --- state: as partitions of other windows of the clock are saved (cell) -----------------------------------------

    def _panes(self, slot: int) -> list[int]:
        """The places of its panes, the oldest first."""
        own = slot * self.width
        head, count, room = self.numbers[own + HEAD], self.numbers[own + COUNT], self.room
        return [int((head + number) % room) for number in range(count)]

    def _of_panes(self, slot: int, number: int) -> list[int]:
        own = slot * self.width + PANES + number
        return [int(self.numbers[own + PANE * pane]) for pane in self._panes(slot)]

    def periods(self, slot: int) -> list[int]:
        """The periods of its panes, the oldest first."""
        return self._of_panes(slot, PERIOD)

    def begin_at(self, slot: i64, place: i64) -> None:
        """Have in `period` of each pane where its first event is, if that of the first pane is at this place, and all
        others follow it there."""
        numbers = self.numbers
        own = slot * self.width + PANES
        panes = self._panes(int(slot))
        first = numbers[own + PANE * panes[0] + BEFORE]
        for pane in panes:
            at = own + PANE * pane
            numbers[at + PERIOD] = place + numbers[at + BEFORE] - first

    def move(self, slot: i64, where: Integers, base: i64) -> None:
        """Have the places of a partition's events in another log (BatchLog.sifted), also those in `period`."""
        own = slot * self.width
        numbers = self.numbers
        numbers[own + NEWEST] = where[numbers[own + NEWEST] - base]
        for pane in self._panes(int(slot)):
            at = own + PANES + PANE * pane + PERIOD
            numbers[at] = where[numbers[at] - base]

    def begun(self, slot: int) -> list[int]:
        """For each of its panes how many events it had before, and the time of the first one; the oldest first."""
        pairs = zip(self._of_panes(slot, BEFORE), self._of_panes(slot, BEGUN))
        return [number for pair in pairs for number in pair]

    def dump(self, slot: int, log: BatchLog) -> list[Any]:
        """A partition; its events are in the log."""
        numbers = self.numbers
        own = slot * self.width
        key = self.keyed[slot]
        before = self._of_panes(slot, BEFORE)
        columns = log.columns(numbers[own + NEWEST], self.events(slot), True)
        events = int(numbers[own + EVENTS])
        given = [int(numbers[own + GIVEN]), 0] if numbers[own + GIVEN] != NEVER_IN else []
        return [
            list(key) if isinstance(key, tuple) else [key],
            [events, 0, before[0] if before else 0, int(numbers[own + LAST]), int(numbers[own + UPTO]), 0, *given],
            [],
            [],
            [],
            [],
            [self.begun(slot), [], self.periods(slot)],
            [columns.items(), [list(row) for row in columns.rows]],
            self.sums.dump(slot, events, self._panes(slot)),
        ]

    def load(self, data: Any, log: BatchLog) -> i64:
        """The inverse, with its events at the end of the log; returns the partition's number."""
        key, counted, panes, kept, sums = data[0], data[1], data[6], data[7], data[8]
        begun, periods = panes[0], panes[2]
        count, logged, last, upto, head = counted[0], counted[2], counted[3], counted[4], counted[5]
        slot = self.of(self.tables.key_of(key), len(self.slots) + 1)
        own = slot * self.width
        for pane in range(head, len(periods)):
            self.numbers[own + EVENTS] = begun[2 * pane]
            self.open(slot, periods[pane], begun[2 * pane + 1])
        self.sums.load(slot, sums, head)
        numbers = self.numbers
        if head < len(periods):
            numbers[own + NEWEST] = log.restore(kept, begun[2 * head] - logged)
        if len(counted) > 6:
            numbers[own + GIVEN] = counted[6]
        numbers[own + EVENTS] = count
        numbers[own + LAST] = last
        numbers[own + UPTO] = upto
        return slot

    def check_invariants(self, log: BatchLog) -> list[list[int]]:
        """Raise AssertionError if its parts contradict each other. Returns the places of each partition's events."""
        numbers = self.numbers
        assert sorted([*self.slots.values(), *self.free]) == list(range(len(self.keyed)))
        chains: list[list[int]] = []
        for key, slot in self.slots.items():
            assert self.keyed[slot] == key
            own = slot * self.width
            word = numbers[own + WORD]
            assert word == NO_WORD or (word == word_of(key) and self.words.code(word) == slot)
            assert 0 <= numbers[own + COUNT] < self.room
            assert 0 <= numbers[own + HEAD] < self.room
            periods, before = self.periods(slot), self._of_panes(slot, BEFORE)
            assert all(one < other for one, other in itertools.pairwise(periods))
            assert all(one < other for one, other in itertools.pairwise([*before, numbers[own + EVENTS]]))
            chains.append(log.places(numbers[own + NEWEST], self.events(slot)))
            assert len(chains[-1]) == self.events(slot)
            assert all(log.base <= place < log.count for place in chains[-1])
        assert len({place for chain in chains for place in chain}) == sum(map(len, chains))
        return chains
