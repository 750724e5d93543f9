"""Admits, deduplicates, records and answers a client's batch. Not here: turning it into events (publishing.py).

A batch that is matched in pieces is recorded as a whole with its first piece, stays in work until its last, and is then
answered. At most one batch is in work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, final

from ..events import DuplicateEvent, EarlyEvent, LateEvent, MisnumberedEvent
from ..wire import Expired, Numbered, Publish, Published, Refusal
from .accounts import UserAccount
from .admission import Admission
from .clock_guard import ClockGuard
from .clock_punctuation import ClockPunctuation
from .deadlines import check_deadline
from .distribution import Distribution
from .engine_port import EnginePort, EngineResult
from .held_back import HeldBack
from .inputs_and_effects import Send
from .named_counts import NamedCounts
from .noting import Noting
from .publishing import match, take
from .receipts import Receipts
from .recent_events import RecentEvents
from .records import BatchTaken, GapDeclared, Punctuated, Record, Retracted, Updated

COUNTED: Final = ("events", "events_refused")
"""What is counted of each stream."""

_REFUSED: Final = {
    LateEvent.code: "events_refused_late",
    EarlyEvent.code: "events_refused_early",
    DuplicateEvent.code: "events_refused_duplicate",
    MisnumberedEvent.code: "events_refused_misnumbered",
}


@final
@dataclass(slots=True)
class Work:
    """A batch in work: the events before index `at` were matched; `session` gets the answer."""

    session: bytes
    batch: Publish
    record: BatchTaken
    at: int


@final
class Intake:
    """Passes each accepted batch to `record`, and answers it with a receipt that promises `durability`.

    `end_slow` ends the subscriptions whose readers were too slow. It is called after a batch, because the whole batch
    still has to be matched for them.
    """

    __slots__ = (
        "_admission", "_clock_guard", "_counts", "_counts_by_stream", "_distribution", "_durability", "_end_slow",
        "_engine", "_held_back", "_record", "clock", "noting", "receipts", "recent", "work",
    )  # fmt: skip

    def __init__(
        self,
        engine: EnginePort,
        admission: Admission,
        distribution: Distribution,
        receipts: Receipts,
        durability: str,
        record: Callable[[Record], None],
        end_slow: Callable[[], list[Send]],
        clock_guard: ClockGuard,
        held_back: HeldBack,
        counts_by_stream: NamedCounts,
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._distribution = distribution
        self._durability = durability
        self._record = record
        self._end_slow = end_slow
        self._clock_guard = clock_guard
        self._held_back = held_back
        self._counts_by_stream = counts_by_stream
        self._counts = {
            "batches": 0,
            "batches_repeated": 0,
            "batches_expired": 0,
            "events_withdrawn": 0,
            "punctuations": 0,
            "updates": 0,
            "events_refused_late": 0,
            "events_refused_early": 0,
            "events_refused_duplicate": 0,
            "events_refused_misnumbered": 0,
            "gaps": 0,
        }
        self.receipts = receipts
        self.recent = RecentEvents()
        self.noting = Noting()
        self.clock = ClockPunctuation(engine, receipts, clock_guard, record, self.distribute)
        self.work: Work | None = None

    def publish(self, session: bytes, account: UserAccount, batch: Publish, now: int, most: int | None) -> list[Send]:
        """Match at most `most` events (None: all); the answer, unless the batch is in work now, and notifications due.

        `now`: microseconds. Raises ForetellErrors, and then changes nothing.
        """
        assert self.work is None
        account.user.check("publish", batch.stream)
        self._admission.check_known(account.user, batch.stream, self._engine.streams)
        publisher, known = self.repeated(account, batch, now)
        if known is not None:
            return [Send(session, known)]
        account.check_rate(now)
        if batch.times is None:
            self._clock_guard.check_clock(now)
        latest = self._clock_guard.latest(self._engine.now)
        if most is not None and len(batch.rows) > most and self._disordered():
            most = None  # revisions of one batch cancel at its end, so its pieces would give other results
        record, results = take(self._engine, batch, publisher, self.receipts.events + 1, now, most, latest)
        account.spend(len(batch.rows), now)
        if batch.rows:
            self.clock.heard(batch.stream, batch.times is None, now)
        if record.rows:
            self._record(record)
            if most is not None and len(record.rows) > most:
                self.work = Work(session, batch, record, most)
                return self._distribution.distribute(results)
            self.recent.note(record)
            published = self.receipts.note(record, self._engine.now)
        else:  # nothing has changed, so a repetition gets the same answer
            refused = tuple([Refusal(*each) for each in record.refused])
            published = Published(0, 0, self._engine.now, None, refused)
        return self._answered(session, batch, published, results)

    def _disordered(self) -> bool:
        """Whether a stream may have its events out of order. O(streams)."""
        return any(stream.disorder != "arrival" for stream in self._engine.streams.values())

    def repeated(self, account: UserAccount, request: Numbered, now: int) -> tuple[str | None, Published | None]:
        """The key of a request's publisher, and the answer if this is a repetition. Raises Expired, LimitExceeded."""
        # The user's name is part of the key, so that a client cannot use up the numbers of another user.
        publisher = None if request.publisher is None else f"{account.user.name}/{request.publisher}"
        if publisher is not None and request.number is not None:
            known = self.receipts.receipt(publisher, request.number)
            if known is not None:
                self._counts["batches_repeated"] += 1
                return publisher, self.promised(request, known)
        try:
            check_deadline(request.deadline, now)
        except Expired:
            self._counts["batches_expired"] += 1
            raise
        return publisher, None

    def note_change(self, change: Punctuated | Retracted | Updated | GapDeclared) -> Published:
        """Record a change that was carried out; its receipt."""
        self._record(change)
        match change:
            case Punctuated():
                self._counts["punctuations"] += 1
            case Retracted(ids):
                self._counts["events_withdrawn"] += len(ids)
            case Updated():
                self._counts["updates"] += 1
            case GapDeclared():
                self._counts["gaps"] += 1
        return self.receipts.note_change(change, self._engine.now)

    def continue_batch(self, most: int | None) -> list[Send]:
        """Match up to `most` more events of the batch in work, if there is one; after the last event, answer it."""
        work = self.work
        if work is None:
            return []
        results = match(self._engine, work.record, work.at, most)
        if most is not None and work.at + most < len(work.record.rows):
            work.at += most
            return self._distribution.distribute(results)
        self.work = None
        self.recent.note(work.record)
        published = self.receipts.note(work.record, self._engine.now)
        return self._answered(work.session, work.batch, published, results)

    def distribute(self, ended: Iterable[Iterable[EngineResult]]) -> list[Send]:
        """Distribute results that no batch has caused."""
        sends = [send for results in ended for send in self._distribution.distribute(results)]
        return [*sends, *self._end_slow()]

    def _answered(
        self, session: bytes, batch: Publish, published: Published, results: Iterable[EngineResult]
    ) -> list[Send]:
        self._counts["batches"] += 1
        row = self._counts_by_stream.row(batch.stream)
        row[0] += published.count
        row[1] += len(published.refused)
        for refusal in published.refused:
            self._counts[_REFUSED[refusal.code]] += 1
        if published.refused and batch.stream in self._engine.streams:
            definition = self._engine.streams[batch.stream]
            self.noting.refused_events(definition, batch, published.refused, self._clock_guard.now)
        answer = Send(session, self.promised(batch, published))
        return [answer, *self._distribution.distribute(results), *self._end_slow()]

    def promised(self, request: Numbered, published: Published) -> Published:
        """The answer to a request: its receipt, with what it survives, and for which stream that of a batch waits."""
        of = published
        held = self._held_back.in_receipts.get(request.stream) if isinstance(request, Publish) else None
        return Published(request.correlation, of.count, of.newest, of.first_id, of.refused, self._durability, held)

    def statistics(self) -> dict[str, int]:
        """Totals over all batches."""
        return {**self.receipts.statistics(), **self._counts, **self.clock.statistics()}
