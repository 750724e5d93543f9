"""The results of a batch: rows of numbers while the engine matches, objects when the caller reads them.

Values, lineage and ids are made on access. Results are immutable once the batch is done. Here: reading. Not here:
writing rows while events are matched (matches.completions), what a row has for a target (matches.parts).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, final, overload

from ..events.batch import Batch, batch_of_rows
from .executors.event_ids import EventIds
from .match import BYTES_LIMIT, FAILURE, UNMADE, WORK_LIMIT, Failed, Match, Rest, found_match
from .matches.completions import Completions, served
from .matches.composed import NO_MATCH, Composed
from .matches.parts import ResultParts
from .matches.result_rows import ResultLine, ResultRows
from .matches.result_table import ResultTable, names_of, table_of
from .matches.sources import Matched, bound, contributed, trace_of
from .notices import Notice
from .ordinals import Ordinals, Tally
from .program.account import EXHAUSTED, FAILED, FULL, NOT_SUSPENDED
from .program.recipient import Recipient
from .program.target import Target
from .subscribing.subscriber import ResultIds

SUSPENSIONS: Final = {EXHAUSTED: WORK_LIMIT, FAILED: FAILURE, FULL: BYTES_LIMIT}


@final
class Results(Sequence[Match]):
    """The matches of one batch, in the order of discovery; each subscriber gets its own results."""

    def __init__(
        self, times: list[int], batch: Batch, ids: EventIds, starts: list[int], before: Tally,
        result_ids: ResultIds | None = None,
    ) -> None:  # fmt: skip
        self.found = Completions(times, batch, ids, starts)
        self.parts = ResultParts(self.found)
        self.failures: list[tuple[int, list[Target], Exception]] = []  # event, suspended targets and the error
        self.unmade: list[Failed] = []  # results that could not be made when they were read
        self.known: Mapping[str, Recipient] | None = None  # the engine's, for columns
        self.result_ids = ResultIds() if result_ids is None else result_ids
        self._before = before  # equal results that earlier batches found in this batch's first epoch
        self._ordinals: list[int] | None = None
        self._offsets: list[int] | None = None

    def entries(self) -> int:
        """The number of matches; compressed ones count once, and so do those of equal subscriptions."""
        return self.found.matches

    def reference(self, event: int, subscriber: Recipient) -> str:
        """The id of the result that reports a suspension at an event."""
        return self.result_ids.of(subscriber).id("suspended\0", int(self.found.item_of(event)), 0)

    def notify(self, event: int, target: Target, notice: Notice) -> None:
        """Report a forecast or a resolution to the target's subscriber, at this event."""
        self.found.notify(event, target, notice)

    # --- reading ------------------------------------------------------------------------------------------------

    def read(self) -> ResultParts:
        """What each target has, from all rows so far."""
        self.parts.read()
        return self.parts

    def _served(self, at: int) -> list[Recipient]:
        """The subscribers that have the match of a run."""
        born = self.parts.born(at)
        return [each for each in self.parts.targets[at].subscribers() if born > each.since]

    def _runs(self) -> Iterator[tuple[int, Recipient]]:
        """Part and subscriber of every result of runs, in order."""
        composed = self.parts.composed
        for at in range(len(composed)):
            if composed[at] is None:
                for subscriber in self._served(at):
                    yield at, subscriber

    def _counted(self) -> list[int]:
        """For every part the number of results before it; at the end, the number of all results."""
        if self._offsets is None:
            parts = self.read()
            offsets = [0]
            for at, composed in enumerate(parts.composed):
                target = parts.targets[at]
                if composed is None:
                    offsets.append(offsets[-1] + served(target, parts.born(at)))
                else:
                    offsets.append(offsets[-1] + len(target.subscribers()) * composed.results())
            self._offsets = offsets
        return self._offsets

    def _numbered(self) -> list[int]:
        """The ordinal of every result of runs among equal ones in its epoch."""
        if self._ordinals is None:
            parts, ordinals = self.read(), self._fresh()
            numbers: list[int] = []
            for at, subscriber in self._runs():
                number = ordinals.next(parts.end(at), subscriber.name, subscriber.branch, parts.trace(at))
                numbers.append(number)
            self._ordinals = numbers
        return self._ordinals

    def _fresh(self) -> Ordinals:
        """Those of the first results."""
        return Ordinals(self._before, self.found.times[0] if self.found.times else 0)

    def tally_after(self, time: int | None) -> Tally:
        """The count of each result in the batch's last epoch, if a batch that begins at `time` continues this epoch."""
        found = self.found
        if not found.times or found.times[-1] != time:
            return {}
        parts = self.read()
        tally = dict(self._before) if found.times[0] == time else {}
        for at, subscriber in self._runs():
            if parts.end(at) == time:
                entry = (subscriber.name, int(subscriber.branch), parts.number(at))
                tally[entry] = tally.get(entry, 0) + 1
        return tally

    def _make(self, at: int, subscriber: Recipient, ordinal: int) -> Match:
        """The result for a match of a run."""
        parts = self.parts
        values = parts.values(at)
        identity = self.result_ids.of(subscriber).id("", parts.number(at), ordinal)
        events = parts.contributed(at) if subscriber.lineage else None
        start, end, data = int(parts.start(at)), int(parts.end(at)), parts.targets[at].outcome.named(values)
        return found_match(subscriber.name, identity, start, end, events, data)

    def _compose(self, at: int, composed: Composed, matched: Matched, subscriber: Recipient) -> Match:
        """The result for a machine's match, or for a notice."""
        name, event = subscriber.name, self.parts.events[at]
        if composed.notice is not None:
            notice: Any = composed.notice
            return Match(name, notice.id, notice.time, notice.time, None, {}, notice=notice)
        outcome, source = self.parts.targets[at].outcome, composed.source
        prefix = self.result_ids.of(subscriber)
        if source is None:
            end = self.found.end_of(event)
            if composed.suspended == NOT_SUSPENDED:
                identity = prefix.id("incomplete\0", int(self.found.item_of(event)), 0)
                return Match(name, identity, end, end, None, {}, limit=outcome.limits)
            identity = self.reference(event, subscriber)
            return Match(name, identity, end, end, None, {}, limit=SUSPENSIONS[composed.suspended])
        values = outcome.bound(matched.values)
        if source.arbitrary() and not composed.each_one:
            identity = prefix.id(f"{values!r}\0", int(self.found.item_of(event)), 0)
        else:
            identity = prefix.id("", trace_of(matched), 0)
        tuples = None if composed.each_one else composed.count()
        data = outcome.named(values)
        start, end, incomplete, lifetime = matched.start, matched.end, source.doubtful(), matched.lifetime
        if not subscriber.shows_lineage():
            rest: Rest = (None, tuples, incomplete, None, None, None, lifetime, False)
            return found_match(name, identity, start, end, None, data, rest)
        names = subscriber.told.operands
        lineage = contributed(matched)
        bindings = bound(matched, names) if names else None
        expansion = None if composed.each_one else source.expansion(names)
        rest = (bindings, tuples, incomplete, None, None, expansion, lifetime, False)
        return found_match(name, identity, start, end, lineage, data, rest)

    def __len__(self) -> int:
        counted = self._offsets is not None or self.parts.machines > 0
        return self._counted()[-1] if counted else self.found.total()

    def columns(self, subscriptions: str | Sequence[str] = ()) -> ResultTable:
        """The results as columns, of the named subscriptions or of all: what reading them one by one gives, in order.
        Objects are made for machines without columns only. O(1) for each column that nobody reads. Raises
        UnknownSubscription."""
        names = names_of(subscriptions)
        rows = ResultRows(frozenset(names), self.result_ids)
        self.enter(rows)
        if self.parts.machines > 0:  # columns come in the order of those that may have results
            order = [each.name for target in self.parts.targets for each in target.subscribers()]
            rows.known = {name: rows.known[name] for name in order if name in rows.known}
        return table_of(rows, names, self.known)

    def lines(self) -> list[ResultLine] | None:
        """The lines of the results in their order, if all are of runs; None where each result is made. O(results)."""
        if not self.of_runs():
            return None
        rows, known = ResultRows(frozenset(), self.result_ids), len(self.unmade)
        self.enter(rows)
        if rows.made:  # a defect of this program, which is noted where results are made
            del self.unmade[known:]
            return None
        return rows.each()

    def of_runs(self) -> bool:
        """Whether all results are of runs of merged automata."""
        return self.read().machines == 0

    def enter(self, rows: ResultRows) -> None:
        """Add the results to the rows of a table. O(results)."""
        parts, ordinals = self.read(), self._fresh()
        for at, composed in enumerate(parts.composed):
            if composed is None:
                for subscriber in self._served(at):
                    try:
                        rows.enter(parts, at, subscriber, ordinals)
                    except Exception as error:  # any error concerns this result only
                        rows.report(self._unmade(at, subscriber, error), subscriber)
                continue
            for subscriber in parts.targets[at].subscribers():
                source = composed.source if composed.each_one else None
                if rows.wants(subscriber) and (source is None or not rows.add(subscriber, source, False)):
                    for match in self._each(at, composed, subscriber):
                        rows.report(match, subscriber)

    def __iter__(self) -> Iterator[Match]:
        return self._all(False)

    def expanded(self) -> Iterator[Match]:
        """All results, with each compressed one replaced by the matches that it stands for."""
        return self._all(True)

    def _all(self, expanded: bool) -> Iterator[Match]:
        ordinals = iter(self._numbered())
        parts = self.parts
        for at in range(len(parts.composed)):
            composed, target = parts.composed[at], parts.targets[at]
            if composed is None:
                for subscriber in self._served(at):
                    ordinal = next(ordinals)
                    try:
                        yield self._make(at, subscriber, ordinal)
                    except Exception as error:  # any error concerns this result only
                        yield self._unmade(at, subscriber, error)
                continue
            if expanded:
                composed = composed.expanded()
            if target.first is not None and target.others is None and composed.single():
                yield self._only(at, composed, target.first)  # the usual case, without iterators
            else:
                for subscriber in target.subscribers():
                    yield from self._each(at, composed, subscriber)

    def _only(self, at: int, composed: Composed, subscriber: Recipient) -> Match:
        """The only result of an outcome."""
        try:
            matched = NO_MATCH if composed.source is None else composed.source.one()
            return self._compose(at, composed, matched, subscriber)
        except Exception as error:  # any error concerns this result only
            return self._unmade(at, subscriber, error)

    def _each(self, at: int, composed: Composed, subscriber: Recipient) -> Iterator[Match]:
        """The results of an outcome for a subscriber."""
        try:
            for matched in composed.each():
                yield self._compose(at, composed, matched, subscriber)
        except Exception as error:  # any error concerns these results only
            yield self._unmade(at, subscriber, error)

    def _unmade(self, at: int, subscriber: Recipient, error: Exception) -> Match:
        """The result that replaces one which could not be made because of a defect of this program.

        The subscription continues: reading a result must not affect later matches.
        """
        event = self.parts.events[at]
        identity, end = self.reference(event, subscriber), self.found.end_of(event)
        self.unmade.append(Failed(subscriber.name, identity, error))
        return Match(subscriber.name, identity, end, end, None, {}, limit=UNMADE)

    @overload
    def __getitem__(self, index: int) -> Match: ...

    @overload
    def __getitem__(self, index: slice) -> list[Match]: ...

    def __getitem__(self, index: int | slice) -> Match | list[Match]:
        """O(log matches) for one result, and for a machine's result, O(its matches before it); O(matches) once."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        offsets = self._counted()
        result = index + offsets[-1] if index < 0 else index
        if not 0 <= result < offsets[-1]:
            raise IndexError(f"result {index} of {offsets[-1]}")
        at = bisect_right(offsets, result) - 1
        rest = result - offsets[at]
        composed = self.parts.composed[at]
        if composed is not None:
            each = composed.results()
            subscriber = self.parts.targets[at].subscribers()[rest // each]
            matched = next(islice(composed.each(), rest % each, None))
            return self._compose(at, composed, matched, subscriber)
        earlier = sum([offsets[n + 1] - offsets[n] for n in range(at) if self.parts.composed[n] is not None])
        return self._make(at, self._served(at)[rest], self._numbered()[result - earlier])


def expanded(results: Sequence[Any]) -> Iterable[Any]:
    """An engine's results with compressed ones expanded; other values unchanged."""
    return results if isinstance(results, tuple | list) else getattr(results, "expanded", results.__iter__)()


def results_of_moment(time: int, before: Tally) -> Results:
    """Results that no event has brought: the passing of time, or a change."""
    return Results([time], batch_of_rows([()]), EventIds(0, 1), [time], before)
