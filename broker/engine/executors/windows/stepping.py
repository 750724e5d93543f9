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
from ...program.account import Account
from ..matches import Item
from .cell import NO_NUMBERS, Group, WindowCell, below, joined, without
from .measures import NO_CLOSINGS, MeasureClosing
from .tables import WindowTables
from .window_matches import EndingWindows

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
        marks = cell.marks
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
            if expires and not group.cut(marks[tables.parts + tables.part[state]]):
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
            before: i64 = marks[part]
            begun: i64 = tables.starts[part][before]
            if begun >= 0:
                begun = body[begun * columns + column]
                if begun >= 0:
                    if pane < 0:
                        pane = cell.open(time)
                    known = self._known(groups, len(groups), begun, False)
                    if known >= 0:
                        groups[known].merge(Group(begun, pane, pane, NO_NUMBERS))
                    else:
                        groups.append(Group(begun, pane, pane, NO_NUMBERS))
            after: i64 = prefix[before * columns + column]
            if after != before:
                marks[part] = int(after)
        if len(groups) > 0:
            noted = (*row[: tables.width], int(time)) if tables.timed else row  # rows may have more attributes by now
            cell.note(noted, times, item, tables.rows)
            kept_columns = cell.columns
            if len(kept_columns.positions) > self.starts_max or len(kept_columns.items) > self.events_max:
                self._limit(cell)
        elif len(cell.columns.positions) > 0 and self.mode != LONGEST:
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
        marks = cell.marks
        columns = cell.columns
        positions, began = columns.positions, columns.began
        end: i64 = len(positions)
        part: i64
        for part in range(tables.parts):
            least = cell.count - tables.most[part] + 1
            since = time - tables.within[part]
            low: i64 = marks[tables.parts + part]
            at: i64 = max(low - columns.base, 0)
            while at < end and (positions[at] < least or began[at] < since):
                at += 1
            if columns.base + at != low:
                marks[tables.parts + part] = int(columns.base + at)

    def _limit(self, cell: WindowCell) -> None:
        """Cut off the oldest starts, beyond the most that may be open."""
        columns = cell.columns
        end = columns.end()
        first = max(end - self.starts_max, columns.base)
        while first < end and cell.count - columns.positions[first - columns.base] >= self.events_max:
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
        low: i64 = 0
        high: i64 = -1
        rest = NO_NUMBERS
        for group in cell.groups:
            if not final[group.state]:
                continue
            part: i64 = tables.part[group.state]
            ripe = self.ripe(cell, part) if tables.least[part] > 1 else group.high + 1
            if group.first() >= ripe:
                continue
            if high < 0 and group.high < ripe:
                low, high, rest = group.low, group.high, group.rest
                continue
            own = below(group.intervals(), ripe)
            if high >= 0:
                own = joined([own, [*rest, int(low), int(high)]])
            low, high, rest = own[-2], own[-1], own[:-2]
        if high < 0:
            return None
        if self.mode != EACH:
            if self.mode == EARLIEST:
                low = rest[0] if len(rest) > 0 else low
                high = low
                rest = NO_NUMBERS
            elif self.mode == LATEST:
                low = high
                rest = NO_NUMBERS
            else:
                self._close(cell, [*rest, int(low), int(high)])
        columns = cell.columns
        closings: list[MeasureClosing] = NO_CLOSINGS
        if cell.many:
            oldest = rest[0] if len(rest) > 0 else low
            first: i64 = columns.positions[oldest - columns.base]
            closings = []
            for measure in cell.measures:
                closings.append(measure.closing(first))
        source = EndingWindows(tables, low, high, rest, columns, cell.count, time, closings, None)
        self.account.spend(source.amount())
        return source

    def ripe(self, cell: WindowCell, part: i64) -> i64:
        """The first pane whose windows are too short. O(1) amortised."""
        tables = self.tables
        columns = cell.columns
        positions = columns.positions
        latest = cell.count - tables.least[part] + 1
        place = 2 * tables.parts + part
        known: i64 = cell.marks[place]
        at: i64 = max(known - columns.base, 0)
        end: i64 = len(positions)
        while at < end and positions[at] <= latest:
            at += 1
        if columns.base + at != known:
            cell.marks[place] = int(columns.base + at)
        return columns.base + at

    def _close(self, cell: WindowCell, found: list[int]) -> None:
        """Drop the starts whose shortest windows have been found."""
        groups: list[Group] = []
        for group in cell.groups:
            rest = without(group.intervals(), found)
            if len(rest) > 0:
                group.take(rest)
                groups.append(group)
        cell.groups = groups

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
            if len(cell.columns.positions) > 0:
                cell.forget()
            return
        first = groups[0].first()
        for at in range(1, kept):
            other = groups[at].first()
            if other < first:
                first = other
        cell.trim(first, self.trims_at_once)
