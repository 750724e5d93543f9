"""The way back without a socket and without time: when it is tried, what is said, what is told, and what is final."""

from __future__ import annotations

from collections import deque
from functools import partial
from itertools import islice
from typing import get_args

import pytest
from doubles.answering_kernel import AnsweringKernel as Broker
from doubles.small_engine import SmallEngine
from hypothesis import given
from hypothesis import strategies as st

from broker.events import DefinitionError, ForetellError
from broker.kernel import Cursors, Drain, Gone, Kernel, Limits, Received
from broker.wire import Acknowledge, AddStream, Credit, Failure, Message, Publish, Subscribe, WhenSlow, decode, encode
from client import (
    Advice,
    Busy,
    ConnectionLost,
    Fault,
    Happening,
    LateEvent,
    LimitExceeded,
    PermissionDenied,
    ProtocolError,
    QueryError,
    Reconnect,
    RequestTimeout,
    Retry,
    SlowConsumer,
    advice,
)
from client.calls import Calls, hello, run
from client.cursor_calls import CursorCalls
from client.reconnect_policy import is_passing
from client.session import Session
from client.session_recovery import Recovery
from client.session_renewal import HELD_ATTEMPTS_MAX, Renewal


@given(
    st.floats(0.001, 10),
    st.floats(0.001, 100),
    st.lists(st.floats(0, 1), min_size=30, max_size=30),
)
def test_waits_double_up_to_the_greatest_and_are_shortened_by_chance(
    first: float, greatest: float, chances: list[float]
) -> None:
    chance = iter(chances)
    waits = list(islice(Reconnect(first, greatest).waits(lambda: next(chance)), 30))
    whole = [min(first * 2**n, greatest) for n in range(30)]
    assert all(most / 2 <= wait <= most * 1.0001 for wait, most in zip(waits, whole))


def test_so_many_attempts_and_no_more() -> None:
    assert len(list(Reconnect(attempts=4).waits(lambda: 0.5))) == 4


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"first": 0}, "reconnect.first: expected seconds greater than 0, found int 0"),
        ({"greatest": float("inf")}, "reconnect.greatest: expected seconds greater than 0"),
        ({"first": True}, "reconnect.first: expected seconds greater than 0, found bool true"),
        ({"attempts": 0}, "reconnect.attempts: expected 1 or more, found int 0"),
    ],
)
def test_what_is_no_way_to_come_back_is_refused(options: dict[str, float], reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        Reconnect(**options)  # type: ignore[arg-type]


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def broker(session: Session) -> Broker:
    """With the stream S and the subscription `all` to it, window 4."""
    broker = Broker(session)
    calls = Calls(session)
    run(calls.open(), broker.exchange)
    run(calls.add_stream("S", {}, None, "arrival", None, None), broker.exchange)
    request = calls.prepare("all", "cayuga", "every S", None, None, None, 4)
    run(calls.subscribe(request), broker.exchange)
    return broker


def publish(session: Session, broker: Broker, times: list[int]) -> None:
    run(Calls(session).publish_batch("S", times, [()] * len(times), None, None), broker.exchange)


def ends(session: Session, broker: Broker) -> list[int | None]:
    found: list[int | None] = []
    while True:
        notification, grant = session.take("all")
        if grant is not None:
            broker.send(grant)
        if notification is None:
            return found
        found.append(notification.end)


def test_what_came_before_then_the_gap_then_what_comes(session: Session, broker: Broker) -> None:
    publish(session, broker, [1, 2, 3])
    broker.replace()
    session.lost = ConnectionLost("it has ended")
    assert broker.renew().done()
    publish(session, broker, [7, 8, 9])
    assert ends(session, broker) == [1, 2, 3, None, 7, 8, 9]
    assert [event.happening for event in session.flow_events] == [Happening.GAP]
    for time in range(10, 60):
        publish(session, broker, [time])
        assert ends(session, broker) == [time], "credits are neither lost nor made up"


def test_what_was_taken_before_a_loss_is_no_credit_of_the_next_session(session: Session, broker: Broker) -> None:
    publish(session, broker, [1])
    assert session.take("all")[1] is None
    broker.replace()
    session.lost = ConnectionLost("it has ended")
    assert broker.renew().done()
    publish(session, broker, [7, 8])
    assert [session.take("all")[1] for _ in ("the gap", "7")] == [None, None]
    assert session.take("all")[1] == encode(Credit(0, "all", 2))


def test_attempts_that_fail_add_no_further_gaps(session: Session, broker: Broker) -> None:
    for _ in range(2):
        broker.replace()
        for _ in range(5):
            assert not Renewal(session, partial(hello, session)).done()
        assert ends(session, broker) == []
        assert broker.renew().done()
        assert ends(session, broker) == [None]


@given(
    st.integers(1, 6),
    st.lists(
        st.tuples(
            st.sampled_from(["publish", "read", "take in", "lose", "lose unnoticed", "restart", "fail"]),
            st.integers(1, 9),
        ),
        max_size=25,
    ),
)
def test_in_a_session_that_is_resumed_everything_comes_once_and_in_order(
    window: int, story: list[tuple[str, int]]
) -> None:
    """Whatever was on the way when the connection was lost; after a restart, what is missing is told by a gap."""
    link = Link(window)
    expected: list[int | None] = []
    read: list[int | None] = []
    for what, number in [*story, ("lose", 1), ("drain", 0)]:
        match what:
            case "publish":
                expected.extend(link.publish(number))
            case "read":
                read.extend(link.read(number))
            case "take in":
                link.take_in(number)
            case "lose" | "lose unnoticed":
                link.lose(noticed=what == "lose")
            case "fail":
                link.fail(number)
            case "restart":
                # What was with the broker is gone, and what was on the way, too.
                link.take_in(10_000)
                read.extend(link.read(10_000))
                link.restart(number)
                del expected[len(read) :]
                expected.append(None)
            case _:
                for _ in range(1_000):
                    link.take_in(10_000)
                    read.extend(link.read(10_000))
        link.kernel.check_invariants()
    assert read == expected


@given(
    st.sampled_from(get_args(WhenSlow)),
    st.integers(1, 4),
    st.integers(1, 4),
    st.lists(
        st.tuples(
            st.sampled_from(["publish", "publish", "read", "take in", "lose", "lose unnoticed", "fail"]),
            st.integers(1, 9),
        ),
        max_size=25,
    ),
)
def test_a_slow_reader_whose_connection_is_lost_is_told_of_all_that_it_missed(
    when_slow: WhenSlow, window: int, queue: int, story: list[tuple[str, int]]
) -> None:
    """What it reads and what gaps stand for is everything, in order; or everything until it was ended."""
    link = Link(window, Limits(queue_notifications=queue), when_slow)
    reached = 0
    ended: int | None = None

    def read(count: int) -> None:
        nonlocal reached
        while count and (one := link.read(1)):
            count -= 1
            (end,) = one
            if end is None:
                missed = link.missed.popleft()
                assert missed is not None
                reached += missed
            else:
                assert end == reached, "in order, and none left out in silence"
                reached += 1

    try:
        for what, number in [*story, ("lose", 1), ("drain", 0)]:
            match what:
                case "publish":
                    link.publish(number)
                    if ended is None and link.kernel.statistics()["broker"]["subscriptions_ended_slow"]:
                        ended = link.time
                case "read":
                    read(number)
                case "take in":
                    link.take_in(number)
                case "lose" | "lose unnoticed":
                    link.lose(noticed=what == "lose")
                case "fail":
                    link.fail(number)
                case _:
                    for _ in range(1_000):
                        link.take_in(10_000)
                        read(10_000)
            link.kernel.check_invariants()
    except SlowConsumer:
        assert when_slow == "disconnect"
        assert reached == ended
        assert link.session.lost is None
    else:
        assert ended is None
        assert reached == link.time


class Link:
    """A resumable client and a kernel, with what the kernel has sent in between: it comes only when it is taken in."""

    def __init__(self, window: int, limits: Limits | None = None, when_slow: WhenSlow | None = None) -> None:
        self.limits = limits
        self.missed: deque[int | None] = deque()  # of the gaps that were read
        self.session = Session(resumable=True)
        self.calls = Calls(self.session)
        self.time = 0
        self.connection = 0
        self.way: list[bytes] = []
        self._begin()
        run(self.calls.open(), self._exchange)
        run(self.calls.add_stream("S", {}, None, "arrival", None, None), self._exchange)
        request = self.calls.prepare("all", "cayuga", "every S", None, None, None, window, None, when_slow)
        run(self.calls.subscribe(request), self._exchange)

    def _begin(self) -> None:
        self.kernel = Kernel(SmallEngine(), self.limits, secret=b"%d" % self.connection)  # each broker draws its own
        self.kernel.step(Received(b"publisher", hello(Session(), 1)), 0)
        self._publisher(AddStream(2, "S", {}, None, "arrival", None, None))

    def _publisher(self, message: Message) -> None:
        for effect in self.kernel.step(Received(b"publisher", message), 0).sends:
            if effect.session == self._key:
                self.way.append(encode(effect.message))

    @property
    def _key(self) -> bytes:
        return b"%d" % self.connection

    def _send(self, frame: bytes) -> bool:
        for effect in self.kernel.step(Received(self._key, decode(frame)), 0).sends:
            if effect.session == self._key:
                self.way.append(encode(effect.message))
        return True

    def _exchange(self, correlation: int, frame: bytes) -> Message:
        self._send(frame)
        self.take_in(10_000)
        answer = self.session.answer(correlation)
        assert answer is not None
        return answer

    def publish(self, count: int) -> list[int]:
        times = tuple(range(self.time, self.time + count))
        self.time += count
        self._publisher(Publish(3, "S", times, ((),) * count, None, None))
        return list(times)

    def take_in(self, count: int) -> None:
        for frame in self.way[:count]:
            self.session.receive(frame)
        del self.way[:count]

    def read(self, count: int) -> list[int | None]:
        found: list[int | None] = []
        while len(found) < count:
            notification, grant = self.session.take("all")
            if grant is not None:
                self._send(grant)
            if notification is None:
                break
            found.append(notification.end)
            if notification.kind == "incomplete":
                self.missed.append(notification.missed)
        return found

    def lose(self, noticed: bool) -> None:
        """What is on the way is lost with the connection, which the broker may notice later than the client."""
        old = self._key
        self.way.clear()
        if noticed:
            self.kernel.step(Gone(old), 0)
        self.connection += 1
        self._restore()
        if not noticed:
            self.kernel.step(Gone(old), 0)

    def fail(self, frames: int) -> None:
        """An attempt of which so many answers come back, then the connection is lost; and the next one."""
        self.way.clear()
        self.connection += 1
        for frame in Renewal(self.session, partial(hello, self.session)).frames:
            self._send(frame)
        self.take_in(frames)
        self.lose(noticed=True)

    def restart(self, frames: int) -> None:
        """Another broker, which is reached at the second attempt: of the first one, so many answers come back."""
        self.way.clear()
        self.connection += 1
        self._begin()
        self.fail(frames)

    def _restore(self) -> None:
        renewal = Renewal(self.session, partial(hello, self.session))
        for frame in renewal.frames:
            self._send(frame)
        # As far as the answers go; notifications behind them may be lost with the next connection.
        while not renewal.done():
            self.take_in(1)
        assert self.session.lost is None


def test_what_was_given_up_in_between_is_given_up(session: Session) -> None:
    link = Link(4)
    link.session.close_inbox("all")
    link.session.dropped["all"] = None
    link.lose(noticed=True)
    assert link.kernel.statistics()["broker"]["subscriptions"] == 0
    assert link.session.dropped == {}


def ends_before_error(session: Session) -> list[int | None]:
    notification, _ = session.take("all")
    return [] if notification is None else [notification.end]


def test_what_is_not_taken_again_is_told_and_raised_after_what_came_before(session: Session, broker: Broker) -> None:
    publish(session, broker, [1])
    del session.declared["S"]
    broker.replace()
    assert broker.renew().done()
    refused = [event for event in session.flow_events if event.happening is Happening.REFUSED]
    assert [event.name for event in refused] == ["all"]
    assert ends_before_error(session) == [1]
    with pytest.raises(ForetellError, match="is not known"):
        session.take("all")


@pytest.mark.parametrize("full", [True, False])
def test_a_broker_that_is_full_or_stopping_is_tried_again(session: Session, broker: Broker, full: bool) -> None:
    broker.replace(Limits(sessions=1))
    broker.kernel.step(Received(b"other", hello(session, 1)) if full else Drain(), 0)
    renewal = broker.renew()
    with pytest.raises(LimitExceeded) as caught:
        renewal.done()
    assert is_passing(caught.value)


def test_recovery_waits_tries_waits_longer_and_is_done(session: Session, broker: Broker) -> None:
    recovery = Recovery(Reconnect(1.0, 8.0).waits(lambda: 1.0), 5.0)
    recovery.lose(ConnectionLost("gone"), 100.0)
    assert (recovery.attempt, recovery.until) == (1, 101.0)
    assert not recovery.due(100.9)
    assert recovery.due(101.0)
    recovery.begin(Renewal(session, partial(hello, session)), 101.0)
    assert not recovery.advance(session, lambda frame: False, 103.0)
    with pytest.raises(RequestTimeout):
        recovery.advance(session, lambda frame: False, 106.0)
    recovery.lose(RequestTimeout("silence"), 106.0)
    assert (recovery.attempt, recovery.until) == (2, 108.0)
    event = recovery.event()
    assert event is not None
    assert (event.happening, event.reason, event.attempt, event.seconds) == (Happening.WAITING, "silence", 2, 2.0)
    assert recovery.event() is None
    broker.replace()
    recovery.begin(Renewal(session, partial(hello, session)), 108.0)
    assert recovery.advance(session, broker.send, 108.0)


def test_a_call_that_waits_for_the_connection_sees_several_attempts() -> None:
    waits = list(islice(Reconnect().waits(lambda: 1.0, 10.0), 30))
    assert max(waits) <= 2.5
    assert sum(waits[:4]) <= 2.0, "a broker that restarts is soon found"
    assert max(islice(Reconnect(greatest=600.0).waits(lambda: 1.0, 10.0), 30)) == 2.5


def test_a_broker_that_is_busy_says_itself_when_to_come_back() -> None:
    recovery = Recovery(iter([8.0] * 5), 5.0)
    recovery.lose(ConnectionLost("gone"), 100.0)
    assert recovery.until == 108.0
    for until in (100.25, 100.5, 101.0):
        recovery.lose(Busy("held", 250_000), 100.0)
        assert recovery.until == until
    recovery.lose(ConnectionLost("gone again"), 100.0)
    assert recovery.until == 108.0


def test_the_last_attempt_is_final(session: Session) -> None:
    recovery = Recovery(Reconnect(attempts=1).waits(lambda: 1.0), 5.0)
    recovery.lose(ConnectionLost("gone"), 0.0)
    with pytest.raises(ConnectionLost, match="still gone"):
        recovery.lose(ConnectionLost("still gone"), 1.0)


def test_a_hello_that_is_answered_with_something_else_is_final(session: Session) -> None:
    renewal = Renewal(session, partial(hello, session))
    session.receive(encode(Failure(1, "version", "another version")))
    with pytest.raises(ProtocolError) as caught:
        renewal.done()
    assert not is_passing(caught.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Busy("later", 250_000), Advice(Fault.BROKER, Retry.SAFE, 0.25)),
        (ConnectionLost("gone"), Advice(Fault.NETWORK, Retry.SAFE)),
        (ConnectionLost("gone", unanswered=True), Advice(Fault.NETWORK, Retry.UNKNOWN)),
        (RequestTimeout("silence"), Advice(Fault.NETWORK, Retry.UNKNOWN)),
        (ProtocolError("what"), Advice(Fault.BROKER, Retry.USELESS)),
        (PermissionDenied("no"), Advice(Fault.CALLER, Retry.USELESS)),
        (LimitExceeded("enough"), Advice(Fault.CALLER, Retry.USELESS)),
        (LateEvent("late"), Advice(Fault.CALLER, Retry.USELESS)),
        (QueryError("wrong"), Advice(Fault.CALLER, Retry.USELESS)),
        (ForetellError("a mistake in the broker"), Advice(Fault.BROKER, Retry.UNKNOWN)),
    ],
)
def test_every_error_says_whose_fault_it_is_and_whether_a_retry_is_safe(error: ForetellError, expected: Advice) -> None:
    assert advice(error) == expected


class Kept:
    """A client with a durable subscription `all` to S, and a broker that starts again and again with its cursors."""

    def __init__(self, durability: str = "always", window: int = 9) -> None:
        self.durability = durability
        self.engine, self.cursors = SmallEngine(), Cursors()
        self.engine.add_stream("S", {})
        self.session = Session()
        self.broker = Broker(self.session)
        self.restart()
        calls = Calls(self.session)
        run(calls.open(), self.broker.exchange)
        request = calls.prepare("all", "cayuga", "every S", None, None, None, window, "mine")
        run(calls.subscribe(request), self.broker.exchange)

    def restart(self) -> None:
        self.broker.kernel = Kernel(self.engine, durability=self.durability, permanent=(), cursors=self.cursors)

    def come_back(self) -> None:
        self.session.lost = ConnectionLost("it has ended")
        assert self.broker.renew().done()

    def publish(self, *times: int) -> None:
        publish(self.session, self.broker, list(times))

    def read(self) -> list[tuple[int | None, int | None, bool]]:
        """Position, end, and whether it may have come before."""
        found = []
        while (notification := self.session.take("all")[0]) is not None:
            found.append((notification.position, notification.end, notification.redelivered))
        return found


@pytest.mark.parametrize(("durability", "gaps"), [("always", 0), ("memory", 1)])
def test_what_a_cursor_keeps_goes_on_without_a_gap_where_the_broker_comes_back(durability: str, gaps: int) -> None:
    kept = Kept(durability, window=4)
    kept.publish(1, 2)
    assert kept.session.take("all")[0] is not None
    run(CursorCalls(kept.session).acknowledge("all", None, None), kept.broker.exchange)
    kept.broker.kernel.step(Gone(b"it"), 0)
    if gaps:
        kept.cursors.restore([7, []])
    kept.restart()
    kept.come_back()
    kept.publish(7, 8)
    expected = [(2, 2), (None, None), (1, 7), (2, 8)] if gaps else [(2, 2), (3, 7), (4, 8)]
    assert [(position, end) for position, end, _ in kept.read()] == expected
    assert len(kept.session.flow_events) == gaps


def test_a_cursor_that_has_lost_what_had_come_is_told_as_a_gap() -> None:
    """As when the power goes and the mode does not promise otherwise."""
    kept = Kept("os")
    kept.publish(1)
    saved = kept.cursors.save()
    kept.publish(2, 3)
    kept.cursors.restore(saved)
    kept.restart()
    kept.come_back()
    kept.publish(7)
    before, again = [(1, 1, False), (2, 2, False), (3, 3, False)], [(1, 1, True), (2, 7, False)]
    assert kept.read() == [*before, (None, None, False), *again]


def test_another_cursor_that_has_come_as_far_is_told_as_a_gap() -> None:
    kept, other = Kept(), b"other"
    kept.publish(1, 2)
    kept.cursors.restore([7, []])
    kept.restart()
    for message in (
        hello(Session(), 1),
        Subscribe(2, "all", "", None, None, None, None, 9, durable="mine"),
        Publish(3, "S", (3, 4), ((), ()), None, None),
        Acknowledge(4, "all", 2),
    ):
        kept.broker.kernel.step(Received(other, message), 0)
    kept.broker.kernel.step(Gone(other), 0)
    kept.come_back()
    kept.publish(7)
    assert [(position, end) for position, end, _ in kept.read()] == [(1, 1), (2, 2), (None, None), (3, 7)]


def test_a_cursor_that_somebody_else_has_is_asked_for_some_times_and_then_refused() -> None:
    kept = Kept()
    for attempt in range(HELD_ATTEMPTS_MAX + 1):
        kept.restart()
        kept.broker.kernel.step(Received(b"other", hello(Session(), 1)), 0)
        asked = Subscribe(2, "all", "", None, None, None, None, 1, durable="mine")
        kept.broker.kernel.step(Received(b"other", asked), 0)
        kept.session.lost = ConnectionLost("it has ended")
        renewal = kept.broker.renew()
        if attempt < HELD_ATTEMPTS_MAX:
            with pytest.raises(Busy, match="another client is attached"):
                renewal.done()
    assert renewal.done()
    with pytest.raises(Busy, match="another client is attached"):
        kept.session.take("all")
