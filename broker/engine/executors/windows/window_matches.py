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
from .exact_sums import between
from .family_cell import SIDES
from .pane_columns import PaneColumns
from .pane_groups import joined
from .sliding import FEW, MovingWindows, aggregate_of, ratio
from .tables import COUNT, EXACT, TOTAL, AggregatePlan, WindowTables
from .window_page import (
    ONE,
    ONE_NUMBERS,
    OVER,
    OVER_NUMBERS,
    SEVERAL,
    SEVERAL_NUMBERS,
    CountClosing,
    ExtremeClosing,
    FloatClosing,
    IntegerClosing,
    WindowPage,
    first_at_least,
)


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
        sides = [numbers[place : place + SIDES] for place in range(SEVERAL_NUMBERS, len(numbers), SIDES)]
        ends = sorted({end for _, _, first, upto in sides for end in (first, upto)})
        parts: list[tuple[Target, MatchSource | None]] = []
        for first, upto in pairwise(ends):
            own = [[low, high] for low, high, begin, end in sides if begin <= first and upto <= end]
            if own:
                told = [*numbers[:SEVERAL_NUMBERS], *joined(own)]
                source = CompletedWindows(self.tables, page, SEVERAL, told)
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
        self.page = page
        self.kind = kind
        self.numbers = numbers
        self.columns = cast(PaneColumns, page.columns[numbers[0]])
        self.moving: MovingWindows | None = None  # along many windows of one event

    def amount(self) -> int:
        if self.kind == OVER:
            return len(self.numbers) // OVER_NUMBERS
        if self.kind == ONE:
            return 1
        intervals = self.numbers[SEVERAL_NUMBERS:]  # COUNTED is of all members, where there are several
        return sum([high - low + 1 for low, high in zip(intervals[::2], intervals[1::2])])

    def all(self) -> Iterator[Matched]:
        numbers, columns = self.numbers, self.columns
        if self.kind != ONE and self.amount() > FEW:
            self.moving = MovingWindows(True)
        if self.kind == OVER:
            for at in range(1, len(numbers), OVER_NUMBERS):
                first, last, start, end = numbers[at : at + OVER_NUMBERS]
                values = tuple([self._of_rows(plan, first, last) for plan in self.tables.aggregates])
                yield matched_window(columns, first, last, start, end, values, None)
            return
        base = int(columns.base)
        intervals = [numbers[1], numbers[1]]
        last, end = numbers[2:4]
        if self.kind == SEVERAL:
            last, end = numbers[1:3]
            intervals = numbers[SEVERAL_NUMBERS:]
        for low, high in zip(intervals[::2], intervals[1::2]):
            for pane in range(low - base, high - base + 1):
                first, start = int(columns.panes[2 * pane]), int(columns.panes[2 * pane + 1])
                if self.kind == ONE:
                    values = self._settled(first)
                else:
                    values = tuple([self._value(plan, pane, first, last) for plan in self.tables.aggregates])
                yield matched_window(columns, first, last, start, end, values, None)

    def _settled(self, first: int) -> Row:
        """The values of a single window, which measures have written."""
        last = self.numbers[2]
        measured = [True] * len(self.tables.kinds)
        said = settled(self.tables, self.page, self.numbers[4:ONE_NUMBERS], last - first + 1, measured)
        found: list[Value] = []
        for plan in self.tables.aggregates:
            if plan.measure < 0:
                found.append(self._of_rows(plan, first, last))
            else:
                told, count = said[plan.measure]
                found.append(self._value_of(plan, told, count, first, last))
        return tuple(found)

    def _value_of(self, plan: AggregatePlan, told: Any, count: int, first: int, last: int) -> Value:
        return value_of_measure(self.tables, plan, told, count, self.columns, first, last, None, self.moving)

    def _value(self, plan: AggregatePlan, pane: int, first: int, last: int) -> Value:
        """The value for one of several windows."""
        if plan.measure < 0:
            return self._of_rows(plan, first, last)
        closing = self.page.closings[self.numbers[4]][plan.measure]
        told: Any = None
        count = last - first + 1
        if isinstance(closing, ExtremeClosing):
            at = first_at_least(closing.positions, len(closing.values), first)
            told = closing.values[at] if at < len(closing.values) else None
        elif isinstance(closing, CountClosing):
            count = int(closing.count - closing.counts[pane])
        elif isinstance(closing, IntegerClosing):
            if len(closing.counts) > 0:
                count = int(closing.count - closing.counts[pane])
            told = closing.total - closing.totals[pane]
        else:
            assert isinstance(closing, FloatClosing)
            if len(closing.counts) > 0:
                count = int(closing.count - closing.counts[pane])
            sums = closing.sums
            high, low = sums[2 * pane], sums[2 * pane + 1]
            told = between(closing.high, closing.low, high, low, float(closing.count), closing.greatest)
        return self._value_of(plan, told, count, first, last)

    def value_at(self, position: int, pane: int) -> Value:
        """The value of an aggregate of the window that begins with this pane, one of several."""
        at = pane - int(self.columns.base)
        first = int(self.columns.panes[2 * at])
        return self._value(self.tables.aggregates[position], at, first, self.numbers[1])

    def _of_rows(self, plan: AggregatePlan, first: int, last: int) -> Value:
        return value_of_rows(self.tables, plan, self.columns, first, last, None, self.moving)


def settled(
    tables: WindowTables, page: WindowPage, at: list[int], events: int, measured: list[bool]
) -> list[tuple[Any, int]]:
    """What each measure has written of a window, and of how many values, from where its floats, counts and other values
    begin in a page; these places move on. Those that are not `measured` have written nothing."""
    said: list[tuple[Any, int]] = []
    for kind, counted, own in zip(tables.kinds, tables.counted, measured):
        told: Any = None
        count = events
        if own and kind == EXACT:
            told = float(page.floats[at[0]])
            at[0] += 1
        elif own and kind != COUNT:
            told = page.values[at[2]]
            at[2] += 1
        if own and counted:
            count = int(page.counts[at[1]])
            at[1] += 1
        said.append((told, count))
    return said


def open_windows(tables: WindowTables, cell: WindowCell) -> CompletedWindows:
    """The open windows of a partition as if its newest event completed them. O(measures)."""
    page = WindowPage()
    closings = page.close(cell.closings(cell.columns.logged))
    numbers = [page.of(cell.columns), cell.count - 1, cell.last, 0, closings]
    return CompletedWindows(tables, page, SEVERAL, [int(number) for number in numbers])


def matched_window(
    columns: PaneColumns, first: int, last: int, start: int, end: int, values: Row, begin: int | None
) -> Matched:
    """A window as a match: identified by its first and last event, and by its beginning if it is of the clock."""
    items, shift = columns.items(), int(columns.logged)
    assigned: Assigned = [(0, items[first - shift], start), (1, items[last - shift], end)]
    if begin is not None:
        assigned.append((2, begin, begin))
    return Matched(assigned, start, end, values, stretch=(items, first - shift, last - shift + 1), begin=begin)


def value_of_measure(
    tables: WindowTables, plan: AggregatePlan, told: Any, count: int, columns: PaneColumns, first: int, last: int,
    begin: int | None, moving: MovingWindows | None = None,
) -> Value:  # fmt: skip
    """The value of an aggregate from what its measure said of the window."""
    if plan.kind == COUNT:
        return count
    if plan.kind == EXACT:
        if count == 0:
            return None
        if told - told != 0.0:  # uncertain, or not finite
            return value_of_rows(tables, plan, columns, first, last, begin, moving)
        exact: float = told
        return exact if plan.function == "sum" else exact / float(count)
    if plan.kind == TOTAL:
        if count == 0:
            return None
        total: int = told
        return bounded(total) if plan.function == "sum" else bounded(ratio(total, count))
    value: Value = told
    return value


def value_of_rows(
    tables: WindowTables, plan: AggregatePlan, columns: PaneColumns, first: int, last: int, begin: int | None,
    moving: MovingWindows | None = None,
) -> Value:  # fmt: skip
    """A value that no measure says, from the rows of the window; the cost as MovingWindows.read says."""
    if plan.function == "from":
        return begin
    if plan.function == "until":
        clock = tables.windows.clock
        return None if clock is None or begin is None else begin + clock.size
    if not plan.values:
        return last - first + 1
    logged = int(columns.logged)
    rows = columns.made()
    width = tables.width if tables.timed else -1
    if plan.function in ("first", "last"):
        row = rows[(first if plan.function == "first" else last) - logged]
        return aggregate_of(plan, width, [row])
    if moving is None:
        moving = columns.moving
    if moving is None:
        moving = columns.moving = MovingWindows(False)
    return moving.read(plan, width, rows, logged, first, last + 1)


def waiting_starts(cells: Sequence[WindowCell]) -> Iterator[WaitingRun]:
    """The open starts of partitions, made as they are read."""
    for cell in cells:
        whole: Any = cell.key if isinstance(cell.key, tuple) else (cell.key,)
        columns = cell.columns
        for group in cell.groups:
            intervals = group.intervals()
            for at in range(0, len(intervals), 2):
                for pane in range(intervals[at], intervals[at + 1] + 1):
                    begun = columns.panes[2 * (pane - columns.base) + 1]
                    yield WaitingRun(whole, -1, int(begun), [])
