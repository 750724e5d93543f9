"""Matches of numbered runs: the numbers in the columns of a batch, made into matches when they are read.

Here: reading numbers. Not here: writing them (numbered_runs).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row
from ...matches.completions import HEADER, Audience, Completions, Events
from ...matches.match_graph import Found
from ...matches.sources import Item, Matched, MatchSource
from ...program.target import Target
from ..packed import Integers
from .event_log import EventLog
from .tables import Tables

RUNS: Final = 0  # kinds of numbers: runs;
BLOCKS: Final = 1  # the number of matches, and blocks of runs, each with its first run and the one after its last


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
                yield self.match(run)
            return
        left = self.numbers[0]
        for at in range(1, len(self.numbers), 2):
            for run in range(self.numbers[at], self.numbers[at + 1]):
                if left == 0:
                    return
                left -= 1
                yield self.match(run)

    def match(self, run: i64) -> Matched:
        """The match of a run."""
        log = self.log
        taken, slots = log.path(self.tables, run, self.upto)
        assigned = [(0, log.items[at], int(log.times[at])) for at in taken]
        if self.row is not None:
            slots = self.tables.registers.begun(slots, 1, self.row)
            assigned.append((1, self.item, int(self.time)))
        return Matched(assigned, assigned[0][2], int(self.time), self.tables.values(slots, self.tables.shown))


@final
class RunsAudience(Audience):
    """The subscribers."""

    def __init__(self, tables: Tables, targets: list[Target], compressed: bool) -> None:
        super().__init__(targets, compressed)
        self.tables = tables

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        numbers = found.numbers
        known = numbers[at + 2]
        row, time, item = events(int(numbers[at]))
        own = numbers[at + HEADER : at + HEADER + numbers[at + 4]]
        log = cast(EventLog, found.pages[known >> 2])
        last = row if self.tables.last > 0 else None
        return NumberedMatches(self.tables, log, known & 3, own, numbers[at + 3], last, time, item)
