"""Runs that are numbers: a leading Kleene component, under skip till next match, and at most one more behind it.

There is exactly one run for each first event, and it never splits but to end in a match (kleene notes, 1); so a run is
the number of its first event in a log, and what levels are compared with. An event with a value that floats cannot
stand for turns the cell into plain runs.

Here: what columns and stacks have in common. Not here: an event's way through either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....automaton.analyses.measures import Measures
from ....events.schema import Row
from ..completions import Completions
from ..matches import Assigned, Item
from .archive import Restored, RunsArchive
from .cell import RunCell
from .family import FactorFamily, FamilyMember, Own
from .found import Trail
from .gauges import Gauge
from .pending import Pending
from .replay import Page
from .run import KleeneRun
from .runs import Runs
from .shadows import Shadow
from .tables import BEFORE, Tables

FEW: Final = 64  # rows below which it is not worth while to move what is behind them
LONG: Final = 1 << 22  # events of one window beyond which sums of integers might not be exact


@final
class Gauges:
    """The measures of a pattern, made to run: one machine's, read by one event at a time."""

    def __init__(self, measures: Measures, slots: int) -> None:
        self.take = [Gauge(measure, slots) for measure in measures.take]
        self.begin = [Gauge(measure, slots) for measure in measures.begin]
        self.end = [Gauge(measure, slots) for measure in measures.end]
        self.all = [*self.take, *self.begin, *self.end]
        for gauge in self.end:
            gauge.read(())  # its level is a constant


class Numbers(RunCell):
    """`page` is the log; `plain` what goes on in place of numbers once these would not do: of a family, runs for each
    of `owners`."""

    __slots__ = ("family", "gauges", "owners", "page", "pending", "plain", "tables")

    def __init__(
        self, tables: Tables, gauges: Gauges, family: FactorFamily | None, shadows: list[Shadow], pending: Pending
    ) -> None:
        super().__init__(shadows)
        self.tables = tables
        self.gauges = gauges
        self.pending = pending
        self.family = family
        self.plain: list[Runs] = []
        self.owners: list[FamilyMember] = []
        self.page = Page(0)

    def firsts_alive(self) -> list[int]:
        """The numbers of the first events of all runs."""
        raise AssertionError

    def expire(self, oldest: i64) -> None:
        """Let go of runs that began before that time."""
        raise AssertionError

    def drop(self) -> None:
        """Let go of all runs."""
        raise AssertionError

    def move(self, takes: bool, begins: bool, ends: bool, row: Row, time: i64, item: Item, found: Completions) -> bool:
        """An event whose levels are read: it can be taken, begin a run, be the next component's. False, and nothing is
        changed, where it has a measure that is odd."""
        raise AssertionError

    def step(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item, found: Completions) -> None:
        """An event that satisfies the inputs in `mask`; appends what it completes."""
        if len(self.plain) == 0:
            tables = self.tables
            takes = mask & tables.takes != 0
            ends = mask & tables.ends != 0
            self.expire(time - tables.window)
            if self._level(row, takes, ends) and self.move(
                takes, mask & tables.begins != 0, ends, row, time, item, found
            ):
                return
            self._become_plain(position, place)
        for at, plain in enumerate(self.plain):
            if self.family is None:
                plain.step(mask, row, time, position, place, item, found)
            else:
                own = Completions()
                plain.step(mask, row, time, position, place, item, own)
                for each in own.founds:
                    found.add(Own(self.owners[at].target, each))
            self.lost += plain.lost
            plain.lost = 0

    def _level(self, row: Row, takes: bool, ends: bool) -> bool:
        """The levels of the event; whether all of them are numbers."""
        gauges = self.gauges
        if takes:
            for gauge in gauges.take:
                gauge.read(row)
                if gauge.odd:
                    return False
        if ends:
            for gauge in gauges.begin:
                gauge.read(row)
                if gauge.odd:
                    return False
        return len(self.page.items) < LONG

    def measure(self, row: Row) -> bool:
        """What the event makes of measures; whether all of that are numbers."""
        for gauge in self.gauges.all:
            gauge.measure(row)
            if gauge.odd:
                return False
        return True

    def _become_plain(self, position: i64, place: i64) -> None:
        """Make runs of the numbers. O(log x runs), once."""
        self._make_plain()
        page = self.page
        upto = page.base + len(page.items)
        for first in self.firsts_alive():
            taken, slots = page.path(self.tables, first, upto)
            trail: Trail = None
            for at in taken:
                trail = (trail, 0, page.items[at], int(page.times[at]), int(page.base) + at)
            start = page.times[first - page.base]
            for plain in self.plain:
                plain.inside[0].append(KleeneRun(start, BEFORE, slots, trail, position - 1, place - 1))
                plain.count += 1
        self.drop()
        self.page = Page(0)

    def _make_plain(self) -> None:
        if self.family is None:
            self.plain = [Runs(self.tables, [], self.pending)]
        else:
            self.owners = list(self.family.members)
            bounds = self.tables.bounds
            account = self.tables.account
            self.plain = [Runs(Tables(member.plan, bounds, account), [], self.pending) for member in self.owners]

    def size(self) -> int:
        if len(self.plain) > 0:
            return sum([plain.size() for plain in self.plain])
        return self.kept()

    def partial(self, oldest: i64) -> Iterator[Assigned]:
        if len(self.plain) > 0:
            yield from self.plain[0].partial(oldest)
        page = self.page
        for first in self.firsts_alive():
            if page.times[first - page.base] >= oldest:
                taken, _ = page.path(self.tables, first, page.base + len(page.items))
                yield [(0, page.items[at], int(page.times[at])) for at in taken]

    def kept(self) -> int:
        """How many numbers stand for runs."""
        raise AssertionError

    def settle(self, time: i64, position: i64) -> i64:
        if len(self.plain) > 0:
            return sum([plain.settle(time, position) for plain in self.plain])
        self.expire(time - self.tables.window)
        return self.size()

    def dump(self, archive: RunsArchive) -> list[Any]:
        """The log is enough: it is played again."""
        if len(self.plain) > 0:
            current = self.owners if self.family is None else self.family.members
            kept = [plain for at, plain in enumerate(self.plain) if not current or self.owners[at] in current]
            return [True, [plain.dump(archive) for plain in kept]]
        firsts = self.firsts_alive()
        page = self.page
        # Not what is before them: how much of that is still there is no part of what will be found.
        oldest = firsts[0] if firsts else page.base + len(page.items)
        return [False, page.dump(oldest), firsts]

    def load(self, data: Any, restored: Restored) -> None:
        if data[0]:
            self._make_plain()
            for plain, content in zip(self.plain, data[1], strict=True):
                plain.load(content, restored)
            return
        old = Page(0)
        old.load(data[1])
        wanted = set(data[2])
        nothing = Completions()
        edges = self.tables.edges[0]
        # What is before the oldest run that is alive began others, which are over: played again they would live again.
        alive = min(wanted, default=int(old.base) + len(old.items)) - int(old.base)
        self.page = Page(old.base + alive)
        for at in range(alive, len(old.items)):
            begins = int(old.base) + at in wanted
            mask = (edges.take if old.takes[at] else 0) | (edges.begin if begins else 0)
            self.step(mask, old.rows[at], old.times[at], 0, 0, old.items[at], nothing)
