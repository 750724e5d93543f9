"""The broker's state machine: it handles every input, and no state changes anywhere else.

Theory of operation. `step` takes one input and returns all its effects: messages to send, records, and results that
were given up. Each request gets exactly one answer with its correlation: the message that its row in broker.wire names,
or Failure; only CREDIT has no answer. The engine matches a batch at once. Its results are queued for every attached
session and sent as far as credits allow: first the publisher's answer, then notifications. So each session gets the
results of one subscription in the order in which the engine found them.

Bounded steps. Results that are too many to make at once are queued as shares. The kernel makes them when there are
credits: while `has_work`, each MakeResults makes a bounded number, for one delivery after another. A batch of more
events than may be matched at once stays in work, and ContinueBatch continues it. The kernel handles other inputs in
between. An input that `must_be_deferred` (deferral.py) completes the batch first, so a caller that must not block
others defers such inputs until then.

Records. The state that matches depend on is a fold over the records, so they contain everything of an input that can
change later matches. The sends of an input may leave when its records are as durable as the broker has promised.

Liveness. A busy client is silent, and must not lose anything. So the kernel does not end a silent session but sends a
Probe, by which the transport notices a broken connection. Only Gone releases a session's subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, Final, final

from ..events import ForetellError
from ..wire import Busy, Hello, Numbered, PermissionDenied, Publish, Statistics, StatisticsReport, WireError
from .administration import Administration
from .admission import Admission
from .answers import bounded_count, failure, plain_statistics, too_many_batches, unknown_session
from .attachments import Attachments
from .auditing import audits_of, is_audited
from .change_requests import ChangeRequests
from .clock_guard import ClockGuard
from .consulting import Consulting
from .cursors import Cursors, first_incarnation
from .deferral import must_be_deferred
from .distribution import COUNTED as OF_A_SUBSCRIPTION
from .distribution import Distribution
from .engine_port import EnginePort
from .held_back import HeldBack
from .inputs_and_effects import (
    Audit,
    Away,
    ClockDue,
    ContinueBatch,
    Drain,
    Effects,
    Gone,
    Input,
    MakeResults,
    Received,
    Reconfigure,
    Send,
    Stop,
    Tick,
    TooManyBatches,
    Undecodable,
)
from .intake import COUNTED as OF_A_STREAM
from .intake import Intake, Work
from .limits import Limits
from .named_counts import NamedCounts
from .noting import named
from .permissions import Access, open_access
from .read_requests import ReadRequests
from .receipts import Receipts
from .records import Record
from .requests import Requests
from .session_requests import SessionRequests
from .sessions import Session, Sessions
from .stream_requests import StreamRequests
from .subscribing import MEMORY, Subscribing
from .watching import Watching

DRAIN_RETRY_MICROSECONDS: Final = 1_000_000  # another broker may run by then


@final
class Kernel:
    """The kernel. The caller passes inputs to `step` and performs the effects in order. It owns the engine's
    subscriptions.

    Subscriptions that the engine already has belong to the configuration, and stay. `around` returns further groups of
    statistics, those of the server. Tokens of resumable sessions are derived from `secret`.

    With a journal: `receipts` and `cursors` are the restored ones, `durability` is what receipts promise, `permanent`
    are the names of the configuration's subscriptions; other subscriptions of the engine wait for their clients to come
    back. `configured_streams` are the names of the configuration's streams.
    """

    __slots__ = (
        "_administration",
        "_admission",
        "_around",
        "_attachments",
        "_audits",
        "_by_stream",
        "_by_subscription",
        "_changes",
        "_changes_made",
        "_clock_guard",
        "_counts",
        "_cursors",
        "_distribution",
        "_draining",
        "_durability",
        "_engine",
        "_handlers",
        "_intake",
        "_left_until",
        "_reading",
        "_records",
        "_session_requests",
        "_sessions",
        "_streams",
        "_subscribing",
        "consulting",
        "held_back",
        "limits",
        "watching",
    )  # fmt: skip

    def __init__(
        self,
        engine: EnginePort,
        limits: Limits | None = None,
        admission: Admission | None = None,
        around: Callable[[], Mapping[str, Mapping[str, Any]]] = dict,
        secret: bytes = b"",
        receipts: Receipts | None = None,
        durability: str = MEMORY,
        permanent: Container[str] | None = None,
        cursors: Cursors | None = None,
        configured_streams: Container[str] = (),
    ) -> None:
        self._engine = engine
        self._around = around
        self.limits = limits or Limits()
        self._admission = admission or Admission(open_access())
        self._durability = durability
        self._records: list[Record] = []
        self._audits: list[Audit] = []
        self._changes_made = 0  # as records say it, also where none are kept
        self._cursors = cursors = Cursors(first_incarnation(secret)) if cursors is None else cursors
        sources = self._admission.sources
        self._attachments = Attachments(engine, sources, permanent, self._record, lambda name: bool(cursors.of(name)))
        self._by_stream = NamedCounts(OF_A_STREAM, self.limits.labels)
        self._by_subscription = NamedCounts(OF_A_SUBSCRIPTION, self.limits.labels)
        self._distribution = Distribution(self._attachments, cursors, self._by_subscription)
        self._draining = False
        self._clock_guard = ClockGuard(self.limits.ahead_max)
        self.held_back = HeldBack(engine, self._clock_guard)
        self._sessions = Sessions(secret)
        receipts = receipts or Receipts()
        self._subscribing = Subscribing(
            engine, self.limits, self._admission, self._attachments, self._distribution, self._sessions, cursors,
            receipts, self.held_back, durability, self._record, self._check_open,
        )  # fmt: skip
        self._intake = Intake(
            engine, self._admission, self._distribution, receipts, durability, self._record,
            self._subscribing.end_slow, self._clock_guard, self.held_back, self._by_stream,
        )  # fmt: skip
        self._reading = ReadRequests(
            engine, self._admission, self._attachments, self._subscribing, durability != MEMORY
        )
        self._streams = StreamRequests(engine, self.limits, self._intake, self._record, configured_streams)
        self._changes = ChangeRequests(engine, self._admission, self._intake, self._clock_guard)
        self._session_requests = SessionRequests(
            self.limits, self._admission, self._attachments, self._distribution, self._sessions, self._subscribing,
            self._intake, self._check_open,
        )  # fmt: skip
        self._administration = Administration(
            engine, self._admission, self._sessions, self._session_requests, self._subscribing, self._streams,
            self._intake,
        )  # fmt: skip
        self.consulting = Consulting(
            engine, self._admission, self._attachments, self._administration, self._intake, self._by_subscription,
            self._subscribing.cursor_requests, self.held_back,
        )  # fmt: skip
        self.watching = Watching(
            engine, self._admission, self.consulting, self._distribution.recent, durability != MEMORY
        )
        self._handlers = self._requests()
        self._left_until: int | None = None
        self._counts = {"garbled": 0, "denied": 0}

    def step(self, given: Input, now: int) -> Effects:
        """Handle one input. `now` is the wall clock in microseconds since 1970; it may step back.

        No input of a client raises. An exception is a mistake of the broker or of its engine; records made before it
        are returned by the next step.
        """
        self._clock_guard.observe(now)
        sends = self._step(given, now)
        given_up = self._subscribing.cursor_requests.take_given_up()
        audits, reasons = self._audits, self._reading.reasons
        if not (self._records or given_up or audits or reasons):
            return Effects(sends)
        records, self._records = self._records, []
        self._audits, self._reading.reasons = [], []
        return Effects(sends, records, given_up, audits, reasons)

    def _step(self, given: Input, now: int) -> list[Send]:
        if self._intake.work is not None and must_be_deferred(given):
            return self._intake.continue_batch(None) + self._step(given, now)
        match given:
            case Received():
                return self._received(given, now)
            case Undecodable(session, error):
                self._counts["garbled"] += 1
                # A sender without a session may not speak the protocol at all, and gets no answer.
                return [Send(session, failure(error.correlation, error))] if session in self._sessions.present else []
            case TooManyBatches(session, correlation):
                return [Send(session, too_many_batches(correlation))] if session in self._sessions.present else []
            case Gone(session):
                self._session_requests.leave(session, now, self._draining)
                return []
            case Away(session):
                self._session_requests.pause(session)
                return []
            case Tick():
                return self._tick(now)
            case ClockDue():
                return self._intake.clock.punctuate(now) if self._intake.work is None else []
            case ContinueBatch(events):
                return self._intake.continue_batch(events)
            case MakeResults(full):
                return self._distribution.make(full)
            case Reconfigure(limits, access):
                return self._reconfigure(limits, access)
            case Drain():
                self._draining = True
                return []
            case Stop(reason):
                return self._session_requests.close_all(reason)

    @property
    def work(self) -> Work | None:
        """The batch in work: checked, recorded, and matched in part. Read-only; ContinueBatch continues it."""
        return self._intake.work

    def due(self, now: int) -> int | None:
        """When a ClockDue is expected, in microseconds of the clock; None: not before another input."""
        return self._intake.clock.due(now) if self._intake.work is None else None

    def session_of(self, token: bytes, identity: str) -> bytes | None:
        """The key of the session that a HELLO with this token would resume; None if there is none."""
        return self._sessions.key(token, identity)

    @property
    def drained(self) -> bool:
        """Whether no result is queued for a connected session. O(attachments)."""
        sessions = self._sessions.present.values()
        return not any(each.waiting or each.missed for session in sessions for each in session.deliveries.values())

    def has_work(self, full: Container[bytes] = ()) -> bool:
        """Whether a MakeResults with these `full` sessions would make results."""
        return self._distribution.has_work(full)

    def statistics(self) -> dict[str, dict[str, Any]]:
        """Numbers by name, of the broker and of its engine."""
        broker = {
            "sessions": len(self._sessions.present),
            "sessions_away": self._sessions.away,
            "streams": len(self._engine.streams),
            **self._intake.statistics(),
            **self._counts,
            "denied": self._counts["denied"] + self._subscribing.denied,
            **self._session_requests.statistics(),
            **{name: bounded_count(count) for name, count in self._distribution.statistics().items()},
            **self._attachments.statistics(),
            **self._cursors.statistics(),
            **self._subscribing.cursor_requests.statistics(),
            **self._admission.statistics(),
        }
        held = list(self.held_back.in_words().values())
        return {
            "broker": broker,
            "engine": {**plain_statistics(self._engine.statistics()), **({"held_back": held} if held else {})},
            "by_stream": self._by_stream.statistics(self._engine.streams),
            "by_subscription": self._attachments.statistics_by_name(self._by_subscription),
            **{name: plain_statistics(group) for name, group in self._around().items()},
        }

    def owner(self, session: bytes) -> str:
        """The name of a session's user, for the log; empty if there is none."""
        return self._sessions.user(session)

    def check_invariants(self) -> None:
        """For tests."""
        self._attachments.check_invariants()
        self._cursors.check_invariants()
        self._intake.receipts.check_invariants()
        self._intake.clock.check_invariants()
        self._intake.recent.check_invariants()
        self._intake.noting.check_invariants()
        self._sessions.check_invariants()
        assert self._distribution.none_over or self._intake.work is not None
        sessions = dict(self._sessions.everybody())
        self._distribution.check_invariants({key: session.deliveries for key, session in sessions.items()})
        assert all(key in self._sessions.present for key, _ in self._distribution.ready)
        accounts = ((each.account, len(each.deliveries)) for each in sessions.values())
        self._admission.check_invariants(accounts, self._attachments.definitions)

    # ---- messages ----

    def _received(self, received: Received, now: int) -> list[Send]:
        key, message = received.session, received.message
        session = self._sessions.present.get(key)
        if session is None or not is_audited(message):
            return self._handled(received, session, now)
        made, before = self._changes_made, self._attachments.definitions.get(named(message))
        sends = self._handled(received, session, now)
        audits = list(audits_of(key, session, message, sends, self._changes_made > made))
        self._audits += audits
        self._intake.noting.changes(message, before, audits, now)
        return sends

    def _handled(self, received: Received, session: Session | None, now: int) -> list[Send]:
        key, message, identity = received.session, received.message, received.identity
        try:
            if session is not None and session.identity != identity:
                raise PermissionDenied("this session belongs to another key")
            if type(message) is Hello:
                return [Send(key, self._session_requests.hello(key, message, identity, now))]
            if session is None:
                return [Send(key, unknown_session(message.correlation))]
            session.last_received = now
            if isinstance(message, Numbered):
                self._check_open()
            if type(message) is Publish:
                return self._intake.publish(key, session.account, message, now, received.events)
            handler = self._handlers.get(type(message))
            if handler is None:
                raise WireError(f"{type(message).__name__} is not for the broker")
            return handler(key, session, message, now)
        except ForetellError as error:
            if isinstance(error, PermissionDenied):
                self._counts["denied"] += 1
            if type(message) is Publish and session is not None:
                user = session.account.user.name
                self._intake.noting.refused_batch(user, message, self._engine.streams, error, now)
            return [Send(key, failure(message.correlation, error))]

    def _requests(self) -> Requests:
        """The table of handlers. HELLO and PUBLISH are handled before it is looked up."""
        return {
            Statistics: self._answer_statistics,
            **self._session_requests.requests(),
            **self._streams.requests(),
            **self._changes.requests(),
            **self._reading.requests(),
            **self._subscribing.requests(),
            **self._subscribing.cursor_requests.requests(),
            **self._administration.requests(),
        }

    def _answer_statistics(self, key: bytes, session: Session, request: Statistics, now: int) -> list[Send]:
        session.account.user.check_admin("statistics")
        return [Send(key, StatisticsReport(request.correlation, self.statistics()))]

    def _check_open(self) -> None:
        if self._draining:
            raise Busy("the broker is stopping and accepts nothing new", DRAIN_RETRY_MICROSECONDS)

    def _record(self, record: Record) -> None:
        self._changes_made += 1
        if self._durability != MEMORY:
            self._records.append(record)

    # ---- time and configuration ----

    def _tick(self, now: int) -> list[Send]:
        self._left_until = self._left_until or now + self.limits.resume_seconds * 1_000_000
        again: list[Send] = []
        self._by_stream.prune(self._engine.streams)
        self._by_subscription.prune(self._attachments.definitions)
        self._intake.recent.tick()
        self.held_back.tick()
        self._distribution.recent.tick(now)
        if self._intake.work is None:  # else at a later tick: the batch in work must match what would be released here
            if now >= self._left_until:
                self._attachments.abandon()
            self._session_requests.expire(now)
            again = self._subscribing.cursor_requests.tick(now)
        return [*again, *self._session_requests.probes(now)]

    def _reconfigure(self, limits: Limits, access: Access) -> list[Send]:
        self.limits = self._subscribing.limits = self._streams.limits = limits
        self._clock_guard.most = limits.ahead_max
        self._by_stream.most = self._by_subscription.most = limits.labels
        self._admission.change(access)
        return self._session_requests.reconfigure(limits)
