"""Windows as matches: intervals of panes that end at one event, made when they are read.

A source refers to columns of its partition, which only grow or are replaced, so it stays valid. Here: values of
aggregates from what measures have said, or from rows. Not here: measures themselves, the effect of an event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import mypyc_attr

from ....algebra.functions import bounded
from ....algebra.window_aggregates import aggregate
from ....events.schema import Row, Value
from ..matches import Assigned, Item, Matched, MatchSource
from .exact_sums import between
from .measures import Closing, first_at_least
from .tables import COUNT, EXACT, GREATEST, LEAST, TOTAL, AggregatePlan, WindowTables

NO_BEGIN: Final = None


@final
class LogPart:
    """Some events of a partition: item, row and time of the event `first` + k of it have the index k."""

    def __init__(self, first: int, items: list[Item], rows: list[Row]) -> None:
        self.first = first
        self.items = items
        self.rows = rows


@final
@mypyc_attr(acyclic=True)
class EndingWindows(MatchSource):
    """The windows that one event completes.

    `intervals`: of numbers of panes, of which the first in `positions` and `began` has the number `base`. `last`: the
    number of the last event in its partition; `end`: its time; `closings`: of each measure. `begin`: of a window of the
    clock.
    """

    def __init__(
        self,
        tables: WindowTables,
        intervals: list[int],
        base: int,
        positions: list[int],
        began: list[int],
        log: LogPart,
        last: int,
        end: int,
        closings: list[Closing],
        begin: int | None,
    ) -> None:
        self.tables = tables
        self.intervals = intervals
        self.base = base
        self.positions = positions
        self.began = began
        self.log = log
        self.last = last
        self.end = end
        self.closings = closings
        self.begin = begin

    def amount(self) -> int:
        intervals, found = self.intervals, 0
        for at in range(0, len(intervals), 2):
            found += intervals[at + 1] - intervals[at] + 1
        return found

    def all(self) -> Iterator[Matched]:
        for at in range(0, len(self.intervals), 2):
            for pane in range(self.intervals[at], self.intervals[at + 1] + 1):
                yield self._window(pane - self.base)

    def _window(self, pane: int) -> Matched:
        first = self.positions[pane]
        values = tuple([self._value(plan, pane, first) for plan in self.tables.aggregates])
        begin = self.begin
        return matched_window(self.log, first, self.last, self.began[pane], self.end, values, begin)

    def _value(self, plan: AggregatePlan, pane: int, first: int) -> Value:
        if plan.measure < 0:
            return value_of_rows(self.tables, plan, self.log, first, self.last, self.begin)
        closing = self.closings[plan.measure]
        if plan.kind in (LEAST, GREATEST):
            at = first_at_least(closing[0], first)
            values: list[Any] = closing[1]
            return values[at] if at < len(values) else None
        count: int = closing[1] - closing[0][pane]
        if plan.kind == COUNT:
            return count
        if count == 0:
            return None
        if plan.kind == TOTAL:
            total: int = closing[3] - closing[2][pane]
            return bounded(total) if plan.function == "sum" else bounded(total / count)
        assert plan.kind == EXACT
        _, additions, highs, lows, high, low, greatest = closing
        exact = between(high, low, highs[pane], lows[pane], float(additions), greatest)
        if exact - exact != 0.0:  # uncertain, or not finite
            return value_of_rows(self.tables, plan, self.log, first, self.last, self.begin)
        return exact if plan.function == "sum" else exact / count


@final
@mypyc_attr(acyclic=True)
class WaitingWindows(MatchSource):
    """Windows that waited for nothing to follow. `spans`: the numbers of the first and the last event of each, and
    their times."""

    def __init__(self, tables: WindowTables, spans: list[tuple[int, int, int, int]], log: LogPart) -> None:
        self.tables = tables
        self.spans = spans
        self.log = log

    def amount(self) -> int:
        return len(self.spans)

    def all(self) -> Iterator[Matched]:
        for first, last, start, end in self.spans:
            values = tuple(
                [value_of_rows(self.tables, plan, self.log, first, last, None) for plan in self.tables.aggregates]
            )
            yield matched_window(self.log, first, last, start, end, values, None)


def matched_window(
    log: LogPart, first: int, last: int, start: int, end: int, values: Row, begin: int | None
) -> Matched:
    """A window as a match: identified by its first and last event, and by its beginning if it is of the clock."""
    items, shift = log.items, log.first
    assigned: Assigned = [(0, items[first - shift], start), (1, items[last - shift], end)]
    if begin is not None:
        assigned.append((2, begin, begin))
    return Matched(assigned, start, end, values, stretch=(items, first - shift, last - shift + 1))


def value_of_rows(
    tables: WindowTables, plan: AggregatePlan, log: LogPart, first: int, last: int, begin: int | None
) -> Value:
    """A value that no measure says, from the rows of the window. O(events)."""
    if plan.function == "from":
        return begin
    if plan.function == "until":
        clock = tables.windows.clock
        return None if clock is None or begin is None else begin + clock.size
    if not plan.values:
        return last - first + 1
    rows = log.rows[first - log.first : last - log.first + 1]
    if plan.function == "first":
        rows = rows[:1]
    elif plan.function == "last":
        rows = rows[-1:]
    columns = [
        [value.value(row, (), row[tables.width :] if tables.timed else (), 1, 1) for row in rows]
        for value in plan.values
    ]
    return aggregate(plan.function, plan.distinct, plan.share, columns)
