"""How many starts of a partition may be open, and how many events they may keep; the oldest are given up.

Only what waits is counted: columns that begin with panes that are over are shortened now and then (cell). A start that
is given up has no windows. Where an event is told the earliest of its windows only, and a start that was given up might
have it, it is told none: one that begins later would be another window.

Here: which starts are given up. Hot. Not here: groups without them (stepping, family_stepping), windows without
conditions (boundaries), telling (completing).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from .cell import WindowCell
from .pane_groups import NONE_YET
from .tables import WindowTables


@final
class StartLimits:
    """The most open starts of a partition, and the most events that these may keep."""

    def __init__(self, tables: WindowTables, starts_max: int, events_max: int) -> None:
        self.starts_max: i64 = tables.starts_max(starts_max, events_max)
        self.events_max: i64 = events_max
        self.earliest = tables.keep == "earliest"

    def give_up(self, cell: WindowCell, known: i64) -> i64:
        """Give up the oldest of the open starts, of which the first is the pane `known`, at the current event. Returns
        the first pane that stays, or -1 if all may. O(1 + those that are given up)."""
        columns = cell.columns
        panes, base, end = columns.panes, columns.base, columns.end()
        first = max(end - self.starts_max, known)
        while first < end and cell.count - panes[2 * (first - base)] >= self.events_max:
            first += 1
        if first == known:
            return -1
        if self.earliest:
            cell.given = panes[2 * (first - 1 - base)]
            cell.given_time = panes[2 * (first - 1 - base) + 1]
        ends = cell.ends
        pane: i64
        for pane in range(2 * (known - base), min(2 * (first - base), len(ends)), 2):
            ends[pane] = NONE_YET
        return first
