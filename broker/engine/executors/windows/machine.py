"""A window subscription as its host knows it: the windows of each partition, or of the only one that may have any.

Here: the class of an event, which partition it belongs to, when time completes windows. Not here: the effect of an
event on a partition (stepping, longest), windows without conditions (pane_machine), the form that all executors have
(contract).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.predicate import All, holds
from ....events.instant import FOREVER
from ....events.schema import Row
from ...matches.completions import Audience, Completions
from ...matches.sources import Item, WaitingRun
from ...program.account import Account
from ..contract import NOTHING_DUE, EventExecutor, Member, alike
from .cell import WindowCell, looked, sizes, slots_of
from .completing import CompletedPanes
from .longest import LongestWindows
from .stepping import NO_TIME, Stepper
from .tables import WindowTables
from .window_inputs import WindowInputs
from .window_matches import WindowAudience, waiting_starts

END: Final = FOREVER - 1  # an alarm that only the end of the input passes


class SleepingMachine(EventExecutor):
    """A machine that sleeps while no partition has open windows, if its tables allow it. `opened`: how many have some;
    `keys_max`: the most partitions; `shift`: inputs before the conditions, the first of which is every event."""

    def __init__(
        self, tables: WindowTables, needed: WindowInputs, account: Account, keys_max: int, starts_max: int,
        events_max: int, sleeps: bool,
    ) -> None:  # fmt: skip
        super().__init__(account, needed.all)
        self.tables = tables
        self.needed = needed
        self.shift: i64 = 0 if tables.sleeps else 1
        self.sleeps = needed.sleeps and sleeps
        self.keys_max: i64 = keys_max
        self.stepper = Stepper(tables, account, starts_max, events_max)
        self.opened: i64 = 0
        self.count_opened(0)

    def count_opened(self, more: i64) -> None:
        """So many more partitions have open windows."""
        if self.sleeps:
            self.opened += more
        self.interest = self.needed.asleep if self.sleeps and self.opened == 0 else self.needed.awake

    def complain(self) -> None:
        """Report the limits that the current event has hit."""
        self.lost += self.stepper.lost
        self.stepper.lost = 0


@final
class WindowMachine(SleepingMachine):
    """The partitions of one subscription, by the attributes of BY: by the value of one, or a tuple of several. Without
    BY there is one, of the key ().

    `queue`: those with windows that wait, by key, in the order of their newest events.
    """

    def __init__(
        self, tables: WindowTables, needed: WindowInputs, account: Account, keys_max: int, starts_max: int,
        events_max: int, sleeps: bool,
    ) -> None:  # fmt: skip
        super().__init__(tables, needed, account, keys_max, starts_max, events_max, sleeps)
        self.filed = needed.filed is not None
        self.tests = needed.tests
        self.lone = len(needed.key) == len(set(tables.positions))
        self.only: WindowCell | None = None  # the partition, if there is one at most
        self.begin: All | None = None  # what an event satisfies that begins a window of that, if it is tried first
        if self.filed and self.lone and tables.rousing > 0:
            self.begin = needed.tests[int(tables.rousing).bit_length() - 1]
        self.completing = CompletedPanes(tables, self.stepper, account)
        self.waiting: LongestWindows | None = LongestWindows(self.stepper) if tables.waits else None
        self.cells: dict[Any, WindowCell] = {}
        self.queue: OrderedDict[Any, WindowCell] = OrderedDict()

    @property
    def method(self) -> str:
        how = "the longest of each start, when it is over" if self.waiting is not None else "as they end"
        return f"starts in groups of equal future; windows told {how}{self.needed.attention()}"

    def audience(self) -> Audience:
        return WindowAudience(alike(self.member), self.tables)

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        tables = self.tables
        cell = self.only
        begin = self.begin
        if begin is not None and (cell is None or cell.columns.count == 0):
            if not holds(begin, row, (), NO_TIME, 1, 1):
                return False  # it is in no window
        key: Any = ()
        if cell is None:
            key = tables.partition(row)
            if key is None:
                return False
            cell = self.cells.get(key)
        letter = self._tried(row) if self.filed else mask >> self.shift
        looks = len(tables.gaps) > 0
        if tables.forgets:
            if looks:
                letter |= looked(tables, cell, row, time, slots_of(tables, cell, time))
            if not tables.begins[tables.column(letter)] and (cell is None or cell.columns.count == 0):
                return False  # it is in no window
        if cell is None:
            if len(self.cells) >= self.keys_max:
                self.lost += 1
                return False
            cell = WindowCell(key, tables)
            self.keep(key, cell)
        if looks and not tables.forgets:
            letter |= looked(tables, cell, row, time, slots_of(tables, cell, time))
        stepper, waiting = self.stepper, self.waiting
        opened = cell.columns.count > 0
        self.account.spend(1 + len(cell.groups))
        stepper.step(cell, tables.column(letter), row, time, item)
        if waiting is None:
            self.completing.finish(cell, time, found)
        else:
            waiting.completed(cell, time, found)
            if cell.columns.count > 0:
                stepper.settle(cell, cell.groups)
        cell.last = time
        cell.count += 1
        if self.sleeps and opened != (cell.columns.count > 0):
            self.count_opened(-1 if opened else 1)
        if waiting is not None:
            self._wait(cell)
        if len(cell.before) > 0:
            cell.remember(row, time)
        if stepper.lost > 0:
            self.complain()
        return True

    def _tried(self, row: Row) -> i64:
        """The conditions that an event of the only key satisfies, of those that read the event alone."""
        found: i64 = 0
        bit: i64 = 1
        for test in self.tests:
            while test is not None and test.predicate.holds(row, (), NO_TIME, 1, 1):
                test = test.rest
            if test is None:
                found |= bit
            bit <<= 1
        return found

    def keep(self, key: Any, cell: WindowCell | None) -> None:
        """Have this partition under a key from now on, or none."""
        if cell is None:
            self.cells.pop(key, None)
        else:
            self.cells[key] = cell
        if self.lone:
            self.only = cell

    def _wait(self, cell: WindowCell) -> None:
        """Note that the cell waits, behind all that had their events earlier; or that it does not wait any more."""
        if cell.columns.count > 0:
            self.queue[cell.key] = cell
            self.queue.move_to_end(cell.key)
        else:
            self.queue.pop(cell.key, None)
        self._set_alarm()

    def _set_alarm(self) -> None:
        self.alarm = END if len(self.queue) > 0 else NOTHING_DUE

    def advance(self, time: i64, found: Completions) -> None:
        waiting = self.waiting
        if waiting is None or time < FOREVER:
            return
        while len(self.queue) > 0:
            _, cell = self.queue.popitem(last=False)
            waiting.end(cell, found)
            self.count_opened(-1)
            self._set_alarm()

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        self.cells, self.only = {}, None
        self.queue = OrderedDict()
        self.count_opened(-self.opened)
        self.alarm = NOTHING_DUE

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        for key in [key for key, cell in self.cells.items() if cell.idle(self.tables, time)]:
            self.keep(key, None)
        self.count_opened(sum([cell.columns.count > 0 for cell in self.cells.values()]) - self.opened)
        return len(self.cells)

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        """The open starts. Which states they are in is not that of an automaton that people see."""
        return waiting_starts(list(self.cells.values()))

    def statistics(self) -> dict[str, int]:
        return {"windows": 1, **sizes(list(self.cells.values()), "window")}

    def check_invariants(self) -> None:
        assert self.only is (next(iter(self.cells.values()), None) if self.lone else None)
        assert not self.lone or len(self.cells) < 2
        for key, cell in self.cells.items():
            assert cell.key == key
            cell.check_invariants(self.tables)
        assert self.opened == (sum(cell.columns.count > 0 for cell in self.cells.values()) if self.sleeps else 0)
        waiting = list(self.queue.values())
        lasts = [cell.last for cell in waiting]
        assert lasts == sorted(lasts)
        assert all(cell.columns.count > 0 and self.cells[cell.key] is cell for cell in waiting)
        assert not waiting or self.waiting is not None

    def dump(self) -> Any:
        numbers = {id(cell): number for number, cell in enumerate(self.cells.values())}
        return [[cell.dump() for cell in self.cells.values()], [numbers[id(cell)] for cell in self.queue.values()]]

    def load(self, data: Any) -> None:
        saved, waiting = data
        for each in saved:
            key = self.tables.key_of(each[0])
            cell = WindowCell(key, self.tables)
            cell.load(each)
            self.keep(key, cell)
            if cell.columns.count > 0:
                self.count_opened(1)
        cells = list(self.cells.values())
        for number in waiting:
            self.queue[cells[number].key] = cells[number]
        self._set_alarm()
