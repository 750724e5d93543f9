"""Windows of the clock: [k * slide + offset, k * slide + offset + size), told when time has passed their end.

A pane begins with the first event of a partition in each period of `slide`. A window ends before any event behind it
comes, so that its events are always the newest ones of its partition: the same columns and measures serve as for other
windows. A ring has, for each open window, the partitions with events in it; no partition has a timer of its own.

Here: that machine. Not here: columns (cell), measures (measures).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....events.schema import Row
from ...program.account import Account
from ..completions import Completions
from ..contract import NOTHING_DUE, Executor
from ..matches import Item
from .cell import NO_NUMBERS, WindowCell
from .measures import NO_CLOSINGS, MeasureClosing, first_at_least
from .tables import WindowTables
from .window_matches import EndingWindows

NEVER_IN: Final = -(1 << 62)
"""The number of a window before all that there can be."""


@final
class ClockMachine(Executor):
    """The partitions of one subscription. `ring`: by the number of an open window, the partitions with events in it, in
    the order of their first ones.
    """

    def __init__(self, tables: WindowTables, account: Account, keys_max: int, events_max: int) -> None:
        super().__init__(account, tables.inputs)
        clock = tables.windows.clock
        assert clock is not None
        self.tables = tables
        self.keys_max: i64 = keys_max
        self.events_max: i64 = events_max
        self.size: i64 = clock.size
        self.slide: i64 = clock.slide
        self.offset: i64 = clock.offset
        self.divided = len(tables.source.key) > 0
        self.cells: dict[Row, WindowCell] = {}
        self.ring: dict[int, list[WindowCell]] = {}
        self.trims_at_once = False  # for tests

    @property
    def method(self) -> str:
        return "panes by the period of the clock; windows told when time has passed their end"

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, part: Row, item: Item, found: Completions
    ) -> bool:
        if self.divided:
            if place == 0:
                return False
        else:
            part = ()
        since = time - self.offset
        newest = since // self.slide
        oldest = (since - self.size) // self.slide + 1
        if oldest > newest:
            return False  # between two windows
        self.taken = True
        self.account.spend(1)
        cell = self.cells.get(part)
        if cell is None:
            if len(self.cells) >= self.keys_max:
                self.lost += 1
                return False
            cell = self.cells[part] = WindowCell(part, self.tables, ())
            cell.upto = NEVER_IN
        tables = self.tables
        times: Slots = (int(time),) if tables.timed else ()
        if newest > cell.upto:
            self._enter(cell, max(oldest, cell.upto + 1), newest, time)
        noted = (*row[: tables.width], int(time)) if tables.timed else row  # rows may have more attributes by now
        cell.note(noted, times, item, tables.rows)
        cell.count += 1
        cell.last = time
        if len(cell.columns.items) > self.events_max:
            self.lost += 1
            self._leave(cell, newest)
        return True

    def _enter(self, cell: WindowCell, first: i64, newest: i64, time: i64) -> None:
        """Begin a pane in a new period, and enter the windows that it is the first of its partition in."""
        cell.open(time)
        cell.periods.append(int(newest))
        cell.upto = newest
        number = first
        while number <= newest:
            cells = self.ring.get(int(number))
            if cells is None:
                self.ring[int(number)] = [cell]
                due = number * self.slide + self.offset + self.size - 1
                if due < self.alarm:
                    self.alarm = due
            else:
                cells.append(cell)
            number += 1

    def advance(self, time: i64, found: Completions) -> None:
        for number in sorted(self.ring):
            begin = number * self.slide + self.offset
            if begin + self.size > time:
                break
            for cell in self.ring.pop(number):
                self._tell(cell, number, begin, found)
                self._leave(cell, number + 1)
        self.alarm = NOTHING_DUE
        if self.ring:
            self.alarm = min(self.ring) * self.slide + self.offset + self.size - 1

    def _tell(self, cell: WindowCell, number: i64, begin: i64, found: Completions) -> None:
        """Report the window of a partition: all its events since the first one in the window."""
        self.account.spend(1)
        at = first_at_least(cell.periods, number)
        columns = cell.columns
        pane = columns.base + at
        first: i64 = columns.positions[at]
        closings: list[MeasureClosing] = NO_CLOSINGS
        if cell.many:
            closings = [measure.closing(first) for measure in cell.measures]
        last = cell.count - 1
        source = EndingWindows(self.tables, pane, pane, NO_NUMBERS, columns, last, cell.last, closings, int(begin))
        found.add(source)

    def _leave(self, cell: WindowCell, number: i64) -> None:
        """Forget the panes of a partition before a period; the partition, if it has no others."""
        at = first_at_least(cell.periods, number)
        if at == len(cell.periods):
            del self.cells[cell.key]
        else:
            cell.trim(cell.columns.base + at, self.trims_at_once)

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        self.cells = {}
        self.ring = {}
        self.alarm = NOTHING_DUE

    def empty(self, time: i64, position: i64, places: dict[Any, int]) -> bool:
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
            "window_groups": len(self.ring),
            "window_events": sum([len(cell.columns.items) for cell in cells]),
        }

    def check_invariants(self) -> None:
        for key, cell in self.cells.items():
            assert cell.key == key
            assert len(cell.periods) == len(cell.columns.positions) > 0
            cell.check_invariants(self.tables)
        for number, cells in self.ring.items():
            assert all(self.cells[cell.key] is cell and cell.periods[-1] >= number for cell in cells)

    def dump(self) -> Any:
        ring = [[number, [list(cell.key) for cell in cells]] for number, cells in self.ring.items()]
        return [[cell.dump() for cell in self.cells.values()], ring]

    def load(self, data: Any) -> None:
        cells, ring = data
        for saved in cells:
            key = tuple(saved[0])
            cell = self.cells[key] = WindowCell(key, self.tables, ())
            cell.load(saved)
        self.ring = {number: [self.cells[tuple(key)] for key in keys] for number, keys in ring}
        if self.ring:
            self.alarm = min(self.ring) * self.slide + self.offset + self.size - 1
        self.taken = True
