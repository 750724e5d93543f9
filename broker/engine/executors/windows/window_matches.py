"""Windows as matches: intervals of panes that end at one event, made when they are read.

A source refers to columns of its partition, which only grow or are replaced, so that it stays valid. Here: values of
aggregates from what measures have said, or from rows. Not here: measures themselves, the effect of an event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from mypy_extensions import i64, mypyc_attr

from ....algebra.functions import bounded
from ....algebra.window_aggregates import aggregate
from ....events.schema import Row, Value
from ..matches import Assigned, Matched, MatchSource
from .cell import PaneColumns
from .exact_sums import between
from .measures import CountClosing, ExtremeClosing, FloatClosing, IntegerClosing, MeasureClosing, first_at_least
from .tables import AggregatePlan, WindowTables


@final
@mypyc_attr(acyclic=True)
class EndingWindows(MatchSource):
    """The windows that one event completes: those of the panes from `low` to `high`, and of earlier ones in the
    intervals of `rest`.

    `last`: the number of the last event in its partition; `end`: its time; `closings`: of each measure. `begin`: of a
    window of the clock, else None.
    """

    def __init__(
        self,
        tables: WindowTables,
        low: i64,
        high: i64,
        rest: list[int],
        columns: PaneColumns,
        last: i64,
        end: i64,
        closings: list[MeasureClosing],
        begin: int | None,
    ) -> None:
        self.tables = tables
        self.low = low
        self.high = high
        self.rest = rest
        self.columns = columns
        self.last = last
        self.end = end
        self.closings = closings
        self.begin = begin

    def amount(self) -> int:
        found = self.high - self.low + 1
        rest = self.rest
        at: i64
        for at in range(0, len(rest), 2):
            found += rest[at + 1] - rest[at] + 1
        return int(found)

    def all(self) -> Iterator[Matched]:
        intervals = [*self.rest, int(self.low), int(self.high)]
        base = int(self.columns.base)
        for at in range(0, len(intervals), 2):
            for pane in range(intervals[at], intervals[at + 1] + 1):
                yield self._window(pane - base)

    def _window(self, pane: int) -> Matched:
        first = self.columns.positions[pane]
        last = int(self.last)
        values = tuple([self._value(plan, pane, first, last) for plan in self.tables.aggregates])
        began = self.columns.began[pane]
        return matched_window(self.columns, first, last, began, int(self.end), values, self.begin)

    def _value(self, plan: AggregatePlan, pane: int, first: int, last: int) -> Value:
        if plan.measure < 0:
            return value_of_rows(self.tables, plan, self.columns, first, last, self.begin)
        closing = self.closings[plan.measure]
        if isinstance(closing, ExtremeClosing):
            at = first_at_least(closing.positions, first)
            value: Value = closing.values[at] if at < len(closing.values) else None
            return value
        if isinstance(closing, CountClosing):
            return int(closing.count - closing.counts[pane])
        if isinstance(closing, IntegerClosing):
            count = closing.count - closing.counts[pane] if len(closing.counts) > 0 else last - first + 1
            total = closing.total - closing.totals[pane]
            if count == 0:
                return None
            return bounded(total) if plan.function == "sum" else bounded(total / int(count))
        assert isinstance(closing, FloatClosing)
        count = closing.count - closing.counts[pane] if len(closing.counts) > 0 else last - first + 1
        if count == 0:
            return None
        exact = between(
            closing.high, closing.low, closing.highs[pane], closing.lows[pane], float(closing.count), closing.greatest
        )
        if exact - exact != 0.0:  # uncertain, or not finite
            return value_of_rows(self.tables, plan, self.columns, first, last, self.begin)
        return exact if plan.function == "sum" else exact / float(count)


@final
@mypyc_attr(acyclic=True)
class WaitingWindows(MatchSource):
    """Windows that waited for nothing to follow. `spans`: the numbers of the first and the last event of each, and
    their times."""

    def __init__(self, tables: WindowTables, spans: list[tuple[int, int, int, int]], columns: PaneColumns) -> None:
        self.tables = tables
        self.spans = spans
        self.columns = columns

    def amount(self) -> int:
        return len(self.spans)

    def all(self) -> Iterator[Matched]:
        for first, last, start, end in self.spans:
            values = tuple(
                [value_of_rows(self.tables, plan, self.columns, first, last, None) for plan in self.tables.aggregates]
            )
            yield matched_window(self.columns, first, last, start, end, values, None)


def matched_window(
    columns: PaneColumns, first: int, last: int, start: int, end: int, values: Row, begin: int | None
) -> Matched:
    """A window as a match: identified by its first and last event, and by its beginning if it is of the clock."""
    items, shift = columns.items, int(columns.logged)
    assigned: Assigned = [(0, items[first - shift], start), (1, items[last - shift], end)]
    if begin is not None:
        assigned.append((2, begin, begin))
    return Matched(assigned, start, end, values, stretch=(items, first - shift, last - shift + 1))


def value_of_rows(
    tables: WindowTables, plan: AggregatePlan, columns: PaneColumns, first: int, last: int, begin: int | None
) -> Value:
    """A value that no measure says, from the rows of the window. O(events)."""
    if plan.function == "from":
        return begin
    if plan.function == "until":
        clock = tables.windows.clock
        return None if clock is None or begin is None else begin + clock.size
    if not plan.values:
        return last - first + 1
    logged = int(columns.logged)
    rows = columns.rows[first - logged : last - logged + 1]
    if plan.function == "first":
        rows = rows[:1]
    elif plan.function == "last":
        rows = rows[-1:]
    arguments = [
        [value.value(row, (), row[tables.width :] if tables.timed else (), 1, 1) for row in rows]
        for value in plan.values
    ]
    return aggregate(plan.function, plan.distinct, plan.share, arguments)
