"""Windows that wait for their end: of each start the longest (KEEP LONGEST).

A start is reported when no longer window of it can come: its groups are gone, or the input has ended. Until then a
group notes the last event at which its panes had a window; where its panes had not all the same, each pane does. Where
windows are bounded, or of several parts, panes are looked at one by one.

Here: what differs from windows that are reported at once (completing). O(groups) an event; O(open starts) with bounds.
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...matches.completions import HEADER, Completions
from .cell import WindowCell
from .completing import page_of
from .pane_groups import NONE_YET, Group, below
from .stepping import Stepper
from .window_page import OVER


@final
class LongestWindows:
    """The longest windows of all partitions of a machine."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper

    def completed(self, cell: WindowCell, time: i64, found: Completions) -> None:
        """Note the windows at the current event, and report those whose starts are over."""
        stepper = self.stepper
        tables = stepper.tables
        if not tables.plain:
            self._completed_by_pane(cell, time, found)
            stepper.over.clear()
            return
        over = stepper.over
        for group in cell.groups:
            if tables.final[group.state] != 0:
                group.last = cell.count
                group.moment = time
            if tables.terminal[group.state] != 0:
                over.append(group)
        if len(over) > 0:
            self._tell(cell, over, found)
            over.clear()

    def _tell(self, cell: WindowCell, groups: list[Group], found: Completions) -> None:
        """Report the starts of groups that are over."""
        for group in groups:
            if group.last != NONE_YET:
                cell.note_ends(group.intervals, group.last, group.moment)
                group.last = NONE_YET
        panes: list[int] = []
        base = int(cell.columns.base)
        for group in groups:
            panes += [pane - base for pane in group.panes()]
        if len(groups) > 1:
            panes.sort()
        self._report(cell, panes, found)

    def _completed_by_pane(self, cell: WindowCell, time: i64, found: Completions) -> None:
        """The same, whatever the bounds, and if a start is in several groups. O(open starts)."""
        tables = self.stepper.tables
        base = int(cell.columns.base)
        alive = [False] * int(cell.columns.count)
        for group in cell.groups:
            if tables.terminal[group.state] == 0:
                for pane in group.panes():
                    alive[pane - base] = True
            if tables.final[group.state] != 0:
                part = tables.part[group.state]
                ripe = self.stepper.ripe(cell, part) if tables.least[part] > 1 else group.intervals[-1] + 1
                cell.note_ends(below(group.intervals, ripe), cell.count, time)
        known = min(len(cell.ends) // 2, len(alive))
        self._report(cell, [pane for pane in range(known) if not alive[pane]], found)

    def end(self, cell: WindowCell, found: Completions) -> None:
        """Nothing follows that could belong to an open window."""
        for group in cell.groups:
            if group.last != NONE_YET:
                cell.note_ends(group.intervals, group.last, group.moment)
        self._report(cell, list(range(len(cell.ends) // 2)), found)
        cell.groups = []
        if cell.columns.count > 0:
            cell.forget()

    def _report(self, cell: WindowCell, panes: list[int], found: Completions) -> None:
        """Report the last windows of panes, ascending, that have one and are over."""
        ends = cell.ends
        panes = [pane for pane in panes if 2 * pane < len(ends) and ends[2 * pane] != NONE_YET]
        if len(panes) == 0:
            return
        columns = cell.columns
        page = page_of(found)
        count: i64 = 1 + 4 * len(panes)
        numbers = found.room(count)
        place = found.upto + HEADER
        numbers[place] = page.of(columns)
        place += 1
        pane: i64
        for pane in panes:
            numbers[place] = columns.panes[2 * pane]
            numbers[place + 1] = ends[2 * pane]
            numbers[place + 2] = columns.panes[2 * pane + 1]
            numbers[place + 3] = ends[2 * pane + 1]
            ends[2 * pane] = NONE_YET
            place += 4
        found.close(page, 0, OVER, count, len(panes))
        self.stepper.account.spend(len(panes))
