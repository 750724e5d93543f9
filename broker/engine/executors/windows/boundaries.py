"""Where the panes of the pane table begin, and which windows are over: by the clock, by counting events, by a gap.

A rule is asked at each event of a partition, whether it begins a pane or completes a window, and which windows time has
ended. Here: the three rules. Hot. Not here: panes (pane_table), finding partitions, telling windows (pane_machine).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, ClassVar, Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.window_aggregates import ClockGrid
from ....events.instant import FOREVER
from ..contract import NOTHING_DUE
from ..packed import Integers, integers, put_integer
from .batch_log import NOTHING
from .pane_sums import NO_PARTITION
from .pane_table import (
    AHEAD,
    BEFORE,
    BEHIND,
    COUNT,
    EVENTS,
    GIVEN,
    HEAD,
    LAST,
    NEVER,
    PANE,
    PERIOD,
    TAIL,
    UPTO,
    WIDTH,
    PaneTable,
)
from .tables import UNBOUNDED, WindowTables

NOBODY: Final = -1


class Boundaries:
    """A rule. `stop`: the last moment of the events that may be taken together; `units`: of work, that an event costs
    whose partition has panes; `completed`: the partition of which the newest event completes a window, or NOTHING;
    `lost`: how often a limit was hit since this was last asked; `overlap`: an event may be in several windows; `ends`:
    time ends windows among events that are taken together, as no sums are kept.

    What `ended` found: `ending`, the partitions of the windows, and `begin`, when those of the clock began.
    """

    method: ClassVar[str] = ""

    def __init__(self, table: PaneTable, events_max: int) -> None:
        self.table = table
        self.events_max: i64 = events_max
        self.stop: i64 = FOREVER
        self.units: i64 = 2
        self.completed: i64 = NOTHING
        self.lost: i64 = 0
        self.overlap = False
        self.ends = False
        self.ending: Integers = integers()
        self.begin: i64 = 0

    def turn_to(self, time: i64) -> bool:
        """Time has come to this moment. Whether an event may be in a window, of those up to `stop`. O(1)."""
        return True

    def enter(self, slot: i64, time: i64, place: i64) -> i64:
        """Take an event of a partition, which is in the log; returns its entry for sums. Amortised O(1)."""
        raise AssertionError

    def plain(self, slot: i64, times: list[int], at: i64, end: i64) -> i64:
        """How many of the events from the index `at` to below `end` do nothing but add to panes, if all are of the only
        partition, and no limit is hit; it takes them."""
        raise AssertionError

    def due(self) -> i64:
        """The last moment before something ends; NOTHING_DUE if nothing is open."""
        return NOTHING_DUE

    def ended(self, time: i64) -> i64:
        """How many windows are over at this time, which are told together, before this is asked again; 0 if none is."""
        raise AssertionError

    def first(self, slot: i64) -> i64:
        """The first pane of a partition's window that is over; NOTHING if that has been given up."""
        return self.table.numbers[slot * WIDTH + HEAD]

    def leave(self, slot: i64) -> None:
        """The window of a partition that was over has been told."""

    def limit(self, slot: i64) -> None:
        """Give up panes of a partition that has too many events."""
        if self.table.give_up(slot, self.events_max):
            self.lost += 1

    def idle(self, slot: i64, time: i64) -> bool:
        """Whether a partition is, from this time on, as if it had had no event."""
        return False

    def groups(self) -> int:
        """How many kinds of windows are open, for statistics."""
        return len(self.table.open_slots())

    def dump(self, order: dict[int, int]) -> list[Any]:
        """What it knows beside the table; `order`: the number of each partition in what is saved."""
        return []

    def load(self, saved: Any, slots: list[int]) -> None:
        """The inverse; `slots`: the new number of each partition."""

    def check_invariants(self) -> None:
        """Raise AssertionError if it contradicts the table."""


@final
@mypyc_attr(acyclic=True)
class EnteredWindow:
    """The partitions with events in a window, in the order of their first ones."""

    def __init__(self) -> None:
        self.slots: Integers = integers()
        self.count: i64 = 0

    def add(self, slot: i64) -> None:
        """Add a partition. O(1) amortised."""
        self.slots = put_integer(self.slots, self.count, slot)
        self.count += 1


@final
class ClockBoundaries(Boundaries):
    """Windows are [k * slide + offset, k * slide + offset + size), panes begin in each period of `slide`.

    `windows`: by the number of an open window modulo their count, `room`, what is in it: no more can be open than hold
    one moment. All open ones are from `oldest` to `newest`. From `since` to `stop`, a moment is in the windows from
    `earliest` to `latest`. `number`: of the windows that are over.
    """

    method: ClassVar[str] = "panes by the period of the clock, as numbers; windows told when time has passed their end"

    def __init__(self, table: PaneTable, events_max: int, clock: ClockGrid) -> None:
        super().__init__(table, events_max)
        self.units = 1
        self.overlap = clock.size > clock.slide
        self.size: i64 = clock.size
        self.slide: i64 = clock.slide
        self.offset: i64 = clock.offset
        self.room: i64 = clock.size // clock.slide + 2
        self.windows: list[EnteredWindow] = [EnteredWindow() for _ in range(int(self.room))]
        self.oldest: i64 = 0
        self.newest: i64 = NEVER
        self.since: i64 = 0
        self.stop = -1
        self.earliest: i64 = 0
        self.latest: i64 = 0
        self.number: i64 = 0

    def turn_to(self, time: i64) -> bool:
        if not self.since <= time <= self.stop:
            since = time - self.offset
            self.latest = since // self.slide
            self.earliest = (since - self.size) // self.slide + 1
            self.since = time
            turn = min((self.latest + 1) * self.slide, self.earliest * self.slide + self.size)
            self.stop = turn + self.offset - 1
        return self.earliest <= self.latest

    def enter(self, slot: i64, time: i64, place: i64) -> i64:
        table = self.table
        own = slot * WIDTH
        entry = slot
        upto = table.numbers[own + UPTO]
        if upto < self.latest:
            entry = table.open(slot, self.latest, time, place)
            self._enter_windows(slot, max(self.earliest, upto + 1))
        elif table.numbers[own + GIVEN] >= self.latest:
            return NO_PARTITION  # all windows that it is in have been given up
        table.note(slot, time, place)
        if table.numbers[own + EVENTS] > self.events_max:
            self.limit(slot)
        return entry

    def _enter_windows(self, slot: i64, number: i64) -> None:
        """Enter a partition into the windows of this moment from a number on. O(windows)."""
        newest = self.latest
        if self.newest < self.oldest or number < self.oldest:
            self.oldest = number
        if newest > self.newest:
            self.newest = newest
        where = number % self.room
        while number <= newest:
            self.windows[where].add(slot)
            number += 1
            where += 1
            if where == self.room:
                where = 0

    def plain(self, slot: i64, times: list[int], at: i64, end: i64) -> i64:
        if self.table.numbers[slot * WIDTH + GIVEN] >= self.latest:
            return 0
        if times[end - 1] > self.stop:
            end = bisect_right(times, int(self.stop), int(at), int(end))
        return end - at

    def due(self) -> i64:
        if self.newest < self.oldest:
            return NOTHING_DUE
        return self.oldest * self.slide + self.offset + self.size - 1

    def ended(self, time: i64) -> i64:
        while self.oldest <= self.newest:
            entered = self.windows[self.oldest % self.room]
            count = entered.count
            if count > 0:
                self.begin = self.oldest * self.slide + self.offset
                if self.begin + self.size > time:
                    return 0
                self.number = self.oldest
                self.ending = entered.slots
                entered.count = 0
                self.oldest += 1
                return count
            self.oldest += 1
        self.newest = NEVER
        return 0

    def first(self, slot: i64) -> i64:
        table = self.table
        own = slot * WIDTH
        if table.numbers[own + GIVEN] >= self.number:
            return NOTHING
        while table.panes[table.numbers[own + HEAD] * PANE + PERIOD] < self.number:
            table.drop(slot)
        return table.numbers[own + HEAD]

    def leave(self, slot: i64) -> None:
        table = self.table
        own = slot * WIDTH
        while table.numbers[own + COUNT] > 0 and table.panes[table.numbers[own + HEAD] * PANE + PERIOD] <= self.number:
            table.drop(slot)
        if table.numbers[own + UPTO] == self.number:
            table.forget(slot)

    def groups(self) -> int:
        return sum([entered.count > 0 for entered in self.windows])

    def _opened(self) -> list[int]:
        return list(range(int(self.oldest), int(self.newest) + 1)) if self.newest >= self.oldest else []

    def _inside(self, number: int) -> list[int]:
        entered = self.windows[number % self.room]
        return [int(slot) for slot in entered.slots[: entered.count]]

    def dump(self, order: dict[int, int]) -> list[Any]:
        return [[number, [order[slot] for slot in self._inside(number)]] for number in self._opened()]

    def load(self, saved: Any, slots: list[int]) -> None:
        for number, inside in saved:
            for at in inside:
                self.windows[number % self.room].add(slots[at])
        if saved:
            self.oldest, self.newest = saved[0][0], saved[-1][0]

    def check_invariants(self) -> None:
        numbers, panes = self.table.numbers, self.table.panes
        for slot in self.table.slots.values():
            own = slot * WIDTH
            if numbers[own + COUNT] > 0:
                assert panes[numbers[own + TAIL] * PANE + PERIOD] == numbers[own + UPTO]
            else:
                assert numbers[own + GIVEN] == numbers[own + UPTO]
        for number in self._opened():
            assert all(numbers[slot * WIDTH + UPTO] >= number for slot in self._inside(number))
            assert set(self._inside(number)) <= set(self.table.slots.values())
        entered = sum(int(entered.count) for entered in self.windows)
        assert entered == sum(len(self._inside(number)) for number in self._opened())


@final
class CountBoundaries(Boundaries):
    """Windows have `size` events; another one, and a pane, begins behind `every` events of a partition. The first pane
    stays until the event behind the end of its window."""

    method: ClassVar[str] = "panes by the number of events, as numbers; windows told as they end"

    def __init__(self, table: PaneTable, events_max: int, size: int, every: int) -> None:
        super().__init__(table, events_max)
        self.overlap = size > every
        self.size: i64 = size
        self.every: i64 = every

    def enter(self, slot: i64, time: i64, place: i64) -> i64:
        table = self.table
        numbers = table.numbers
        own = slot * WIDTH
        entry = slot
        events = numbers[own + EVENTS]
        if numbers[own + COUNT] > 0 and events - table.panes[numbers[own + HEAD] * PANE + BEFORE] >= self.size:
            table.drop(slot)
        if events == max(numbers[own + UPTO], 0):
            entry = table.open(slot, events + self.every, time, place)
        elif numbers[own + COUNT] == 0:
            numbers[own + EVENTS] = events + 1
            numbers[own + LAST] = time
            return NO_PARTITION
        table.note(slot, time, place)
        events += 1 - table.panes[numbers[own + HEAD] * PANE + BEFORE]
        if events > self.events_max:
            self.limit(slot)
        elif events == self.size:
            self.completed = slot
        return entry

    def plain(self, slot: i64, times: list[int], at: i64, end: i64) -> i64:
        numbers = self.table.numbers
        own = slot * WIDTH
        events = self.table.events(slot)
        if events == 0 or events >= self.size:
            return 0
        return min(end - at, numbers[own + UPTO] - numbers[own + EVENTS], self.size - 1 - events)

    def ended(self, time: i64) -> i64:
        if self.completed == NOTHING:
            return 0
        self.ending = put_integer(self.ending, 0, self.completed)
        self.completed = NOTHING
        return 1

    def idle(self, slot: i64, time: i64) -> bool:
        own = slot * WIDTH
        return self.table.numbers[own + COUNT] == 0 and self.table.numbers[own + EVENTS] % self.every == 0

    def check_invariants(self) -> None:
        table = self.table
        for slot in table.slots.values():
            events = table.numbers[slot * WIDTH + EVENTS]
            before = [int(table.panes[pane * PANE + BEFORE]) for pane in table.panes_of(slot)]
            kept = min(self.size, self.events_max)
            assert before == [at for at in range(0, int(events), int(self.every)) if events - at <= kept]
            assert table.numbers[slot * WIDTH + UPTO] == -(-events // self.every) * self.every


@final
class GapBoundaries(Boundaries):
    """A pane is a session: an event whose partition has had none for longer than the `gap` begins one, every other one
    prolongs it, and time ends it. Partitions with one are a queue, that with the oldest newest event at the `front`."""

    method: ClassVar[str] = "sessions as numbers, with their events in one log; windows told when they are over"

    def __init__(self, table: PaneTable, events_max: int, gap: int) -> None:
        super().__init__(table, events_max)
        self.ends = True
        self.gap: i64 = gap
        self.front: i64 = NOBODY
        self.back: i64 = NOBODY

    def enter(self, slot: i64, time: i64, place: i64) -> i64:
        table = self.table
        numbers = table.numbers
        own = slot * WIDTH
        entry = slot
        last = numbers[own + LAST]
        opened = numbers[own + COUNT] > 0
        if last == NEVER or time - last > self.gap:
            entry = table.open(slot, 0, time, place)
        elif not opened:
            numbers[own + LAST] = time
            return NO_PARTITION  # a limit has ended its session
        table.note(slot, time, place)
        if slot != self.back:
            if opened:
                self._unlink(slot)
            self._append(slot)
        if numbers[own + EVENTS] > self.events_max and table.events(slot) > self.events_max:
            self._unlink(slot)
            self.limit(slot)
        self.stop = self.due()
        return entry

    def plain(self, slot: i64, times: list[int], at: i64, end: i64) -> i64:
        first = at
        before: i64 = self.table.numbers[slot * WIDTH + LAST]
        if self.table.numbers[slot * WIDTH + COUNT] == 0:
            return 0
        while at < end and times[at] - before <= self.gap:
            before = times[at]
            at += 1
        self.stop = before + self.gap
        return at - first

    def due(self) -> i64:
        return NOTHING_DUE if self.front == NOBODY else self.table.numbers[self.front * WIDTH + LAST] + self.gap

    def ended(self, time: i64) -> i64:
        self.stop = self.due()
        if self.front == NOBODY or (time < FOREVER and self.stop >= time):
            return 0
        self.ending = put_integer(self.ending, 0, self.front)
        return 1

    def leave(self, slot: i64) -> None:
        self._unlink(slot)
        self.table.drop(slot)

    def _append(self, slot: i64) -> None:
        """Put a partition at the back of the queue."""
        numbers = self.table.numbers
        back = self.back
        numbers[slot * WIDTH + AHEAD] = back
        numbers[slot * WIDTH + BEHIND] = NOBODY
        self.back = slot
        if back == NOBODY:
            self.front = slot
        else:
            numbers[back * WIDTH + BEHIND] = slot

    def _unlink(self, slot: i64) -> None:
        """Take a partition out of the queue."""
        numbers = self.table.numbers
        ahead, behind = numbers[slot * WIDTH + AHEAD], numbers[slot * WIDTH + BEHIND]
        if behind == NOBODY:
            self.back = ahead
        else:
            numbers[behind * WIDTH + AHEAD] = ahead
        if ahead == NOBODY:
            self.front = behind
        else:
            numbers[ahead * WIDTH + BEHIND] = behind

    def idle(self, slot: i64, time: i64) -> bool:
        own = slot * WIDTH
        return self.table.numbers[own + COUNT] == 0 and time - self.table.numbers[own + LAST] > self.gap

    def queue(self) -> list[int]:
        """The partitions with open sessions, from front to back."""
        found: list[int] = []
        slot = self.front
        while slot != NOBODY:
            found.append(int(slot))
            slot = self.table.numbers[slot * WIDTH + BEHIND]
        return found

    def dump(self, order: dict[int, int]) -> list[Any]:
        return [order[slot] for slot in self.queue()]

    def load(self, saved: Any, slots: list[int]) -> None:
        for at in saved:
            self._append(slots[at])
        self.stop = self.due()

    def check_invariants(self) -> None:
        queue = self.queue()
        assert sorted(queue) == sorted(self.table.open_slots())
        assert self.back == (queue[-1] if queue else NOBODY)
        lasts = [self.table.numbers[slot * WIDTH + LAST] for slot in queue]
        assert lasts == sorted(lasts)


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


def are_sessions(tables: WindowTables) -> bool:
    """Whether the windows are those of SESSION: the gap begins them, nothing else ends them, each event is in one."""
    if tables.gap < 0 or tables.plain_bits > 0 or not (tables.plain and tables.waits):
        return False
    width = tables.columns
    apart, close = tables.column(0), tables.column(1)
    state = tables.first[apart]
    if len(tables.prefix) != width or state < 0 or tables.first[close] >= 0 or tables.final[state] == 0:
        return False
    return tables.body[state * width + close] == state and tables.body[state * width + apart] < 0
