"""Windows of the clock: [k * slide + offset, k * slide + offset + size), told when time has passed their end.

A pane begins with the first event of a partition in each period of `slide`. A window ends before any event behind it
comes, so that its events are always the newest ones of its partition: the same columns and measures serve as for other
windows. A ring has, for each open window, the partitions with events in it; no partition has a timer of its own.

Here: that machine. Hot. Not here: columns (cell), measures (measures).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from ...program.account import Account
from ..completions import HEADER, Audience, Completions
from ..contract import NOTHING_DUE, Executor
from ..matches import Item
from ..packed import integers, put_integer
from .cell import GIVEN_NONE, WindowCell
from .completing import page_of, write_one
from .pane_columns import NO_ID
from .stepping import NO_TIME
from .tables import WindowTables
from .window_inputs import WindowInputs
from .window_matches import WindowAudience
from .window_page import ONE, ONE_NUMBERS

SPARE_MAX: Final = 1_024  # partitions that are kept to be used again
NEVER_IN: Final = -(1 << 62)
"""The number of a window before all that there can be."""


@final
class ClockMachine(Executor):
    """The partitions of one subscription.

    `ring`: by the number of an open window, the partitions with events in it, in the order of their first ones. Numbers
    are taken modulo the length of the ring, since no more windows can be open than hold one moment. All open ones are
    from `oldest` to `newest`; a partition is in the ring only where it has events. From `since` to before `turn`, an
    event is in the windows from `earliest` to `latest`.
    """

    def __init__(
        self, tables: WindowTables, needed: WindowInputs, account: Account, keys_max: int, events_max: int
    ) -> None:
        super().__init__(account, needed.all)
        clock = tables.windows.clock
        assert clock is not None
        self.tables = tables
        self.keys_max: i64 = keys_max
        self.events_max: i64 = events_max
        self.size: i64 = clock.size
        self.slide: i64 = clock.slide
        self.offset: i64 = clock.offset
        self.cells: dict[Any, WindowCell] = {}
        self.room: i64 = clock.size // clock.slide + 2
        self.ring: list[list[WindowCell]] = [[] for _ in range(int(self.room))]
        self.oldest: i64 = 0
        self.newest: i64 = NEVER_IN
        self.since: i64 = 0
        self.turn: i64 = 0
        self.earliest: i64 = 0
        self.latest: i64 = 0
        self.trims_at_once = False  # for tests
        self.spare: list[WindowCell] = []

    @property
    def method(self) -> str:
        return "panes by the period of the clock; windows told when time has passed their end"

    def audience(self) -> Audience:
        return WindowAudience([] if self.member is None else [self.member.target], self.tables)

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        tables = self.tables
        key: Any = tables.partition(row)
        if key is None:
            return False
        if time >= self.turn or time < self.since:
            self._turn(time)
        newest = self.latest
        if self.earliest > newest:
            return False  # between two windows
        self.account.spend(1)
        cell = self.cells.get(key)
        if cell is None:
            if len(self.cells) >= self.keys_max:
                self.lost += 1
                return False
            cell = self.cells[key] = self._cell(key)
        if newest > cell.upto:
            self._enter(cell, max(self.earliest, cell.upto + 1), newest, time)
        elif newest <= cell.given:
            return False  # all windows that it is in have been given up
        if tables.timed:
            moment = int(time)  # rows may have more attributes by now
            cell.note((*row[: tables.width], moment), (moment,), NO_ID, item)
        else:
            cell.note(row, NO_TIME, NO_ID, item)
        cell.count += 1
        cell.last = time
        if cell.count - cell.columns.panes[2 * cell.head] > self.events_max:
            self.lost += 1
            self._give_up(cell)
        return True

    def _give_up(self, cell: WindowCell) -> None:
        """Give up the oldest windows of a partition, so that it keeps no more events than it may: none of them is told.
        Amortised O(1)."""
        columns = cell.columns
        head, count = cell.head, columns.count
        while head < count and cell.count - columns.panes[2 * head] > self.events_max:
            cell.given = cell.periods[head]
            head += 1
        if head < count:
            cell.head = head
            cell.period = cell.periods[head]
            cell.trim(columns.base + head, self.trims_at_once)
        else:
            cell.forget()
            cell.periods = integers()
            cell.head = 0
            cell.period = GIVEN_NONE

    def _cell(self, key: Any) -> WindowCell:
        """A new partition: where they are many, most come and go, and those that are gone are used again."""
        if len(self.spare) > 0:
            cell = self.spare.pop()
            cell.key = key
        else:
            cell = WindowCell(key, self.tables)
        cell.upto = NEVER_IN
        return cell

    def _turn(self, time: i64) -> None:
        """Find the windows that a moment is in, and until when these are the same."""
        since = time - self.offset
        self.latest = since // self.slide
        self.earliest = (since - self.size) // self.slide + 1
        self.since = time
        self.turn = min((self.latest + 1) * self.slide, self.earliest * self.slide + self.size) + self.offset

    def _enter(self, cell: WindowCell, first: i64, newest: i64, time: i64) -> None:
        """Begin a pane in a new period, and enter the windows that it is the first of its partition in."""
        pane = cell.open(time)
        at = pane - cell.columns.base
        cell.periods = put_integer(cell.periods, at, newest)
        if at == cell.head:
            cell.period = newest
        cell.upto = newest
        if self.newest < self.oldest or first < self.oldest:
            self.oldest = first
            due = first * self.slide + self.offset + self.size - 1
            if due < self.alarm:
                self.alarm = due
        if newest > self.newest:
            self.newest = newest
        ring = self.ring
        slot = first % self.room
        number = first
        while number <= newest:
            ring[slot].append(cell)
            number += 1
            slot += 1
            if slot == self.room:
                slot = 0

    def advance(self, time: i64, found: Completions) -> None:
        number = self.oldest
        while number <= self.newest:
            slot = number % self.room
            cells = self.ring[slot]
            if len(cells) > 0:
                begin = number * self.slide + self.offset
                if begin + self.size > time:
                    break
                self.ring[slot] = []
                self._tell(cells, number, begin, found)
            number += 1
        self.oldest = number
        if number > self.newest:
            self.newest = NEVER_IN
        self._set_alarm()

    def _set_alarm(self) -> None:
        self.alarm = NOTHING_DUE
        if self.newest >= self.oldest:
            self.alarm = self.oldest * self.slide + self.offset + self.size - 1

    def _tell(self, cells: list[WindowCell], number: i64, begin: i64, found: Completions) -> None:
        """Report the window of each partition, in one row: all its events since the first one in the window."""
        count: i64 = len(cells)
        self.account.spend(count)
        page = page_of(found)
        numbers = found.room(ONE_NUMBERS * count)
        place = found.upto + HEADER
        for cell in cells:
            if cell.period < number:
                self._skip(cell, number)
            if cell.given < number:
                write_one(cell, cell.head, cell.count - 1, cell.last, begin, page, numbers, place)
                place += ONE_NUMBERS
            else:
                count -= 1
            self._leave(cell, number + 1)
        if count > 0:
            found.close(page, 0, ONE, ONE_NUMBERS * count, count)

    def _skip(self, cell: WindowCell, number: i64) -> None:
        """Move the head of a partition to the first pane of a period."""
        head = cell.head
        periods = cell.periods
        count = cell.columns.count
        while head < count and periods[head] < number:
            head += 1
        cell.head = head
        if head < count:
            cell.period = periods[head]

    def _leave(self, cell: WindowCell, number: i64) -> None:
        """Forget the panes of a partition before a period; the partition, if it has no others."""
        if cell.period >= number:
            return
        self._skip(cell, number)
        head = cell.head
        if head == cell.columns.count:
            if cell.upto >= number:
                return  # windows that have been given up are still in the ring
            del self.cells[cell.key]
            if len(self.spare) < SPARE_MAX:
                cell.renew(None)
                self.spare.append(cell)
        else:
            cell.trim(cell.columns.base + head, self.trims_at_once)

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        self.cells = {}
        self.spare = []
        self.ring = [[] for _ in range(int(self.room))]
        self.newest = NEVER_IN
        self.alarm = NOTHING_DUE

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        return len(self.cells)

    def statistics(self) -> dict[str, int]:
        cells = self.cells.values()
        return {
            "windows": 1,
            "window_keys": len(self.cells),
            "window_starts": sum([int(cell.columns.count) for cell in cells]),
            "window_groups": sum([len(cells) > 0 for cells in self.ring]),
            "window_events": sum([int(cell.columns.size) for cell in cells]),
        }

    def check_invariants(self) -> None:
        for key, cell in self.cells.items():
            assert cell.key == key
            assert len(cell.periods) == cell.columns.count >= cell.head >= 0
            assert cell.period == (cell.periods[cell.head] if cell.columns.count > cell.head else GIVEN_NONE)
            assert cell.columns.count > cell.head or cell.given == cell.upto
            cell.check_invariants(self.tables)
        for number in self._open():
            for cell in self.ring[number % self.room]:
                assert self.cells[cell.key] is cell
                assert cell.upto >= number
        assert sum(map(len, self.ring)) == sum(len(self.ring[number % self.room]) for number in self._open())

    def _open(self) -> list[int]:
        return list(range(int(self.oldest), int(self.newest) + 1)) if self.newest >= self.oldest else []

    def dump(self) -> Any:
        numbers = {id(cell): number for number, cell in enumerate(self.cells.values())}
        ring = [[number, [numbers[id(cell)] for cell in self.ring[number % self.room]]] for number in self._open()]
        return [[cell.dump() for cell in self.cells.values()], ring]

    def load(self, data: Any) -> None:
        saved, ring = data
        cells: list[WindowCell] = []
        for each in saved:
            key = self.tables.key_of(each[0])
            cell = self.cells[key] = WindowCell(key, self.tables)
            cell.load(each)
            cell.period = cell.periods[cell.head] if cell.columns.count > cell.head else GIVEN_NONE
            cells.append(cell)
        for number, inside in ring:
            self.ring[number % self.room] = [cells[at] for at in inside]
        if ring:
            self.oldest, self.newest = ring[0][0], ring[-1][0]
        self._set_alarm()
