"""Windows of packed partitions as matches: the numbers of those that end together, made into matches when they
are read.

Not here: machines that write them (packed_clock, packed_count), values that are computed from rows (window_matches).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Value
from ...program.target import Target
from ..completions import HEADER, Audience, Completions, Events
from ..matches import Matched, MatchSource
from ..packed import Floats, Integers, floats, integers, put_integer, roomy_floats
from .batch_log import BatchLog
from .sliding import SHORT
from .tables import EXACT, TOTAL, WindowTables
from .window_matches import matched_window, value_of_measure, value_of_rows

ROW_NUMBERS: Final = 4  # of a row: when windows of the clock begin, where their floats, totals and counts begin
EACH_NUMBERS: Final = 4  # of a window: the place of its newest event, how many it has, times of the first and the last


@final
@mypyc_attr(acyclic=True)
class PackedPage:
    """What windows of a batch need to be read: the log of their events, and their sums, those of a window together."""

    def __init__(self, log: BatchLog) -> None:
        self.log = log
        self.floats: Floats = floats()
        self.float_count: i64 = 0
        self.totals: list[int] = []
        self.counts: Integers = integers()
        self.count_count: i64 = 0

    def add_count(self, count: i64) -> None:
        at = self.count_count
        self.counts = put_integer(self.counts, at, count)
        self.count_count = at + 1

    def begin_row(self, into: Integers, at: i64, begin: i64) -> i64:
        """Write the first numbers of a row to this place; returns that of its first window."""
        into[at] = begin
        into[at + 1] = self.float_count
        into[at + 2] = len(self.totals)
        into[at + 3] = self.count_count
        return at + ROW_NUMBERS

    def reserve(self, count: i64) -> Floats:
        """The sums, with room for so many more behind `float_count`. O(1) amortised."""
        if len(self.floats) < self.float_count + count:
            self.floats = roomy_floats(self.floats, self.float_count + count)
        return self.floats


@final
class PackedAudience(Audience):
    """The subscribers of a machine of packed partitions."""

    def __init__(self, targets: list[Target], tables: WindowTables, overlap: bool) -> None:
        super().__init__(targets, False)
        self.tables = tables
        self.overlap = overlap

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        page = found.pages[found.numbers[at + 2] >> 2]
        assert isinstance(page, PackedPage)
        count = found.numbers[at + 4]
        numbers = [int(number) for number in found.numbers[at + HEADER : at + HEADER + count]]
        return CompletedPacked(self.tables, page, numbers, self.overlap)


def page_of(page: PackedPage | None, log: BatchLog, found: Completions) -> PackedPage:
    """The page, if it is that of the last row and its events are in this log; or a new one."""
    if page is None or found.page is not page or page.log is not log:
        return PackedPage(log)
    return page


@final
@mypyc_attr(acyclic=True)
class CompletedPacked(MatchSource):
    """The windows of a row; its numbers as ROW_NUMBERS and EACH_NUMBERS say. `overlap`: an event is in several."""

    def __init__(self, tables: WindowTables, page: PackedPage, numbers: list[int], overlap: bool) -> None:
        self.tables = tables
        self.overlap = overlap
        self.page = page
        self.numbers = numbers

    def amount(self) -> int:
        return (len(self.numbers) - ROW_NUMBERS) // EACH_NUMBERS

    def all(self) -> Iterator[Matched]:
        numbers = self.numbers
        page, tables = self.page, self.tables
        _, floats_at, totals_at, counts_at = numbers[:ROW_NUMBERS]
        begin = None if tables.windows.clock is None else numbers[0]
        read = tables.rows and any(plan.measure < 0 for plan in tables.aggregates)
        for at in range(ROW_NUMBERS, len(numbers), EACH_NUMBERS):
            newest, events, start, end = numbers[at : at + EACH_NUMBERS]
            said: list[tuple[Any, int]] = []
            certain = True  # a sum that is not has to be made of rows
            for kind, counted in zip(tables.kinds, tables.counted):
                told: Any = None
                if kind == EXACT:
                    exact = float(page.floats[floats_at])
                    certain = certain and exact - exact == 0.0
                    told = exact
                    floats_at += 1
                elif kind == TOTAL:
                    told = page.totals[totals_at]
                    totals_at += 1
                count = events
                if counted:
                    count = int(page.counts[counts_at])
                    counts_at += 1
                said.append((told, count))
            summed = read or (tables.rows and not certain)
            if self.overlap and events > SHORT and read == summed:
                columns = page.log.going_on(newest, events, read)
            else:
                columns = page.log.columns(newest, events, summed)
            last = int(columns.logged + columns.size) - 1
            first = last - events + 1
            values: list[Value] = []
            for plan in tables.aggregates:
                if plan.measure < 0:
                    values.append(value_of_rows(tables, plan, columns, first, last, begin))
                else:
                    told, count = said[plan.measure]
                    values.append(value_of_measure(tables, plan, told, count, columns, first, last, begin))
            yield matched_window(columns, first, last, start, end, tuple(values), begin)
