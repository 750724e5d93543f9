"""Windows of the pane table as matches: the numbers of those that end together, made into matches when they are read.

Not here: the machine that writes them (pane_machine), values that are computed from rows (window_matches).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Value
from ...matches.completions import Audience, Completions, Events
from ...matches.sources import Matched, MatchSource
from ...program.target import Target
from .batch_log import BatchLog
from .tables import EXACT, AggregatePlan, WindowTables
from .window_matches import matched_window, row_of, settled, value_of_measure, value_of_rows
from .window_page import WindowPage

ROW_NUMBERS: Final = 5  # of a row: the log, when windows of the clock begin, where floats, counts and totals begin
FEW: Final = 4  # events up to which those of a window are found at once, although others have had most of them
EACH_NUMBERS: Final = 4  # of a window: the place of its newest event, how many it has, times of the first and the last


@final
class PaneAudience(Audience):
    """The subscribers of a machine with a pane table. `summed`: by measure, whether pages have what it says; `overlap`:
    an event is in several windows."""

    def __init__(self, targets: list[Target], tables: WindowTables, summed: list[bool], overlap: bool) -> None:
        super().__init__(targets, False)
        self.tables = tables
        self.summed = summed
        self.overlap = overlap
        self.from_rows = any(plan.values and not said(plan, summed) for plan in tables.aggregates)

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        page, numbers = row_of(found, at)
        return PaneWindows(self, page, numbers)


def said(plan: AggregatePlan, summed: list[bool]) -> bool:
    """Whether pages have what an aggregate is made of; windows that wait for their end have no measures."""
    return 0 <= plan.measure < len(summed) and summed[plan.measure]


@final
@mypyc_attr(acyclic=True)
class PaneWindows(MatchSource):
    """The windows of a row; its numbers as ROW_NUMBERS and EACH_NUMBERS say."""

    def __init__(self, audience: PaneAudience, page: WindowPage, numbers: list[int]) -> None:
        self.audience = audience
        self.page = page
        self.numbers = numbers

    def amount(self) -> int:
        return (len(self.numbers) - ROW_NUMBERS) // EACH_NUMBERS

    def all(self) -> Iterator[Matched]:
        numbers = self.numbers
        page, tables, summed = self.page, self.audience.tables, self.audience.summed
        log = cast(BatchLog, page.columns[numbers[0]])
        begin = None if tables.windows.clock is None else numbers[1]
        places = numbers[2:ROW_NUMBERS]
        read = self.audience.from_rows
        for at in range(ROW_NUMBERS, len(numbers), EACH_NUMBERS):
            newest, events, start, end = numbers[at : at + EACH_NUMBERS]
            told = settled(tables, page, places, events, summed)
            certain = True  # a sum that is not has to be made of rows
            for kind, own, (value, _) in zip(tables.kinds, summed, told):
                certain = certain and (not own or kind != EXACT or value - value == 0.0)
            if self.audience.overlap and events > FEW and (read or certain):
                columns = log.going_on(newest, events, read)
            else:
                columns = log.columns(newest, events, read or not certain)
            last = int(columns.logged + columns.size) - 1
            first = last - events + 1
            values: list[Value] = []
            for plan in tables.aggregates:
                if said(plan, summed):
                    value, count = told[plan.measure]
                    values.append(value_of_measure(tables, plan, value, count, columns, first, last, begin))
                else:
                    values.append(value_of_rows(tables, plan, columns, first, last, begin))
            yield matched_window(columns, first, last, start, end, tuple(values), begin)
