"""The client's state machine against the broker's, with nothing between them but lists of frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from doubles.small_engine import SmallEngine
from hypothesis import given
from hypothesis import strategies as st

from broker.kernel import Kernel, Limits, Received
from broker.wire import (
    VERSION,
    AddStream,
    Closing,
    Credit,
    Done,
    Ended,
    Failure,
    Hello,
    Message,
    Notifications,
    Ping,
    Pong,
    Probe,
    Publish,
    Subscribe,
    Subscribed,
    Unsubscribe,
    Welcome,
    decode,
    encode,
)
from client.errors import (
    ConnectionLost,
    ForetellError,
    LateEvent,
    LimitExceeded,
    ProtocolError,
    QueryError,
    SlowConsumer,
    remote_error,
)
from client.flow import Happening
from client.session import Session


class Pair:
    """A session and a kernel; what one sends, the other gets when `exchange` is called."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.kernel = Kernel(SmallEngine(), limits)
        self.session = Session()
        self.on_the_way: list[bytes] = []
        self.ask(partial(Hello, version=VERSION, software="test"))
        self.ask(
            partial(AddStream, name="S", attributes={}, key=None, disorder="arrival", lateness=None, speculation=None)
        )

    def send(self, frame: bytes) -> None:
        for effect in self.kernel.step(Received(b"it", decode(frame)), 0).sends:
            self.on_the_way.append(encode(effect.message))

    def exchange(self) -> None:
        while self.on_the_way:
            self.session.receive(self.on_the_way.pop(0))

    def ask(self, make: Callable[[int], Message]) -> Message:
        correlation, frame = self.session.request(make)
        self.send(frame)
        self.exchange()
        answer = self.session.answer(correlation)
        assert answer is not None
        if isinstance(answer, Failure):
            raise remote_error(answer)
        return answer

    def subscribe(self, name: str, window: int, when_slow: str | None = None) -> None:
        self.session.open_inbox(name, window)
        self.ask(lambda n: Subscribe(n, name, "cayuga", "every S", None, None, None, window, when_slow=when_slow))

    def publish(self, *times: int) -> None:
        self.ask(lambda n: Publish(n, "S", times, ((),) * len(times), None, None))

    def take(self, name: str) -> int | None:
        notification, grant = self.session.take(name)
        if grant is not None:
            self.send(grant)
        return None if notification is None else notification.end


def test_answers_find_their_requests_in_any_order() -> None:
    session = Session()
    first, _ = session.request(Ping)
    second, _ = session.request(Ping)
    session.receive(encode(Done(second)))
    assert session.answer(first) is None
    assert session.answer(second) == Done(second)
    assert session.answer(second) is None
    session.receive(encode(Pong(first)))
    assert session.answer(first) == Pong(first)


def test_an_answer_that_nobody_waits_for_is_dropped() -> None:
    session = Session()
    correlation, _ = session.request(Ping)
    session.abandon(correlation)
    session.receive(encode(Pong(correlation)))
    session.receive(encode(Pong(99)))
    session.receive(encode(Probe(0)))
    assert session.answer(correlation) is None
    assert session.lost is None


def test_a_failure_is_raised_as_what_it_was_and_the_session_goes_on() -> None:
    pair = Pair()
    with pytest.raises(QueryError, match="expected every or after") as caught:
        pair.ask(lambda n: Subscribe(n, "a", "cayuga", "each S", None, None, None, 1))
    assert (caught.value.line, caught.value.column, caught.value.excerpt) == (1, 1, "each S\n^")
    assert isinstance(pair.ask(Ping), Pong)


@pytest.mark.parametrize(
    ("code", "kind"),
    [("late", LateEvent), ("version", ProtocolError), ("protocol", ProtocolError), ("from the future", ForetellError)],
)
def test_codes_become_classes(code: str, kind: type[ForetellError]) -> None:
    error = remote_error(Failure(1, code, "the line", None, None, None))
    assert type(error) is kind
    assert str(error) == "the line"


def test_a_request_that_is_too_large_is_refused_before_it_is_sent() -> None:
    session = Session()
    with pytest.raises(LimitExceeded, match="Subscribe takes"):
        session.request(lambda n: Subscribe(n, "a", "cayuga", "x" * 10_000_000, None, None, None, 1))
    assert session.request(Ping)[0] == 1


def test_a_broker_that_lets_no_batch_be_under_way_is_sent_one_at_a_time() -> None:
    session = Session()
    for told, expected in ((0, 1), (1, 1), (5, 5)):
        session.receive(encode(Welcome(1, VERSION, "test", 60, batches=told)))
        assert session.batches == expected


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (b"garbage", ProtocolError),
        (encode(Closing(0, "the broker is stopping")), ConnectionLost),
        (encode(Failure(0, "session", "who are you", None, None, None)), ConnectionLost),
        (encode(Failure(0, "protocol", "what was that", None, None, None)), ProtocolError),
    ],
)
def test_what_ends_a_session_is_kept_as_its_reason(frame: bytes, kind: type[ForetellError]) -> None:
    session = Session()
    session.receive(frame)
    assert type(session.lost) is kind


def test_the_first_reason_stays() -> None:
    """A broker that stops may still answer what was on the way: that it knows nobody any more is no news."""
    session = Session()
    correlation, _ = session.request(Ping)
    session.receive(encode(Closing(0, "the broker is stopping")))
    session.receive(encode(Failure(correlation, "session", "who are you", None, None, None)))
    session.receive(encode(Failure(0, "protocol", "what was that", None, None, None)))
    session.receive(b"garbage")
    assert type(session.lose(ConnectionLost("the connection has ended"))) is ConnectionLost
    assert str(session.lost) == "the broker has ended the session: the broker is stopping"
    session.begin_anew()
    assert session.lost is None
    session.receive(encode(Closing(0, "again")))
    assert str(session.lost) == "the broker has ended the session: again"


def test_notifications_must_be_without_a_gap() -> None:
    session = Session()
    session.open_inbox("a", 10)
    correlation, _ = session.request(lambda n: Subscribe(n, "a", "cayuga", "every S", None, None, None, 10))
    session.receive(encode(Subscribed(correlation, "a", False, False)))
    session.receive(encode(Notifications(0, "a", 1, (b"x", b"y"))))
    assert session.lost is None
    session.receive(encode(Notifications(0, "a", 4, (b"z",))))
    assert "expected notification 3, found 4" in str(session.lost)


def test_half_a_window_is_granted_when_half_a_window_was_taken() -> None:
    pair = Pair()
    pair.subscribe("a", 4)
    pair.publish(*range(10))
    assert pair.take("a") == 0
    assert pair.session.take("a")[1] == encode(Credit(0, "a", 2))
    assert pair.session.take("a")[1] is None, "what was granted once is not granted again"


def test_a_reader_that_does_not_read_leaves_the_rest_in_the_broker() -> None:
    pair = Pair()
    pair.subscribe("a", 4)
    pair.publish(*range(1_000))
    pair.exchange()
    assert pair.kernel.statistics()["broker"]["notifications_queued"] == 996
    assert [pair.take("a") for _ in range(4)] == [0, 1, 2, 3]
    assert pair.take("a") is None
    pair.exchange()
    assert [pair.take("a") for _ in range(4)] == [4, 5, 6, 7]


def test_who_was_ended_reads_all_that_came_and_then_why() -> None:
    pair = Pair(Limits(queue_notifications=2))
    pair.subscribe("a", 2, "disconnect")
    pair.subscribe("b", 100)
    pair.publish(*range(9))
    assert [pair.take("a"), pair.take("a")] == [0, 1]
    gap, _ = pair.session.take("a")
    assert gap is not None
    assert (gap.kind, gap.limit, gap.since, gap.missed) == ("incomplete", "queue_notifications", 2, 7)
    for _ in range(2):
        with pytest.raises(SlowConsumer, match="subscription 'a': queue_notifications: the reader was too slow"):
            pair.take("a")
    assert pair.session.lost is None
    assert [event.happening for event in pair.session.flow_events] == [Happening.ENDED, Happening.GAP]
    assert [pair.take("b") for _ in range(9)] == [*range(9)]
    pair.session.close_inbox("a")
    pair.subscribe("a", 2, "disconnect")
    pair.publish(9)
    assert pair.take("a") == 9


def test_the_end_of_one_that_was_given_up_is_not_the_end_of_the_next() -> None:
    pair = Pair(Limits(queue_notifications=2))
    pair.subscribe("a", 2, "disconnect")
    pair.session.close_inbox("a")
    pair.session.open_inbox("a", 2)
    pair.session.receive(encode(Ended(0, "a", "slow", "of the first")))
    assert pair.take("a") is None


def test_what_is_on_the_way_to_one_that_was_given_up_is_not_for_the_next_of_its_name() -> None:
    pair = Pair()
    pair.subscribe("a", 10)
    _, publish = pair.session.request(lambda n: Publish(n, "S", (1, 2), ((), ()), None, None))
    pair.send(publish)
    pair.session.close_inbox("a")
    # A subscribing that was not waited for to the end, and one that is.
    for waited in (False, True):
        correlation, unsubscribe = pair.session.request(lambda n: Unsubscribe(n, "a"))
        pair.session.abandon(correlation)
        pair.send(unsubscribe)
        pair.session.open_inbox("a", 10)
        correlation, subscribe = pair.session.request(
            lambda n: Subscribe(n, "a", "cayuga", "every S", None, None, None, 10)
        )
        pair.send(subscribe)
        if not waited:
            pair.session.abandon(correlation)
            pair.session.close_inbox("a")
        event = partial(Publish, stream="S", times=(3 + waited,), rows=((),), ids=None, starts=None)
        _, publish = pair.session.request(event)
        pair.send(publish)
    pair.exchange()
    assert pair.session.lost is None
    assert isinstance(pair.session.answer(correlation), Subscribed)
    assert [pair.take("a"), pair.take("a")] == [4, None]


@given(
    st.integers(1, 9),
    st.lists(st.tuples(st.sampled_from(["publish", "read", "exchange"]), st.integers(1, 20)), max_size=30),
)
def test_everything_arrives_once_and_in_order_whatever_the_window(window: int, story: list[tuple[str, int]]) -> None:
    pair = Pair()
    pair.subscribe("a", window)
    published, read = 0, 0
    for what, number in [*story, ("publish", 1), ("drain", 0)]:
        match what:
            case "publish":
                pair.publish(*range(published, published + number))
                published += number
            case "exchange":
                pair.exchange()
            case "read":
                for _ in range(number):
                    found = pair.take("a")
                    if found is not None:
                        assert found == read
                        read += 1
            case _:
                while read < published:
                    found = pair.take("a")
                    if found is None:
                        assert pair.on_the_way, "the broker holds notifications back, and nobody grants credits"
                        pair.exchange()
                    else:
                        assert found == read
                        read += 1
    assert pair.take("a") is None
