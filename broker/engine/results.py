"""The results of a batch: columns while the engine matches, objects when the caller reads them.

Values, lineage and ids are made on access. Results are immutable once the batch is done. Here: reading. Not here:
writing results while events are matched (executors.epoch_matches, executors.completions).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, final, overload

from ..events.batch import Batch, batch_of_rows
from ..events.schema import Row
from .executors.completions import Completions
from .executors.composed import Composed
from .executors.epoch_matches import EpochMatches
from .executors.matches import Item, Lineage, Matched, bound, contributed, flattened, trace_of
from .executors.member_matches import FIELDS, MemberMatches
from .executors.trace import FINAL_DEPTH, mixed
from .match import FAILURE, UNMADE, WORK_LIMIT, Match
from .notices import Notice
from .program.account import EXHAUSTED, FAILED, NOT_SUSPENDED
from .program.target import Target
from .subscribing.subscriber import Subscriber, digest

NO_EVENT: Final = 1 << 60  # later than all
SUSPENSIONS: Final = {EXHAUSTED: WORK_LIMIT, FAILED: FAILURE}


@final
class Failed(NamedTuple):
    """A subscription that hit a defect of this program, the id of the result that reports it, and the exception."""

    subscription: str
    reference: str
    error: Any  # an Exception; compiled tuples cannot name that type


Tally = dict[tuple[str, int, int], int]


@final
class Results(Sequence[Match]):
    """The matches of one batch, in the order of discovery; each subscriber gets its own results."""

    def __init__(self, times: list[int], batch: Batch, ids: list[int], starts: list[int], before: Tally) -> None:
        self.epochs = EpochMatches(times, batch, ids, starts)
        self.targets = self.epochs.targets
        self.block_event = self.epochs.block_event
        self.block_run = self.epochs.block_run
        self.block_upto = self.epochs.block_upto
        self.composed: dict[int, Composed] = {}  # by block: matches of machines, and notices
        self.completions = Completions(self.epochs)  # of machines; `unfold` adds them to the targets
        self.failures: list[tuple[int, list[Target], Exception]] = []  # event, suspended targets and the error
        self.unmade: list[Failed] = []  # results that could not be made when they were read
        self._identity = ""  # of the subscriber that was read last
        self._identified: Subscriber | None = None
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
        packed = epochs.packed
        if packed.upto > 0 or completions.reported < completions.upto:
            epochs.packed = MemberMatches()
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
        return digest(f"{self._identity_of(subscriber)}suspended\0", self.epochs.event(event)[3], 0)

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

    def _contributions(self, block: int, subscriber: Subscriber) -> tuple[str, int, int]:
        """The fields that make two results equal except for their ordinal."""
        run = self.block_run[block]
        item = self.epochs.event(self.block_event[block])[3]
        return (subscriber.name, subscriber.branch, mixed(0 if run is None else run.trace, item, FINAL_DEPTH))

    def _numbered(self) -> list[int]:
        """The ordinal of every result among equal ones in its epoch."""
        if self._ordinals is None:
            self.unfold()
            tally = dict(self._before)
            epoch = self.epochs.times[0] if self.epochs.times else 0
            ordinals: list[int] = []
            for block, _, subscriber in self._pairs():
                end = self.epochs.event(self.block_event[block])[2]
                if end != epoch:
                    tally, epoch = {}, end
                entry = self._contributions(block, subscriber)
                ordinal = tally.get(entry, 0)
                tally[entry] = ordinal + 1
                ordinals.append(ordinal)
            self._ordinals = ordinals
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
            if self.epochs.event(self.block_event[block])[2] == time:
                entry = self._contributions(block, subscriber)
                tally[entry] = tally.get(entry, 0) + 1
        return tally

    def _make(self, block: int, match: int, subscriber: Subscriber, ordinal: int) -> Match:
        row, start, end, item, link = self.epochs.event(self.block_event[block])
        run = self.block_run[block]
        target = self.targets[match]
        length = end - start + 1
        if run is None:
            values = target.outcome.values(row, (), (), length, length)
            trace = mixed(0, item, FINAL_DEPTH)
            lineage: Lineage = (None, link)
        else:
            values = target.outcome.values(row, run.row, run.slots, length, end - run.t0 + 1)
            start, trace = run.t0, mixed(run.trace, item, FINAL_DEPTH)
            lineage = (run.lineage, link)
        events = flattened(lineage) if subscriber.lineage else None
        data = _named(target.outcome.names, values)
        identity = digest(self._identity_of(subscriber), trace, ordinal)
        return Match(subscriber.name, identity, start, end, events, data)

    def _compose(self, block: int, match: int, composed: Composed, matched: Matched, subscriber: Subscriber) -> Match:
        """The result for a machine's match, or for a notice."""
        name = subscriber.name
        if composed.notice is not None:
            notice: Any = composed.notice
            return Match(name, notice.id, notice.time, notice.time, None, {}, notice=notice)
        _, _, end, event_item, _ = self.epochs.event(self.block_event[block])
        outcome, source = self.targets[match].outcome, composed.source
        prefix = self._identity_of(subscriber)
        if source is None:
            if composed.suspended == NOT_SUSPENDED:
                identity = digest(f"{prefix}incomplete\0", event_item, 0)
                return Match(name, identity, end, end, None, {}, limit=outcome.limits)
            identity = self.reference(self.block_event[block], subscriber)
            return Match(name, identity, end, end, None, {}, limit=SUSPENSIONS[composed.suspended])
        values = outcome.bound(matched.values)
        if source.arbitrary() and not composed.each_one:
            identity = digest(f"{prefix}{values!r}\0", event_item, 0)
        else:
            identity = digest(prefix, trace_of(matched), 0)
        tuples = None if composed.each_one else composed.count()
        data = _named(outcome.names, values)
        start, end, incomplete, lifetime = matched.start, matched.end, source.doubtful(), matched.lifetime
        if not subscriber.shows_lineage():
            return Match(name, identity, start, end, None, data, None, tuples, incomplete, lifetime=lifetime)
        names = subscriber.form.operands
        lineage = contributed(matched)
        bindings = bound(matched, names) if names else None
        expansion = None if composed.each_one else source.expansion(names)
        return Match(
            name, identity, start, end, lineage, data, bindings, tuples, incomplete, expansion=expansion,
            lifetime=lifetime,
        )  # fmt: skip

    def _identity_of(self, subscriber: Subscriber) -> str:
        if self._identified is not subscriber:
            self._identified = subscriber
            self._identity = subscriber.identity()
        return self._identity

    def __len__(self) -> int:
        packed = self.epochs.packed
        if self._offsets is not None or self.composed or not packed.counted:
            return self._counted()[-1]
        runs = len(self.targets) if self.epochs.one_each() else self._of_runs()
        return runs + int(packed.total) + self.completions.total()

    def _of_runs(self) -> int:
        """The number of results of runs that are in the columns. O(matches)."""
        total = match = 0
        for block, upto in enumerate(self.block_upto):
            run = self.block_run[block]
            born = self.epochs.event(self.block_event[block])[2] if run is None else run.born
            for target in self.targets[match:upto]:
                first = target.first
                if target.others is not None:
                    total += len(self._served(block, match))
                elif first is not None and born > first.since:
                    total += 1
                match += 1
        return total

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
                yield from self._each(block, match, composed, ordinals)
                match += 1

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


def _named(names: tuple[str, ...], values: Row) -> dict[str, Any]:
    """The values by name, of which there are as many. (A call of zip with an option costs more than the loop.)"""
    made: dict[str, Any] = {}
    for at in range(len(names)):
        made[names[at]] = values[at]
    return made


def expanded(results: Sequence[Any]) -> Iterable[Any]:
    """An engine's results with compressed ones expanded; other values unchanged."""
    return results if isinstance(results, tuple | list) else getattr(results, "expanded", results.__iter__)()


def results_of_moment(time: int, before: Tally) -> Results:
    """Results that no event has brought: the passing of time, or a change."""
    return Results([time], batch_of_rows([()]), [0], [time], before)
