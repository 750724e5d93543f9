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
from .pane_groups import Group, below, joined, without
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
        panes: list[int] = []
        for group in groups:
            if final[group.state] == 0:
                continue
            part = tables.part[group.state]
            own = group.intervals
            if tables.least[part] > 1:
                own = below(own, self.stepper.ripe(cell, part))
            panes = joined([panes, own]) if len(panes) > 0 else own
        if len(panes) > 0:
            self._report(cell, panes, time, found)

    def _report(self, cell: WindowCell, panes: list[int], time: i64, found: Completions) -> None:
        mode = self.mode
        if mode == EARLIEST:
            if cell.given != GIVEN_NONE and self._given_up(cell, time):
                return
            panes = [panes[0], panes[0]]
        elif mode == LATEST:
            panes = [panes[-1], panes[-1]]
        elif mode == SHORTEST:
            self._close(cell, panes)
        self.account.spend(_tell(cell, panes, time, found))

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
            group.intervals = without(group.intervals, found)
            if len(group.intervals) > 0:
                groups.append(group)
        cell.groups = groups


def page_of(found: Completions) -> WindowPage:
    """The page of the last row, or a new one."""
    page = found.page
    return page if isinstance(page, WindowPage) else WindowPage()


def _tell(cell: WindowCell, panes: list[int], time: i64, found: Completions) -> i64:
    """Report the windows of these intervals of panes to the current event; returns how many they are."""
    page = page_of(found)
    count: i64 = ENDED_NUMBERS + len(panes)
    numbers = found.room(count)
    place = found.upto + HEADER
    numbers[place] = page.of(cell.columns)
    numbers[place + 1] = cell.count
    numbers[place + 2] = time
    numbers[place + 3] = page.close(cell.closings(panes[0], panes[-1]))
    place += ENDED_NUMBERS
    amount: i64 = 0
    at: i64
    for at in range(0, len(panes), 2):
        numbers[place + at] = panes[at]
        numbers[place + at + 1] = panes[at + 1]
        amount += panes[at + 1] - panes[at] + 1
    found.close(page, 0, ENDED, count, amount)
    return amount
