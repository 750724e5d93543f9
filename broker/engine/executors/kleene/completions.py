"""What the events of a batch completed of patterns: rows of machine numbers, of which matches are made when read.

A row is an event, whom its matches are for, and either matches that exist as an object or, of runs that are numbers,
a log and the numbers themselves. So an event that completes something costs a few machine words, however many matches
and subscribers there are; nothing is allocated for it.

Here: writing rows, and reading them. Hot. Not here: what a match of a representation is (found, replay, family), who
reads them (telling).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, final

from mypy_extensions import i64

from ....events.schema import Row
from ...account import NOT_SUSPENDED
from ...target import Target
from .family import Ranges, Ranks
from .found import Found, Item
from .gathered import Gathered
from .packed import Integers, integers, roomy
from .replay import Blocks, Page, Played, Replayed
from .tables import Tables

HEADER: Final = 5  # event, audience, object, and of numbers: how many events the log had, how many numbers
LIMIT: Final = -1  # in place of an object: all that a row says is that a limit was hit, or why they are suspended
FIRSTS: Final = 0  # what the numbers are: first events,
BLOCKS: Final = 1  # blocks of these, and before them how many matches there are,
RANGES: Final = 2  # first events, each with a range of members


@final
class Audience:
    """Whom a machine serves, as it is now; never changed, so that results may keep it. Of a family, `ranks` are its
    members."""

    def __init__(self, tables: Tables, targets: list[Target], ranks: Ranks | None, compressed: bool) -> None:
        self.tables = tables
        self.targets = targets
        self.ranks = ranks
        self.compressed = compressed
        self._served: list[int] = []

    def served(self) -> list[int]:
        """Subscribers of the targets before each one; at the end, of all. O(targets) once."""
        if not self._served:
            self._served = [0]
            for target in self.targets:
                self._served.append(self._served[-1] + len(target.subscribers()))
        return self._served


@final
class Completions:
    """The rows of one batch, up to `upto`; those before `told` have been made results. What comes next is of the event
    `event`."""

    def __init__(self) -> None:
        self.event: i64 = 0
        self.upto: i64 = 0
        self.told: i64 = 0
        self.entries: i64 = 0  # of what has not been told, how many pairs of an event and a target have matches
        self.numbers: Integers = integers()
        self.audience: Audience | None = None  # the last of
        self.audiences: list[Audience] = []
        self.page: Page | None = None  # the last of
        self.pages: list[Page] = []
        self.founds: list[Found] = []
        self.failures: list[tuple[int, list[Target], Exception]] = []  # event, and who is suspended by what

    def serve(self, audience: Audience) -> None:
        """What comes next is for these. O(1)."""
        if self.audience is not audience:
            self.audience = audience
            self.audiences.append(audience)

    def room(self, count: i64) -> Integers:
        """The column with room for a row of so many numbers, behind HEADER from `upto` on."""
        wanted = self.upto + HEADER + count
        if len(self.numbers) < wanted:
            self.numbers = roomy(self.numbers, wanted)
        return self.numbers

    def close(self, page: Page, upto: i64, kind: i64, count: i64) -> None:
        """The numbers that were written are a row: of matches that may have taken what is in the log below `upto`."""
        if self.page is not page:
            self.page = page
            self.pages.append(page)
        at = self.upto
        numbers = self.numbers
        numbers[at] = self.event
        numbers[at + 1] = len(self.audiences) - 1
        numbers[at + 2] = 4 * (len(self.pages) - 1) + kind
        numbers[at + 3] = upto
        numbers[at + 4] = count
        self.entries += 1
        self.upto = at + HEADER + count

    def add(self, found: Found | None) -> None:
        """Matches that exist as an object; None: word of a limit."""
        numbers = self.room(0)
        at = self.upto
        numbers[at] = self.event
        numbers[at + 1] = len(self.audiences) - 1
        numbers[at + 2] = LIMIT
        numbers[at + 3] = 0
        if found is not None:
            numbers[at + 2] = 4 * len(self.founds) + 3
            self.founds.append(found)
            self.entries += 1
        numbers[at + 4] = 0
        self.upto = at + HEADER

    def suspend(self, reason: int) -> None:
        """Word that those who are served are suspended from now on."""
        self.add(None)
        self.numbers[self.upto - HEADER + 3] = reason

    # --- reading ------------------------------------------------------------------------------------------------

    def read(self, events: Callable[[int], tuple[Row, int, Item]]) -> Iterator[tuple[int, Gathered]]:
        """What has not been told, which from now on it has: events and what each completed. `events` gives values,
        time and item of an event."""
        self.entries = 0
        while self.told < self.upto:
            at = self.told
            event = int(self.numbers[at])
            audience = self.audiences[self.numbers[at + 1]]
            found = self._found(at, audience, events)
            suspended = int(self.numbers[at + 3]) if self.numbers[at + 2] == LIMIT else NOT_SUSPENDED
            self.told = at + HEADER + self.numbers[at + 4]
            yield event, Gathered(audience.targets, found, audience.compressed, suspended)

    def all(self, row: Row, time: int, item: Item) -> list[Found]:
        """What one event completed, all that is there being of that event and of one machine."""
        found: list[Found] = []
        while self.told < self.upto:
            one = self._found(self.told, self.audiences[0], lambda _: (row, time, item))
            if one is not None:
                found.append(one)
            self.told += HEADER + self.numbers[self.told + 4]
        return found

    def total(self) -> int:
        """How many results what has not been told makes for all subscribers; none is made. O(rows, and numbers of
        families)."""
        total = 0
        at = self.told
        while at < self.upto:
            audience = self.audiences[self.numbers[at + 1]]
            served = audience.served()
            known, begin = self.numbers[at + 2], at + HEADER
            end = begin + self.numbers[at + 4]
            kind = known & 3
            if kind == RANGES:
                for i in range(begin, end, 3):
                    total += served[self.numbers[i + 2]] - served[self.numbers[i + 1]]
            elif known == LIMIT or audience.compressed:
                total += served[-1]
            elif kind == FIRSTS:
                total += int(end - begin) * served[-1]
            elif kind == BLOCKS:
                total += int(self.numbers[begin]) * served[-1]
            else:
                found = self.founds[known >> 2]
                total += Gathered(audience.targets, found, False).total()
            at = end
        return total

    def _found(self, at: i64, audience: Audience, events: Callable[[int], tuple[Row, int, Item]]) -> Found | None:
        """The matches of the row there."""
        known = self.numbers[at + 2]
        if known == LIMIT:
            return None
        if known & 3 == 3:
            return self.founds[known >> 2]
        tables = audience.tables
        page = self.pages[known >> 2]
        row, time, item = events(int(self.numbers[at]))
        last = row if tables.last > 0 else None
        upto = self.numbers[at + 3]
        begin = at + HEADER
        end = begin + self.numbers[at + 4]
        kind = known & 3
        if kind == FIRSTS:
            return Replayed(tables, page, self.numbers[begin:end], upto, last, time, item)
        if kind == BLOCKS:
            number = self.numbers[begin]
            return Blocks(tables, page, self.numbers[begin + 1 : end], number, upto, last, time, item)
        assert audience.ranks is not None
        return Ranges(audience.ranks, Played(tables, page, upto, last, time, item), self.numbers[begin:end])
