"""Sessions as matches: the numbers of one, made into a match when it is read.

Not here: the machine that writes them (sessions), values of aggregates (window_matches).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, final

from mypy_extensions import i64, mypyc_attr

from ...program.target import Target
from ..completions import HEADER, Audience, Completions, Events
from ..matches import Matched, MatchSource
from .batch_log import BatchLog
from .tables import WindowTables
from .window_matches import matched_window, value_of_rows

SESSION_NUMBERS: Final = 4  # the index of its newest event, how many events it has, the times of the first and the last


@final
class SessionAudience(Audience):
    """The subscribers of a machine of sessions."""

    def __init__(self, targets: list[Target], tables: WindowTables) -> None:
        super().__init__(targets, False)
        self.tables = tables

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        log = found.pages[found.numbers[at + 2] >> 2]
        assert isinstance(log, BatchLog)
        numbers = [int(number) for number in found.numbers[at + HEADER : at + HEADER + SESSION_NUMBERS]]
        return CompletedSession(self.tables, log, numbers)


@final
@mypyc_attr(acyclic=True)
class CompletedSession(MatchSource):
    """A session that is over; its numbers as SESSION_NUMBERS says."""

    def __init__(self, tables: WindowTables, log: BatchLog, numbers: list[int]) -> None:
        self.tables = tables
        self.log = log
        self.numbers = numbers

    def amount(self) -> int:
        return 1

    def all(self) -> Iterator[Matched]:
        newest, events, start, end = self.numbers
        columns = self.log.columns(newest, events, True)
        plans = self.tables.aggregates
        values = tuple([value_of_rows(self.tables, plan, columns, 0, events - 1, None) for plan in plans])
        yield matched_window(columns, 0, events - 1, start, end, values, None)
