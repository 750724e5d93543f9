"""The progress of a window subscription for the key of the current event, for its forecast: which windows are open.

Here: the elementary states of the open windows of a partition (automaton/analyses/window_chain). Not here: groups
(stepping), using the answer (broker.forecast).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....automaton.analyses.window_chain import WindowChain
from ....events.instant import FOREVER
from ....events.schema import Row
from ....forecast.exceeding import Exceeding
from ....forecast.key_state import KeyState
from ....forecast.progress import Progress
from ....forecast.states import NONE, States
from ...matches.sources import ids
from .cell import WindowCell
from .machine import WindowMachine
from .pane_groups import Group
from .window_matches import open_windows

NO_PANE: Final = -1


@final
class WindowProgress(Progress):
    """By the open windows of the partition. An aggregate of theirs may divide a state into levels (`exceeding`).

    A look costs the open groups; the open windows, where their events are counted or their aggregates asked for.
    """

    def __init__(self, machine: WindowMachine, states: States, chain: WindowChain) -> None:
        super().__init__(0)
        self.machine = machine
        self.tables = machine.tables
        self.states = states
        self.chain = chain
        self.exceeding: Exceeding | None = states.exceeding
        self.pane: i64 = NO_PANE  # the newest one in the furthest state, when that was last looked for

    def look(self, state: KeyState, row: Row, time: i64) -> tuple[i64, bool]:
        self.until = FOREVER
        cell = self._cell(row)
        if cell is None or len(cell.groups) == 0:
            return NONE, False
        latest = self._latest(cell, time)
        if len(latest) == 0:
            return NONE, False
        found = self.states.of(sorted(latest))
        if self.states.sets:
            for until in latest.values():
                self.until = min(self.until, until)
        else:
            self.until = latest[found]
        return found, False

    def end(self, row: Row, time: i64, until: i64) -> i64:
        return until

    def lineage(self, state: KeyState, row: Row, time: i64) -> list[int] | None:
        cell = self._cell(row)
        if cell is None or state.state in (NONE, self.states.final):
            return None
        wanted = min(self._latest(cell, time), key=self.states.order.index)
        self._latest(cell, time, wanted)
        columns = cell.columns
        first = columns.panes[2 * (self.pane - columns.base)] - columns.logged
        return [number for item in columns.items[first:] for number in ids(item)]

    def label(self, state: int) -> str:
        return self.states.label(state)

    def _cell(self, row: Row) -> WindowCell | None:
        key: Any = self.tables.partition(row)
        return self.machine.cells.get(key)

    def _latest(self, cell: WindowCell, time: i64, wanted: int = NONE) -> dict[int, int]:
        """By elementary state of the open windows, the last moment at which one of those there can be completed.

        `pane`: the newest one in the `wanted` state.
        """
        latest: dict[int, int] = {}
        self.pane = NO_PANE
        opened = None if self.exceeding is None else open_windows(self.tables, cell)
        for group in cell.groups:
            part = self.tables.part[group.state]
            within = self.tables.within[part]
            depth = self.chain.depths[part]
            for pane in self._panes(group, depth > 0):
                place = 2 * (pane - cell.columns.base)
                until = min(cell.columns.panes[place + 1] + within, FOREVER)
                events = min(int(cell.count - cell.columns.panes[place]), depth)
                number = self.chain.numbers.get((int(group.state), events), NONE)
                if number == NONE or until < time:
                    continue  # it cannot go on
                if self.exceeding is not None and opened is not None:
                    value = opened.value_at(self.exceeding.position, pane)
                    number += len(self.exceeding.cuts) - self.exceeding.level(value)
                latest[number] = max(latest.get(number, 0), until)
                if number == wanted:
                    self.pane = max(self.pane, pane)
        return latest

    def _panes(self, group: Group, counted: bool) -> list[int]:
        """The panes of a group to be looked at: the newest one, if nothing tells them apart."""
        if not counted and self.exceeding is None:
            return group.intervals[-1:]
        return group.panes()
