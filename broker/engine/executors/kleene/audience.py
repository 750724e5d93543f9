"""Whom a machine of patterns serves, and how the numbers are read that its runs write into the columns of a batch.

Here: reading numbers, when somebody asks for matches. Not here: who writes them (columns, stacks).
"""

from __future__ import annotations

from typing import Final, cast, final

from mypy_extensions import i64

from ...target import Target
from ..completions import HEADER, Audience, Completions, Events
from ..matches import MatchSource
from .family import FactorRanges, Ranks
from .replay import Blocks, Page, Played, Replayed
from .tables import Tables

FIRSTS: Final = 0  # what the numbers are: first events,
BLOCKS: Final = 1  # blocks of these, and before them how many matches there are,
RANGES: Final = 2  # first events, each with a range of members


@final
class RunsAudience(Audience):
    """Of a family, `ranks` are its members."""

    def __init__(self, tables: Tables, targets: list[Target], ranks: Ranks | None, compressed: bool) -> None:
        super().__init__(targets, compressed)
        self.tables = tables
        self.ranks = ranks

    def total(self, found: Completions, at: i64) -> int:
        """O(subscribers once, and numbers of families)."""
        served = self.served()
        numbers = found.numbers
        begin = at + HEADER
        end = begin + numbers[at + 4]
        kind = numbers[at + 2] & 3
        total = 0
        if kind == RANGES:
            for i in range(begin, end, 3):
                total += served[numbers[i + 2]] - served[numbers[i + 1]]
        elif self.compressed:
            total = served[-1]
        elif kind == FIRSTS:
            total = int(end - begin) * served[-1]
        else:
            total = int(numbers[begin]) * served[-1]
        return total

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        tables = self.tables
        numbers = found.numbers
        known = numbers[at + 2]
        page = cast(Page, found.pages[known >> 2])
        row, time, item = events(int(numbers[at]))
        last = row if tables.last > 0 else None
        upto = numbers[at + 3]
        begin = at + HEADER
        end = begin + numbers[at + 4]
        kind = known & 3
        if kind == FIRSTS:
            return Replayed(tables, page, numbers[begin:end], upto, last, time, item)
        if kind == BLOCKS:
            number = numbers[begin]
            return Blocks(tables, page, numbers[begin + 1 : end], number, upto, last, time, item)
        assert self.ranks is not None
        return FactorRanges(self.ranks, Played(tables, page, upto, last, time, item), numbers[begin:end])
