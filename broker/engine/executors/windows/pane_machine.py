"""Windows that the clock, the number of events or a gap decides, in a pane table of all partitions together.

Between two moments at which something begins or ends, events only add to panes: a loop finds the partition of each, and
a loop for each sum adds values to those of its partition. What is no sum is read from rows, when somebody reads it.

Here: the machine. Hot. Not here: where panes begin and windows end (boundaries), partitions and panes (pane_table),
reading (pane_matches), windows that conditions decide (machine).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import Batch, batch_of_rows
from ....events.schema import Row
from ...matches.completions import HEADER, Audience, Completions
from ...matches.sources import Item, WaitingRun
from ...program.account import Account
from ..contract import NOTHING_DUE, EventExecutor, Member, alike
from ..event_ids import EventIds
from ..event_span import EventSpan
from ..packed import Integers, integers, roomy
from .batch_log import NOTHING
from .boundaries import (
    Boundaries,
    ClockBoundaries,
    CountBoundaries,
    GapBoundaries,
    are_sessions,
    window_of_counts,
)
from .completing import page_of
from .pane_matches import EACH_NUMBERS, ROW_NUMBERS, PaneAudience
from .pane_sums import NO_PARTITION, NO_ROWS
from .pane_table import BEFORE, BEGUN, COUNT, EVENTS, LAST, NEWEST, PANE, UNKNOWN, WIDTH, PaneTable
from .tables import WindowTables
from .window_inputs import WindowInputs

UNITS: Final = 3  # of work, at most, that an event costs: with its partition's windows, and one that it completes


def keeps_panes(tables: WindowTables, counts: bool) -> bool:
    """Whether the clock, a gap or, with `counts`, the number of events decides all."""
    if tables.windows.clock is not None or are_sessions(tables):
        return True
    return counts and window_of_counts(tables)[0] > 0


@final
class PaneMachine(EventExecutor):
    """The partitions of one subscription, by the attributes of BY. `keys_max`: the most partitions."""

    def __init__(
        self, tables: WindowTables, needed: WindowInputs, account: Account, keys_max: int, starts_max: int,
        events_max: int,
    ) -> None:  # fmt: skip
        super().__init__(account, needed.all)
        self.at: i64 = 0  # the index of the next event, while a span is taken
        self.tables = tables
        self.keys_max: i64 = keys_max
        self.starts_max = starts_max
        self.events_max = events_max
        self.trims_at_once = False  # for tests
        self.entries: Integers = roomy(integers(), 1)  # of the events that are taken together (pane_sums)
        self.one: list[Row] = [()]  # an event that is taken alone
        self.one_batch = batch_of_rows(self.one)
        self.table = PaneTable(tables)
        self.rule = self._boundaries()

    def _boundaries(self) -> Boundaries:
        clock = self.tables.windows.clock
        if clock is not None:
            return ClockBoundaries(self.table, self.events_max, clock)
        size, every = window_of_counts(self.tables)
        if size > 0:
            return CountBoundaries(self.table, self.events_max, size, every)
        return GapBoundaries(self.table, self.events_max if self.starts_max > 0 else 0, int(self.tables.gap))

    @property
    def method(self) -> str:
        return self.rule.method

    def audience(self) -> Audience:
        return PaneAudience(alike(self.member), self.tables, self.rule.overlap)

    # --- events ------------------------------------------------------------------------------------------------------

    def take_span(self, span: EventSpan, found: Completions) -> None:
        end: i64 = len(span.times)
        if end > 1 and not self.tables.timed and self.account.left >= UNITS * (end - span.at):
            span.moved = True
            self.at = span.at
            self._take_several(span.times, span.batch, span.ids, end, found)
            self.table.tidy(self.trims_at_once)
            span.go_to(self.at)
        if span.at >= 0 and self.lost == 0:
            super().take_span(span, found)

    def _take_several(self, times: list[int], batch: Batch, ids: EventIds, end: i64, found: Completions) -> None:
        """Take events to below the index `end`, as `take` does, while there are units for all of them."""
        rule, account = self.rule, self.account
        log = self.table.log
        shift = log.extend(batch, ids, self.at, end) - self.at
        if len(self.entries) < end - self.at:
            self.entries = roomy(self.entries, end - self.at)
        while self.at < end and self.lost == 0:
            first = self.at
            time: i64 = times[first]
            if time > self.alarm:
                found.event = first
                self.advance(time, found)
            if account.left < UNITS * (end - first):
                break
            if not rule.turn_to(time):
                self.at = bisect_right(times, int(rule.stop), int(first), int(end))
                account.turn_over(self.at - first, 0)
                continue
            if self.table.lone:
                self.at = self._find_only(times, shift, end)
            else:
                self.at = self._find(times, batch, shift, end, found)
            if self.table.sums.kept:
                self.table.sums.add_each(self.entries, batch, first, self.at)
            found.event = self.at - 1
            self._settle(found)
        log.cut(shift + self.at)

    def _settle(self, found: Completions) -> None:
        """Tell what the newest event has completed, and which limits it has hit."""
        rule = self.rule
        self.alarm = rule.due()
        if rule.completed != NOTHING:
            self.advance(0, found)
        if rule.lost > 0:
            self.lost += rule.lost
            rule.lost = 0

    def _find_only(self, times: list[int], shift: i64, end: i64) -> i64:
        """As `_find`, where all events are of one partition."""
        table, rule, account, entries = self.table, self.rule, self.account, self.entries
        first = at = self.at
        slot = table.of((), self.keys_max)
        if slot == UNKNOWN:
            self.lost += 1
            account.turn_over(1, 0)
            entries[0] = NO_PARTITION
            return at + 1
        own = slot * WIDTH
        each: i64
        while at < end and times[at] <= rule.stop and rule.completed == NOTHING and rule.lost == 0:
            account.turn_over(1, rule.units if table.numbers[own + COUNT] > 0 else 1)
            entries[at - first] = rule.enter(slot, times[at], shift + at)
            at += 1
            room = rule.events_max - table.events(slot)
            if at == end or room <= 0 or table.numbers[own + COUNT] == 0:
                continue
            more = rule.plain(slot, times, at, min(end, at + room))
            if more > 0:
                table.note_all(slot, times[at + more - 1], shift + at + more - 1, more)
                account.turn_over(more, rule.units)
                for each in range(at - first, at - first + more):
                    entries[each] = slot
                at += more
        return at

    def _find(self, times: list[int], batch: Batch, shift: i64, end: i64, found: Completions) -> i64:
        """Find the partition of each event, up to one that completes a window or hits a limit, and count it there.
        Returns the index behind the last one."""
        table, rule, account, entries, tables = self.table, self.rule, self.account, self.entries, self.tables
        single, units = tables.single, rule.units
        columns = batch.columns
        column = columns[single] if single >= 0 and len(columns) > 0 else None
        rows = batch.rows() if column is None else NO_ROWS
        first = at = self.at
        while at < end and rule.completed == NOTHING and rule.lost == 0:
            time: i64 = times[at]
            if time > rule.stop:
                if not rule.ends:
                    return at
                found.event = at
                self.at = at
                self.advance(time, found)
                if account.left < UNITS * (end - at):
                    return at
            account.left = min(account.left + account.earned, account.most)
            key: Any = tables.partition(rows[at]) if column is None else column.value(at)
            slot: i64 = UNKNOWN if key is None else table.of(key, self.keys_max)
            if slot == UNKNOWN:
                entries[at - first] = NO_PARTITION
                at += 1
                if key is not None:
                    self.lost += 1
                    return at
                continue
            account.left -= units if table.numbers[slot * WIDTH + COUNT] > 0 else 1
            entries[at - first] = rule.enter(slot, time, shift + at)
            at += 1
        return at

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        tables, table, rule = self.tables, self.table, self.rule
        key: Any = tables.partition(row)
        if key is None or not rule.turn_to(time):
            return False
        slot = table.of(key, self.keys_max)
        if slot == UNKNOWN:
            self.lost += 1
            return False
        self.account.spend(rule.units if table.numbers[slot * WIDTH + COUNT] > 0 else 1)
        if tables.timed:
            row = (*row[: tables.width], int(time))  # rows may have more attributes by now
        self.entries[0] = rule.enter(slot, time, table.log.add(row, item))
        self.one[0] = row
        table.sums.add_each(self.entries, self.one_batch, 0, 1)
        self._settle(found)
        table.tidy(self.trims_at_once)
        return True

    # --- ends --------------------------------------------------------------------------------------------------------

    def advance(self, time: i64, found: Completions) -> None:
        rule = self.rule
        count = rule.ended(time)
        while count > 0:
            self._tell(count, found)
            count = rule.ended(time)
        self.alarm = rule.due()

    def _tell(self, count: i64, found: Completions) -> None:
        """Report windows of partitions that are over, in one row: all events since the first one in the window."""
        self.account.spend(count)
        rule, table = self.rule, self.table
        sums, panes, numbers, ending = table.sums, table.panes, table.numbers, rule.ending
        page = page_of(found)
        into = found.room(ROW_NUMBERS + EACH_NUMBERS * count)
        begin = found.upto + HEADER
        into[begin] = page.of(table.log)
        into[begin + 1] = rule.begin
        into[begin + 2] = len(page.values)
        at: i64 = begin + ROW_NUMBERS
        each: i64
        for each in range(count):
            slot = ending[each]
            pane = rule.first(slot)
            if pane != NOTHING:
                own = slot * WIDTH
                into[at] = numbers[own + NEWEST]
                into[at + 1] = numbers[own + EVENTS] - panes[PANE * pane + BEFORE]
                into[at + 2] = panes[PANE * pane + BEGUN]
                into[at + 3] = numbers[own + LAST]
                at += EACH_NUMBERS
                if sums.kept:
                    sums.settle(slot, pane, page)
            rule.leave(slot)
        if at > begin + ROW_NUMBERS:
            found.close(page, 0, 0, at - begin, (at - begin - ROW_NUMBERS) // EACH_NUMBERS)

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        self.table = PaneTable(self.tables)
        self.rule = self._boundaries()
        self.alarm = NOTHING_DUE

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        table = self.table
        for slot in [slot for slot in table.slots.values() if self.rule.idle(slot, time)]:
            table.forget(slot)
        return len(table.slots)

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        """The open starts; those of the clock are only counted."""
        return None if self.tables.windows.clock is not None else self._waiting()

    def _waiting(self) -> Iterator[WaitingRun]:
        for key, slot in self.table.slots.items():
            whole: Any = key if isinstance(key, tuple) else (key,)
            for begun in self.table.begun(slot):
                yield WaitingRun(whole, -1, begun, [])

    def statistics(self) -> dict[str, int]:
        table = self.table
        return {
            "windows": 1,
            "window_keys": len(table.slots),
            "window_starts": sum([int(table.numbers[slot * WIDTH + COUNT]) for slot in table.slots.values()]),
            "window_groups": self.rule.groups(),
            "window_events": int(table.live),
        }

    def check_invariants(self) -> None:
        self.table.check_invariants()
        self.rule.check_invariants()

    def dump(self) -> Any:
        slots = list(self.table.slots.values())
        order = {slot: number for number, slot in enumerate(slots)}
        return [[self.table.dump(slot) for slot in slots], self.rule.dump(order)]

    def load(self, data: Any) -> None:
        saved, waiting = data
        slots = [int(self.table.load(each)) for each in saved]
        self.rule.load(waiting, slots)
        self.alarm = self.rule.due()
