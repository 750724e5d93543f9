"""Windows of the pane table as matches: the numbers of those that end together, made into matches when they are read.

Not here: the machine that writes them (pane_machine), values that are computed from rows (window_matches).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast, final

from mypy_extensions import i64, mypyc_attr

from ...matches.completions import Audience, Completions, Events
from ...matches.sources import Matched, MatchSource
from ...program.target import Target
from .batch_log import BatchLog
from .pane_sums import summed
from .tables import EXACT, WindowTables
from .window_matches import ReadWindow, row_of
from .window_page import WindowPage

ROW_NUMBERS: Final = 3  # of a row: the log, when windows of the clock begin, where their values begin
FEW: Final = 4  # events up to which those of a window are found at once, although others have had most of them
EACH_NUMBERS: Final = 4  # of a window: the place of its newest event, how many it has, times of the first and the last


@final
class PaneAudience(Audience):
    """The subscribers of a machine with a pane table. `summed`: the measures whose values pages have, in their order
    there; `overlap`: an event is in several windows."""

    def __init__(self, targets: list[Target], tables: WindowTables, overlap: bool) -> None:
        super().__init__(targets, False)
        self.tables = tables
        self.summed = summed(tables)
        self.overlap = overlap
        self.from_rows = any(plan.values and plan.measure not in self.summed for plan in tables.aggregates)

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        page, numbers = row_of(found, at)
        return PaneWindows(self, page, numbers)


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
        tables, summed = self.audience.tables, self.audience.summed
        log = cast(BatchLog, self.page.columns[numbers[0]])
        begin = None if tables.windows.clock is None else numbers[1]
        place = numbers[2]
        read = self.audience.from_rows
        for at in range(ROW_NUMBERS, len(numbers), EACH_NUMBERS):
            newest, events, start, end = numbers[at : at + EACH_NUMBERS]
            told = dict(zip(summed, self.page.values[place : place + len(summed)]))
            place += len(summed)
            certain = True  # a sum that is not has to be made of rows
            for measure, value in told.items():
                certain = certain and (tables.kinds[measure] != EXACT or value - value == 0.0)
            if self.audience.overlap and events > FEW and (read or certain):
                columns = log.going_on(newest, events, read)
            else:
                columns = log.columns(newest, events, read or not certain)
            last = int(columns.logged) + len(columns.items) - 1
            window = ReadWindow(tables, columns, last - events + 1, last, begin)
            yield window.match(start, end, window.values(told))
