"""The effect of an event on the windows of its partition (semantics 5.3).

Old groups move, a start begins if the prefix before the event allows it, the event enters log and measures, and groups
in final states report their panes. Groups that meet in a state merge; aggregates do not belong to groups, so that
merging moves intervals only. Cost: groups, plus windows that are reported; O(1) amortised for all else.

Here: windows that are reported when they are complete. Hot. Not here: those that wait for their end (longest), windows
of the clock (clock).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....events.schema import Row
from ...account import Account
from ..matches import Item
from .cell import Group, WindowCell, joined, without
from .measures import Closing
from .tables import WindowTables
from .window_matches import EndingWindows, LogPart

EACH: Final = 0
SHORTEST: Final = 1
EARLIEST: Final = 2
LATEST: Final = 3
LONGEST: Final = 4
MODES: Final = {"each": EACH, "shortest": SHORTEST, "earliest": EARLIEST, "latest": LATEST, "longest": LONGEST}
FEW: Final = 8  # groups up to which the one in a state is searched for


@final
class Stepper:
    """Steps all partitions of a machine. `lost`: how many open starts a limit has cut off since it was last asked."""

    def __init__(self, tables: WindowTables, account: Account, starts_max: int, events_max: int) -> None:
        self.tables = tables
        self.account = account
        self.mode: i64 = MODES[tables.keep]
        self.starts_max: i64 = starts_max
        self.events_max: i64 = events_max
        self.lost: i64 = 0
        self.trims_at_once = False  # for tests
        self._where: list[int] = [-1] * len(tables.final)  # by state: its group, while there are many
        self._stamp: list[int] = [-1] * len(tables.final)
        self._now = 0

    # --- groups ------------------------------------------------------------------------------------------------------

    def move(self, cell: WindowCell, column: i64, row: Row, times: Slots, time: i64, item: Item) -> None:
        """Move all groups along the event, begin a start if it begins one, and add it to log and measures."""
        tables = self.tables
        columns = tables.columns
        body = tables.body
        expires = tables.expires
        if expires:
            self._expire(cell, time)
        groups = cell.groups
        kept: i64 = 0
        at: i64
        if len(groups) > FEW:
            self._now += 1
        many = len(groups) > FEW
        for at in range(len(groups)):
            group = groups[at]
            state: i64 = body[group.state * columns + column]
            if state < 0:
                continue
            if expires and not group.cut(cell.low[tables.part[state]]):
                continue
            known = self._known(groups, kept, state, many)
            if known >= 0:
                groups[known].merge(group)
                continue
            group.state = state
            if many:
                self._stamp[state] = self._now
                self._where[state] = int(kept)
            groups[kept] = group
            kept += 1
        if kept < len(groups):
            del groups[kept:]
        pane: i64 = -1
        part: i64
        for part in range(tables.parts):
            prefix = tables.prefix[part]
            before: i64 = cell.states[part]
            begun: i64 = tables.starts[part][before]
            if begun >= 0:
                begun = body[begun * columns + column]
                if begun >= 0:
                    if pane < 0:
                        pane = cell.open(time)
                    known = self._known(groups, len(groups), begun, False)
                    if known >= 0:
                        groups[known].merge(Group(begun, pane, pane, []))
                    else:
                        groups.append(Group(begun, pane, pane, []))
            after: i64 = prefix[before * columns + column]
            if after != before:
                cell.states[part] = int(after)
        if len(groups) > 0:
            cell.note((*row, time) if tables.timed else row, times, time, item, tables.rows)
            if len(cell.positions) > self.starts_max or len(cell.items) > self.events_max:
                self._limit(cell)
        elif len(cell.positions) > 0 and self.mode != LONGEST:
            cell.forget()

    def _known(self, groups: list[Group], upto: i64, state: i64, many: bool) -> i64:
        """The index of the group in a state, among the first ones; -1 if there is none."""
        if many:
            return self._where[state] if self._stamp[state] == self._now else -1
        at: i64
        for at in range(upto):
            if groups[at].state == state:
                return at
        return -1

    def _expire(self, cell: WindowCell, time: i64) -> None:
        """Advance the first panes whose windows are still short enough, and last not too long."""
        tables = self.tables
        count = cell.count
        end: i64 = len(cell.positions)
        part: i64
        for part in range(tables.parts):
            least = count - tables.most[part] + 1
            since = time - tables.within[part]
            low: i64 = cell.low[part]
            at: i64 = max(low - cell.base, 0)
            while at < end and (cell.positions[at] < least or cell.began[at] < since):
                at += 1
            cell.low[part] = int(cell.base + at)

    def _limit(self, cell: WindowCell) -> None:
        """Cut off the oldest starts, beyond the most that may be open."""
        end = cell.base + len(cell.positions)
        first = max(end - self.starts_max, cell.base)
        while first < end and cell.count - cell.positions[first - cell.base] >= self.events_max:
            first += 1
        kept: list[Group] = []
        for group in cell.groups:
            if group.cut(first):
                kept.append(group)
        self.lost += 1
        cell.groups = kept
        if len(kept) == 0:
            cell.forget()
        else:
            cell.trim(first, True)

    # --- reporting ---------------------------------------------------------------------------------------------------

    def completed(self, cell: WindowCell, time: i64) -> EndingWindows | None:
        """The windows that the current event completes. `cell.count` is its number."""
        tables = self.tables
        final = tables.final
        found: list[int] | None = None
        for group in cell.groups:
            if not final[group.state]:
                continue
            own = self.ripe(cell, group)
            if len(own) == 0:
                continue
            if found is None:
                found = own
            else:
                found = joined([found, own])
        if found is None:
            return None
        if self.mode != EACH:
            found = self._kept(cell, found)
        source = self._source(cell, found, time)
        self.account.spend(source.amount())
        return source

    def ripe(self, cell: WindowCell, group: Group) -> list[int]:
        """The panes of a group whose windows are long enough."""
        tables = self.tables
        part: i64 = tables.part[group.state]
        least: i64 = tables.least[part]
        intervals = group.intervals()
        if least <= 1:
            return intervals
        latest = cell.count - least + 1
        ripe: i64 = cell.ripe[part]
        if ripe < cell.base:
            ripe = cell.base
        end = cell.base + len(cell.positions)
        while ripe < end and cell.positions[ripe - cell.base] <= latest:
            ripe += 1
        cell.ripe[part] = int(ripe)
        while len(intervals) > 0 and intervals[-2] >= ripe:
            del intervals[-2:]
        if len(intervals) > 0 and intervals[-1] >= ripe:
            intervals[-1] = int(ripe - 1)
        return intervals

    def _kept(self, cell: WindowCell, found: list[int]) -> list[int]:
        if self.mode == EARLIEST:
            return [found[0], found[0]]
        if self.mode == LATEST:
            return [found[-1], found[-1]]
        groups: list[Group] = []  # the shortest: their starts are done
        for group in cell.groups:
            rest = without(group.intervals(), found)
            if len(rest) > 0:
                group.take(rest)
                groups.append(group)
        cell.groups = groups
        return found

    def _source(self, cell: WindowCell, found: list[int], time: i64) -> EndingWindows:
        first: i64 = cell.positions[found[0] - cell.base]
        closings: list[Closing] = []
        if cell.many:
            for measure in cell.measures:
                closings.append(measure.closing(first))
        log = LogPart(int(cell.logged), cell.items, cell.rows)
        return EndingWindows(
            self.tables,
            found,
            int(cell.base),
            cell.positions,
            cell.began,
            log,
            int(cell.count),
            int(time),
            closings,
            None,
        )

    def settle(self, cell: WindowCell) -> None:
        """Drop groups that lead nowhere, and what no open window needs. `cell.count` is the current event's number."""
        terminal = self.tables.terminal
        groups = cell.groups
        kept: i64 = 0
        at: i64
        for at in range(len(groups)):
            group = groups[at]
            if not terminal[group.state]:
                groups[kept] = group
                kept += 1
        if kept < len(groups):
            del groups[kept:]
        if kept == 0:
            if len(cell.positions) > 0:
                cell.forget()
            return
        first = groups[0].first()
        for at in range(1, kept):
            other = groups[at].first()
            if other < first:
                first = other
        cell.trim(first, self.trims_at_once)
