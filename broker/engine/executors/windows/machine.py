"""A window subscription as its host knows it: the windows of each partition.

Here: the class of an event, which partition it belongs to, when time completes windows. Not here: the effect of an
event on a partition (stepping, longest), windows of the clock (clock), the form that all executors have (contract).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....algebra.predicate import holds
from ....events.instant import FOREVER
from ....events.schema import Row
from ...program.account import Account
from ..completions import Completions
from ..contract import NOTHING_DUE, Executor
from ..matches import Item
from .cell import WindowCell
from .longest import LongestWindows
from .stepping import LONGEST, Stepper
from .tables import WindowTables

END: Final = FOREVER - 1  # an alarm that only the end of the input passes


@final
class WindowMachine(Executor):
    """The partitions of one subscription, by the attributes of BY. Without BY there is one, of the key ().

    `keys_max`: the most partitions. `gap`: after so much time without an event, windows that wait are over; -1 if
    unknown.
    """

    def __init__(self, tables: WindowTables, account: Account, keys_max: int, starts_max: int, events_max: int) -> None:
        super().__init__(account, tables.inputs)
        self.tables = tables
        self.keys_max: i64 = keys_max
        self.divided = len(tables.source.key) > 0
        self.blank: Row = (None,) * tables.width
        self.stepper = Stepper(tables, account, starts_max, events_max)
        self.waiting: LongestWindows | None = LongestWindows(self.stepper) if self.stepper.mode == LONGEST else None
        self.gap: i64 = -1 if tables.windows.gap is None else tables.windows.gap
        self.cells: dict[Row, WindowCell] = {}
        self.recent: dict[Row, WindowCell] = {}  # cells with windows that wait, the one that waits longest first

    @property
    def method(self) -> str:
        how = "the longest of each start, when it is over" if self.waiting is not None else "as they end"
        return f"starts in groups of equal future; windows told {how}"

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, part: Row, item: Item, found: Completions
    ) -> bool:
        if self.divided:
            if place == 0:
                return False
        else:
            part = ()
        self.taken = True
        tables = self.tables
        cell = self.cells.get(part)
        letter = mask >> 1
        column: i64 = 0
        if tables.forgets:
            if tables.looks:
                letter |= self._looking(cell, row, time)
            column = tables.column(letter)
            if not tables.begins[column] and (cell is None or len(cell.columns.positions) == 0):
                return False  # it is in no window
        if cell is None:
            if len(self.cells) >= self.keys_max:
                self.lost += 1
                return False
            cell = self.cells[part] = WindowCell(part, tables, self.blank)
        if not tables.forgets:
            if tables.looks:
                letter |= self._looking(cell, row, time)
            column = tables.column(letter)
        stepper = self.stepper
        self.account.spend(1 + len(cell.groups))
        stepper.move(cell, column, row, (int(time),) if tables.timed else (), time, item)
        waiting = self.waiting
        if waiting is not None:
            over = waiting.completed(cell, time)
            if over is not None:
                found.add(over)
        elif len(cell.groups) > 0:
            ended = stepper.completed(cell, time)
            if ended is not None:
                found.add(ended)
        if len(cell.columns.positions) > 0:
            stepper.settle(cell)
        cell.count += 1
        if waiting is not None:
            self._wait(cell)
        if len(cell.before) > 0:
            _remember(cell, row, time)
        if stepper.lost > 0:
            self.lost += stepper.lost
            stepper.lost = 0
        return True

    def _looking(self, cell: WindowCell | None, row: Row, time: i64) -> i64:
        """The bits of the conditions that read earlier events, or times."""
        slots: Slots = (int(time),)
        if cell is not None and len(cell.before) > 0:
            slots = (*cell.before, int(time), *cell.times)
        bit: i64 = 1 << self.tables.plain
        found: i64 = 0
        for condition in self.tables.tested:
            if holds(condition, row, (), slots, 1, 1):
                found |= bit
            bit <<= 1
        return found

    # --- windows that wait -------------------------------------------------------------------------------------------

    def _wait(self, cell: WindowCell) -> None:
        """Note that the cell waits, behind all that had their events earlier; or that it does not wait any more."""
        self.recent.pop(cell.key, None)
        if len(cell.columns.positions) > 0:
            self.recent[cell.key] = cell
        self._set_alarm()

    def _set_alarm(self) -> None:
        self.alarm = NOTHING_DUE
        for first in self.recent.values():
            self.alarm = END if self.gap < 0 else first.last + self.gap
            break

    def advance(self, time: i64, found: Completions) -> None:
        waiting = self.waiting
        if waiting is None:
            return
        for cell in list(self.recent.values()):
            if time < FOREVER and (self.gap < 0 or cell.last + self.gap >= time):
                break
            over = waiting.end(cell)
            if over is not None:
                found.add(over)
            del self.recent[cell.key]
        self._set_alarm()

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        self.cells = {}
        self.recent = {}
        self.alarm = NOTHING_DUE

    def empty(self, time: i64, position: i64, places: dict[Any, int]) -> bool:
        """Partitions are forgotten that are as if they had had no event; the others stay, however long ago that is."""
        for key in [key for key, cell in self.cells.items() if cell.idle()]:
            del self.cells[key]
        return not self.cells

    def keys(self) -> int:
        return len(self.cells)

    def partitions(self) -> set[tuple[Any, ...]]:
        return set(self.cells)

    def statistics(self) -> dict[str, int]:
        cells = self.cells.values()
        return {
            "windows": 1,
            "window_keys": len(self.cells),
            "window_starts": sum([len(cell.columns.positions) for cell in cells]),
            "window_groups": sum([len(cell.groups) for cell in cells]),
            "window_events": sum([len(cell.columns.items) for cell in cells]),
        }

    def check_invariants(self) -> None:
        for key, cell in self.cells.items():
            assert cell.key == key
            cell.check_invariants(self.tables)
        lasts = [cell.last for cell in self.recent.values()]
        assert lasts == sorted(lasts)
        assert all(len(cell.columns.positions) > 0 for cell in self.recent.values())

    def dump(self) -> Any:
        return [[cell.dump() for cell in self.cells.values()], [list(key) for key in self.recent]]

    def load(self, data: Any) -> None:
        saved, recent = data
        for each in saved:
            key = tuple(each[0])
            cell = self.cells[key] = WindowCell(key, self.tables, self.blank)
            cell.load(each)
        self.recent = {tuple(key): self.cells[tuple(key)] for key in recent}
        self.taken = True
        self._set_alarm()


def _remember(cell: WindowCell, row: Row, time: i64) -> None:
    """Keep the event to be looked back at."""
    before, times = cell.before, cell.times
    at: i64 = len(before) - 1
    while at > 0:
        before[at] = before[at - 1]
        times[at] = times[at - 1]
        at -= 1
    before[0] = row
    times[0] = int(time)
