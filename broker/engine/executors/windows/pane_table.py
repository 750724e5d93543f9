"""The pane table: partitions and their panes as numbers, with one log of all events and sums beside them.

A partition is a row of numbers, and so is a pane; the panes of a partition are a chain, the oldest first, and so are
its events in the log. A pane of a partition begins where one of its windows does, and is dropped when none that is open
needs it. Here: these numbers. Hot. Not here: where panes begin and windows end (boundaries), sums (pane_sums), events
(batch_log).
"""

from __future__ import annotations

import itertools
from typing import Any, Final, final

from mypy_extensions import i64

from ..packed import Integers, integers, roomy
from .batch_log import NOTHING, BatchLog
from .pane_sums import PaneSums
from .tables import WindowTables

# The numbers of a partition.
UPTO: Final = 0  # of the clock: the newest window that it is in; of counts: how many events the next pane is behind
EVENTS: Final = 1  # how many it has had since it is known, of windows or not
NEWEST: Final = 2  # the place of the newest event of its panes in the log, or NOTHING
LAST: Final = 3  # the time of its newest event, or NEVER
HEAD: Final = 4  # its first pane
TAIL: Final = 5  # its last pane
COUNT: Final = 6  # how many panes it has
GIVEN: Final = 7  # the period of the newest pane that has been given up
AHEAD: Final = 8  # of sessions: the partition before it in their queue, or NOBODY
BEHIND: Final = 9  # likewise behind it
WIDTH: Final = 10
# The numbers of a pane.
PERIOD: Final = 0  # UPTO of its partition, from its first event on
BEFORE: Final = 1  # how many events the partition had before it
BEGUN: Final = 2  # the time of its first event
PLACE: Final = 3  # where the log has that
NEXT: Final = 4  # the pane behind it
PANE: Final = 5

SPARE: Final = 4_096  # events of windows that are over which may stay in the log
OVER: Final = 4  # so many for each event of an open window
UNKNOWN: Final = -1  # instead of the number of a partition, where there is none
NEVER: Final = -(1 << 62)
"""Before all windows that there can be, and all times."""


@final
class PaneTable:
    """`slots`: the number of each partition, by key, and `keyed` their inverse; `free`: those of none. `numbers`:
    of partitions, `panes`: of panes, of which the first `made` exist, and `spare` begins the chain of those that are
    used again. `live`: events of panes in the log."""

    def __init__(self, tables: WindowTables) -> None:
        self.tables = tables
        self.lone = len(tables.positions) == 0
        self.sums = PaneSums(tables)
        self.rowed = tables.rows or not self.sums.whole
        self.log = BatchLog(0, not self.lone, self.rowed)
        self.live: i64 = 0
        self.slots: dict[Any, int] = {}
        self.keyed: list[Any] = []
        self.free: list[int] = []
        self.numbers: Integers = integers()
        self.panes: Integers = integers()
        self.made: i64 = 0
        self.spare: i64 = NOTHING

    # --- partitions --------------------------------------------------------------------------------------------------

    def of(self, key: Any, most: i64) -> i64:
        """The number of a key's partition, of a new one if it has none; UNKNOWN if there are `most` others already.
        Amortised O(1)."""
        found = self.slots.get(key)
        if found is not None:
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
            if len(self.numbers) < (slot + 1) * WIDTH:
                self.numbers = roomy(self.numbers, (slot + 1) * WIDTH)
        self.slots[key] = int(slot)
        numbers = self.numbers
        own = slot * WIDTH
        numbers[own + UPTO] = NEVER
        numbers[own + EVENTS] = 0
        numbers[own + NEWEST] = NOTHING
        numbers[own + LAST] = NEVER
        numbers[own + HEAD] = NOTHING
        numbers[own + TAIL] = NOTHING
        numbers[own + COUNT] = 0
        numbers[own + GIVEN] = NEVER
        self.sums.begin(slot)
        return slot

    def forget(self, slot: i64) -> None:
        """Forget a partition, which has no panes."""
        del self.slots[self.keyed[slot]]
        self.keyed[slot] = None
        self.free.append(int(slot))

    def note(self, slot: i64, time: i64, place: i64) -> None:
        """Add an event, which the log has at this place, to the panes of a partition."""
        numbers = self.numbers
        own = slot * WIDTH
        log = self.log
        if log.linked:
            log.links[place - log.base] = numbers[own + NEWEST]
        numbers[own + NEWEST] = place
        numbers[own + EVENTS] += 1
        numbers[own + LAST] = time
        self.live += 1

    def note_all(self, slot: i64, time: i64, place: i64, count: i64) -> None:
        """Add so many events of the only partition, the last one of which has this time and place."""
        numbers = self.numbers
        own = slot * WIDTH
        numbers[own + NEWEST] = place
        numbers[own + EVENTS] += count
        numbers[own + LAST] = time
        self.live += count

    # --- panes -------------------------------------------------------------------------------------------------------

    def open(self, slot: i64, period: i64, time: i64, place: i64) -> i64:
        """Begin a pane of a partition, before its first event; returns the event's entry for sums, which begin with
        it. O(1) amortised."""
        pane = self.spare
        if pane != NOTHING:
            self.spare = self.panes[pane * PANE + NEXT]
        else:
            pane = self.made
            self.made += 1
            if len(self.panes) < self.made * PANE:
                self.panes = roomy(self.panes, self.made * PANE)
        numbers = self.numbers
        panes = self.panes
        own = slot * WIDTH
        at = pane * PANE
        panes[at + PERIOD] = period
        panes[at + BEFORE] = numbers[own + EVENTS]
        panes[at + BEGUN] = time
        panes[at + PLACE] = place
        panes[at + NEXT] = NOTHING
        if numbers[own + COUNT] == 0:
            numbers[own + HEAD] = pane
        else:
            panes[numbers[own + TAIL] * PANE + NEXT] = pane
        numbers[own + TAIL] = pane
        numbers[own + COUNT] += 1
        numbers[own + UPTO] = period
        return self.sums.open(slot, pane)

    def drop(self, slot: i64) -> None:
        """Drop the first pane of a partition."""
        numbers = self.numbers
        panes = self.panes
        own = slot * WIDTH
        pane = numbers[own + HEAD]
        behind = panes[pane * PANE + NEXT]
        end = numbers[own + EVENTS]
        numbers[own + COUNT] -= 1
        if numbers[own + COUNT] > 0:
            end = panes[behind * PANE + BEFORE]
        else:
            numbers[own + NEWEST] = NOTHING
        self.live -= end - panes[pane * PANE + BEFORE]
        numbers[own + HEAD] = behind
        panes[pane * PANE + NEXT] = self.spare
        self.spare = pane

    def give_up(self, slot: i64, events_max: i64) -> bool:
        """Give up the oldest panes of a partition, so that these have at most so many events; whether there are any.
        Amortised O(1)."""
        if self.events(slot) <= events_max:
            return False
        own = slot * WIDTH
        while self.events(slot) > events_max:
            self.numbers[own + GIVEN] = self.panes[self.numbers[own + HEAD] * PANE + PERIOD]
            self.drop(slot)
        return True

    def events(self, slot: i64) -> i64:
        """How many events the panes of a partition have."""
        numbers = self.numbers
        own = slot * WIDTH
        if numbers[own + COUNT] == 0:
            return 0
        return numbers[own + EVENTS] - self.panes[numbers[own + HEAD] * PANE + BEFORE]

    def panes_of(self, slot: int) -> list[int]:
        """The panes of a partition, the oldest first."""
        found: list[int] = []
        pane = self.numbers[slot * WIDTH + HEAD]
        for _ in range(self.numbers[slot * WIDTH + COUNT]):
            found.append(int(pane))
            pane = self.panes[pane * PANE + NEXT]
        return found

    def begun(self, slot: int) -> list[int]:
        """When each pane of a partition began, the oldest first."""
        return [int(self.panes[pane * PANE + BEGUN]) for pane in self.panes_of(slot)]

    def open_slots(self) -> list[int]:
        """The partitions with panes."""
        return [slot for slot in self.slots.values() if self.numbers[slot * WIDTH + COUNT] > 0]

    # --- the log -----------------------------------------------------------------------------------------------------

    def tidy(self, at_once: bool) -> None:
        """Have another log, if most of it is over. O(its events, and partitions); amortised O(1)."""
        old = self.log
        over = old.count - old.base - self.live
        if not at_once and (over <= SPARE or over <= OVER * self.live or over <= len(self.slots)):
            return
        waiting = self.open_slots()
        first = old.count
        for slot in waiting:
            first = min(first, self.panes[self.numbers[slot * WIDTH + HEAD] * PANE + PLACE])
        if self.lone or (2 * (old.count - first - self.live) <= over and not at_once):
            self.log = old.behind(first)
            return
        chains: list[int] = []
        for slot in waiting:
            chains += [int(self.numbers[slot * WIDTH + NEWEST]), int(self.events(slot))]
        self.log, where = old.sifted(chains)
        for slot in waiting:
            own = slot * WIDTH
            self.numbers[own + NEWEST] = where[self.numbers[own + NEWEST] - old.base]
            for pane in self.panes_of(slot):
                at = pane * PANE + PLACE
                self.panes[at] = where[self.panes[at] - old.base]

    # --- state -------------------------------------------------------------------------------------------------------

    def dump(self, slot: int) -> list[Any]:
        """A partition, with its events."""
        own = slot * WIDTH
        key = self.keyed[slot]
        panes = self.panes_of(slot)
        columns = self.log.columns(self.numbers[own + NEWEST], self.events(slot), True)
        return [
            list(key) if isinstance(key, tuple) else [key],
            [int(self.numbers[own + number]) for number in (UPTO, EVENTS, LAST, GIVEN)],
            [[int(self.panes[pane * PANE + number]) for number in (PERIOD, BEFORE, BEGUN)] for pane in panes],
            [columns.items, [list(row) for row in columns.rows]],
            self.sums.dump(slot, panes),
        ]

    def load(self, data: Any) -> i64:
        """The inverse, with its events at the end of the log; returns the partition's number."""
        key, counted, panes, kept, sums = data
        slot = self.of(self.tables.key_of(key), len(self.slots) + 1)
        own = slot * WIDTH
        place = self.log.count
        newest = self.log.restore(kept)
        for period, before, time in panes:
            self.numbers[own + EVENTS] = before
            self.open(slot, period, time, place + before - panes[0][1])
        numbers = self.numbers
        numbers[own + NEWEST] = newest
        for number, value in zip((UPTO, EVENTS, LAST, GIVEN), counted):
            numbers[own + number] = value
        self.live += self.events(slot)
        self.sums.load(slot, self.panes_of(int(slot)), sums)
        return slot

    def check_invariants(self) -> None:
        """Raise AssertionError if its parts contradict each other."""
        numbers, panes, log = self.numbers, self.panes, self.log
        assert sorted([*self.slots.values(), *self.free]) == list(range(len(self.keyed)))
        used: list[int] = []
        places: list[int] = []
        for key, slot in self.slots.items():
            assert self.keyed[slot] == key
            own = slot * WIDTH
            chain = self.panes_of(slot)
            used += chain
            assert not chain or chain[-1] == numbers[own + TAIL]
            assert not chain or panes[chain[-1] * PANE + PERIOD] == numbers[own + UPTO]
            before = [int(panes[pane * PANE + BEFORE]) for pane in chain]
            assert all(one < other for one, other in itertools.pairwise([*before, numbers[own + EVENTS]]))
            assert (numbers[own + NEWEST] == NOTHING) == (not chain)
            events = log.places(numbers[own + NEWEST], self.events(slot)) if chain else []
            assert [events[at - before[0]] for at in before] == [panes[pane * PANE + PLACE] for pane in chain]
            assert len(events) == self.events(slot)
            assert all(log.base <= place < log.count for place in events)
            places += events
        assert len(set(places)) == len(places) == self.live
        pane = self.spare
        while pane != NOTHING:
            used.append(int(pane))
            pane = panes[pane * PANE + NEXT]
        assert sorted(used) == list(range(int(self.made)))
