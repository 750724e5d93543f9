"""Sessions: windows that only the distance between events decides, in columns of all partitions together.

An event whose partition has had none for longer than the gap begins a session, every other one prolongs it, and time
ends it. So a partition is a few numbers, and its events are a chain of one log. Whatever else windows may need, looking
back, groups and panes, there is nothing of.

Here: that machine. Hot. Not here: partitions and their order (session_partitions), reading (session_matches), other
windows that wait for their end (longest).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import Batch
from ....events.instant import FOREVER
from ....events.schema import Row
from ...program.account import Account
from ..completions import HEADER, Audience, Completions
from ..contract import NOTHING_DUE, Executor, Member
from ..event_ids import EventIds
from ..event_span import EventSpan
from ..matches import Item, WaitingRun
from .batch_keys import UNKNOWN, BatchKeys
from .batch_log import NOTHING, BatchLog
from .session_matches import SESSION_NUMBERS, SessionAudience
from .session_partitions import BEGUN, BEHIND, EVENTS, LAST, NEVER, NEWEST, NOBODY, SessionPartitions
from .tables import WindowTables
from .window_inputs import WindowInputs

UNITS: Final = 2  # of work, that an event of an open session costs
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

    `live`: events of open sessions in the log.
    """

    def __init__(
        self, tables: WindowTables, needed: WindowInputs, account: Account, keys_max: int, starts_max: int,
        events_max: int,
    ) -> None:  # fmt: skip
        super().__init__(account, needed.all)
        self.tables = tables
        self.gap: i64 = tables.gap
        self.state: i64 = tables.first[tables.column(0)]
        self.keys_max: i64 = keys_max
        self.events_max: i64 = events_max if starts_max > 0 else 0
        self.trims_at_once = False  # for tests
        self.known = SessionPartitions()
        self.log = BatchLog(0, True, tables.rows)
        self.batch_keys = BatchKeys(tables)
        self.live: i64 = 0

    @property
    def method(self) -> str:
        return "sessions as numbers, with their events in one log; windows told when they are over"

    def audience(self) -> Audience:
        return SessionAudience([] if self.member is None else [self.member.target], self.tables)

    # --- events ------------------------------------------------------------------------------------------------------

    def take_span(self, span: EventSpan, found: Completions) -> None:
        times, n = span.times, len(span.times)
        while span.at >= 0:
            at = span.at
            time: i64 = times[at]
            if time > self.alarm:
                found.event = span.first + at
                self.advance(time, found)
            if self.tables.timed or self.account.left < UNITS * (n - at):
                super().take_span(span, found)
                return
            span.moved = True
            at = self._take_several(times, span.batch, span.ids, at, found)
            span.go_to(at)
            if self.lost > 0:
                found.event = at - 1
                return

    def _take_several(self, times: list[int], batch: Batch, ids: EventIds, at: i64, found: Completions) -> i64:
        """Take events from an index on, as `take` does, while there are units for all of them; returns behind the last
        one."""
        end: i64 = len(times)
        account = self.account
        gap = self.gap
        events_max = self.events_max
        partitions = self.known
        slots = partitions.slots
        keys = self.batch_keys
        keys.read(batch)
        coded = keys.coded
        rows = keys.rows
        rowed = len(rows) > 0
        single = keys.single
        log = self.log
        shift = log.extend(batch, ids, at, end) - at - log.base
        links = log.links
        while at < end:
            time: i64 = times[at]
            if time > self.alarm:
                found.event = at
                self.advance(time, found)
                if account.left < UNITS * (end - at):
                    break
            own: i64 = UNKNOWN
            if coded:
                own = keys.slot(at, partitions.forgotten)
            if own == UNKNOWN:
                key: Any = rows[at][single] if rowed else keys.key(at)
                if key is None:
                    account.turn_over(1, 0)
                    at += 1
                    continue
                known = slots.get(key)
                if known is not None:
                    own = known
                elif len(slots) < self.keys_max:
                    own = partitions.add(key)
                else:
                    self.lost += 1
                    account.turn_over(1, 0)
                    at += 1
                    break
                if coded:
                    keys.found(at, partitions.forgotten, own)
            numbers = partitions.numbers
            before = numbers[own + NEWEST]
            begins = numbers[own + LAST] == NEVER or time - numbers[own + LAST] > gap
            spent: i64 = UNITS
            if before == NOTHING:
                spent = 1
            account.left = min(account.left + account.earned, account.most) - spent
            numbers[own + LAST] = time
            place = at
            at += 1
            if begins:
                numbers[own + BEGUN] = time
            elif before == NOTHING:
                continue  # a limit has ended its session
            links[shift + place] = before
            numbers[own + NEWEST] = shift + place + log.base
            numbers[own + EVENTS] += 1
            self.live += 1
            if own != partitions.back:
                self._put_last(own, before)
            if numbers[own + EVENTS] > events_max:
                self._end(own)
                break
        log.cut(shift + at + log.base)
        self._tidy()
        return at

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        """Begin or prolong a session; time has ended those that this event is too late for."""
        tables = self.tables
        key: Any = tables.partition(row)
        if key is None:
            return False
        partitions = self.known
        known = partitions.slots.get(key)
        own: i64 = 0
        if known is None:
            if len(partitions.slots) >= self.keys_max:
                self.lost += 1
                return False
            own = partitions.add(key)
        else:
            own = known
        numbers = partitions.numbers
        before = numbers[own + NEWEST]
        self.account.spend(1 if before == NOTHING else UNITS)
        begins = numbers[own + LAST] == NEVER or time - numbers[own + LAST] > self.gap
        numbers[own + LAST] = time
        if begins:
            numbers[own + BEGUN] = time
        elif before == NOTHING:
            return True  # a limit has ended its session
        if tables.timed:
            row = (*row[: tables.width], int(time))  # rows may have more attributes by now
        numbers[own + NEWEST] = self.log.add(row, item, before)
        numbers[own + EVENTS] += 1
        self.live += 1
        if own != partitions.back:
            self._put_last(own, before)
        if numbers[own + EVENTS] > self.events_max:
            self._end(own)
        self._tidy()
        return True

    def _put_last(self, own: i64, before: i64) -> None:
        """Put a partition with a newest event at the back of the queue, where it may be if there was one before."""
        partitions = self.known
        front = partitions.front
        if before != NOTHING:
            partitions.unlink(own)
        partitions.append(own)
        if partitions.front != front or front == own:
            self.alarm = partitions.due(self.gap)

    def _end(self, own: i64) -> None:
        """End the session of a partition, which has too many events."""
        self.lost += 1
        self.known.unlink(own)
        self.alarm = self.known.due(self.gap)
        self._close(own)

    def _tidy(self) -> None:
        """Have another log, if most of it is over. O(its events); amortised O(1)."""
        over = self.log.count - self.live
        if over > 0 and (self.trims_at_once or (over > SPARE and over > self.live)):
            self._trim()

    # --- ends --------------------------------------------------------------------------------------------------------

    def advance(self, time: i64, found: Completions) -> None:
        partitions = self.known
        numbers = partitions.numbers
        log = self.log
        place = partitions.front
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
        partitions.begin_at(place)
        self.alarm = partitions.due(self.gap)

    def _close(self, place: i64) -> None:
        """Note that a partition, which is in the queue no more, has no open session."""
        numbers = self.known.numbers
        self.live -= numbers[place + EVENTS]
        numbers[place + EVENTS] = 0
        numbers[place + NEWEST] = NOTHING

    def _trim(self) -> None:
        """Have a log without the sessions that are over. O(events of the others); amortised O(1)."""
        old = self.log
        numbers = self.known.numbers
        chains: list[int] = []
        place = self.known.front
        while place != NOBODY:
            chains += [int(numbers[place + NEWEST]), int(numbers[place + EVENTS])]
            place = numbers[place + BEHIND]
        self.log, where = old.sifted(chains)
        place = self.known.front
        while place != NOBODY:
            numbers[place + NEWEST] = where[numbers[place + NEWEST] - old.base]
            place = numbers[place + BEHIND]

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        self.known = SessionPartitions()
        self.log = BatchLog(0, True, self.tables.rows)
        self.batch_keys.close()
        self.live = 0
        self.alarm = NOTHING_DUE

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        self.known.forget_idle(time, self.gap)
        return len(self.known.slots)

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        """The open sessions."""
        return self._waiting()

    def _waiting(self) -> Iterator[WaitingRun]:
        numbers = self.known.numbers
        for key, slot in self.known.slots.items():
            if numbers[slot + NEWEST] != NOTHING:
                whole: Any = key if isinstance(key, tuple) else (key,)
                yield WaitingRun(whole, -1, int(numbers[slot + BEGUN]), [])

    def statistics(self) -> dict[str, int]:
        opened = len(self.known.queue())
        return {
            "windows": 1,
            "window_keys": len(self.known.slots),
            "window_starts": opened,
            "window_groups": opened,
            "window_events": int(self.live),
        }

    def check_invariants(self) -> None:
        partitions = self.known
        partitions.check_invariants()
        numbers = partitions.numbers
        queue = partitions.queue()
        assert self.alarm <= partitions.due(self.gap)
        chains = [self.log.places(numbers[place + NEWEST], numbers[place + EVENTS] + 1) for place in queue]
        assert [len(chain) for chain in chains] == [numbers[place + EVENTS] for place in queue]
        assert len({at for chain in chains for at in chain}) == self.live <= self.log.count

    # Partitions are saved as those of other windows are (cell), so that either machine goes on where the other one was.

    def dump(self) -> Any:
        order = {place: number for number, place in enumerate(self.known.slots.values())}
        cells = [self._dump(key, slot) for key, slot in self.known.slots.items()]
        return [cells, [order[place] for place in self.known.queue()]]

    def _dump(self, key: Any, slot: int) -> list[Any]:
        whole = list(key) if isinstance(key, tuple) else [key]
        last, begun, newest, events = [int(self.known.numbers[slot + at]) for at in (LAST, BEGUN, NEWEST, EVENTS)]
        columns = self.log.columns(newest, events, True)
        groups = [[int(self.state), [0, 0], events - 1, last]] if events else []
        panes = [0, begun] if events else []
        log = [columns.items(), [list(row) for row in columns.rows]]
        return [whole, [max(events, 1), 0, 0, last, 0, 0], [0], [], [], groups, [panes, [], []], log, []]

    def load(self, data: Any) -> None:
        saved, waiting = data
        tables = self.tables
        places: list[int] = []
        for key, counted, _, _, _, _, panes, log, _ in saved:
            place = self.known.add(tables.key_of(key))
            places.append(int(place))
            numbers = self.known.numbers
            numbers[place + LAST] = counted[3]
            if panes[0]:
                numbers[place + BEGUN] = panes[0][1]
                numbers[place + EVENTS] = len(log[0])
                numbers[place + NEWEST] = self.log.restore(log, 0)
                self.live += len(log[0])
        for number in waiting:
            self.known.append(places[number])
        self.alarm = self.known.due(self.gap)
