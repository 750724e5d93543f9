"""A window subscription as its host knows it: the windows of each partition.

Here: the class of an event, which partition it belongs to, when time completes windows. Not here: the effect of an
event on a partition (stepping, longest), windows without conditions (pane_machine), the form that all executors have
(contract).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import Batch, TextColumn
from ....events.instant import FOREVER
from ....events.schema import Row
from ....events.text_codes import text_column
from ...program.account import Account
from ..completions import Audience, Completions
from ..contract import NOTHING_DUE, Executor, Member
from ..event_ids import EventIds
from ..matches import Item, WaitingRun
from ..packed import Integers
from .cell import WindowCell, drop_idle, looked, sizes, slots_of
from .completing import CompletedPanes
from .longest import NOBODY, LongestWindows, WaitingCells
from .pane_columns import NO_ID, NO_ROWS
from .stepping import NO_EVENTS, NO_PLACE, NO_ROW, QUIET, Stepper
from .tables import WindowTables
from .window_inputs import WindowInputs
from .window_matches import WindowAudience, waiting_starts

CALM_MIN: Final = 2  # events, behind which others are tried together where that has last been worth while
CALM_MAX: Final = 32  # the same where it has not been
STRETCH: Final = 8  # events of which that is worth while
ROWS_SHARE: Final = 4  # the share of events, one in so many, beyond which rows of columns are made all at once
PATIENCE: Final = 16  # batches after which rows are again made one by one
END: Final = FOREVER - 1  # an alarm that only the end of the input passes
NONE_WAITS: Final = WaitingCells()  # that of windows which are told as they end; it stays empty


@final
class WindowMachine(Executor):
    """The partitions of one subscription, by the attributes of BY: by the value of one, or a tuple of several. Without
    BY there is one, of the key (), and several of its events may be processed at once.

    `keys_max`: the most partitions. `gap`: after so much time without an event, windows that wait are over; -1 if
    unknown.
    """

    def __init__(
        self, tables: WindowTables, needed: WindowInputs, account: Account, keys_max: int, starts_max: int,
        events_max: int, sleeps: bool,
    ) -> None:  # fmt: skip
        super().__init__(account, needed.all)
        self.batches = True
        self.shift: i64 = 0 if tables.sleeps else 1  # the first input is every event, unless it sleeps
        self.sleeps = tables.sleeps and sleeps
        self.awake = tables.sleeps and not sleeps
        self.needed = needed
        self.home = needed.home
        if self.sleeps:
            self.rousing = tables.rousing
        self.opened: i64 = 0  # partitions with open windows
        self.tables = tables
        self.keys_max: i64 = keys_max
        self.stepper = Stepper(tables, account, starts_max, events_max)
        self.completing = CompletedPanes(tables, self.stepper, account)
        self.waiting: LongestWindows | None = LongestWindows(self.stepper) if tables.waits else None
        self.gap: i64 = -1 if tables.windows.gap is None else tables.windows.gap
        self.cells: dict[Any, WindowCell] = {}
        self.lone = len(tables.positions) == 0
        self.only: WindowCell | None = None  # the partition, if there is no BY
        self.queue = NONE_WAITS if self.waiting is None else WaitingCells()
        self.calm: i64 = 0  # so many events, the newest ones, have only made windows longer
        self.patience: i64 = CALM_MAX  # so many events are taken alone, until others are tried together
        self.patience_max: i64 = CALM_MAX
        self.alone: i64 = 0  # so many events have been taken alone
        self.rowing: i64 = 0  # so many batches more have rows made at once
        self.stretches = self.lone and self.stepper.stretches
        self.quick = len(tables.gaps) == 0 and len(tables.dense) > 0 and self.waiting is None and tables.back == 0
        self.quick = self.quick and self.stepper.prolongs
        self.placed = self.quick and tables.by_column  # events are read from columns, where there are any

    @property
    def method(self) -> str:
        how = "the longest of each start, when it is over" if self.waiting is not None else "as they end"
        return f"starts in groups of equal future; windows told {how}{self.needed.attention()}"

    def audience(self) -> Audience:
        return WindowAudience([] if self.member is None else [self.member.target], self.tables)

    def take_all(
        self, masks: Integers, times: list[int], batch: Batch, ids: EventIds, upto: i64, limit: i64,
        found: Completions,
    ) -> None:  # fmt: skip
        if not self.stretches:
            column = text_column(batch, int(self.tables.single)) if self.quick else None
            if not self.placed or column is None:
                batch.rows()
            if self.quick and self.home is None and self.tables.single >= 0:
                self._take_keyed(column, masks, times, batch, ids, upto, limit, found)
            else:
                super().take_all(masks, times, batch, ids, upto, limit, found)
            return
        by_columns = not self.placed and batch.made is None
        if by_columns and self.rowing > 0:
            self.rowing -= 1
            batch.rows()
            by_columns = False
        most = max(limit, times[self.at])
        first, alone = self.at, self.alone
        while self.at < upto and times[self.at] <= most:
            cell = self.only
            until = min(self.at + self.patience, upto)
            if self.quick and cell is not None and cell.columns.count > 0:
                self._take_several(cell, masks, times, batch, ids, until, most, found)
            else:
                super().take_all(masks, times, batch, ids, until, limit, found)
            if self.lost > 0:
                return
            cell = self.only
            at = self.at
            if cell is not None and self.calm > 0 and at < upto:
                self._stretch(cell, masks, times, batch, ids, upto, limit)
            if self.at - at >= STRETCH:
                self.patience = CALM_MIN
            elif self.patience < self.patience_max:
                self.patience += 1
        if by_columns and ROWS_SHARE * (self.alone - alone) > self.at - first:
            self.rowing = PATIENCE

    def _take_several(
        self, cell: WindowCell, masks: Integers, times: list[int], batch: Batch, ids: EventIds, upto: i64, most: i64,
        found: Completions,
    ) -> None:  # fmt: skip
        """Take events of the only partition one by one, as long as it has open windows."""
        dense, shift, made = self.tables.dense, self.shift, batch.made is not None
        rows = batch.rows() if made else NO_ROWS
        row, place, at = NO_ROW, NO_PLACE, self.at
        self.taken = True
        self.stepper.item = None
        while at < upto and self.lost == 0 and cell.columns.count > 0:
            time: i64 = times[at]
            if time > most:
                return
            found.event = at
            self.account.earn()
            self.alone += 1
            calm = self.calm
            self.calm = 0
            if made:
                row = rows[at]
            elif self.placed:
                place = at
            else:
                row = batch.row(at)
            self._take_open(cell, dense[masks[at] >> shift], row, batch, place, time, ids.at(at), found, calm)
            at += 1
            self.at = at

    def _take_keyed(
        self, column: TextColumn | None, masks: Integers, times: list[int], batch: Batch, ids: EventIds, upto: i64,
        limit: i64, found: Completions,
    ) -> None:  # fmt: skip
        """As `take_all`, where the value of one attribute is the key: as a text of a column it is looked up once."""
        dense, shift, rousing = self.tables.dense, self.shift, self.rousing
        cells, single = self.cells, self.tables.single
        known: list[WindowCell | None] = [None] * (0 if column is None else len(column.texts))
        made, rows = batch.made is not None, NO_ROWS if batch.made is None else batch.made
        row, place, at = NO_ROW, NO_PLACE, self.at
        most = max(limit, times[at])
        while at < upto and self.lost == 0 and times[at] <= most:
            time: i64 = times[at]
            mask = masks[at]
            if self.awake or mask & rousing != 0:
                found.event = at
                self.account.earn()
                cell: WindowCell | None = None
                if made:
                    row = rows[at]
                else:
                    place = at
                if column is None:
                    cell = cells.get(row[single])
                elif column.codes[at] >= 0:
                    code = column.codes[at]
                    cell = known[code]
                    if cell is None:
                        cell = known[code] = cells.get(column.texts[code])
                if cell is not None and cell.columns.count > 0:
                    self.taken = True
                    self.stepper.item = None
                    self._take_open(cell, dense[mask >> shift], row, batch, place, time, ids.at(at), found, 0)
                else:
                    self.take(mask, batch.row(at), time, 0, 0, (), ids.item(at), found)
            at += 1
            self.at = at

    def _stretch(
        self, cell: WindowCell, masks: Integers, times: list[int], batch: Batch, ids: EventIds, upto: i64,
        limit: i64,
    ) -> None:  # fmt: skip
        """Pass all events from the one with the index `at` that do nothing but make open windows longer."""
        first = self.at
        stepper = self.stepper
        paid = first + self.account.left // 2
        room = first + stepper.events_max - cell.columns.size
        upto = min(upto, min(paid, room))  # noqa: PLW3301  compiled, two numbers are compared without a call
        if upto <= first:
            return
        upto = stepper.stretch(cell, masks, self.shift, times, first, upto, limit)
        self.calm = upto - first
        if upto > first:
            cell.note_all(batch, ids, first, upto)
            self.account.turn_over(upto - first, 2)
            cell.last, self.at = times[upto - 1], upto

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, part: Row, item: Item, found: Completions
    ) -> bool:
        tables = self.tables
        cell = self.only
        key: Any = ()
        if cell is None:
            key = tables.partition(row)
            if key is None:
                return False
            cell = self.cells.get(key)
        self.taken = True
        self.alone += 1
        calm = self.calm
        self.calm = 0
        letter = mask >> self.shift
        self.stepper.item = item
        if self.quick and cell is not None and cell.columns.count > 0:
            self._take_open(cell, self.tables.dense[letter], row, NO_EVENTS, NO_PLACE, time, NO_ID, found, calm)
            return True
        looks = len(tables.gaps) > 0
        if tables.gap >= 0:
            looks = False
            if cell is not None and cell.count > 0 and time - cell.last <= tables.gap:
                letter |= tables.gap_bit
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
        done = stepper.step(cell, tables.column(letter), row, NO_EVENTS, NO_PLACE, time, NO_ID)
        if done == QUIET:
            self.calm = calm + 1
        elif waiting is None:
            self.completing.finish(cell, time, found)
        else:
            waiting.completed(cell, time, found)
            if cell.columns.count > 0:
                stepper.settle(cell)
        cell.last = time
        cell.count += 1
        if self.sleeps and opened != (cell.columns.count > 0):
            self._count_opened(-1 if opened else 1)
        if waiting is not None:
            self._wait(cell)
        if len(cell.before) > 0:
            cell.remember(row, time)
        if stepper.lost > 0:
            self.lost += stepper.lost
            stepper.lost = 0
        return True

    def _take_open(
        self, cell: WindowCell, column: i64, row: Row, batch: Batch, place: i64, time: i64, number: i64,
        found: Completions, calm: i64,
    ) -> None:  # fmt: skip
        """As `take`, for a partition with open windows that are told as they end, by conditions on the event alone."""
        stepper = self.stepper
        self.account.spend(1 + len(cell.groups))
        if stepper.step(cell, column, row, batch, place, time, number) == QUIET:
            self.calm = calm + 1
        else:
            self.completing.finish(cell, time, found)
        if self.sleeps and cell.columns.count == 0:
            self._count_opened(-1)
        cell.last = time
        cell.count += 1
        if stepper.lost > 0:
            self.lost += stepper.lost
            stepper.lost = 0

    def _count_opened(self, more: i64) -> None:
        self.opened += more
        self.awake = self.opened > 0

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
        queue = self.queue
        front = queue.front
        if cell.columns.count > 0:
            queue.touch(cell)
        else:
            queue.drop(cell)
        if queue.front != front:  # an alarm that is too early is put right when it wakes the machine
            self._set_alarm()

    def _set_alarm(self) -> None:
        first = self.queue.first()
        self.alarm = NOTHING_DUE
        if first is not None:
            self.alarm = END if self.gap < 0 else first.last + self.gap

    def advance(self, time: i64, found: Completions) -> None:
        waiting = self.waiting
        if waiting is None:
            return
        cell = self.queue.first()
        while cell is not None and (time >= FOREVER or (self.gap >= 0 and cell.last + self.gap < time)):
            waiting.end(cell, found)
            self.queue.drop(cell)
            if self.sleeps:
                self._count_opened(-1)
            cell = self.queue.first()
        self._set_alarm()

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        self.cells, self.only = {}, None
        self.queue = NONE_WAITS if self.waiting is None else WaitingCells()
        self.opened = 0
        self.awake = self.awake and not self.sleeps
        self.alarm = NOTHING_DUE

    def empty(self, time: i64, position: i64, places: dict[Any, int]) -> bool:
        if drop_idle(self.cells, self.tables, time):
            self.only = None
        if self.sleeps:
            self._count_opened(sum([cell.columns.count > 0 for cell in self.cells.values()]) - self.opened)
        return len(self.cells) == 0

    def keys(self) -> int:
        return len(self.cells)

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        """The open starts. Which states they are in is not that of an automaton that people see."""
        return waiting_starts(list(self.cells.values()))

    def statistics(self) -> dict[str, int]:
        return {"windows": 1, **sizes(list(self.cells.values()), "window")}

    def check_invariants(self) -> None:
        assert NONE_WAITS.first() is None
        assert self.only is (self.cells.get(()) if self.lone else None)
        for key, cell in self.cells.items():
            assert cell.key == key
            cell.check_invariants(self.tables)
        assert self.opened == (sum(cell.columns.count > 0 for cell in self.cells.values()) if self.sleeps else 0)
        waiting = self.queue.all()
        lasts = [cell.last for cell in waiting]
        assert lasts == sorted(lasts)
        assert all(cell.columns.count > 0 and self.queue.cells[cell.slot] is cell for cell in waiting)
        assert sum(cell.slot != NOBODY for cell in self.cells.values()) == len(waiting)

    def dump(self) -> Any:
        numbers = {id(cell): number for number, cell in enumerate(self.cells.values())}
        return [[cell.dump() for cell in self.cells.values()], [numbers[id(cell)] for cell in self.queue.all()]]

    def load(self, data: Any) -> None:
        saved, waiting = data
        for each in saved:
            key = self.tables.key_of(each[0])
            cell = WindowCell(key, self.tables)
            cell.load(each)
            self.keep(key, cell)
            if self.sleeps and cell.columns.count > 0:
                self._count_opened(1)
        cells = list(self.cells.values())
        for number in waiting:
            self.queue.touch(cells[number])
        self.taken = True
        self._set_alarm()
