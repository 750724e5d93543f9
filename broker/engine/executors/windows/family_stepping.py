"""The effect of an event on the windows of a family in its partition.

All members of a range of constants see the same class. Where a state leads to one state in all ranges, its rectangles
move together; otherwise each is divided. Cost: states, and the rectangles that are divided or reported.

Here: rectangles that move, begin and are reported. Hot. Not here: which range sees what (family_columns), reading
(window_matches).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from ...matches.completions import HEADER, Completions
from ...matches.sources import Item
from ...program.account import Account
from .completing import page_of
from .family_cell import SIDES, FamilyCell, RectangleGroup
from .family_columns import FamilyColumns
from .stepping import FEW, Stepper
from .tables import WindowTables
from .window_page import ENDED, ENDED_NUMBERS, first_at_least


@final
class FamilyStepper:
    """Steps all partitions of a family. `stepper` knows the bounds of windows, and counts what limits have cut off."""

    def __init__(self, tables: WindowTables, columns: FamilyColumns, stepper: Stepper, account: Account) -> None:
        self.tables = tables
        self.columns = columns
        self.stepper = stepper
        self.account = account
        self.shortest = tables.keep == "shortest"

    def begins(self) -> bool:
        """Whether the current event may begin a window where none is open and partitions forget."""
        columns = self.columns
        at: i64
        for at in range(columns.count):  # noqa: SIM110  compiled code has no generators here
            if self.tables.begins[columns.columns[at]]:
                return True
        return False

    def step(self, family: FamilyCell, row: Row, time: i64, item: Item, found: Completions) -> None:
        """Move all rectangles along the event, begin starts, add it to log and measures, and report windows."""
        cell = family.cell
        tables = self.tables
        if len(family.groups) > 0:
            least: i64 = 0
            if tables.expires:
                self.stepper.expire(cell, time)
                least = cell.marks[tables.parts]
            self._move(family, least)
        self._begin(family, time)
        if len(family.groups) > 0:
            self.stepper.item = item
            if self.stepper.note(cell, row, time):
                family.groups = self.stepper.limited(cell, family.groups)
            self._report(family, time, found)
            self.stepper.settle(cell, family.groups)
        elif cell.columns.count > 0:
            cell.forget()
        cell.count += 1
        cell.last = time

    # --- moving ------------------------------------------------------------------------------------------------------

    def _move(self, family: FamilyCell, least: i64) -> None:
        tables = self.tables
        width = tables.columns
        body = tables.body
        ranges = self.columns
        moved: list[RectangleGroup] = []
        for group in family.groups:
            if not group.cut(least):
                continue
            begin = group.state * width
            target = body[begin + ranges.columns[0]]
            at: i64 = 1
            while at < ranges.count and body[begin + ranges.columns[at]] == target:
                at += 1
            if at < ranges.count:
                self._divide(group, begin, moved)
            elif target >= 0:
                group.state = target
                known = _in_state(moved, target)
                if known is None:
                    moved.append(group)
                else:
                    known.take(group)
        family.groups = moved

    def _divide(self, group: RectangleGroup, begin: i64, moved: list[RectangleGroup]) -> None:
        """Move the parts of each rectangle whose members see different columns."""
        body = self.tables.body
        ranges = self.columns
        upto = ranges.upto
        columns = ranges.columns
        many = group.count
        self.account.spend(many)
        stays = group
        if ranges.count > 2:  # several parts of one may stay, for which there is no room in place
            stays = RectangleGroup(group.state, group.oldest)
        sides = group.sides
        group.count = 0
        arrived: list[RectangleGroup] = []
        same: i64 = 0
        if ranges.count == 2:
            same = _staying(group, many, upto[0], body[begin + columns[0]], body[begin + columns[1]])
            group.count = same
        place: i64
        for place in range(SIDES * same, SIDES * many, SIDES):
            low, high = sides[place], sides[place + 1]
            first, last = sides[place + 2], sides[place + 3]
            at: i64 = 0
            if ranges.count > FEW:
                at = first_at_least(upto, ranges.count, first + 1)
            while upto[at] <= first:
                at += 1
            while first < last:
                end = min(upto[at], last)
                target = body[begin + columns[at]]
                if target == stays.state:
                    stays.add(low, high, first, end)
                elif target >= 0:
                    known = _in_state(arrived, target)
                    if known is None:
                        known = RectangleGroup(target, low)
                        arrived.append(known)
                    known.add(low, high, first, end)
                first = end
                at += 1
        if stays.count > 0:
            arrived.append(stays)
        for fresh in arrived:
            known = _in_state(moved, fresh.state)
            if known is None:
                moved.append(fresh)
            else:
                known.take(fresh)

    # --- starts ------------------------------------------------------------------------------------------------------

    def _begin(self, family: FamilyCell, time: i64) -> None:
        """Begin starts for the members whose prefixes allow it, and move the prefixes."""
        tables = self.tables
        width = tables.columns
        ranges = self.columns
        states = [int(ranges.upto[ranges.count - 1]), 0] if len(family.before) == 0 else family.before
        pane: i64 = -1
        at: i64 = 0
        first: i64 = 0
        after: list[int] = []
        place: i64 = 0
        while place < len(states):
            end: i64 = min(states[place], ranges.upto[at])
            entry = states[place + 1] * width + ranges.columns[at]
            state = tables.first[entry]
            if state >= 0:
                pane = self._open(family, pane, time, state, first, end)
            target = tables.prefix[entry]
            if len(after) > 0 and after[-1] == target:
                after[-2] = int(end)
            else:
                after.append(int(end))
                after.append(int(target))
            if end == states[place]:
                place += 2
            if end == ranges.upto[at]:
                at += 1
            first = end
        if len(family.before) > 0:
            family.before = after

    def _open(self, family: FamilyCell, pane: i64, time: i64, state: i64, first: i64, upto: i64) -> i64:
        """Begin a start for a range of members; returns its pane."""
        if pane < 0:
            pane = family.cell.open(time)
        known = _in_state(family.groups, state)
        if known is None:
            known = RectangleGroup(state, pane)
            family.groups.append(known)
        known.add(pane, pane, first, upto)
        return pane

    # --- windows -----------------------------------------------------------------------------------------------------

    def _report(self, family: FamilyCell, time: i64, found: Completions) -> None:
        """Report the windows that the current event completes, as a row of rectangles."""
        tables = self.tables
        cell = family.cell
        count: i64 = 0
        for group in family.groups:
            if tables.final[group.state] != 0:
                count += group.count
        if count == 0:
            return
        columns = cell.columns
        least: i64 = cell.marks[tables.parts] if tables.expires else columns.base
        ripe = columns.end()
        if tables.least[0] > 1:
            ripe = self.stepper.ripe(cell, 0)
        numbers = found.room(ENDED_NUMBERS + SIDES * count)
        begin = found.upto + HEADER
        place = begin + ENDED_NUMBERS
        oldest = columns.end()
        newest: i64 = -1
        windows: i64 = 0
        for group in family.groups:
            if tables.final[group.state] == 0:
                continue
            sides = group.sides
            at: i64
            for at in range(0, SIDES * group.count, SIDES):
                low = max(sides[at], least)
                high = min(sides[at + 1], ripe - 1)
                if low > high:
                    continue
                first, upto = sides[at + 2], sides[at + 3]
                numbers[place] = low
                numbers[place + 1] = high
                numbers[place + 2] = first
                numbers[place + 3] = upto
                place += SIDES
                oldest = min(oldest, low)
                newest = max(newest, high)
                windows += (high - low + 1) * (upto - first)
            if self.shortest:
                group.cut(max(group.oldest, ripe))
        size = place - begin
        if size == ENDED_NUMBERS:
            return
        page = page_of(found)
        numbers[begin] = page.of(columns)
        numbers[begin + 1] = cell.count
        numbers[begin + 2] = time
        numbers[begin + 3] = page.close(cell.closings(oldest, newest))
        found.close(page, 0, ENDED, size, windows)
        self.account.spend((size - ENDED_NUMBERS) // SIDES)


def _in_state(groups: list[RectangleGroup], state: i64) -> RectangleGroup | None:
    """The group in a state. O(states)."""
    for group in groups:
        if group.state == state:
            return group
    return None


def _staying(group: RectangleGroup, many: i64, cut: i64, below: i64, above: i64) -> i64:
    """How many rectangles at the front stay as they are where members below a number lead to one state, the others to
    another one. O(their number)."""
    sides = group.sides
    end = SIDES * many
    place: i64 = 0
    if below == group.state:
        while place < end and sides[place + 3] <= cut:
            place += SIDES
    elif above == group.state:
        while place < end and sides[place + 2] >= cut:
            place += SIDES
    return place // SIDES
