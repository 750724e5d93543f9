"""Windows that only the number of events decides, of which sums are enough, as numbers of all partitions together.

Every so many events of a partition begin a pane, and a window ends with a number of events behind its beginning. So
nothing but a partition's events moves it: a loop finds the partition of each event, up to one that completes a window,
and a loop for each sum adds values to those of its partition.

Here: that machine. Hot. Not here: partitions (packed_panes), reading (packed_matches), windows that conditions decide
(machine).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import batch_of_rows
from ....events.schema import Row
from ...program.account import Account
from ..completions import HEADER, Audience, Completions
from ..contract import Executor, Member
from ..event_span import EventSpan
from ..matches import Item, WaitingRun
from ..packed import Integers, integers, roomy
from .batch_keys import UNKNOWN, BatchKeys
from .batch_log import NOTHING, BatchLog
from .packed_matches import EACH_NUMBERS, ROW_NUMBERS, PackedAudience, PackedPage, page_of
from .packed_panes import (
    BEFORE,
    BEGUN,
    COUNT,
    EVENTS,
    HEAD,
    LAST,
    NEVER_IN,
    NEWEST,
    PANE,
    PANES,
    PERIOD,
    UPTO,
    PackedPanes,
)
from .packed_sums import NO_PARTITION, are_sums, opened
from .pane_groups import NONE_YET
from .tables import UNBOUNDED, WindowTables
from .window_inputs import WindowInputs

PANES_MAX: Final = 64  # of a partition, up to which its ring is no waste
SPARE: Final = 4_096  # events of windows that are over which may stay in the log
OVER: Final = 4  # so many for each event of an open window
UNITS: Final = 3  # of work, at most, that an event costs: with its partition's windows, and one that it completes


def window_of_counts(tables: WindowTables) -> tuple[int, int]:
    """How many events windows have, and behind how many the next one begins; (0, 0) if something else decides. O(1)
    a state of the prefix."""
    if tables.parts != 1 or tables.columns != 1 or tables.plain_bits > 0 or len(tables.gaps) > 0:
        return 0, 0
    size, first = int(tables.least[0]), tables.first[tables.initial[0]]
    if tables.waits or tables.timed or tables.most[0] != size or tables.within[0] != UNBOUNDED or first < 0:
        return 0, 0
    if tables.body[first] != first or tables.final[first] == 0 or tables.terminal[first] != 0:
        return 0, 0
    every, state = 1, tables.prefix[tables.initial[0]]
    while state != tables.initial[0]:
        if tables.first[state] >= 0 or every > len(tables.prefix):
            return 0, 0
        every += 1
        state = tables.prefix[state]
    return size, every


def keeps_packed_count(tables: WindowTables, starts_max: int, events_max: int) -> bool:
    """Whether the windows of partitions are of few panes, far below all limits, and all that measures say is sums."""
    size, every = window_of_counts(tables)
    small = size // max(every, 1) + 2 <= PANES_MAX and 4 * size + SPARE < min(starts_max, events_max)
    return size > 0 and small and len(tables.positions) > 0 and are_sums(tables)


@final
class PackedCountMachine(Executor):
    """The partitions of one subscription, and the log of their events.

    A window has `size` events, and another one begins behind `every` events of a partition; UPTO of its numbers is how
    many it has had when the next one begins, and PERIOD of a pane the place of its first event. The first pane stays
    until the event behind the end of its window. `live`: events of open windows in the log. `completed`: the partition
    of which the newest event completes a window, or -1.
    """

    def __init__(
        self, tables: WindowTables, needed: WindowInputs, account: Account, keys_max: int
    ) -> None:
        super().__init__(account, needed.all)
        self.tables = tables
        self.keys_max: i64 = keys_max
        size, every = window_of_counts(tables)
        self.size: i64 = size
        self.every: i64 = every
        self.room: int = size // every + 2
        self.body: int = int(tables.first[tables.initial[0]])  # the state of all windows
        self.states = [int(tables.initial[0])]  # of the prefix, by how many events there were
        while len(self.states) < every:
            self.states.append(int(tables.prefix[self.states[-1]]))
        self.trims_at_once = False  # for tests
        self.completed: i64 = NOTHING
        self.live: i64 = 0
        self.page: PackedPage | None = None  # of the batch that had the last windows
        self.entries: Integers = roomy(integers(), 1)  # of the events that are taken together (packed_sums)
        self.batch_keys = BatchKeys(tables)
        self.one: list[Row] = [()]  # an event that is taken alone
        self.one_batch = batch_of_rows(self.one)
        self.panes = PackedPanes(tables, self.room)
        self.log = BatchLog(0, True, tables.rows)

    @property
    def method(self) -> str:
        return "panes by the number of events, as numbers; windows told as they end"

    def audience(self) -> Audience:
        return PackedAudience([] if self.member is None else [self.member.target], self.tables, self.size > self.every)

    # --- events ------------------------------------------------------------------------------------------------------

    def take_span(self, span: EventSpan, found: Completions) -> None:
        times, batch, at = span.times, span.batch, span.at
        end: i64 = len(times)
        if self.account.left < UNITS * (end - at):
            self.take_rows(span, end, found)
            return
        span.moved = True
        self.batch_keys.read(batch)
        log = self.log
        shift = log.extend(batch, span.ids, at, end) - at
        if len(self.entries) < end - at:
            self.entries = roomy(self.entries, end - at)
        while at < end and self.lost == 0:
            first = at
            self.completed = NOTHING
            at = self._find(times, shift, first, end)
            self.panes.sums.add_each(self.entries, batch, first, at)
            found.event = at - 1
            if self.completed >= 0:
                self._tell(self.completed, found)
        span.go_to(at)
        log.cut(shift + at)
        self._tidy()

    def _find(self, times: list[int], shift: i64, first: i64, end: i64) -> i64:
        """Find the partition of each event, up to one that completes a window or hits a limit, and count it there.
        Returns the index behind the last one."""
        links, base = self.log.links, self.log.base
        entries, panes, account, keys = self.entries, self.panes, self.account, self.batch_keys
        coded, single = keys.coded, keys.single
        rows = keys.rows
        rowed = len(rows) > 0
        at = first
        while at < end and self.completed < 0:
            slot: i64 = UNKNOWN
            account.left = min(account.left + account.earned, account.most)
            if coded:
                slot = keys.slot(at, panes.freed)
            if slot == UNKNOWN:
                key: Any = rows[at][single] if rowed else keys.key(at)
                if key is not None:
                    slot = self._slot(key)
                if slot == UNKNOWN:
                    entries[at - first] = NO_PARTITION
                    at += 1
                    if self.lost > 0:
                        return at
                    continue
                if coded:
                    keys.found(at, panes.freed, slot)
            place = shift + at
            links[place - base] = panes.numbers[slot * panes.width + NEWEST]
            entries[at - first] = self._count(slot, times[at], place)
            at += 1
        return at

    def _slot(self, key: Any) -> i64:
        """The number of a partition; UNKNOWN if there are too many others."""
        panes = self.panes
        slot = panes.of(key, self.keys_max)
        if slot == UNKNOWN:
            self.lost += 1
        elif panes.numbers[slot * panes.width + UPTO] == NEVER_IN:
            panes.numbers[slot * panes.width + UPTO] = 0
        return slot

    def _count(self, slot: i64, time: i64, place: i64) -> i64:
        """Count an event, with this place in the log, in its partition; `completed` says whether a window ends with it.
        Returns its entry for sums."""
        panes = self.panes
        numbers = panes.numbers
        own = slot * panes.width
        events = numbers[own + EVENTS]
        count = numbers[own + COUNT]
        entry = slot
        self.account.left -= 1
        if count > 0:
            self.account.left -= 1
            if events - self._before(own) >= self.size:
                self._drop(own)
        if events == numbers[own + UPTO]:
            pane = panes.open(slot, events + self.every, time)
            numbers[own + PANES + PANE * pane + PERIOD] = place
            entry = opened(slot, pane, panes.room)
        events += 1
        numbers[own + EVENTS] = events
        numbers[own + LAST] = time
        if numbers[own + COUNT] > 0:
            self.live += 1
            numbers[own + NEWEST] = place
            if events - self._before(own) == self.size:
                self.completed = slot
        return entry

    def _before(self, own: i64) -> i64:
        """How many events a partition had before its first pane."""
        numbers = self.panes.numbers
        return numbers[own + PANES + PANE * numbers[own + HEAD] + BEFORE]

    def _drop(self, own: i64) -> None:
        """Forget the first pane of a partition, whose window is over."""
        numbers = self.panes.numbers
        before = self._before(own)
        numbers[own + COUNT] -= 1
        numbers[own + HEAD] += 1
        if numbers[own + HEAD] == self.room:
            numbers[own + HEAD] = 0
        if numbers[own + COUNT] > 0:
            self.live -= self._before(own) - before
        else:
            self.live -= numbers[own + EVENTS] - before
            numbers[own + NEWEST] = NOTHING  # another log may have no place for it

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        key: Any = self.tables.partition(row)
        if key is None:
            return False
        slot = self._slot(key)
        if slot == UNKNOWN:
            return False
        panes = self.panes
        self.completed = NOTHING
        entry = self._count(slot, time, self.log.add(row, item, panes.numbers[slot * panes.width + NEWEST]))
        self.account.spend(0)
        self.entries[0] = entry
        self.one[0] = row
        panes.sums.add_each(self.entries, self.one_batch, 0, 1)
        if self.completed >= 0:
            self._tell(slot, found)
        self._tidy()
        return True

    def _tell(self, slot: i64, found: Completions) -> None:
        """Report the window of a partition that its newest event completes."""
        self.account.spend(1)
        page = self.page = page_of(self.page, self.log, found)
        into = found.room(ROW_NUMBERS + EACH_NUMBERS)
        at = page.begin_row(into, found.upto + HEADER, 0)
        panes = self.panes
        own = slot * panes.width
        pane = panes.numbers[own + HEAD]
        into[at] = panes.numbers[own + NEWEST]
        into[at + 1] = self.size
        into[at + 2] = panes.numbers[own + PANES + PANE * pane + BEGUN]
        into[at + 3] = panes.numbers[own + LAST]
        panes.sums.settle(slot, pane, page)
        found.close(page, 0, 0, ROW_NUMBERS + EACH_NUMBERS, 1)

    def _tidy(self) -> None:
        """Have another log, if most of it is over. O(its events, and partitions); amortised O(1)."""
        panes = self.panes
        over = self.log.count - self.log.base - self.live
        if not self.trims_at_once and (over <= SPARE or over <= OVER * self.live or over <= len(panes.slots)):
            return
        old = self.log
        first = old.count
        waiting = [slot for slot in panes.slots.values() if panes.count(slot) > 0]
        for slot in waiting:
            own = slot * panes.width
            first = min(first, panes.numbers[own + PANES + PANE * panes.numbers[own + HEAD] + PERIOD])
        if 2 * (old.count - first - self.live) <= over and not self.trims_at_once:
            self.log = old.behind(first)
            return
        chains: list[int] = []
        for slot in waiting:
            chains += [int(panes.numbers[slot * panes.width + NEWEST]), int(panes.events(slot))]
        self.log, where = old.sifted(chains)
        for slot in waiting:
            panes.move(slot, where, old.base)

    # --- state: partitions are saved as those of other windows are (cell), and either machine goes on ----------------

    def clear(self) -> None:
        self.panes = PackedPanes(self.tables, self.room)
        self.log = BatchLog(0, True, self.tables.rows)
        self.batch_keys.close()
        self.live = 0

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        panes = self.panes
        for slot in list(panes.slots.values()):
            own = slot * panes.width
            if panes.numbers[own + COUNT] == 0 and panes.numbers[own + EVENTS] % self.every == 0:
                panes.leave(slot, 0)
        return len(panes.slots)

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        """The open starts."""
        return self._waiting()

    def _waiting(self) -> Iterator[WaitingRun]:
        for key, slot in self.panes.slots.items():
            whole: Any = key if isinstance(key, tuple) else (key,)
            for begun in self.panes.begun(slot)[1::2]:
                yield WaitingRun(whole, -1, begun, [])

    def statistics(self) -> dict[str, int]:
        panes = self.panes
        counts = [panes.count(slot) for slot in panes.slots.values()]
        return {
            "windows": 1,
            "window_keys": len(counts),
            "window_starts": sum(counts),
            "window_groups": sum([count > 0 for count in counts]),
            "window_events": int(self.live),
        }

    def check_invariants(self) -> None:
        panes = self.panes
        chains = panes.check_invariants(self.log)
        assert sum(map(len, chains)) == self.live <= self.log.count
        for slot in panes.slots.values():
            own = slot * panes.width
            events, before = panes.numbers[own + EVENTS], panes.begun(slot)[::2]
            assert before == [at for at in range(0, int(events), int(self.every)) if events - at <= self.size]
            if before:
                places = self.log.places(panes.numbers[own + NEWEST], panes.events(slot))
                assert panes.periods(slot) == [places[at - before[0]] for at in before]
            assert panes.numbers[own + UPTO] == -(-events // self.every) * self.every

    def dump(self) -> Any:
        return [[self._dump(slot) for slot in self.panes.slots.values()], []]

    def _dump(self, slot: int) -> list[Any]:
        saved = self.panes.dump(slot, self.log)
        events, panes = saved[1][0], len(saved[6][2])
        saved[1][4] = 0
        saved[2] = [self.states[events % self.every], 0, 0]
        saved[5] = [[self.body, [0, panes - 1], NONE_YET, 0]] if panes > 0 else []
        saved[6][2] = []
        return saved

    def load(self, data: Any) -> None:
        panes = self.panes
        for key, counted, _, _, _, groups, begun, log, sums in data[0]:
            slot = panes.of(self.tables.key_of(key), len(panes.slots) + 1)
            own = slot * panes.width
            count, base, logged = counted[:3]
            first = groups[0][1][0] - base if groups else len(begun[0]) // 2
            for pane in range(first, len(begun[0]) // 2):
                before, time = begun[0][2 * pane : 2 * pane + 2]
                panes.numbers[own + EVENTS] = before
                panes.open(slot, before + self.every, time)
            panes.sums.load(slot, sums, first)
            if groups:
                place = self.log.count
                panes.numbers[own + NEWEST] = self.log.restore(log, begun[0][2 * first] - logged)
                panes.begin_at(slot, place)
            numbers = panes.numbers
            numbers[own + EVENTS] = count
            numbers[own + UPTO] = -(-count // self.every) * self.every
            numbers[own + LAST] = counted[3]
            self.live += panes.events(slot)
