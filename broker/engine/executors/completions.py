"""The completions of a batch: rows of machine numbers, from which matches are made when they are read.

A row has an event, the audience of its matches, and either an object that holds the matches or, for packed runs, an
event log and numbers. So an event that completes matches costs a few machine words and no allocation, however many
matches and subscribers there are.

Here: writing and reading rows. Hot. Not here: the meaning of a representation's numbers (its audience), turning matches
into results (results).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias, final

from mypy_extensions import i64, mypyc_attr

from ...events.schema import Row
from ..program.account import NOT_SUSPENDED
from ..program.target import Target
from .composed import Composed
from .epoch_matches import EpochMatches, no_matches
from .matches import Item, MatchSource
from .member_matches import Roster
from .packed import Integers, integers, roomy

Events: TypeAlias = Callable[[int], tuple[Row, int, Item]]
"""Values, time and item of an event, by its number."""

HEADER: Final = 5  # event, audience, object; for numbers: length of the log, count of numbers
LIMIT: Final = -1  # instead of an object: the row reports only a limit that was hit, or a suspension
OBJECT: Final = 3  # the matches are an object, not numbers


class Audience(Roster):
    """The subscribers of a machine at one time; immutable, so that results may keep it.

    An executor that writes numbers has a subclass, which reads them.
    """

    def __init__(self, targets: list[Target], compressed: bool) -> None:
        super().__init__()
        self.targets = targets
        self.compressed = compressed
        self._served: list[int] = []

    def everybody(self) -> list[Target]:
        """The targets of a row that does not name its own."""
        return self.targets

    def served(self) -> list[int]:
        """For each target the number of subscribers before it; at the end, of all. O(targets) once."""
        if not self._served:
            self._served = [0]
            for target in self.targets:
                self._served.append(self._served[-1] + len(target.subscribers()))
        return self._served

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        """The matches of a row of numbers."""
        raise AssertionError

    def parts(self, found: Completions, at: i64, events: Events) -> list[tuple[Target, MatchSource | None]]:
        """The targets of a row of numbers, each with its matches."""
        return parts_of(self, self.read(found, at, events))

    def total(self, found: Completions, at: i64) -> int:
        """The number of results of a row of numbers for all targets, without making any."""
        raise AssertionError


@mypyc_attr(acyclic=True)
class Served(MatchSource):
    """Matches of several targets."""

    def parts(self) -> Iterator[tuple[Target, MatchSource]]:
        """The matches of each target."""
        raise AssertionError


@final
class Completions:
    """The rows of one batch, up to `upto`. Results have been made of the rows before `reported`.

    New rows belong to the event `event`. Automata over epochs write to `epochs` instead.
    """

    def __init__(self, epochs: EpochMatches | None = None) -> None:
        self.epochs = no_matches() if epochs is None else epochs
        self.event: i64 = 0
        self.upto: i64 = 0
        self.reported: i64 = 0
        self.unordered = False  # rows and packed blocks are not in the order of events
        self.entries: i64 = 0  # rows with matches that are not yet read
        self.matches = 0  # in all rows, of any number; compressed ones count once, those of equal subscriptions too
        self.numbers: Integers = integers()
        self.audience: Audience | None = None  # the last row's
        self.audiences: list[Audience] = []
        self.page: object = None  # the last row's
        self.pages: list[object] = []  # event logs to which numbers refer
        self.founds: list[MatchSource] = []
        self.failures: list[tuple[int, list[Target], Exception]] = []  # event, suspended targets and the error

    def serve(self, audience: Audience) -> None:
        """Set the audience of the next rows. O(1)."""
        if self.audience is not audience:
            self.audience = audience
            self.audiences.append(audience)

    def room(self, count: i64) -> Integers:
        """The column with room for a row of `count` numbers, behind HEADER from `upto` on."""
        wanted = self.upto + HEADER + count
        if len(self.numbers) < wanted:
            self.numbers = roomy(self.numbers, wanted)
        return self.numbers

    def close(self, page: object, upto: i64, kind: i64, count: i64, matches: i64) -> None:
        """Complete a row of the numbers that were written. Its matches use events in the log below `upto`."""
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
        self.matches += int(matches)
        self.upto = at + HEADER + count

    def add(self, found: MatchSource | None) -> None:
        """Add a row with matches in an object; None reports a limit that was hit."""
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
            self.matches += self._amount(found)
        numbers[at + 4] = 0
        self.upto = at + HEADER

    def _amount(self, found: MatchSource) -> int:
        """The matches of an object; 1 where a limit was hit, so that only reading tells."""
        if self.audience is None or not self.audience.compressed:
            return found.amount() or 1
        return sum([1 for _ in found.parts()]) if isinstance(found, Served) else 1

    def suspend(self, reason: int) -> None:
        """Report to the current audience that it is suspended from now on."""
        self.add(None)
        self.numbers[self.upto - HEADER + 3] = reason

    def drain(self) -> list[MatchSource]:
        """Remove and return the matches that are objects."""
        founds, self.founds = self.founds, []
        self.upto = self.reported = self.entries = 0
        return founds

    # --- reading ------------------------------------------------------------------------------------------------

    def arrange(self) -> None:
        """Put the unread rows, and the packed blocks, in the order of their events. O(rows + events) if they are not.

        Those of one event keep their order, and so do those of a machine.
        """
        if not self.unordered:
            return
        self.unordered = False
        self.epochs.packed.arrange()
        numbers = self.numbers
        begins = integers()  # by event, behind one number: how long its rows are; then, where they begin
        at = self.reported
        while at < self.upto:
            length = HEADER + numbers[at + 4]
            behind = numbers[at] + 2
            if len(begins) <= behind:
                begins = roomy(begins, behind + 1)
            begins[behind] += length
            at += length
        sum_of: i64 = self.reported
        event: i64
        for event in range(len(begins)):
            sum_of += begins[event]
            begins[event] = sum_of
        arranged = numbers[:]
        at = self.reported
        j: i64
        while at < self.upto:
            length = HEADER + numbers[at + 4]
            to = begins[numbers[at] + 1]
            for j in range(length):
                arranged[to + j] = numbers[at + j]
            begins[numbers[at] + 1] = to + length
            at += length
        self.numbers = arranged

    def read(self, events: Events) -> Iterator[tuple[int, Target, Composed]]:
        """Read the rows that were not read before: each event, with a target and what it completed for that.

        `events` gives values, time and item of an event.
        """
        self.entries = 0
        while self.reported < self.upto:
            at = self.reported
            event = int(self.numbers[at])
            audience = self.audiences[self.numbers[at + 1]]
            suspended = int(self.numbers[at + 3]) if self.numbers[at + 2] == LIMIT else NOT_SUSPENDED
            parts = self.parts_at(at, events)
            self.reported = at + HEADER + self.numbers[at + 4]
            for target, part in parts:
                yield event, target, Composed(part, not audience.compressed, None, suspended)

    def parts_at(self, at: i64, events: Events) -> list[tuple[Target, MatchSource | None]]:
        """The targets of the row at this index, each with its matches; None if it reports a limit."""
        audience = self.audiences[self.numbers[at + 1]]
        known = self.numbers[at + 2]
        if known == LIMIT or known & 3 == OBJECT:
            return parts_of(audience, self._found(at, audience, events))
        return audience.parts(self, at, events)

    def unread(self, events: Events) -> list[tuple[Target, MatchSource]] | None:
        """The matches of all rows that were not read yet, which stay unread; None if one result stands for several, or
        a row reports a limit."""
        found: list[tuple[Target, MatchSource]] = []
        at = self.reported
        while at < self.upto:
            if self.audiences[self.numbers[at + 1]].compressed:
                return None
            for target, part in self.parts_at(at, events):
                if part is None:
                    return None
                found.append((target, part))
            at += HEADER + self.numbers[at + 4]
        return found

    def all(self, row: Row, time: int, item: Item) -> list[MatchSource]:
        """The completions of one event. The rows must belong to this event and one machine."""
        found = self.since(self.reported, row, time, item)
        self.reported = self.upto
        return found

    def since(self, at: i64, row: Row, time: int, item: Item) -> list[MatchSource]:
        """The completions from a row on, which stay unread. They must belong to this event."""
        found: list[MatchSource] = []
        while at < self.upto:
            one = self._found(at, self.audiences[self.numbers[at + 1]], lambda _: (row, time, item))
            if one is not None:
                found.append(one)
            at += HEADER + self.numbers[at + 4]
        return found

    def total(self) -> int:
        """The number of results of unread rows for all subscribers, without making any.

        O(rows, and numbers of families).
        """
        total = 0
        at = self.reported
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
                for target, part in parts_of(audience, self.founds[known >> 2]):
                    total += Composed(part, True).results() * len(target.subscribers())
            at += HEADER + self.numbers[at + 4]
        return total

    def _found(self, at: i64, audience: Audience, events: Events) -> MatchSource | None:
        """The matches of the row at this index."""
        known = self.numbers[at + 2]
        if known == LIMIT:
            return None
        if known & 3 == OBJECT:
            return self.founds[known >> 2]
        return audience.read(self, at, events)


def parts_of(audience: Audience, found: MatchSource | None) -> list[tuple[Target, MatchSource | None]]:
    """The targets of a row, each with its matches; None if the row reports a limit."""
    if isinstance(found, Served):
        return [each for each in found.parts()]  # noqa: C416  a list of an iterator has another type
    return [(target, found) for target in audience.everybody()]
