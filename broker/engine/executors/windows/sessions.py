"""Sessions: windows that only the distance between events decides, in columns of all partitions together.

An event whose partition has had none for longer than the gap begins a session, every other one prolongs it, and time
ends it. So a partition is a few numbers, and its events are a chain of one log. Whatever else windows may need, looking
back, groups and panes, there is nothing of.

Here: that machine. Hot. Not here: other windows that wait for their end (longest), reading (session_matches).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....events.instant import FOREVER
from ....events.schema import Row
from ...program.account import Account
from ..completions import HEADER, Audience, Completions
from ..contract import NOTHING_DUE, Executor, Member
from ..matches import Item, WaitingRun, tuple_item
from ..packed import Integers, integers, roomy
from .linked_log import NOTHING, LinkedLog
from .pane_columns import PaneColumns
from .session_matches import SESSION_NUMBERS, SessionAudience
from .tables import WindowTables
from .window_inputs import WindowInputs

# The numbers of a partition. A session is open if it has events.
LAST: Final = 0  # the time of its newest event
BEGUN: Final = 1  # the time of the first event of its session
NEWEST: Final = 2  # the index of the newest event
EVENTS: Final = 3  # how many the open session has
BEFORE: Final = 4  # the partition with an open session whose newest event came before, or NOBODY
BEHIND: Final = 5  # likewise behind
WIDTH: Final = 6
NOBODY: Final = -1
SPARE: Final = 1_024  # events of sessions that are over which may stay in the log


def keeps_sessions(tables: WindowTables) -> bool:
    """Whether the windows are those of SESSION: the gap begins them, nothing else ends them, each event is in one."""
    if tables.gap < 0 or tables.plain_bits > 0 or not (tables.plain and tables.waits):
        return False
    width = tables.columns
    apart, close = tables.column(0), tables.column(1)
    state = tables.first[apart]
    if len(tables.prefix) != width or state < 0 or tables.first[close] >= 0 or tables.final[state] == 0:
        return False
    return tables.body[state * width + close] == state and tables.body[state * width + apart] < 0


@final
class SessionMachine(Executor):
    """The partitions of one subscription.

    `slots`: where each partition has its numbers. Those with open sessions are a queue, the one that had its newest
    event first at the `front`. `live`: events of open sessions in the log.
    """

    def __init__(
        self, tables: WindowTables, needed: WindowInputs, account: Account, keys_max: int, starts_max: int,
        events_max: int,
    ) -> None:  # fmt: skip
        super().__init__(account, needed.all)
        self.batches = True
        self.tables = tables
        self.gap: i64 = tables.gap
        self.state: i64 = tables.first[tables.column(0)]
        self.keys_max: i64 = keys_max
        self.events_max: i64 = events_max if starts_max > 0 else 0
        self.trims_at_once = False  # for tests
        self.slots: dict[Any, int] = {}
        self.free: list[int] = []
        self.numbers: Integers = integers()
        self.room: i64 = 0
        self.log = LinkedLog()
        self.live: i64 = 0
        self.front: i64 = NOBODY
        self.back: i64 = NOBODY

    @property
    def method(self) -> str:
        return "sessions as numbers, with their events in one log; windows told when they are over"

    def audience(self) -> Audience:
        return SessionAudience([] if self.member is None else [self.member.target], self.tables)

    # --- events ------------------------------------------------------------------------------------------------------

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, part: Row, item: Item, found: Completions
    ) -> bool:
        """Begin or prolong a session; time has ended those that this event is too late for."""
        tables = self.tables
        key: Any = tables.partition(row)
        if key is None:
            return False
        self.taken = True
        known = self.slots.get(key)
        own: i64 = 0
        before: i64 = NOTHING
        if known is None:
            if len(self.slots) >= self.keys_max:
                self.lost += 1
                return False
            own = self._slot(key)
            self.account.spend(1)
            begins = True
        else:
            own = known
            numbers = self.numbers
            before = numbers[own + NEWEST]
            self.account.spend(1 if before == NOTHING else 2)
            begins = time - numbers[own + LAST] > self.gap
        numbers = self.numbers
        numbers[own + LAST] = time
        if begins:
            numbers[own + BEGUN] = time
        elif before == NOTHING:
            return True  # a limit has ended its session
        if tables.timed:
            row = (*row[: tables.width], int(time))  # rows may have more attributes by now
        numbers[own + NEWEST] = self.log.add(row, item, tables.rows, before)
        numbers[own + EVENTS] += 1
        self.live += 1
        if own != self.back:
            if before != NOTHING:
                self._unlink(own)
            self._append(own)
        if numbers[own + EVENTS] > self.events_max:
            self.lost += 1
            self._unlink(own)
            self._close(own)
        over = self.log.count - self.live
        if over > 0 and (self.trims_at_once or (over > SPARE and over > self.live)):
            self._trim()
        return True

    def _slot(self, key: Any) -> i64:
        """A place for a new partition."""
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
        numbers[place + NEWEST] = NOTHING
        numbers[place + EVENTS] = 0
        return place

    def _append(self, place: i64) -> None:
        """Put a partition at the back of the queue."""
        numbers = self.numbers
        back = self.back
        numbers[place + BEFORE] = back
        numbers[place + BEHIND] = NOBODY
        self.back = place
        if back == NOBODY:
            self.front = place
            self.alarm = numbers[place + LAST] + self.gap
        else:
            numbers[back + BEHIND] = place

    def _unlink(self, place: i64) -> None:
        """Take a partition out of the queue."""
        numbers = self.numbers
        before, behind = numbers[place + BEFORE], numbers[place + BEHIND]
        if behind == NOBODY:
            self.back = before
        else:
            numbers[behind + BEFORE] = before
        if before == NOBODY:
            self.front = behind
            self._set_alarm()
        else:
            numbers[before + BEHIND] = behind

    def _set_alarm(self) -> None:
        self.alarm = NOTHING_DUE if self.front == NOBODY else self.numbers[self.front + LAST] + self.gap

    # --- ends --------------------------------------------------------------------------------------------------------

    def advance(self, time: i64, found: Completions) -> None:
        numbers = self.numbers
        log = self.log
        place = self.front
        while place != NOBODY and (time >= FOREVER or numbers[place + LAST] + self.gap < time):
            into = found.room(SESSION_NUMBERS)
            at = found.upto + HEADER
            into[at] = numbers[place + NEWEST]
            into[at + 1] = numbers[place + EVENTS]
            into[at + 2] = numbers[place + BEGUN]
            into[at + 3] = numbers[place + LAST]
            found.close(log, 0, 0, SESSION_NUMBERS, 1)
            self.account.spend(1)
            behind = numbers[place + BEHIND]
            self._close(place)
            place = behind
        self.front = place
        if place == NOBODY:
            self.back = NOBODY
        else:
            numbers[place + BEFORE] = NOBODY
        self._set_alarm()

    def _close(self, place: i64) -> None:
        """Note that a partition, which is in the queue no more, has no open session."""
        numbers = self.numbers
        self.live -= numbers[place + EVENTS]
        numbers[place + EVENTS] = 0
        numbers[place + NEWEST] = NOTHING

    def _trim(self) -> None:
        """Have a log without the sessions that are over. O(events of the others); amortised O(1)."""
        old = self.log
        self.log = LinkedLog()
        numbers = self.numbers
        place = self.front
        while place != NOBODY:
            numbers[place + NEWEST] = self.log.copy(old.columns(numbers[place + NEWEST]), self.tables.rows)
            place = numbers[place + BEHIND]

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        self.slots = {}
        self.free = []
        self.numbers = integers()
        self.room = 0
        self.log = LinkedLog()
        self.live = 0
        self.front = self.back = NOBODY
        self.alarm = NOTHING_DUE

    def empty(self, time: i64, position: i64, places: dict[Any, int]) -> bool:
        """Forget partitions without a session, if all that comes begins one; the others stay. O(partitions)."""
        numbers = self.numbers
        idle: list[Any] = []
        for key, slot in self.slots.items():
            place: i64 = slot
            if numbers[place + NEWEST] == NOTHING and time - numbers[place + LAST] > self.gap:
                idle.append(key)
        for key in idle:
            self.free.append(self.slots.pop(key))
        return len(self.slots) == 0

    def keys(self) -> int:
        return len(self.slots)

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        """The open sessions."""
        return self._waiting()

    def _waiting(self) -> Iterator[WaitingRun]:
        for key, slot in self.slots.items():
            if self.numbers[slot + NEWEST] != NOTHING:
                whole: Any = key if isinstance(key, tuple) else (key,)
                yield WaitingRun(whole, -1, int(self.numbers[slot + BEGUN]), [])

    def _queue(self) -> list[int]:
        """The places of the partitions with open sessions, from front to back."""
        found: list[int] = []
        place = self.front
        while place != NOBODY:
            found.append(int(place))
            place = self.numbers[place + BEHIND]
        return found

    def statistics(self) -> dict[str, int]:
        opened = len(self._queue())
        return {
            "windows": 1,
            "window_keys": len(self.slots),
            "window_starts": opened,
            "window_groups": opened,
            "window_events": int(self.live),
        }

    def check_invariants(self) -> None:
        numbers = self.numbers
        places = sorted([*self.slots.values(), *self.free])
        assert places == list(range(0, int(self.room), WIDTH))
        opened = [place for place in self.slots.values() if numbers[place + NEWEST] != NOTHING]
        queue = self._queue()
        assert sorted(queue) == sorted(opened)
        assert self.back == (queue[-1] if queue else NOBODY)
        assert all(numbers[behind + BEFORE] == place for place, behind in itertools.pairwise(queue))
        lasts = [numbers[place + LAST] for place in queue]
        assert lasts == sorted(lasts)
        assert self.alarm <= (lasts[0] + self.gap if queue else NOTHING_DUE)
        chains = [self.log.chain(numbers[place + NEWEST]) for place in queue]
        assert [len(chain) for chain in chains] == [numbers[place + EVENTS] for place in queue]
        assert len({at for chain in chains for at in chain}) == self.live <= self.log.count
        assert len(self.log.items) == len(self.log.links) == self.log.count
        assert len(self.log.rows) == (self.log.count if self.tables.rows else 0)

    # Partitions are saved as those of other windows are (cell), so that either machine goes on where the other one was.

    def dump(self) -> Any:
        order = {place: number for number, place in enumerate(self.slots.values())}
        cells = [self._dump(key, slot) for key, slot in self.slots.items()]
        return [cells, [order[place] for place in self._queue()]]

    def _dump(self, key: Any, slot: int) -> list[Any]:
        whole = list(key) if isinstance(key, tuple) else [key]
        last, begun, newest, events = [int(self.numbers[slot + at]) for at in (LAST, BEGUN, NEWEST, EVENTS)]
        columns = self.log.columns(newest)
        groups = [[int(self.state), [0, 0], events - 1, last]] if events else []
        panes = [0, begun] if events else []
        log = [columns.items, [list(row) for row in columns.rows]]
        return [whole, [max(events, 1), 0, 0, last, 0, 0], [0], [], [], groups, [panes, [], []], log, []]

    def load(self, data: Any) -> None:
        saved, waiting = data
        tables = self.tables
        places: list[int] = []
        for key, counted, _, _, _, _, panes, log, _ in saved:
            place = self._slot(tables.key_of(key))
            places.append(int(place))
            numbers = self.numbers
            numbers[place + LAST] = counted[3]
            if panes[0]:
                items = [tuple_item(item) for item in log[0]]
                chain = PaneColumns(0, integers(), 0, tables.rows).fill(items, [tuple(row) for row in log[1]])
                numbers[place + BEGUN] = panes[0][1]
                numbers[place + EVENTS] = len(items)
                numbers[place + NEWEST] = self.log.copy(chain, tables.rows)
                self.live += len(items)
        for number in waiting:
            self._append(places[number])
        self.taken = True
