"""The broker's state machine: it handles every input, and no state changes anywhere else.

Theory of operation. A session begins with HELLO and ends with GOODBYE, when the transport cannot reach it any more, or
with the broker. Each request is answered by exactly one message with its correlation: the answer that broker.wire
names, or Failure; CREDIT alone is not answered. A batch goes through the engine at once, and its results are queued for
every attached session and sent as far as there are credits: first the publisher's answer, then notifications. So each
session sees the results of one subscription in the order in which the engine found them.

The kernel makes results in bounded pieces. What is too many to be made at once waits as shares, which it makes when
there are credits for them: as long as `has_work`, MakeResults does a piece of it, for one delivery after the other. A
batch of more events than may be matched at once stays in work, and ContinueBatch goes on with it; the kernel answers it
when it is through, and sends what was found before. It handles other inputs in between; but one that
`must_be_deferred` (deferral) ends the batch first, so a caller that must not block others holds it back until then.

Records. What can change a match is a fold over `records`: they say everything of an input that later matches depend on.
They are asked for after each input, and its effects are performed when they are as safe as it was promised.

Liveness. A client that is busy says nothing, and must lose nothing. So silence is no reason to drop a session, but to
send a Probe: the transport then knows whether there is a connection. Only Gone releases a session's subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, Final, final

from .. import __version__
from ..events import ForetellError
from ..wire import (
    VERSION,
    Busy,
    Closing,
    Done,
    Goodbye,
    Hello,
    Message,
    PermissionDenied,
    Ping,
    Pong,
    Probe,
    Publish,
    Statistics,
    StatisticsReport,
    Welcome,
    WireError,
)
from .admission import Admission
from .ahead import Ahead
from .attachments import Attachments
from .cursors import Cursors, drawn
from .deferral import must_be_deferred
from .distribution import Distribution
from .engine_port import EnginePort
from .inputs_and_effects import (
    Away,
    ContinueBatch,
    Drain,
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
from .intake import Intake, Work
from .limits import Limits
from .listing import countable, excess, failure, numbers, unknown_session, unknown_version
from .permissions import Access, open_access
from .reading import ReadRequests
from .receipts import Receipts
from .records import Record
from .requests import Requests
from .sessions import Session, Sessions
from .stream_requests import StreamRequests
from .subscribing import MEMORY, Subscribing

SOFTWARE: Final = f"foretell {__version__}"

DRAIN_RETRY_MICROSECONDS: Final = 1_000_000  # there may be another broker by then


@final
class Kernel:
    """Feed it with `step`; the effects must be performed in order. Owns the engine's subscriptions from here on.

    Subscriptions that the engine has already belong to the configuration and stay. `around` gives further groups of
    statistics, of what is around the kernel. `secret`: of which the names of sessions that can be resumed are made.

    With a journal: `taken` is what was taken before, `cursors` what was kept, `durability` what receipts promise,
    `permanent` are the names of the configuration's subscriptions; the engine's others wait for their clients to come
    back.
    """

    __slots__ = (
        "_admission", "_ahead", "_around", "_attachments", "_counts", "_cursors", "_distribution", "_draining",
        "_durability", "_handlers", "_intake", "_left_until", "_matcher", "_reading", "_records", "_sessions",
        "_streams", "_subscribing", "limits",
    )  # fmt: skip

    def __init__(
        self,
        matcher: EnginePort,
        limits: Limits | None = None,
        admission: Admission | None = None,
        around: Callable[[], Mapping[str, Mapping[str, Any]]] = dict,
        secret: bytes = b"",
        taken: Receipts | None = None,
        durability: str = MEMORY,
        permanent: Container[str] | None = None,
        cursors: Cursors | None = None,
    ) -> None:
        self._matcher = matcher
        self._around = around
        self.limits = limits or Limits()
        self._admission = admission or Admission(open_access())
        self._durability = durability
        self._records: list[Record] = []
        self._cursors = cursors = Cursors(drawn(secret)) if cursors is None else cursors
        sources = self._admission.sources
        self._attachments = Attachments(matcher, sources, permanent, self._record, lambda name: bool(cursors.of(name)))
        self._distribution = Distribution(self._attachments, cursors)
        self._draining = False
        self._ahead = Ahead(self.limits.ahead_max)
        self._sessions = Sessions(secret)
        self._subscribing = Subscribing(
            matcher, self.limits, self._admission, self._attachments, self._distribution, self._sessions, cursors,
            durability, self._record, self._check_open,
        )  # fmt: skip
        self._intake = Intake(
            matcher, self._admission, self._distribution, taken or Receipts(), durability, self._record,
            self._subscribing.end_slow, self._ahead,
        )  # fmt: skip
        self._reading = ReadRequests(matcher, self._admission, self._attachments, self._subscribing)
        self._streams = StreamRequests(matcher, self.limits, self._intake.taken, self._record, self._intake.tell)
        self._handlers = self._requests()
        self._left_until: int | None = None
        self._counts = {"garbled": 0, "denied": 0, "sessions_resumed": 0, "sessions_displaced": 0}

    def step(self, given: Input, now: int) -> list[Send]:
        """One input, its effects. `now` is the wall clock in microseconds since 1970; it may step back.

        Raises nothing for what a client does. An exception is a mistake of the broker or of its engine.
        """
        self._ahead.look(now)
        if self._intake.work is not None and must_be_deferred(given):
            return self._intake.go_on(None) + self.step(given, now)
        match given:
            case Received():
                return self._received(given, now)
            case Undecodable(session, error):
                self._counts["garbled"] += 1
                # Who has not said HELLO in our protocol may not even speak it: no answer.
                return [Send(session, failure(error.correlation, error))] if session in self._sessions.present else []
            case TooManyBatches(session, correlation):
                return [Send(session, excess(correlation))] if session in self._sessions.present else []
            case Gone(session):
                self._leave(session, now)
                return []
            case Away(session):
                self._pause(session)
                return []
            case Tick():
                return self._tick(now)
            case ContinueBatch(events):
                return self._intake.go_on(events)
            case MakeResults(full):
                return self._distribution.make(full)
            case Reconfigure(limits, access):
                return self._change(limits, access)
            case Drain():
                self._draining = True
                return []
            case Stop(reason):
                return self._farewells(reason)

    @property
    def work(self) -> Work | None:
        """The batch in work: checked, recorded, matched in part. ContinueBatch goes on with it; not to be changed."""
        return self._intake.work

    def session_of(self, token: bytes, identity: str) -> bytes | None:
        """The session that a HELLO with this token would go on with."""
        return self._sessions.key(token, identity)

    @property
    def drained(self) -> bool:
        """Whether nothing waits for anybody any more. O(attachments)."""
        sessions = self._sessions.present.values()
        return not any(each.waiting or each.missed for session in sessions for each in session.deliveries.values())

    def has_work(self, full: Container[bytes] = ()) -> bool:
        """Whether there is something to do in a MakeResults with these sessions."""
        return self._distribution.has_work(full)

    def statistics(self) -> dict[str, dict[str, Any]]:
        """Numbers by name, of the broker and of its engine."""
        broker = {
            "sessions": len(self._sessions.present),
            "sessions_away": self._sessions.away,
            "streams": len(self._matcher.streams),
            **self._intake.statistics(),
            **self._counts,
            **{name: countable(count) for name, count in self._distribution.statistics().items()},
            **self._attachments.statistics(),
            **self._cursors.statistics(),
            **self._subscribing.cursors.statistics(),
            **self._admission.statistics(),
        }
        return {
            "broker": broker,
            "engine": numbers(self._matcher.statistics()),
            **{name: numbers(group) for name, group in self._around().items()},
        }

    def records(self) -> list[Record]:
        """What has happened since this was asked last, in order; none where nobody keeps them."""
        records, self._records = self._records, []
        return records

    def given_up(self) -> list[tuple[str, int, int]]:
        """Cursor, position and how often: what was delivered too often since this was asked last, for the log."""
        return self._subscribing.cursors.take_given_up()

    def owner(self, session: bytes) -> str:
        """The name of the user whose session this is, for the log; empty where there is none."""
        return self._sessions.user(session)

    def check_invariants(self) -> None:
        """For tests."""
        self._attachments.check_invariants()
        self._cursors.check_invariants()
        self._intake.taken.check_invariants()
        self._sessions.check_invariants()
        assert self._distribution.settled or self._intake.work is not None
        sessions = dict(self._sessions.everybody())
        self._distribution.check_invariants({key: session.deliveries for key, session in sessions.items()})
        assert all(key in self._sessions.present for key, _ in self._distribution.ready)
        accounts = ((each.account, len(each.deliveries)) for each in sessions.values())
        self._admission.check_invariants(accounts, self._attachments.definitions)

    # ---- messages ----

    def _received(self, received: Received, now: int) -> list[Send]:
        key, message, identity = received.session, received.message, received.identity
        session = self._sessions.present.get(key)
        try:
            if session is not None and session.identity != identity:
                raise PermissionDenied("this session belongs to another key")
            if type(message) is Hello:
                return [Send(key, self._hello(key, message, identity, now))]
            if session is None:
                return [Send(key, unknown_session(message.correlation))]
            session.heard = now
            if type(message) is Publish:
                self._check_open()
                return self._intake.publish(key, session.account, message, now, received.events)
            handler = self._handlers.get(type(message))
            if handler is None:
                raise WireError(f"{type(message).__name__} is not for the broker")
            return handler(key, session, message, now)
        except ForetellError as error:
            if isinstance(error, PermissionDenied):
                self._counts["denied"] += 1
            return [Send(key, failure(message.correlation, error))]

    def _hello(self, key: bytes, hello: Hello, identity: str, now: int) -> Message:
        """Open the session, or go on with the one that the client names."""
        if hello.version != VERSION:
            return unknown_version(hello)
        if key in self._sessions.present:
            raise WireError("HELLO: this session is open already")
        self._check_open()
        earlier = self._sessions.find(hello.session, identity) if hello.session else None
        if earlier is not None:
            return self._resume(key, *earlier, hello, now)
        if len(self._sessions) >= self.limits.sessions:
            self._release(self._sessions.displaced(self.limits.sessions, self._intake.work is None))
            self._counts["sessions_displaced"] += 1
        account = self._admission.enter(identity)
        session = Session(identity, account, hello.software, now)
        self._sessions.open(key, session, hello.session is not None)
        return self._welcome(hello, session, now)

    def _resume(self, key: bytes, old: bytes, session: Session, hello: Hello, now: int) -> Message:
        """The session goes on over this connection; each subscription when it is asked for."""
        for name, delivery in session.deliveries.items():
            self._distribution.pause(old, delivery)
            self._distribution.move(old, key, name)
            self._attachments.rename(name, old, key)
        self._sessions.move(session, key)
        session.heard = now
        self._counts["sessions_resumed"] += 1
        return self._welcome(hello, session, now)

    def _welcome(self, hello: Hello, session: Session, now: int) -> Welcome:
        silence, batches = self.limits.silence_seconds, self.limits.session_batches
        return Welcome(hello.correlation, VERSION, SOFTWARE, silence, session.token, max(0, now), batches)

    def _requests(self) -> Requests:
        """Who carries out what; HELLO and batches have a way of their own."""
        return {
            Statistics: self._answer_statistics,
            Ping: lambda key, session, ping, now: [Send(key, Pong(ping.correlation))],
            Goodbye: self._goodbye,
            **self._streams.requests(),
            **self._reading.requests(),
            **self._subscribing.requests(),
            **self._subscribing.cursors.requests(),
        }

    def _answer_statistics(self, key: bytes, session: Session, request: Statistics, now: int) -> list[Send]:
        session.account.user.check_admin("statistics")
        return [Send(key, StatisticsReport(request.correlation, self.statistics()))]

    def _goodbye(self, key: bytes, session: Session, request: Goodbye, now: int) -> list[Send]:
        self._release(key)
        return [Send(key, Done(request.correlation))]

    def _check_open(self) -> None:
        if self._draining:
            raise Busy("the broker is stopping, and takes nothing new", DRAIN_RETRY_MICROSECONDS)

    def _record(self, record: Record) -> None:
        if self._durability != MEMORY:
            self._records.append(record)

    # ---- the lives of sessions ----

    def _tick(self, now: int) -> list[Send]:
        self._left_until = self._left_until or now + self.limits.resume_seconds * 1_000_000
        again: list[Send] = []
        if self._intake.work is None:  # else at the next tick: the batch in work still matches what is released here
            if now >= self._left_until:
                self._attachments.abandon()
            for key in self._sessions.expired(now):
                self._release(key)
            again = self._subscribing.cursors.tick(now)
        silent = self._sessions.silent(now, self.limits.silence_seconds * 1_000_000)
        return [*again, *(Send(key, Probe(0)) for key in silent)]

    def _leave(self, key: bytes, now: int) -> None:
        """The connection has ended; the session only if it cannot be resumed."""
        self._pause(key)
        until = now + self.limits.resume_seconds * 1_000_000
        if self._draining or self._sessions.leave(key, until) is None:
            self._release(key)

    def _pause(self, key: bytes) -> None:
        session = self._sessions.present.get(key)
        for delivery in () if session is None else session.deliveries.values():
            self._distribution.pause(key, delivery)

    def _release(self, key: bytes) -> None:
        session = self._sessions.remove(key)
        if session is not None:
            self._subscribing.detach_all(key, session)
            self._admission.leave(session.account)

    def _change(self, limits: Limits, access: Access) -> list[Send]:
        self.limits = self._subscribing.limits = self._streams.limits = limits
        self._ahead.most = limits.ahead_max
        self._admission.change(access)
        sends: list[Send] = []
        for key, session in self._sessions.everybody():
            for delivery in session.deliveries.values():
                delivery.limits = limits
            if not self._admission.may_stay(session.identity, session.account, session.deliveries):
                sends.append(Send(key, Closing(0, "its permissions have changed: connect again")))
                self._release(key)
        return sends

    def _farewells(self, reason: str) -> list[Send]:
        sends: list[Send] = []
        for key, session in self._sessions.present.items():
            last = [message for delivery in session.deliveries.values() for message in delivery.farewell()]
            sends += [*(Send(key, message) for message in last), Send(key, Closing(0, reason))]
        self._sessions.clear()
        self._distribution.ready.clear()
        return sends
