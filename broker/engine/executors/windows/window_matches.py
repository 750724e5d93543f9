"""Windows as matches: numbers of a batch, made into matches when they are read.

A row refers to columns of its partition, which only grow or are replaced, so that it stays valid. Here: values of
aggregates from what measures have said, or from rows. Not here: writing rows (completing, longest), measures
themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, cast, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.functions import bounded
from ....events.schema import Row, Value
from ...matches.completions import HEADER, Audience, Completions, Events
from ...matches.sources import Assigned, Matched, MatchSource, WaitingRun
from ...program.target import Target
from .cell import WindowCell
from .family_cell import SIDES
from .pane_columns import PaneColumns
from .pane_groups import joined
from .sliding import FEW, MovingWindows, aggregate_of, ratio
from .tables import EXACT, TOTAL, AggregatePlan, WindowTables
from .window_page import ENDED, ENDED_NUMBERS, NO_CLOSINGS, OVER, OVER_NUMBERS, WindowPage


@final
class WindowAudience(Audience):
    """The subscribers of a machine of windows."""

    def __init__(self, targets: list[Target], tables: WindowTables) -> None:
        super().__init__(targets, False)
        self.tables = tables

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        page, numbers = row_of(found, at)
        return CompletedWindows(self.tables, page, int(found.numbers[at + 2] & 3), numbers)


@final
class FamilyAudience(Audience):
    """The members of a family in the order of their constants. In a row of several windows they have the members from
    and to below behind each interval of panes."""

    def __init__(self, targets: list[Target], tables: WindowTables) -> None:
        super().__init__(targets, False)
        self.tables = tables

    def parts(self, found: Completions, at: i64, events: Events) -> list[tuple[Target, MatchSource | None]]:
        """The windows that one event completes. Members that have the same windows have them in one source.
        O(rectangles squared + members)."""
        page, numbers = row_of(found, at)
        sides = [numbers[place : place + SIDES] for place in range(ENDED_NUMBERS, len(numbers), SIDES)]
        ends = sorted({end for _, _, first, upto in sides for end in (first, upto)})
        parts: list[tuple[Target, MatchSource | None]] = []
        for first, upto in pairwise(ends):
            own = [[low, high] for low, high, begin, end in sides if begin <= first and upto <= end]
            if own:
                told = [*numbers[:ENDED_NUMBERS], *joined(own)]
                source = CompletedWindows(self.tables, page, ENDED, told)
                parts.extend([(target, source) for target in self.targets[first:upto]])
        return parts

    def total(self, found: Completions, at: i64) -> int:
        return self.total_of_each(found, at)


def row_of(found: Completions, at: i64) -> tuple[WindowPage, list[int]]:
    """The page of the row at a place, and its numbers."""
    page = found.pages[found.numbers[at + 2] >> 2]
    assert isinstance(page, WindowPage)
    return page, [int(number) for number in found.numbers[at + HEADER : at + HEADER + found.numbers[at + 4]]]


@final
@mypyc_attr(acyclic=True)
class CompletedWindows(MatchSource):
    """The windows of a row. `kind` and `numbers` as window_page says."""

    def __init__(self, tables: WindowTables, page: WindowPage, kind: int, numbers: list[int]) -> None:
        self.tables = tables
        self.kind = kind
        self.numbers = numbers
        self.columns = cast(PaneColumns, page.columns[numbers[0]])
        self.closings = NO_CLOSINGS if kind == OVER else page.closings[numbers[3]]

    def amount(self) -> int:
        if self.kind == OVER:
            return len(self.numbers) // OVER_NUMBERS
        intervals = self.numbers[ENDED_NUMBERS:]
        return sum([high - low + 1 for low, high in zip(intervals[::2], intervals[1::2])])

    def all(self) -> Iterator[Matched]:
        numbers, columns = self.numbers, self.columns
        moving = MovingWindows(True) if self.amount() > FEW else None  # along many windows of one event
        if self.kind == OVER:
            for at in range(1, len(numbers), OVER_NUMBERS):
                first, last, start, end = numbers[at : at + OVER_NUMBERS]
                window = ReadWindow(self.tables, columns, first, last, None, moving)
                yield window.match(start, end, window.values({}))
            return
        intervals = numbers[ENDED_NUMBERS:]
        for low, high in zip(intervals[::2], intervals[1::2]):
            for pane in range(low - int(columns.base), high - int(columns.base) + 1):
                window = self._window(pane, moving)
                yield window.match(int(columns.panes[2 * pane + 1]), numbers[2], window.values(self._told(pane)))

    def _window(self, pane: int, moving: MovingWindows | None) -> ReadWindow:
        """The window that begins with the pane of this index."""
        return ReadWindow(self.tables, self.columns, int(self.columns.panes[2 * pane]), self.numbers[1], None, moving)

    def _told(self, pane: int) -> dict[int, Any]:
        """What each measure says of it."""
        first = self.columns.panes[2 * pane]
        return {number: closing.value(pane, first) for number, closing in enumerate(self.closings)}

    def value_at(self, position: int, pane: int) -> Value:
        """The value of an aggregate of the window that begins with this pane."""
        at = pane - int(self.columns.base)
        return self._window(at, None).value(self.tables.aggregates[position], self._told(at))


def open_windows(tables: WindowTables, cell: WindowCell) -> CompletedWindows:
    """The open windows of a partition as if its newest event completed them. O(measures)."""
    page, columns = WindowPage(), cell.columns
    closings = page.close(cell.closings(columns.base, columns.end() - 1))
    numbers = [page.of(columns), cell.count - 1, cell.last, closings]
    return CompletedWindows(tables, page, ENDED, [int(number) for number in numbers])


@final
class ReadWindow:
    """A window that is read: the events of columns from the number `first` to `last`. `begin`: when it begins, if it is
    of the clock; `moving`: what values were moved along that measures do not say, unless the columns have it."""

    def __init__(
        self, tables: WindowTables, columns: PaneColumns, first: int, last: int, begin: int | None,
        moving: MovingWindows | None = None,
    ) -> None:  # fmt: skip
        self.tables = tables
        self.columns = columns
        self.first = first
        self.last = last
        self.begin = begin
        self.moving = moving

    def match(self, start: int, end: int, values: Row) -> Matched:
        """It as a match: identified by its first and last event, and by its beginning if it is of the clock."""
        items, shift, begin = self.columns.items, int(self.columns.logged), self.begin
        first, last = self.first - shift, self.last - shift
        assigned: Assigned = [(0, items[first], start), (1, items[last], end)]
        if begin is not None:
            assigned.append((2, begin, begin))
        return Matched(assigned, start, end, values, stretch=(items, first, last + 1), begin=begin)

    def values(self, told: dict[int, Any]) -> Row:
        """The values of all aggregates, from what measures have `told`, or from rows."""
        return tuple([self.value(plan, told) for plan in self.tables.aggregates])

    def value(self, plan: AggregatePlan, told: dict[int, Any]) -> Value:
        if plan.measure not in told:
            return self._of_rows(plan)
        value: Any = told[plan.measure]
        if plan.kind not in (EXACT, TOTAL):
            found: Value = value
            return found
        count: int = told.get(plan.counter, self.last - self.first + 1)
        if count == 0:
            return None
        if plan.kind == TOTAL:
            return bounded(value) if plan.function == "sum" else bounded(ratio(value, count))
        if value - value != 0.0:  # uncertain, or not finite
            return self._of_rows(plan)
        exact: float = value
        return exact if plan.function == "sum" else exact / float(count)

    def _of_rows(self, plan: AggregatePlan) -> Value:
        """A value that no measure says, from the rows of the window; the cost as MovingWindows.read says."""
        begin, columns = self.begin, self.columns
        if plan.function == "from":
            return begin
        if plan.function == "until":
            clock = self.tables.windows.clock
            return None if clock is None or begin is None else begin + clock.size
        if not plan.values:
            return self.last - self.first + 1
        logged = int(columns.logged)
        rows = columns.rows
        width = self.tables.width if self.tables.timed else -1
        if plan.function in ("first", "last"):
            row = rows[(self.first if plan.function == "first" else self.last) - logged]
            return aggregate_of(plan, width, [row])
        moving = self.moving
        if moving is None:
            moving = columns.moving
        if moving is None:
            moving = columns.moving = MovingWindows(False)
        return moving.read(plan, width, rows, logged, self.first, self.last + 1)


def waiting_starts(cells: Sequence[WindowCell]) -> Iterator[WaitingRun]:
    """The open starts of partitions, made as they are read."""
    for cell in cells:
        whole: Any = cell.key if isinstance(cell.key, tuple) else (cell.key,)
        columns = cell.columns
        for group in cell.groups:
            for pane in group.panes():
                begun = columns.panes[2 * (pane - columns.base) + 1]
                yield WaitingRun(whole, -1, int(begun), [])
