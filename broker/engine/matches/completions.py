"""The completions of a batch: rows of machine numbers, from which matches are made when they are read.

A row has an event, those whose the matches are, and what completed them: a target that a run ended in or that the event
alone matched; an end of a run by its number; or numbers of an executor, an object that holds the matches, a report.
So an event that completes matches costs a few machine words and no allocation, however many matches and subscribers
there are.

Here: writing rows, their order, counting. Hot. Not here: the meaning of an executor's numbers (its audience), reading
the rows (parts).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, final

from mypy_extensions import i64

from ...events.batch import Batch, batch_of_rows
from ...events.schema import Row
from ..executors.event_ids import EventIds
from ..executors.packed import Integers, integers, lengthened, roomy
from ..notices import Notice
from ..program.target import Target
from .batch_events import BatchEvents
from .placed_runs import PlacedRuns
from .sources import Item, MatchSource, PartialMatch

Events: TypeAlias = Callable[[int], tuple[Row, int, Item]]
"""Values, time and item of an event, by its number."""

HEADER: Final = 6  # event, audience, kind, what it is of (length of the log; run, reason, ...), numbers, matches
USUAL_ROOM: Final = 1 << 16  # numbers for which a batch has room at first
OBJECT: Final = 3  # kind: the matches are an object, not numbers
# Instead of an object, or of numbers:
LIMIT: Final = -1  # the row reports only a limit that was hit, or a suspension
TARGET: Final = -2  # of a run, or of the event alone; the number of the target follows
END: Final = -3  # the number of an end follows; the run has a place
NOTICE: Final = -4  # of a target, whose number follows
ALONE: Final = -1  # instead of a run

MERGED: Final = 0  # whose the matches of one event are, in the order in which they are read
EPOCHS: Final = 1
MACHINES: Final = 2
_RANKS: Final = 3
_FIRST: Final = -(1 << 62)  # before all orders


class Audience:
    """The subscribers of a machine at one time; immutable, so that results may keep it.

    An executor that writes numbers has a subclass, which reads them. `rank`: MACHINES, or EPOCHS if matches have runs.
    """

    def __init__(self, targets: list[Target], compressed: bool, rank: i64 = MACHINES) -> None:
        self.targets = targets
        self.compressed = compressed
        self.rank = rank
        self._served: list[int] = []
        self._known = False
        self._one_each = False  # each target is one subscriber

    def everybody(self) -> list[Target]:
        """The targets of a row that does not name its own."""
        return self.targets

    def served(self) -> list[int]:
        """For each target the number of subscribers before it; at the end, of all. O(targets) once."""
        if not self._served:
            self._served = [0]
            for target in self.everybody():
                self._served.append(self._served[-1] + len(target.subscribers()))
        return self._served

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        """The matches of a row of numbers, which all targets have."""
        raise AssertionError

    def parts(self, found: Completions, at: i64, events: Events) -> list[tuple[Target, MatchSource | None]]:
        """The targets of a row of numbers, each with its matches."""
        source = self.read(found, at, events)
        return [(target, source) for target in self.targets]

    def ended(self, found: Completions, at: i64) -> list[tuple[Target, PartialMatch | None]]:
        """The targets of a row of numbers, each with its run, or None for the event alone; for EPOCHS."""
        raise AssertionError

    def total_of_each(self, found: Completions, at: i64) -> int:
        """The number of results of a row of which each target has matches of its own. O(1) if each target is one
        subscriber, else O(targets)."""
        if not self._known:
            self._known, self._one_each = True, self.served() == list(range(len(self.targets) + 1))
        return int(found.numbers[at + 5]) if self._one_each else self.total_of_parts(found, at)

    def total_of_parts(self, found: Completions, at: i64) -> int:
        """The same where nobody has counted. O(targets)."""
        total = 0
        for target, part in self.parts(found, at, found.happened):
            total += len(target.subscribers()) * (1 if part is None or self.compressed else results_of(part))
        return total

    def total(self, found: Completions, at: i64) -> int:
        """The number of results of a row for all targets, without making any; here each has the same matches."""
        return int(found.numbers[at + 5]) * self.served()[-1]


@final
class Everybody(Audience):
    """All subscribers of a machine whose rows of matches name their own; for reports of limits and failures."""

    def __init__(self, targets: Callable[[], list[Target]], compressed: bool) -> None:
        super().__init__([], compressed)
        self._all = targets

    def everybody(self) -> list[Target]:
        """O(members) once."""
        if not self.targets:
            self.targets = self._all()
        return self.targets


@final
class Completions(BatchEvents):
    """The rows of one batch, up to `upto`. Those before `settled` are in their order.

    New rows of machines belong to the event `event`. `later`: rows are put in order once they are read; otherwise those
    of an event, when it is over. `feeding`: somebody reads a stream that is made of machines' results.
    """

    def __init__(
        self, times: list[int] | None = None, batch: Batch | None = None, ids: EventIds | None = None,
        starts: list[int] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            [] if times is None else times,
            batch_of_rows([]) if batch is None else batch,
            EventIds(0, 0) if ids is None else ids,
            [] if starts is None else starts,
        )
        self.event: i64 = 0
        self.upto: i64 = 0
        self.settled: i64 = 0
        self.later = False
        self.feeding = True
        self.unordered = False
        self.entries = 0  # rows of machines with matches
        self.matches = 0  # in all rows, of any number; compressed ones count once, those of equal subscriptions too
        self.numbers: Integers = integers()
        self.audience: Audience | None = None  # the last row's
        self.audiences: list[Audience] = []
        self.page: object = None  # the last row's
        self.pages: list[object] = []  # event logs to which numbers refer
        self.founds: list[MatchSource] = []
        self.targets: list[Target] = []
        self.runs: list[PartialMatch] = []
        self.placed: PlacedRuns | None = None  # the last row's
        self.rosters: list[PlacedRuns] = []
        self.notices: list[Notice] = []
        self.failures: list[tuple[int, list[Target], Exception]] = []  # event, suspended targets and the error
        self._order: i64 = _FIRST  # of the last row

    def make_room(self, before: Completions) -> None:
        """Have room for as many numbers an event as an earlier batch has, and a quarter more: it costs less at once."""
        usual = (before.upto + len(before.times) - 1) // len(before.times) if before.times else 0
        wanted = min((usual + (usual >> 2)) * len(self.times), USUAL_ROOM)
        if wanted > 0:
            self.numbers = lengthened(self.numbers, wanted)

    # --- of machines ------------------------------------------------------------------------------------------------

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
        rank: i64 = MACHINES if self.audience is None else self.audience.rank
        if rank == MACHINES:
            self.entries += 1
        self._head(self.event, len(self.audiences) - 1, 4 * (len(self.pages) - 1) + kind, upto, count, matches, rank)

    def add(self, found: MatchSource | None) -> None:
        """Add a row with matches in an object; None reports a limit that was hit."""
        self.room(0)
        kind: i64 = LIMIT
        if found is not None:
            kind = 4 * len(self.founds) + OBJECT
            self.founds.append(found)
            self.entries += 1
            compressed = self.audience is not None and self.audience.compressed
            self.matches += 1 if compressed else found.amount() or 1  # where a limit was hit, only reading tells
        self._head(self.event, len(self.audiences) - 1, kind, 0, 0, 0, MACHINES)

    def suspend(self, reason: int) -> None:
        """Report to the current audience that it is suspended from now on."""
        self.add(None)
        self.numbers[self.upto - HEADER + 3] = reason

    def drain(self) -> list[MatchSource]:
        """Remove and return the matches that are objects."""
        founds, self.founds = self.founds, []
        self.upto = self.settled = self.entries = 0
        return founds

    # --- of runs ----------------------------------------------------------------------------------------------------

    def complete(self, event: i64, target: Target, run: PartialMatch | None) -> None:
        """Add a row: the target has a match with this run, or the event alone."""
        known: i64 = ALONE
        if run is not None:
            known = len(self.runs)
            self.runs.append(run)
        self._of_target(event, TARGET, known, target, 1)

    def end(self, event: i64, runs: PlacedRuns, place: i64, number: i64) -> None:
        """Add a row: the end of this number has a match with the run at a place."""
        if self.placed is not runs:
            self.placed = runs
            self.rosters.append(runs)
        numbers = self.room(1)
        numbers[self.upto + HEADER] = number
        self._head(event, len(self.rosters) - 1, END, place, 1, 1, MERGED)

    def notify(self, event: i64, target: Target, notice: Notice) -> None:
        """Report a forecast or a resolution to the target's subscriber."""
        self.notices.append(notice)
        self._of_target(event, NOTICE, len(self.notices) - 1, target, 0)

    def give_up(self, event: i64, target: Target, reason: int) -> None:
        """Report that the target's subscribers are suspended from this event on."""
        self.audience = Audience([target], False, MERGED)
        self.audiences.append(self.audience)
        self.room(0)
        self._head(event, len(self.audiences) - 1, LIMIT, reason, 0, 0, MERGED)

    def _of_target(self, event: i64, kind: i64, known: i64, target: Target, matches: i64) -> None:
        numbers = self.room(1)
        numbers[self.upto + HEADER] = len(self.targets)
        self.targets.append(target)
        self._head(event, 0, kind, known, 1, matches, MERGED)

    # --- order ------------------------------------------------------------------------------------------------------

    def _head(self, event: i64, whose: i64, kind: i64, known: i64, count: i64, matches: i64, rank: i64) -> None:
        """Write the header of a row, and close it."""
        at, numbers = self.upto, self.numbers
        numbers[at] = event
        numbers[at + 1] = whose
        numbers[at + 2] = kind
        numbers[at + 3] = known
        numbers[at + 4] = count
        numbers[at + 5] = matches
        self.matches += int(matches)
        self.upto = at + HEADER + count
        if rank == MERGED and not self.later and self.settled == at:
            self.settled = self.upto
            return
        order = _RANKS * event + rank
        if order < self._order:
            self.unordered = True
        self._order = order

    def settle(self) -> None:
        """Put the rows since the last call in the order of their events, those of one event in that of their ranks.
        O(rows + events) if they are not; those that are alike keep their order."""
        first, self.settled, self._order = self.settled, self.upto, _FIRST
        if not self.unordered:
            return
        self.unordered = False
        numbers = self.numbers
        least: i64 = numbers[first] if first < self.upto else 0
        at = first
        while at < self.upto:
            least = min(least, numbers[at])
            at += HEADER + numbers[at + 4]
        begins = integers()  # by order, behind one number: how long its rows are; then, where they begin
        at = first
        while at < self.upto:
            length = HEADER + numbers[at + 4]
            behind = _RANKS * (numbers[at] - least) + self._rank(at) + 1
            if len(begins) <= behind:
                begins = roomy(begins, behind + 1)
            begins[behind] += length
            at += length
        sum_of = first
        order: i64
        for order in range(len(begins)):
            sum_of += begins[order]
            begins[order] = sum_of
        arranged = numbers[:]
        at = first
        j: i64
        while at < self.upto:
            length = HEADER + numbers[at + 4]
            order = _RANKS * (numbers[at] - least) + self._rank(at)
            to = begins[order]
            for j in range(length):
                arranged[to + j] = numbers[at + j]
            begins[order] = to + length
            at += length
        self.numbers = arranged

    def _rank(self, at: i64) -> i64:
        """That of the row at this index."""
        return self.audiences[self.numbers[at + 1]].rank if self.numbers[at + 2] >= LIMIT else MERGED

    # --- reading ----------------------------------------------------------------------------------------------------

    def parts_at(self, at: i64, events: Events) -> list[tuple[Target, MatchSource | None]]:
        """The targets of a machine's row, each with its matches; None if it reports a limit."""
        audience, known = self.audiences[self.numbers[at + 1]], self.numbers[at + 2]
        if known != LIMIT and known & 3 != OBJECT:
            return audience.parts(self, at, events)
        source = None if known == LIMIT else self.founds[known >> 2]
        return [(target, source) for target in audience.everybody()]

    def since(self, at: i64, row: Row, time: int, item: Item) -> list[MatchSource]:
        """The completions from a row on, which belong to this event and a machine whose subscribers have the same."""
        found: list[MatchSource] = []
        while at < self.upto:
            known = self.numbers[at + 2]
            if known != LIMIT and known & 3 == OBJECT:
                found.append(self.founds[known >> 2])
            elif known != LIMIT:
                found.append(self.audiences[self.numbers[at + 1]].read(self, at, lambda _: (row, time, item)))
            at += HEADER + self.numbers[at + 4]
        return found

    def total(self) -> int:
        """The number of results for all subscribers, without making any. O(rows)."""
        total = 0
        at: i64 = 0
        numbers = self.numbers
        while at < self.upto:
            known = numbers[at + 2]
            if known < LIMIT:
                total += self._total_of_runs(at)
            else:
                audience = self.audiences[numbers[at + 1]]
                if known == LIMIT:
                    total += audience.served()[-1]
                elif known & 3 != OBJECT:
                    total += audience.total(self, at)
                else:
                    each = 1 if audience.compressed else results_of(self.founds[known >> 2])
                    total += each * audience.served()[-1]
            at += HEADER + numbers[at + 4]
        return total

    def _total_of_runs(self, at: i64) -> int:
        """The results of a row of runs, or of a notice. O(subscribers)."""
        numbers = self.numbers
        kind, number = numbers[at + 2], numbers[at + HEADER]
        if kind == NOTICE:
            return len(self.targets[number].subscribers())
        targets = self.rosters[numbers[at + 1]].targets if kind == END else self.targets
        return served(targets[number], self.born(at))

    def born(self, at: i64) -> i64:
        """The time at which the run of a row was born; that of its event if it matches alone."""
        kind, known = self.numbers[at + 2], self.numbers[at + 3]
        if kind == END:
            return self.rosters[self.numbers[at + 1]].born(known)
        if known == ALONE:
            return self.end_of(self.numbers[at])
        return self.runs[known].born


def served(target: Target, born: i64) -> int:
    """How many subscribers have the match of a run that was born then. O(subscribers)."""
    first = target.first
    if target.others is not None:
        return len([each for each in target.subscribers() if born > each.since])
    return 1 if first is not None and born > first.since else 0


def results_of(source: MatchSource) -> int:
    """How many matches there are, each of which is a result. O(1), except for incomplete ones."""
    count = source.amount()
    return sum([1 for _ in source.all()]) if count is None else count
