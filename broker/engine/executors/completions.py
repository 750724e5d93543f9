"""What the events of a batch completed of patterns: rows of machine numbers, of which matches are made when read.

A row is an event, whom its matches are for, and either matches that exist as an object or, of runs that are numbers,
a log and the numbers themselves. So an event that completes something costs a few machine words, however many matches
and subscribers there are; nothing is allocated for it.

Here: writing rows, and reading them. Hot. Not here: what the numbers of a representation mean (its audience), what
becomes of matches (results).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias, final

from mypy_extensions import i64, mypyc_attr

from ...events.schema import Row
from ..account import NOT_SUSPENDED
from ..composed import Composed
from ..target import Target
from .epoch_matches import EpochMatches
from .matches import Item, MatchSource
from .packed import Integers, integers, roomy

Events: TypeAlias = Callable[[int], tuple[Row, int, Item]]
"""Values, time and item of an event by its number."""

HEADER: Final = 5  # event, audience, object, and of numbers: how many events the log had, how many numbers
LIMIT: Final = -1  # in place of an object: all that a row says is that a limit was hit, or why they are suspended
OBJECT: Final = 3  # what is no numbers but a source


class Audience:
    """Whom a machine serves, as it is now; never changed, so that results may keep it. That of an executor which writes
    numbers is a subclass and reads them."""

    def __init__(self, targets: list[Target], compressed: bool) -> None:
        self.targets = targets
        self.compressed = compressed
        self._served: list[int] = []

    def everybody(self) -> list[Target]:
        """Those whom a row is for that does not say so itself."""
        return self.targets

    def served(self) -> list[int]:
        """Subscribers of the targets before each one; at the end, of all. O(targets) once."""
        if not self._served:
            self._served = [0]
            for target in self.targets:
                self._served.append(self._served[-1] + len(target.subscribers()))
        return self._served

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        """The matches of a row of numbers."""
        raise AssertionError

    def total(self, found: Completions, at: i64) -> int:
        """How many results a row of numbers makes for all of them; none is made."""
        raise AssertionError


@mypyc_attr(acyclic=True)
class Served(MatchSource):
    """Matches of several targets."""

    def parts(self) -> Iterator[tuple[Target, MatchSource]]:
        """By whom they are for."""
        raise AssertionError


@final
class Completions:
    """The rows of one batch, up to `upto`; those before `told` have been made results. What comes next is of the event
    `event`. Automata over epochs write to `epochs` instead."""

    def __init__(self, epochs: EpochMatches | None = None) -> None:
        self.epochs = EpochMatches([], [], [], []) if epochs is None else epochs
        self.event: i64 = 0
        self.upto: i64 = 0
        self.told: i64 = 0
        self.entries: i64 = 0  # of what has not been told, how many pairs of an event and a target have matches
        self.numbers: Integers = integers()
        self.audience: Audience | None = None  # the last of
        self.audiences: list[Audience] = []
        self.page: object = None  # the last of
        self.pages: list[object] = []  # logs that numbers refer to
        self.founds: list[MatchSource] = []
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

    def close(self, page: object, upto: i64, kind: i64, count: i64) -> None:
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

    def add(self, found: MatchSource | None) -> None:
        """Matches that exist as an object; None: word of a limit."""
        numbers = self.room(0)
        at = self.upto
        numbers[at] = self.event
        numbers[at + 1] = len(self.audiences) - 1
        numbers[at + 2] = LIMIT
        numbers[at + 3] = 0
        if found is not None:
            numbers[at + 2] = 4 * len(self.founds) + OBJECT
            self.founds.append(found)
            self.entries += 1
        numbers[at + 4] = 0
        self.upto = at + HEADER

    def suspend(self, reason: int) -> None:
        """Word that those who are served are suspended from now on."""
        self.add(None)
        self.numbers[self.upto - HEADER + 3] = reason

    def drain(self) -> list[MatchSource]:
        """The matches that exist as objects, for one who keeps them; nothing is left."""
        founds, self.founds = self.founds, []
        self.upto = self.told = self.entries = 0
        return founds

    # --- reading ------------------------------------------------------------------------------------------------

    def read(self, events: Events) -> Iterator[tuple[int, Target, Composed]]:
        """What has not been told, which from now on it has: events, and what each completed for whom. `events` gives
        values, time and item of an event."""
        self.entries = 0
        while self.told < self.upto:
            at = self.told
            event = int(self.numbers[at])
            audience = self.audiences[self.numbers[at + 1]]
            found = self._found(at, audience, events)
            suspended = int(self.numbers[at + 3]) if self.numbers[at + 2] == LIMIT else NOT_SUSPENDED
            self.told = at + HEADER + self.numbers[at + 4]
            for target, part in _parts(audience, found):
                yield event, target, Composed(part, not audience.compressed, None, suspended)

    def all(self, row: Row, time: int, item: Item) -> list[MatchSource]:
        """What one event completed, all that is there being of that event and of one machine."""
        found: list[MatchSource] = []
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
            known = self.numbers[at + 2]
            if known == LIMIT:
                total += audience.served()[-1]
            elif known & 3 != OBJECT:
                total += audience.total(self, at)
            elif audience.compressed:
                total += audience.served()[-1]
            else:
                for target, part in _parts(audience, self.founds[known >> 2]):
                    total += Composed(part, True).results() * len(target.subscribers())
            at += HEADER + self.numbers[at + 4]
        return total

    def _found(self, at: i64, audience: Audience, events: Events) -> MatchSource | None:
        """The matches of the row there."""
        known = self.numbers[at + 2]
        if known == LIMIT:
            return None
        if known & 3 == OBJECT:
            return self.founds[known >> 2]
        return audience.read(self, at, events)


def _parts(audience: Audience, found: MatchSource | None) -> Iterator[tuple[Target, MatchSource | None]]:
    """Whom a row is for, and what of it; None where it says that a limit was hit."""
    if isinstance(found, Served):
        yield from found.parts()
    else:
        for target in audience.everybody():
            yield target, found
