"""Windows that wait for their end: of each start the longest (KEEP LONGEST), such as sessions.

A start is reported when no longer window of it can come: its groups are gone, or time has passed a gap that no window
spans, or the input has ended. Until then each pane notes the last event at which it had a window.

Here: what differs from windows that are reported at once (stepping). O(open starts) for an event, since each may have a
window at it.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from .cell import WindowCell, below
from .stepping import Stepper
from .window_matches import WaitingWindows

NONE_YET: Final = -1


@final
class LongestWindows:
    """The longest windows of all partitions of a machine."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper

    def completed(self, cell: WindowCell, time: i64) -> WaitingWindows | None:
        """Note the windows at the current event, and return those whose starts are over."""
        cell.last = time
        tables = self.stepper.tables
        while len(cell.ends) < len(cell.columns.positions):
            cell.ends.append(NONE_YET)
        if len(cell.moments) < len(cell.columns.items):
            cell.moments.append(int(time))
        alive: list[bool] = [False] * len(cell.columns.positions)
        for group in cell.groups:
            if not tables.terminal[group.state]:
                for low, high in _pairs(group.intervals()):
                    for pane in range(low, high + 1):
                        alive[pane - int(cell.columns.base)] = True
            if tables.final[group.state]:
                part = tables.part[group.state]
                ripe = self.stepper.ripe(cell, part) if tables.least[part] > 1 else group.high + 1
                for low, high in _pairs(below(group.intervals(), ripe)):
                    for pane in range(low, high + 1):
                        cell.ends[pane - int(cell.columns.base)] = int(cell.count)
        return self._over(cell, alive)

    def end(self, cell: WindowCell) -> WaitingWindows | None:
        """Nothing follows that could belong to an open window."""
        found = self._over(cell, [False] * len(cell.columns.positions))
        cell.groups = []
        if len(cell.columns.positions) > 0:
            cell.forget()
        return found

    def _over(self, cell: WindowCell, alive: list[bool]) -> WaitingWindows | None:
        """The windows of the starts that are not alive."""
        spans: list[tuple[int, int, int, int]] = []
        logged = int(cell.columns.logged)
        for at, last in enumerate(cell.ends):
            if last != NONE_YET and not alive[at]:
                spans.append((cell.columns.positions[at], last, cell.columns.began[at], cell.moments[last - logged]))
                cell.ends[at] = NONE_YET
        if not spans:
            return None
        self.stepper.account.spend(len(spans))
        return WaitingWindows(self.stepper.tables, spans, cell.columns)


def _pairs(intervals: list[int]) -> list[tuple[int, int]]:
    return [(intervals[at], intervals[at + 1]) for at in range(0, len(intervals), 2)]
