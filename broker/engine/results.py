"""The results of a batch: columns while the engine matches, objects when the caller reads them.

Values, lineage and ids are made on access. Results are immutable once the batch is done. Here: reading. Not here:
writing results while events are matched (executors.epoch_matches, executors.completions).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, final, overload

from mypy_extensions import i64

from ..events.batch import Batch, batch_of_rows
from ..events.schema import Row, Schema
from .executors.completions import Completions
from .executors.composed import NO_MATCH, Composed
from .executors.epoch_matches import EpochMatches
from .executors.event_ids import EventIds
from .executors.matches import Item, Lineage, Matched, bound, contributed, flattened, trace_of
from .executors.member_matches import FIELDS
from .executors.trace import FINAL_DEPTH, mixed
from .match import BYTES_LIMIT, FAILURE, UNMADE, WORK_LIMIT, Failed, Match, found_match
from .notices import Notice
from .ordinals import Ordinals, Tally
from .placed_rows import placed_rows
from .program.account import EXHAUSTED, FAILED, FULL, NOT_SUSPENDED
from .program.target import Target
from .result_table import MatchRows, ResultTable, chosen, names_of, table_of
from .run_rows import RunRows
from .subscribing.subscriber import ResultIds, Subscriber

NO_EVENT: Final = 1 << 60  # later than all
SUSPENSIONS: Final = {EXHAUSTED: WORK_LIMIT, FAILED: FAILURE, FULL: BYTES_LIMIT}


@final
class Results(Sequence[Match]):
    """The matches of one batch, in the order of discovery; each subscriber gets its own results."""

    def __init__(
        self, times: list[int], batch: Batch, ids: EventIds, starts: list[int], before: Tally,
        result_ids: ResultIds | None = None,
    ) -> None:  # fmt: skip
        self.epochs = EpochMatches(times, batch, ids, starts)
        self.targets = self.epochs.targets
        self.block_event = self.epochs.block_event
        self.block_run = self.epochs.block_run
        self.block_upto = self.epochs.block_upto
        self.composed: dict[int, Composed] = {}  # by block: matches of machines, and notices
        self.completions = Completions(self.epochs)  # of machines; `unfold` adds them to the targets
        self.failures: list[tuple[int, list[Target], Exception]] = []  # event, suspended targets and the error
        self.unmade: list[Failed] = []  # results that could not be made when they were read
        self.known: Mapping[str, Subscriber] | None = None  # the engine's, for columns
        self.result_ids = ResultIds() if result_ids is None else result_ids
        self._merged = 0  # blocks whose places do not change any more
        self._before = before  # equal results that earlier batches found in this batch's first epoch
        self._ordinals: list[int] | None = None
        self._offsets: list[int] | None = None

    def compose(self, event: int, composed: Composed) -> None:
        """Assign the newest target to this event, with its outcome."""
        self.composed[self.epochs.seal(event)] = composed

    def unfold(self) -> list[tuple[Target, Composed]]:
        """Turn the completions of machines since the last call into blocks. O(served targets).

        Returns the completions for published streams, too.
        """
        fed: list[tuple[Target, Composed]] = []
        completions = self.completions
        if self.epochs.later:
            self._merge()
            return fed
        self.epochs.unpack()
        if completions.reported == completions.upto:
            return fed
        for event, target, composed in completions.read(self._happened):
            if target.first is not None:
                self.targets.append(target)
                self.compose(event, composed)
            if target.feeds is not None and composed.source is not None:
                fed.append((target, composed))
        return fed

    def _merge(self) -> None:
        """The same where nobody reads published streams and all that came since the last call is in three places.

        Of an event, the matches of the merged automata come first, then those of shared machines, then others'.
        O(matches since the last call).
        """
        epochs, completions = self.epochs, self.completions
        completions.arrange()
        if epochs.packed.upto > 0 or completions.reported < completions.upto:
            packed = epochs.take_packed()
            begin = self._merged
            known = epochs.cut(begin)
            composed = [self.composed.pop(begin + at, None) for at in range(len(known.events))]
            rows = completions.read(self._happened)
            row = next(rows, None)
            block, one = 0, 0
            while True:
                event = int(packed.blocks[block]) if block < packed.upto else NO_EVENT
                if row is not None and row[0] < event:
                    event = row[0]
                if one < len(known.events) and known.events[one] <= event:
                    epochs.add_block(known, one)
                    told = composed[one]
                    if told is not None:
                        self.composed[len(self.block_upto) - 1] = told
                    one += 1
                elif block < packed.upto and packed.blocks[block] == event:
                    epochs.complete_block(packed, block)
                    block += FIELDS
                elif row is not None:
                    _, target, found = row
                    if target.first is not None:
                        self.targets.append(target)
                        self.compose(event, found)
                    row = next(rows, None)
                else:
                    break
        self._merged = len(self.block_upto)

    def entries(self) -> int:
        """The number of matches; compressed ones count once, and so do those of equal subscriptions."""
        return len(self.targets) - len(self.composed) + int(self.epochs.packed.total) + self.completions.matches

    def suspend(self, event: int, target: Target, reason: int) -> None:
        """Report that the target's subscribers are suspended from this event on."""
        self.targets.append(target)
        self.compose(event, Composed(None, False, None, reason))

    def reference(self, event: int, subscriber: Subscriber) -> str:
        """The id of the result that reports a suspension at an event."""
        return self.result_ids.of(subscriber).id("suspended\0", self.epochs.event(event)[3], 0)

    def notify(self, event: int, target: Target, notice: Notice) -> None:
        """Report a forecast or a resolution to the target's subscriber, at this event."""
        self.targets.append(target)
        self.compose(event, Composed(None, False, notice))

    # --- reading ------------------------------------------------------------------------------------------------

    def _happened(self, index: int) -> tuple[Row, int, Item]:
        """Values, time and item of an event."""
        row, _, time, trace, link = self.epochs.event(index)
        return row, time, link if isinstance(link, int) else (int(trace), tuple(flattened(link)))

    def _served(self, block: int, match: int) -> list[Subscriber]:
        run = self.block_run[block]
        born = self.epochs.event(self.block_event[block])[2] if run is None else run.born
        return [s for s in self.targets[match].subscribers() if born > s.since]

    def _pairs(self) -> Iterator[tuple[int, int, Subscriber]]:
        """Block, match and subscriber of every result of runs, in order."""
        match = 0
        for block, upto in enumerate(self.block_upto):
            if block in self.composed:
                match = upto
            while match < upto:
                for subscriber in self._served(block, match):
                    yield block, match, subscriber
                match += 1

    def _counted(self) -> list[int]:
        """For every match the number of results before it; at the end, the number of all results."""
        if self._offsets is None:
            self.unfold()
            offsets = [0]
            match = 0
            for block, upto in enumerate(self.block_upto):
                composed = self.composed.get(block)
                while match < upto:
                    if composed is None:
                        served = len(self._served(block, match))
                    else:
                        served = len(self.targets[match].subscribers()) * composed.results()
                    offsets.append(offsets[-1] + served)
                    match += 1
            self._offsets = offsets
        return self._offsets

    def _trace(self, block: int) -> i64:
        """The digest of the events of a block's matches."""
        run = self.block_run[block]
        return mixed(0 if run is None else run.trace, self.epochs.event(self.block_event[block])[3], FINAL_DEPTH)

    def _numbered(self) -> list[int]:
        """The ordinal of every result among equal ones in its epoch."""
        if self._ordinals is None:
            self.unfold()
            epochs = self.epochs
            ordinals = Ordinals(self._before, epochs.times[0] if epochs.times else 0)
            numbers: list[int] = []
            for block, _, subscriber in self._pairs():
                end = epochs.end(self.block_event[block])
                numbers.append(ordinals.next(end, subscriber.name, subscriber.branch, self._trace(block)))
            self._ordinals = numbers
        return self._ordinals

    def tally_after(self, time: int | None) -> Tally:
        """The count of each result in the batch's last epoch, if a batch that begins at `time` continues this epoch."""
        if not self.epochs.times or self.epochs.times[-1] != time:
            return {}
        if self.epochs.later:
            self._merge()
        self.epochs.unpack()
        tally = dict(self._before) if self.epochs.times[0] == time else {}
        for block, _, subscriber in self._pairs():
            if self.epochs.end(self.block_event[block]) == time:
                entry = (subscriber.name, int(subscriber.branch), int(self._trace(block)))
                tally[entry] = tally.get(entry, 0) + 1
        return tally

    def _make(self, block: int, match: int, subscriber: Subscriber, ordinal: int) -> Match:
        row, start, end, item, link = self.epochs.event(self.block_event[block])
        run = self.block_run[block]
        target, length = self.targets[match], end - start + 1
        if run is None:
            values = target.outcome.values(row, (), (), length, length)
            trace = mixed(0, item, FINAL_DEPTH)
            lineage: Lineage = (None, link)
        else:
            values = target.outcome.values(row, run.row, run.slots, length, end - run.t0 + 1)
            start, trace = run.t0, mixed(run.trace, item, FINAL_DEPTH)
            lineage = (run.lineage, link)
        events = flattened(lineage) if subscriber.lineage else None
        identity = self.result_ids.of(subscriber).id("", trace, ordinal)
        return found_match(subscriber.name, identity, start, end, events, target.outcome.named(values))

    def _compose(self, block: int, match: int, composed: Composed, matched: Matched, subscriber: Subscriber) -> Match:
        """The result for a machine's match, or for a notice."""
        name = subscriber.name
        if composed.notice is not None:
            notice: Any = composed.notice
            return Match(name, notice.id, notice.time, notice.time, None, {}, notice=notice)
        outcome, source = self.targets[match].outcome, composed.source
        prefix = self.result_ids.of(subscriber)
        if source is None:
            _, _, end, event_item, _ = self.epochs.event(self.block_event[block])
            if composed.suspended == NOT_SUSPENDED:
                identity = prefix.id("incomplete\0", event_item, 0)
                return Match(name, identity, end, end, None, {}, limit=outcome.limits)
            identity = self.reference(self.block_event[block], subscriber)
            return Match(name, identity, end, end, None, {}, limit=SUSPENSIONS[composed.suspended])
        values = outcome.bound(matched.values)
        if source.arbitrary() and not composed.each_one:
            identity = prefix.id(f"{values!r}\0", self.epochs.event(self.block_event[block])[3], 0)
        else:
            identity = prefix.id("", trace_of(matched), 0)
        tuples = None if composed.each_one else composed.count()
        data = outcome.named(values)
        start, end, incomplete, lifetime = matched.start, matched.end, source.doubtful(), matched.lifetime
        if not subscriber.shows_lineage():
            return found_match(name, identity, start, end, None, data, None, tuples, incomplete, None, lifetime)
        names = subscriber.form.operands
        lineage = contributed(matched)
        bindings = bound(matched, names) if names else None
        expansion = None if composed.each_one else source.expansion(names)
        return found_match(name, identity, start, end, lineage, data, bindings, tuples, incomplete, expansion, lifetime)

    def __len__(self) -> int:
        packed = self.epochs.packed
        if self._offsets is not None or self.composed or not packed.counted:
            return self._counted()[-1]
        runs = len(self.targets) if self.epochs.one_each() else self.epochs.results()
        return runs + int(packed.total) + self.completions.total()

    def columns(self, subscriptions: str | Sequence[str] = ()) -> ResultTable:
        """The results as columns, of the named subscriptions or of all: what reading them one by one gives, in order.
        Objects are made for machines without columns only. O(1) for each column that nobody reads. Raises
        UnknownSubscription."""
        names = names_of(subscriptions)
        wanted = frozenset(names)
        rows = self.run_rows(wanted)
        if rows is not None:
            return table_of(rows, names, self.known)
        if not self.composed and len(self.block_upto) + self.epochs.packed.upto == 0:
            self.completions.arrange()
            if placed := placed_rows(self.completions.unread(self._happened), wanted, self.result_ids):
                return table_of(placed, names, self.known)
        return table_of(MatchRows(chosen(self, wanted), self.schemas()), names, self.known)

    @property
    def of_runs(self) -> bool:
        """Whether all results are of runs of merged automata."""
        return not self.composed and self.completions.reported == self.completions.upto

    def run_rows(self, wanted: frozenset[str]) -> RunRows | None:
        """Results of these subscriptions, or of all, as rows of numbers; None where each is made. O(results)."""
        if not self.of_runs:
            return None
        self.completions.arrange()
        rows = RunRows(self.epochs, wanted, self._before, self.result_ids)
        return rows if rows.collect(self._merged) else None

    def schemas(self) -> dict[str, Schema]:
        """The attributes of the subscriptions that have results. O(results)."""
        self.unfold()
        return {each.name: each.form.schema for target in self.targets for each in target.subscribers()}

    def __iter__(self) -> Iterator[Match]:
        return self._all(False)

    def expanded(self) -> Iterator[Match]:
        """All results, with each compressed one replaced by the matches that it stands for."""
        return self._all(True)

    def _all(self, expanded: bool) -> Iterator[Match]:
        ordinals = iter(self._numbered())
        match = 0
        for block, upto in enumerate(self.block_upto):
            composed = self.composed.get(block)
            if expanded and composed is not None:
                composed = composed.expanded()
            while match < upto:
                target = self.targets[match]
                if composed is not None and target.first is not None and target.others is None and composed.single():
                    yield self._only(block, match, composed, target.first)  # the usual case, without iterators
                else:
                    yield from self._each(block, match, composed, ordinals)
                match += 1

    def _only(self, block: int, match: int, composed: Composed, subscriber: Subscriber) -> Match:
        """The only result of an outcome."""
        try:
            matched = NO_MATCH if composed.source is None else composed.source.one()
            return self._compose(block, match, composed, matched, subscriber)
        except Exception as error:  # any error concerns this result only
            return self._unmade(block, subscriber, error)

    def _each(self, block: int, match: int, composed: Composed | None, ordinals: Iterator[int]) -> Iterator[Match]:
        if composed is None:
            for subscriber in self._served(block, match):
                ordinal = next(ordinals)
                try:
                    yield self._make(block, match, subscriber, ordinal)
                except Exception as error:  # any error concerns this result only
                    yield self._unmade(block, subscriber, error)
            return
        for subscriber in self.targets[match].subscribers():
            try:
                for matched in composed.each():
                    yield self._compose(block, match, composed, matched, subscriber)
            except Exception as error:  # any error concerns these results only
                yield self._unmade(block, subscriber, error)

    def _unmade(self, block: int, subscriber: Subscriber, error: Exception) -> Match:
        """The result that replaces one which could not be made because of a defect of this program.

        The subscription continues: reading a result must not affect later matches.
        """
        event = self.block_event[block]
        identity, end = self.reference(event, subscriber), self.epochs.event(event)[2]
        self.unmade.append(Failed(subscriber.name, identity, error))
        return Match(subscriber.name, identity, end, end, None, {}, limit=UNMADE)

    @overload
    def __getitem__(self, index: int) -> Match: ...

    @overload
    def __getitem__(self, index: slice) -> list[Match]: ...

    def __getitem__(self, index: int | slice) -> Match | list[Match]:
        """O(log matches) for one result; for a machine's result, O(its matches before it)."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        offsets = self._counted()
        at = index + offsets[-1] if index < 0 else index
        if not 0 <= at < offsets[-1]:
            raise IndexError(f"result {index} of {offsets[-1]}")
        match = bisect_right(offsets, at) - 1
        block = bisect_right(self.block_upto, match)
        rest = at - offsets[match]
        composed = self.composed.get(block)
        if composed is not None:
            each = composed.results()
            subscriber = self.targets[match].subscribers()[rest // each]
            matched = next(islice(composed.each(), rest % each, None))
            return self._compose(block, match, composed, matched, subscriber)
        earlier = sum(offsets[m + 1] - offsets[m] for m in self._composed_before(block))
        return self._make(block, match, self._served(block, match)[rest], self._numbered()[at - earlier])

    def _composed_before(self, block: int) -> list[int]:
        """The matches of machines in earlier blocks, which have no ordinals."""
        return [self.block_upto[other] - 1 for other in self.composed if other < block]


def expanded(results: Sequence[Any]) -> Iterable[Any]:
    """An engine's results with compressed ones expanded; other values unchanged."""
    return results if isinstance(results, tuple | list) else getattr(results, "expanded", results.__iter__)()


def results_of_moment(time: int, before: Tally) -> Results:
    """Results that no event has brought: the passing of time, or a change."""
    return Results([time], batch_of_rows([()]), EventIds(0, 1), [time], before)
