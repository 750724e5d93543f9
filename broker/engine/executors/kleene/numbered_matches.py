"""Matches of numbered runs: the numbers in the columns of a batch, made into matches when they are read.

Here: reading numbers. Not here: writing them (numbered_runs).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row
from ...program.target import Target
from ..completions import HEADER, Audience, Completions, Events, Served
from ..expansion import Found
from ..matches import Item, Matched, MatchSource
from ..packed import Integers, integers, put_integer
from .event_log import EventLog
from .family import Ranks
from .tables import Tables

RUNS: Final = 0  # kinds of numbers: runs;
BLOCKS: Final = 1  # the number of matches, and blocks of runs, each with its first run and the one after its last;
RANGES: Final = 2  # runs, each with a range of members: the lowest and the one after the highest


@final
@mypyc_attr(acyclic=True)
class NumberedMatches(Found):
    """Matches of one event, RUNS or BLOCKS. They may have taken events in the log before number `upto`.

    `row` is None if the pattern ends with its Kleene component; otherwise `row`, `time` and `item` are the last event.
    """

    __slots__ = ("item", "kind", "log", "numbers", "row", "tables", "time", "upto")

    def __init__(
        self,
        tables: Tables,
        log: EventLog,
        kind: i64,
        numbers: Integers,
        upto: i64,
        row: Row | None,
        time: i64,
        item: Item,
    ) -> None:
        self.tables = tables
        self.log = log
        self.kind = kind
        self.numbers = numbers
        self.upto = upto
        self.row = row
        self.time = time
        self.item = item

    def amount(self) -> int:
        return int(self.numbers[0]) if self.kind == BLOCKS else len(self.numbers)

    def all(self) -> Iterator[Matched]:
        if self.kind == RUNS:
            for run in self.numbers:
                yield self._match(run)
            return
        left = self.numbers[0]
        for at in range(1, len(self.numbers), 2):
            for run in range(self.numbers[at], self.numbers[at + 1]):
                if left == 0:
                    return
                left -= 1
                yield self._match(run)

    def _match(self, run: i64) -> Matched:
        log = self.log
        taken, slots = log.path(self.tables, run, self.upto)
        assigned = [(0, log.items[at], int(log.times[at])) for at in taken]
        if self.row is not None:
            slots = self.tables.registers.begun(slots, 1, self.row)
            assigned.append((1, self.item, int(self.time)))
        return Matched(assigned, assigned[0][2], int(self.time), self.tables.values(slots))

    def of(self, runs: Integers) -> NumberedMatches:
        """Matches of the same event, for these runs."""
        return NumberedMatches(self.tables, self.log, RUNS, runs, self.upto, self.row, self.time, self.item)


@final
@mypyc_attr(acyclic=True)
class FactorRanges(Served):
    """Matches of one event, RANGES, by member; `found` knows the event."""

    def __init__(self, ranks: Ranks, found: NumberedMatches) -> None:
        self.ranks = ranks
        self.found = found

    def parts(self) -> Iterator[tuple[Target, MatchSource]]:
        """The matches of each member that has any. O(runs) a member."""
        ranges = self.found.numbers
        least: i64 = len(self.ranks.targets)
        most: i64 = 0
        at: i64
        rank: i64
        for at in range(0, len(ranges), 3):
            least = min(least, ranges[at + 1])
            most = max(most, ranges[at + 2])
        for rank in range(least, most):
            own = integers()
            number: i64 = 0
            for at in range(0, len(ranges), 3):
                if ranges[at + 1] <= rank < ranges[at + 2]:
                    own = put_integer(own, number, ranges[at])
                    number += 1
            if number > 0:
                yield self.ranks.targets[rank], self.found.of(own)


@final
class RunsAudience(Audience):
    """The audience; for a family, `ranks` are its members."""

    def __init__(self, tables: Tables, targets: list[Target], ranks: Ranks | None, compressed: bool) -> None:
        super().__init__(targets, compressed)
        self.tables = tables
        self.ranks = ranks

    def total(self, found: Completions, at: i64) -> int:
        """The number of results. O(subscribers once, and numbers of families)."""
        served = self.served()
        numbers = found.numbers
        begin = at + HEADER
        end = begin + numbers[at + 4]
        kind = numbers[at + 2] & 3
        if kind == RANGES:
            total = 0
            for i in range(begin, end, 3):
                total += served[numbers[i + 2]] - served[numbers[i + 1]]
            return total
        if self.compressed:
            return served[-1]
        return int(end - begin if kind == RUNS else numbers[begin]) * served[-1]

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        numbers = found.numbers
        known = numbers[at + 2]
        row, time, item = events(int(numbers[at]))
        own = numbers[at + HEADER : at + HEADER + numbers[at + 4]]
        log = cast(EventLog, found.pages[known >> 2])
        last = row if self.tables.last > 0 else None
        source = NumberedMatches(self.tables, log, known & 3, own, numbers[at + 3], last, time, item)
        if known & 3 != RANGES:
            return source
        assert self.ranks is not None
        return FactorRanges(self.ranks, source)
