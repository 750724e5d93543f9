"""Law: the one state machine of the broker: every input is handled here, and state changes nowhere else.

Theory of operation. A session begins with HELLO and ends with GOODBYE, when the transport cannot reach it any more, or
with the broker. Each request is answered by exactly one message with its correlation: the answer that broker.wire
names, or Failure; CREDIT alone is not answered. A batch goes through the engine at once, and its results are queued for
every attached session and sent as far as there are credits: first the publisher's answer, then notifications. So each
session sees the results of one subscription in the order in which the engine found them.

What is too many to be made at once waits as shares, which are made when there are credits for them. That is the only
work left over from an input: as long as `has_work`, Turn does a bounded piece of it, for one delivery after the other,
and whatever else comes is handled in between.

Liveness. A client that is busy with something else says nothing, perhaps for hours, and must lose nothing. Silence is
therefore no reason to drop a session: it is a reason to send a Probe, and the transport then knows whether there is
still a connection. Only Gone releases a session's subscriptions.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, final

from .. import __version__
from ..engine.shares import taken_out
from ..events import ForetellError, LimitExceeded, UnknownStream, UnknownSubscription, suggestion
from ..wire import (
    VERSION,
    AddStream,
    Closing,
    Credit,
    DescribeStream,
    Done,
    Failure,
    Goodbye,
    Hello,
    ListStreams,
    ListSubscriptions,
    Message,
    Ping,
    Pong,
    Probe,
    Publish,
    Statistics,
    StatisticsReport,
    Streams,
    Subscribe,
    Subscribed,
    Unsubscribe,
    Welcome,
    WireError,
)
from .attachments import Attachments
from .boundary import Garbled, Gone, Input, Received, Send, Stop, Tick, Turn
from .delivery import Delivery, encoded
from .limits import Limits
from .listing import (
    contradiction,
    countable,
    failure,
    numbers,
    stream_definition,
    stream_entry,
    streams_page,
    subscriptions_page,
)
from .matcher import Matcher, Result
from .publishing import take

SOFTWARE: Final = f"foretell {__version__}"

TURN_RESULTS_MAX: Final = 512
"""Results made in one turn: some milliseconds, which everybody else waits."""


@final
@dataclass(slots=True)
class _Session:
    """What is known of one client. `heard`: when it last said something or was probed, in microseconds."""

    software: str
    heard: int
    deliveries: dict[str, Delivery] = field(default_factory=dict)


@final
class Kernel:
    """Feed it with `step`; the effects must be performed in order. Owns the engine's subscriptions from here on.

    Subscriptions that the engine has already belong to the configuration and stay.
    """

    __slots__ = ("_attachments", "_counts", "_events", "_limits", "_matcher", "_ready", "_sessions")

    def __init__(self, matcher: Matcher, limits: Limits | None = None) -> None:
        self._matcher = matcher
        self._limits = limits or Limits()
        self._attachments = Attachments(matcher)
        self._sessions: dict[bytes, _Session] = {}
        self._ready: dict[tuple[bytes, str], Delivery] = {}  # those that are, in the order of their turns
        self._events = 0
        self._counts = dict.fromkeys(
            ("batches", "events_refused_late", "results", "notifications_sent", "notifications_missed", "garbled"), 0
        )

    def step(self, happening: Input, now: int) -> list[Send]:
        """One input, its effects. `now` is the wall clock in microseconds since 1970; it may step back.

        Raises nothing for what a client does. An exception is a mistake of the broker or of its engine.
        """
        match happening:
            case Received(session, message):
                return self._received(session, message, now)
            case Garbled(session, error):
                self._counts["garbled"] += 1
                # Who has not said HELLO in our protocol may not even speak it: no answer.
                return [Send(session, failure(error.correlation, error))] if session in self._sessions else []
            case Gone(session):
                self._release(session)
                return []
            case Tick():
                return self._probes(now)
            case Turn(full):
                return self._make(full)
            case Stop(reason):
                return self._farewells(reason)

    def has_work(self, full: Container[bytes] = ()) -> bool:
        """Whether there is something to do in a Turn with these sessions."""
        return any(session not in full for session, _ in self._ready)

    def statistics(self) -> dict[str, dict[str, Any]]:
        """Numbers by name, of the broker and of its engine."""
        broker = {
            "sessions": len(self._sessions),
            "streams": len(self._matcher.streams),
            "events": self._events,
            **{name: countable(count) for name, count in self._counts.items()},
            **self._attachments.statistics(),
        }
        return {"broker": broker, "engine": numbers(self._matcher.statistics())}

    def check_invariants(self) -> None:
        """For tests."""
        self._attachments.check_invariants()
        for key, session in self._sessions.items():
            for name, delivery in session.deliveries.items():
                assert self._attachments.of(name).get(key) is delivery
                assert ((key, name) in self._ready) == delivery.ready
        for key, name in self._ready:
            assert name in self._sessions[key].deliveries
        attached = sum(len(session.deliveries) for session in self._sessions.values())
        assert attached == self._attachments.statistics()["attachments"]

    # ---- messages ----

    def _received(self, key: bytes, message: Message, now: int) -> list[Send]:
        session = self._sessions.get(key)
        try:
            if type(message) is Hello:
                return [Send(key, self._hello(key, message, now))]
            if session is None:
                return [Send(key, _unknown_session(message.correlation))]
            session.heard = now
            return self._answer(key, session, message, now)
        except ForetellError as error:
            return [Send(key, failure(message.correlation, error))]

    def _hello(self, key: bytes, hello: Hello, now: int) -> Message:
        """Open the session. A client that comes back would name its earlier session here, and take over its queues."""
        if hello.version != VERSION:
            reason = f"this broker speaks version {VERSION} of the protocol, the client version {hello.version}"
            return Failure(hello.correlation, "version", reason, None, None, None)
        if key in self._sessions:
            raise WireError("HELLO: this session is open already")
        if len(self._sessions) >= self._limits.sessions:
            raise LimitExceeded(f"sessions: this broker takes {self._limits.sessions:,} clients at a time")
        self._sessions[key] = _Session(hello.software, now)
        return Welcome(hello.correlation, VERSION, SOFTWARE, self._limits.silence_seconds)

    def _answer(self, key: bytes, session: _Session, message: Message, now: int) -> list[Send]:
        """One request. Whether this session may ask for this would be decided here."""
        match message:
            case Publish():
                return self._publish(key, message, now)
            case Credit():
                return self._credit(key, session, message)
            case Subscribe():
                answer: Message = self._subscribe(key, session, message)
            case Unsubscribe(correlation, name):
                if name not in session.deliveries:
                    hint = suggestion(name, session.deliveries)
                    raise UnknownSubscription(f"subscription {name!r}: this client has not subscribed to it{hint}")
                self._detach(key, session, name)
                answer = Done(correlation)
            case AddStream(correlation):
                self._add_stream(message)
                answer = Done(correlation)
            case DescribeStream(correlation, name):
                self._check_stream(name)
                answer = Streams(correlation, (stream_entry(self._matcher.streams[name]),), False)
            case ListStreams():
                answer = streams_page(self._matcher.streams, message)
            case ListSubscriptions():
                answer = subscriptions_page(self._attachments.entries(), message)
            case Statistics(correlation):
                answer = StatisticsReport(correlation, self.statistics())
            case Ping(correlation):
                answer = Pong(correlation)
            case Goodbye(correlation):
                self._release(key)
                answer = Done(correlation)
            case _:
                raise WireError(f"{type(message).__name__} is not for the broker")
        return [Send(key, answer)]

    def _add_stream(self, request: AddStream) -> None:
        wanted = stream_definition(request)
        existing = self._matcher.streams.get(wanted.name)
        if existing is not None:
            if existing != wanted:
                raise contradiction(existing, wanted)
            return
        if len(self._matcher.streams) >= self._limits.streams:
            raise LimitExceeded(f"streams: this broker takes {self._limits.streams:,} streams")
        self._matcher.add_stream(wanted.name, wanted.schema.declared(), key=wanted.key, disorder=wanted.disorder)

    def _check_stream(self, name: str) -> None:
        if name not in self._matcher.streams:
            raise UnknownStream(f"stream {name!r} is not known{suggestion(name, self._matcher.streams)}")

    def _subscribe(self, key: bytes, session: _Session, request: Subscribe) -> Subscribed:
        limit = self._limits.session_subscriptions
        if len(session.deliveries) >= limit:
            raise LimitExceeded(f"session_subscriptions: this broker takes {limit:,} subscriptions of one client")
        delivery = Delivery(request.name, self._limits, request.credits)
        attached = self._attachments.attach(key, request, delivery)
        session.deliveries[request.name] = delivery
        return Subscribed(request.correlation, request.name, attached)

    def _credit(self, key: bytes, session: _Session, grant: Credit) -> list[Send]:
        delivery = session.deliveries.get(grant.name)
        if delivery is None:
            return []  # it crossed an unsubscribe, or a refusal that the client has been told
        delivery.grant(grant.credits)
        return self._due(key, delivery)

    def _publish(self, key: bytes, batch: Publish, now: int) -> list[Send]:
        self._check_stream(batch.stream)
        published, results = take(self._matcher, batch, self._events + 1, now)
        self._events += published.count
        self._counts["batches"] += 1
        self._counts["events_refused_late"] += len(published.refused)
        return [Send(key, published), *self._distribute(results)]

    # ---- results ----

    def _distribute(self, results: Iterable[Result]) -> list[Send]:
        """Encode each result once, queue it for everyone who is attached, and send what may be sent.

        Shares are queued as they are. One that nobody has counted counts as one result.
        """
        count = 0
        touched: dict[str, None] = {}
        for share in taken_out(results):
            count += 1 if share.count is None else share.count
            for delivery in self._attachments.of(share.subscription).values():
                delivery.defer(share)
            touched[share.subscription] = None
        for result in results:
            count += 1
            name = result.subscription
            deliveries = self._attachments.of(name)
            if not deliveries:
                continue
            line, time = encoded(result)
            for delivery in deliveries.values():
                delivery.offer(line, time)
            touched[name] = None
        self._counts["results"] += count
        return [
            send
            for name in touched
            for key, delivery in self._attachments.of(name).items()
            for send in self._due(key, delivery)
        ]

    def _due(self, key: bytes, delivery: Delivery, making: int = 0) -> list[Send]:
        sent, missed = delivery.sent, delivery.missed
        sends = [Send(key, message) for message in (delivery.make(making) if making else delivery.due())]
        self._counts["notifications_sent"] += delivery.sent - sent
        self._counts["notifications_missed"] += missed - delivery.missed
        if delivery.ready:
            self._ready.setdefault((key, delivery.subscription), delivery)
        return sends

    def _make(self, full: Container[bytes]) -> list[Send]:
        """The turn of the delivery that has waited longest."""
        for at, delivery in self._ready.items():
            if at[0] not in full:
                del self._ready[at]  # if there is more to make, it is the last one from now on
                return self._due(at[0], delivery, TURN_RESULTS_MAX)
        return []

    # ---- the lives of sessions ----

    def _probes(self, now: int) -> list[Send]:
        silence = self._limits.silence_seconds * 1_000_000
        sends: list[Send] = []
        for key, session in self._sessions.items():
            if not 0 <= now - session.heard < silence:  # also when the clock has stepped back
                session.heard = now
                sends.append(Send(key, Probe(0)))
        return sends

    def _release(self, key: bytes) -> None:
        session = self._sessions.pop(key, None)
        if session is not None:
            for name in tuple(session.deliveries):
                self._detach(key, session, name)

    def _detach(self, key: bytes, session: _Session, name: str) -> None:
        del session.deliveries[name]
        self._ready.pop((key, name), None)
        self._attachments.detach(key, name)

    def _farewells(self, reason: str) -> list[Send]:
        sends: list[Send] = []
        for key, session in self._sessions.items():
            for delivery in session.deliveries.values():
                sends.extend(Send(key, message) for message in delivery.farewell())
            sends.append(Send(key, Closing(0, reason)))
        self._sessions.clear()
        self._ready.clear()
        return sends


def _unknown_session(correlation: int) -> Failure:
    reason = "the broker does not know this session (it was lost, or the broker has been started anew): connect again"
    return Failure(correlation, "session", reason, None, None, None)
