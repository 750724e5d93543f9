"""The effect of an event on the windows of its partition (semantics 5.3).

Old groups move, a start begins if the prefix before the event allows it, and the event enters log and measures. Groups
that meet in a state merge; aggregates do not belong to groups, so that merging moves intervals only. Cost: groups; O(1)
amortised for all else.

Here: groups and starts. Hot. Not here: reporting windows (completing, longest), windows without conditions
(pane_machine).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....events.schema import Row
from ...matches.sources import Item
from ...program.account import Account
from .cell import WindowCell
from .pane_groups import NONE_YET, Group, Starts, cut_all, drop_ended, oldest
from .tables import WindowTables

FEW: Final = 8  # groups up to which the one in a state is searched for
NO_TIME: Final[Slots] = ()


@final
class Stepper:
    """Steps all partitions of a machine.

    `item`: what the current event is known by. `lost`: how many open starts a limit has cut off since it was last
    asked. `over`: the groups that the current event has ended, if windows wait for that and their bounds do not.
    """

    def __init__(self, tables: WindowTables, account: Account, starts_max: int, events_max: int) -> None:
        self.tables = tables
        self.account = account
        self.starts_max: i64 = tables.starts_max(starts_max, events_max)  # open in a partition
        self.events_max: i64 = events_max  # that these may keep
        self.lost: i64 = 0
        self.waits = tables.waits
        self.over: list[Group] = []
        self.item: Item = None
        self.trims_at_once = False  # for tests

    # --- groups ------------------------------------------------------------------------------------------------------

    def step(self, cell: WindowCell, column: i64, row: Row, time: i64, item: Item) -> None:
        """Move all groups along the event, begin a start if it begins one, and add it to log and measures."""
        self.item = item
        tables = self.tables
        columns = tables.columns
        groups = cell.groups
        n: i64 = len(groups)
        if n > 0:
            if tables.expires:
                self.expire(cell, time)
            self._move(cell, column)
            n = len(groups)
        marks = cell.marks
        pane: i64 = NONE_YET
        part: i64
        for part in range(tables.parts):
            before = marks[part]
            at = before * columns + column
            begun = tables.first[at]
            if begun >= 0:
                if pane < 0:
                    pane = cell.open(time)
                n = self._begin(cell, groups, n, begun, pane)
            after = tables.prefix[at]
            if after != before:
                marks[part] = after
        if n > 0:
            if self.note(cell, row, time):
                cell.groups = self.limited(cell, cell.groups)
        elif cell.columns.count > 0 and not self.waits:
            cell.forget()

    def note(self, cell: WindowCell, row: Row, time: i64) -> bool:
        """Add an event to log and measures. Whether that is more than may be kept."""
        tables = self.tables
        if tables.timed:
            moment = int(time)  # rows may have more attributes by now
            cell.note((*row[: tables.width], moment), (moment,), self.item)
        else:
            cell.note(row, NO_TIME, self.item)
        kept = cell.columns
        return kept.count > self.starts_max or len(kept.items) > self.events_max

    def _move(self, cell: WindowCell, column: i64) -> None:
        tables = self.tables
        columns = tables.columns
        body = tables.body
        expires = tables.expires
        marks = cell.marks
        groups = cell.groups
        kept: i64 = 0
        where: dict[int, int] | None = {} if len(groups) > FEW else None
        at: i64
        for at in range(len(groups)):
            group = groups[at]
            state = body[group.state * columns + column]
            if state < 0 or (expires and not group.cut(marks[tables.parts + tables.part[state]])):
                if self.waits:
                    self.over.append(group)
                continue
            known = _in_state(groups, kept, state, where)
            if known >= 0:
                self._merge(cell, groups[known], group)
                continue
            group.state = state
            if where is not None:
                where[int(state)] = int(kept)
            groups[kept] = group
            kept += 1
        if kept < len(groups):
            del groups[kept:]

    def _begin(self, cell: WindowCell, groups: list[Group], count: i64, state: i64, pane: i64) -> i64:
        """Put a new pane into the group in a state; returns how many groups there are."""
        known = _in_state(groups, count, state, None)
        if known < 0:
            groups.append(Group(state, [int(pane), int(pane)]))
            return count + 1
        group = groups[known]
        if group.last != NONE_YET and not self._all_now(group):
            cell.note_ends(group.intervals, group.last, group.moment)
            group.last = NONE_YET
        group.add(pane)
        return count

    def _merge(self, cell: WindowCell, group: Group, other: Group) -> None:
        if group.last != other.last and not self._all_now(group):
            for one in (group, other):
                if one.last != NONE_YET:
                    cell.note_ends(one.intervals, one.last, one.moment)
            group.last = NONE_YET
        group.merge(other)

    def _all_now(self, group: Group) -> bool:
        """Whether all panes of a group have a window at the current event, so that earlier ones need not be noted."""
        return self.tables.plain and self.tables.final[group.state] != 0

    def expire(self, cell: WindowCell, time: i64) -> None:
        """Advance the first panes whose windows are still short enough, and last not too long."""
        tables = self.tables
        marks = cell.marks
        columns = cell.columns
        panes = columns.panes
        end = columns.count
        part: i64
        for part in range(tables.parts):
            least = cell.count - tables.most[part] + 1
            since = time - tables.within[part]
            place = tables.parts + part
            low = marks[place]
            at: i64 = max(low - columns.base, 0)
            while at < end and (panes[2 * at] < least or panes[2 * at + 1] < since):
                at += 1
            if columns.base + at != low:
                marks[place] = columns.base + at

    def limited(self, cell: WindowCell, groups: list[Starts]) -> list[Starts]:
        """Give up the oldest starts beyond the most that may be open, or keep so many events, at the current event;
        returns the groups that are left. O(groups, and starts that are given up).

        Only what waits is counted: columns that begin with panes that are over are shortened now and then (cell). A
        start that is given up has no windows. Where an event is told the earliest of its windows only, and a start that
        was given up might have it, it is told none: one that begins later would be another window.
        """
        columns = cell.columns
        panes, base, end = columns.panes, columns.base, columns.end()
        known = oldest(groups, end)
        first = max(end - self.starts_max, known)
        while first < end and cell.count - panes[2 * (first - base)] >= self.events_max:
            first += 1
        if first == known:
            return groups
        if self.tables.keep == "earliest":
            cell.given = panes[2 * (first - 1 - base)]
            cell.given_time = panes[2 * (first - 1 - base) + 1]
        ends = cell.ends
        pane: i64
        for pane in range(2 * (known - base), min(2 * (first - base), len(ends)), 2):
            ends[pane] = NONE_YET
        self.lost += 1
        groups = cut_all(groups, first)
        self.forget(cell, first if len(groups) > 0 else -1)
        return groups

    def ripe(self, cell: WindowCell, part: i64) -> i64:
        """The first pane whose windows are too short. O(1) amortised."""
        tables = self.tables
        columns = cell.columns
        panes = columns.panes
        latest = cell.count - tables.least[part] + 1
        place = 2 * tables.parts + part
        known = cell.marks[place]
        at: i64 = max(known - columns.base, 0)
        end = columns.count
        while at < end and panes[2 * at] <= latest:
            at += 1
        if columns.base + at != known:
            cell.marks[place] = columns.base + at
        return columns.base + at

    def settle(self, cell: WindowCell, groups: list[Starts]) -> None:
        """Drop groups that lead nowhere, and what no open window needs. `cell.count` is the current event's number."""
        self.forget(cell, drop_ended(groups, self.tables.terminal))

    def forget(self, cell: WindowCell, first: i64) -> None:
        """Drop what no window needs that begins with the pane `first` or later; everything, if that is below 0."""
        if first >= 0:
            cell.trim(first, self.trims_at_once)
        elif cell.columns.count > 0:
            cell.forget()


def _in_state(groups: list[Group], upto: i64, state: i64, where: dict[int, int] | None) -> i64:
    """The index of the group in a state, among the first ones, or -1. `where`: by state, if they are many."""
    if where is not None:
        return where.get(int(state), -1)
    at: i64
    for at in range(upto):
        if groups[at].state == state:
            return at
    return -1
