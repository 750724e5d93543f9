"""Windows of the clock of which sums are enough, as numbers of all partitions together.

Between two moments at which windows begin or end, events only add to sums: a loop finds the partition of each, and a
loop for each sum adds values to those of its partition. Everything else is as in other windows of the clock: panes by
period, windows that end when time has passed them, in a ring of the partitions with events in them.

Here: that machine. Hot. Not here: partitions (packed_panes), aggregates that need more than sums or rows (clock),
reading (packed_matches).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import Batch, batch_of_rows
from ....events.schema import Row
from ...program.account import Account
from ..completions import HEADER, Audience, Completions
from ..contract import NOTHING_DUE, Executor
from ..event_ids import EventIds
from ..event_span import EventSpan
from ..matches import Item
from ..packed import Integers, integers, roomy
from .batch_keys import UNKNOWN, BatchKeys
from .batch_log import BatchLog
from .clock_ring import ClockRing, EnteredWindow
from .packed_matches import EACH_NUMBERS, ROW_NUMBERS, PackedAudience, PackedPage, page_of
from .packed_panes import (
    BEFORE,
    BEGUN,
    COUNT,
    EVENTS,
    GIVEN,
    HEAD,
    LAST,
    NEWEST,
    PANE,
    PANES,
    PERIOD,
    UPTO,
    PackedPanes,
)
from .packed_sums import NO_PARTITION, are_sums, opened
from .tables import WindowTables
from .window_inputs import WindowInputs

PANES_MAX: Final = 64  # of a partition, up to which its ring is no waste
SPARE: Final = 4_096  # events of windows that are over which may stay in the log


def keeps_packed_clock(tables: WindowTables) -> bool:
    """Whether the windows are those of a clock of few panes, and all that measures say of them is sums."""
    clock = tables.windows.clock
    if clock is None or tables.timed or clock.size // clock.slide + 2 > PANES_MAX:
        return False
    return are_sums(tables)


@final
class PackedClockMachine(Executor):
    """The partitions of one subscription, the log of their events, and the ring of open windows."""

    def __init__(
        self, tables: WindowTables, needed: WindowInputs, account: Account, keys_max: int, events_max: int
    ) -> None:
        super().__init__(account, needed.all)
        clock = tables.windows.clock
        assert clock is not None
        self.tables = tables
        self.keys_max: i64 = keys_max
        self.events_max: i64 = events_max
        self.clock = clock
        self.lone = len(tables.positions) == 0
        self.trims_at_once = False  # for tests
        self.page: PackedPage | None = None  # of the batch that had the last windows
        self.entries: Integers = integers()  # of the events that are taken together (packed_sums)
        self.batch_keys = BatchKeys(tables)
        self.one: list[Row] = [()]  # an event that is taken alone
        self.one_batch = batch_of_rows(self.one)
        self.ring = ClockRing(clock)
        self.panes = PackedPanes(tables, int(self.ring.room))
        self.log = BatchLog(0, not self.lone, tables.rows)

    @property
    def method(self) -> str:
        return "panes by the period of the clock, as numbers; windows told when time has passed their end"

    def audience(self) -> Audience:
        overlap = self.clock.size > self.clock.slide
        return PackedAudience([] if self.member is None else [self.member.target], self.tables, overlap)

    # --- events ------------------------------------------------------------------------------------------------------

    def take_span(self, span: EventSpan, found: Completions) -> None:
        times, ring = span.times, self.ring
        n: i64 = len(times)
        while span.at >= 0:
            at = span.at
            time: i64 = times[at]
            if time > self.alarm:
                found.event = at
                self.advance(time, found)
            ring.turn_to(time)
            end = n
            newest: i64 = times[n - 1]
            if newest >= ring.turn:
                end = bisect_left(times, int(ring.turn), int(at), int(n))
            if ring.earliest > ring.latest:  # between two windows
                self.account.turn_over(end - at, 0)
                span.go_to(end)
            elif self.account.left < end - at:
                self.take_rows(span, end, found)
            else:
                span.moved = True
                end = self._take_several(times, span.batch, span.ids, at, end)
                span.go_to(end)
                found.event = end - 1
            if self.lost > 0:
                return

    def _take_several(self, times: list[int], batch: Batch, ids: EventIds, first: i64, end: i64) -> i64:
        """Take events of the same windows; returns the index behind the last one."""
        log = self.log
        shift = log.extend(batch, ids, first, end) - first
        if len(self.entries) < end - first:
            self.entries = roomy(self.entries, end - first)
        if self.lone:
            upto = self._find_only(times, shift, first, end)
        else:
            upto = self._find_partitions(times, batch, shift, first, end)
        self.panes.sums.add_each(self.entries, batch, first, upto)
        return upto

    def _find_only(self, times: list[int], shift: i64, first: i64, end: i64) -> i64:
        """Count the events in the only partition."""
        panes = self.panes
        entries = self.entries
        slot = panes.of((), self.keys_max)
        if slot == UNKNOWN:
            entries[0] = NO_PARTITION
            return self._stopped(shift, first, first)
        own = slot * panes.width
        given = panes.numbers[own + GIVEN] >= self.ring.latest
        at: i64
        for at in range(end - first):
            entries[at] = NO_PARTITION if given else slot
        if given:
            self.account.turn_over(end - first, 1)
            return end
        if panes.numbers[own + UPTO] < self.ring.latest:
            entries[0] = self._enter(slot, times[first], shift + first)
        numbers = panes.numbers
        room = max(self.events_max - panes.events(slot), 0)
        stopped = room < end - first
        end = min(end, first + room + 1)
        numbers[own + EVENTS] += end - first
        numbers[own + NEWEST] = shift + end - 1
        numbers[own + LAST] = times[end - 1]
        if stopped:
            panes.give_up(slot, self.events_max)
            return self._stopped(shift, first, end - 1)
        self.account.turn_over(end - first, 1)
        return end

    def _find_partitions(self, times: list[int], batch: Batch, shift: i64, first: i64, end: i64) -> i64:
        """Find the partition of each event, and count it there."""
        log = self.log
        links = log.links
        base = log.base
        entries = self.entries
        panes = self.panes
        width = panes.width
        latest = self.ring.latest
        events_max = self.events_max
        account = self.account
        keys = self.batch_keys
        keys.read(batch)
        coded = keys.coded
        rows = keys.rows
        rowed = len(rows) > 0
        single = keys.single
        since = first  # the events from here on have not been paid for
        at: i64
        for at in range(first, end):
            slot: i64 = UNKNOWN
            if coded:
                slot = keys.slot(at, panes.freed)
            if slot == UNKNOWN:
                key: Any = rows[at][single] if rowed else keys.key(at)
                if key is None:
                    account.turn_over(at - since, 1)
                    account.turn_over(1, 0)
                    since = at + 1
                    entries[at - first] = NO_PARTITION
                    continue
                slot = panes.of(key, self.keys_max)
                if slot == UNKNOWN:
                    entries[at - first] = NO_PARTITION
                    return self._stopped(shift, since, at)
                if coded:
                    keys.found(at, panes.freed, slot)
            own = slot * width
            numbers = panes.numbers
            if numbers[own + UPTO] < latest:
                entries[at - first] = self._enter(slot, times[at], shift + at)
            elif numbers[own + GIVEN] < latest:
                entries[at - first] = slot
            else:
                entries[at - first] = NO_PARTITION  # all windows that it is in have been given up
                continue
            links[shift + at - base] = numbers[own + NEWEST]
            numbers[own + NEWEST] = shift + at
            events = numbers[own + EVENTS] + 1
            numbers[own + EVENTS] = events
            numbers[own + LAST] = times[at]
            if events > events_max and panes.events(slot) > events_max:
                panes.give_up(slot, events_max)
                return self._stopped(shift, since, at)
        account.turn_over(end - since, 1)
        return end

    def _stopped(self, shift: i64, since: i64, at: i64) -> i64:
        """Note that a limit was hit at an event, behind which none of the batch is taken yet; returns its next."""
        self.lost += 1
        self.account.turn_over(at + 1 - since, 1)
        self.log.cut(shift + at + 1)
        return at + 1

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        key: Any = self.tables.partition(row)
        if key is None:
            return False
        self.ring.turn_to(time)
        latest = self.ring.latest
        if self.ring.earliest > latest:
            return False  # between two windows
        self.account.spend(1)
        panes = self.panes
        slot = panes.of(key, self.keys_max)
        if slot == UNKNOWN:
            self.lost += 1
            return False
        own = slot * panes.width
        if len(self.entries) == 0:
            self.entries = roomy(self.entries, 1)
        self.entries[0] = slot
        if panes.numbers[own + UPTO] < latest:
            self.entries[0] = self._enter(slot, time, self.log.count)
        numbers = panes.numbers
        if numbers[own + GIVEN] >= latest:
            return False  # all windows that it is in have been given up
        numbers[own + NEWEST] = self.log.add(row, item, numbers[own + NEWEST])
        numbers[own + EVENTS] += 1
        numbers[own + LAST] = time
        self.one[0] = row
        panes.sums.add_each(self.entries, self.one_batch, 0, 1)
        if panes.events(slot) > self.events_max:
            self.lost += 1
            panes.give_up(slot, self.events_max)
        return True

    def _enter(self, slot: i64, time: i64, place: i64) -> i64:
        """Begin a pane in a new period, and enter the windows that it is the first of its partition in. Returns the
        event's entry for sums."""
        panes = self.panes
        ring = self.ring
        upto = panes.numbers[slot * panes.width + UPTO]
        pane = panes.open(slot, ring.latest, time)
        if ring.enter(slot, upto, place):
            self.alarm = min(self.alarm, ring.due())
        return opened(slot, pane, panes.room)

    # --- ends --------------------------------------------------------------------------------------------------------

    def advance(self, time: i64, found: Completions) -> None:
        ring = self.ring
        number = ring.oldest
        while number <= ring.newest:
            entered = ring.at(number)
            if entered.count > 0:
                begin = ring.begin(number)
                if begin + ring.size > time:
                    break
                self._tell(entered, number, begin, found)
                entered.count = 0
            number += 1
        ring.closed(number)
        self.alarm = ring.due()
        self._trim()

    def _tell(self, entered: EnteredWindow, number: i64, begin: i64, found: Completions) -> None:
        """Report the window of each partition, in one row: all its events since the first one in the window."""
        count = told = entered.count
        self.account.spend(count)
        page = self.page = page_of(self.page, self.log, found)
        into = found.room(ROW_NUMBERS + EACH_NUMBERS * count)
        at = page.begin_row(into, found.upto + HEADER, begin)
        panes = self.panes
        sums = panes.sums
        numbers = panes.numbers
        entries = entered.slots
        page.reserve(count * sums.float_count)
        each: i64
        for each in range(count):
            slot = entries[each]
            own = slot * panes.width
            if numbers[own + GIVEN] >= number:
                told -= 1
                if numbers[own + UPTO] == number:
                    panes.leave(slot, number + 1)
                continue
            pane = numbers[own + HEAD]
            if numbers[own + PANES + PANE * pane + PERIOD] < number:
                pane = panes.head(slot, number)
            place = own + PANES + PANE * pane
            into[at] = numbers[own + NEWEST]
            into[at + 1] = numbers[own + EVENTS] - numbers[place + BEFORE]
            into[at + 2] = numbers[place + BEGUN]
            into[at + 3] = numbers[own + LAST]
            at += EACH_NUMBERS
            sums.settle(slot, pane, page)
            if numbers[place + PERIOD] == number:
                panes.leave(slot, number + 1)
        if told > 0:
            found.close(page, 0, 0, ROW_NUMBERS + EACH_NUMBERS * told, told)

    def _trim(self) -> None:
        """Have a log without the events of windows that are over. O(events of the others); amortised O(1)."""
        log = self.log
        first = self.ring.first(log.count)
        over = first - log.base
        if over > 0 and (self.trims_at_once or (over > SPARE and 2 * over > log.count - log.base)):
            self.log = log.behind(first)

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        self.ring = ClockRing(self.clock)
        self.panes = PackedPanes(self.tables, int(self.ring.room))
        self.log = BatchLog(0, not self.lone, self.tables.rows)
        self.batch_keys.close()
        self.alarm = NOTHING_DUE

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        return len(self.panes.slots)

    def statistics(self) -> dict[str, int]:
        panes = self.panes
        slots = list(panes.slots.values())
        return {
            "windows": 1,
            "window_keys": len(slots),
            "window_starts": sum([panes.count(slot) for slot in slots]),
            "window_groups": sum([entered.count > 0 for entered in self.ring.windows]),
            "window_events": sum([int(panes.events(slot)) for slot in slots]),
        }

    def check_invariants(self) -> None:
        panes = self.panes
        panes.check_invariants(self.log)
        for slot in panes.slots.values():
            own = slot * panes.width
            newest = panes.numbers[own + HEAD] + panes.numbers[own + COUNT] - 1
            if panes.numbers[own + COUNT] > 0:
                assert panes.numbers[own + PANES + PANE * (newest % panes.room) + PERIOD] == panes.numbers[own + UPTO]
            else:
                assert panes.numbers[own + GIVEN] == panes.numbers[own + UPTO]
        for number, slots in self.ring.opened():
            assert all(panes.numbers[slot * panes.width + UPTO] >= number for slot in slots)
            assert set(slots) <= set(panes.slots.values())
        entered = sum(int(entered.count) for entered in self.ring.windows)
        assert entered == sum(len(slots) for _, slots in self.ring.opened())

    def dump(self) -> Any:
        order = {slot: number for number, slot in enumerate(self.panes.slots.values())}
        ring = [[number, [order[slot] for slot in slots]] for number, slots in self.ring.opened()]
        return [[self.panes.dump(slot, self.log) for slot in self.panes.slots.values()], ring]

    def load(self, data: Any) -> None:
        saved, opened = data
        slots = [int(self.panes.load(each, self.log)) for each in saved]
        self.ring.load([(number, [slots[at] for at in inside]) for number, inside in opened], self.log.base)
        self.alarm = self.ring.due()
