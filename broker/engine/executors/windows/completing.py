"""Windows that are reported when they are complete: the panes of groups in final states.

Here: which panes, and the row of `Completions` that has them. Hot. Not here: groups (stepping), windows that wait for
their end (longest).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...matches.completions import HEADER, Completions
from ...program.account import Account
from .cell import GIVEN_NONE, WindowCell
from .pane_groups import NO_REST, Group, below, joined, without
from .stepping import Stepper
from .tables import WindowTables
from .window_page import ENDED, ENDED_NUMBERS, WindowPage

EACH: Final = 0
SHORTEST: Final = 1
EARLIEST: Final = 2
LATEST: Final = 3
LONGEST: Final = 4
MODES: Final = {"each": EACH, "shortest": SHORTEST, "earliest": EARLIEST, "latest": LATEST, "longest": LONGEST}


@final
class CompletedPanes:
    """Reports the windows of all partitions of a machine, as `keep` says."""

    def __init__(self, tables: WindowTables, stepper: Stepper, account: Account) -> None:
        self.tables = tables
        self.stepper = stepper
        self.account = account
        self.mode: i64 = MODES[tables.keep]

    def finish(self, cell: WindowCell, time: i64, found: Completions) -> None:
        """Report what the current event completes, and drop what leads nowhere."""
        if len(cell.groups) > 0:
            self.report(cell, time, found)
        if cell.columns.count > 0:
            self.stepper.settle(cell, cell.groups)

    def report(self, cell: WindowCell, time: i64, found: Completions) -> None:
        """Report the windows that the current event completes. `cell.count` is its number."""
        tables = self.tables
        final = tables.final
        groups = cell.groups
        low: i64 = 0
        high = -1
        rest = NO_REST
        for group in groups:
            if final[group.state] == 0:
                continue
            part = tables.part[group.state]
            ripe = self.stepper.ripe(cell, part) if tables.least[part] > 1 else group.high + 1
            if group.first() >= ripe:
                continue
            if high < 0 and group.low < ripe:
                low, high, rest = group.low, min(group.high, ripe - 1), group.rest
                continue
            own = below(group.intervals(), ripe)
            if high >= 0:
                own = joined([own, [*rest, int(low), int(high)]])
            low, high, rest = own[-2], own[-1], own[:-2]
        if high >= 0:
            self._report(cell, low, high, rest, time, found)

    def _report(
        self, cell: WindowCell, low: i64, high: i64, rest: list[int], time: i64, found: Completions
    ) -> None:
        mode = self.mode
        if mode != EACH:
            if mode == EARLIEST:
                if cell.given != GIVEN_NONE and self._given_up(cell, time):
                    return
                if len(rest) > 0:
                    low = rest[0]
                high = low
                rest = NO_REST
            elif mode == LATEST:
                low = high
                rest = NO_REST
            else:
                self._close(cell, [*rest, int(low), int(high)])
        self.account.spend(_tell(cell, low, high, rest, time, found))

    def _given_up(self, cell: WindowCell, time: i64) -> bool:
        """Whether a start that was given up may be the earliest of this event's windows."""
        if self.tables.reaches(cell.given, cell.given_time, cell.count, time):
            return True
        cell.given = GIVEN_NONE
        return False

    def _close(self, cell: WindowCell, found: list[int]) -> None:
        """Drop the starts whose shortest windows have been found."""
        groups: list[Group] = []
        for group in cell.groups:
            rest = without(group.intervals(), found)
            if len(rest) > 0:
                group.take(rest)
                groups.append(group)
        cell.groups = groups


def page_of(found: Completions) -> WindowPage:
    """The page of the last row, or a new one."""
    page = found.page
    return page if isinstance(page, WindowPage) else WindowPage()


def _tell(cell: WindowCell, low: i64, high: i64, rest: list[int], time: i64, found: Completions) -> i64:
    """Report the windows of all these panes to the current event; returns how many they are."""
    page = page_of(found)
    columns = cell.columns
    oldest: i64 = rest[0] if len(rest) > 0 else low
    count: i64 = ENDED_NUMBERS + len(rest) + 2
    numbers = found.room(count)
    place = found.upto + HEADER
    numbers[place] = page.of(columns)
    numbers[place + 1] = cell.count
    numbers[place + 2] = time
    numbers[place + 3] = page.close(cell.closings(oldest, high))
    place += ENDED_NUMBERS
    amount = high - low + 1
    at: i64
    for at in range(0, len(rest), 2):
        numbers[place] = rest[at]
        numbers[place + 1] = rest[at + 1]
        amount += rest[at + 1] - rest[at] + 1
        place += 2
    numbers[place] = low
    numbers[place + 1] = high
    found.close(page, 0, ENDED, count, amount)
    return amount
