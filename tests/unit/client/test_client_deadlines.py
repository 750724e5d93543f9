"""Deadlines in the broker's clock: never before this end's patience is over, and little later."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from doubles.small_engine import SmallEngine
from hypothesis import given
from hypothesis import strategies as st

from broker.kernel import Kernel, Received
from broker.wire import VERSION, AddStream, Failure, Hello, Message, Ping, Publish, Published, Subscribe, decode, encode
from client import Expired, Fault, Retry, advice
from client.deadlines import Deadlines
from client.errors import remote_error
from client.session import Session

PATIENCE = 1_000


class Distance:
    """A client and a broker whose clocks differ, and messages that take their time."""

    def __init__(self, ahead: int) -> None:
        self.now = 5_000  # of the client
        self.ahead = ahead
        self.engine = SmallEngine()
        self.kernel = Kernel(self.engine)
        self.session = Session(deadlines=Deadlines(lambda: self.now, PATIENCE))

    def ask(self, message: Message, there: int = 0, back: int = 0, waits: int = 1) -> Message | None:
        """The answer; the message as it was sent is `said`."""
        correlation, frame = self.session.request(partial(_numbered, message), waits)
        self.said = decode(frame)
        self.now += there
        sends = self.kernel.step(Received(b"it", self.said), self.now + self.ahead).sends
        self.now += back
        for send in sends:
            self.session.receive(encode(send.message))
        return self.session.answer(correlation)

    def open(self, there: int = 0, back: int = 0) -> None:
        self.ask(Hello(0, VERSION, ""), there, back)
        self.ask(AddStream(0, "S", {}, None, "arrival", None, None))

    def publish(self, there: int = 0, waits: int = 1) -> Message | None:
        return self.ask(Publish(0, "S", None, ((),), None, None), there, waits=waits)

    def deadline(self) -> int | None:
        assert isinstance(self.said, Publish | Subscribe)
        return self.said.deadline


def _numbered(message: Message, correlation: int) -> Message:
    return replace(message, correlation=correlation)


@given(
    st.integers(0, 10**15),
    st.integers(0, 5_000),
    st.integers(0, 5_000),
    st.lists(st.integers(0, 3 * PATIENCE), max_size=10),
)
def test_what_arrives_while_somebody_waits_is_taken_and_what_arrives_a_round_trip_later_is_not(
    ahead: int, there: int, back: int, delays: list[int]
) -> None:
    distance = Distance(ahead)
    distance.open(there, back)
    for delay in delays:
        answer = distance.publish(delay)
        if delay <= PATIENCE:
            assert isinstance(answer, Published)
        elif delay > PATIENCE + there + back:
            assert isinstance(answer, Failure)
            assert answer.code == "expired"


@given(st.integers(-(10**9), 10**9), st.integers(0, 500), st.integers(0, PATIENCE))
def test_a_clock_that_is_set_costs_one_refusal_at_most(step: int, there: int, delay: int) -> None:
    distance = Distance(10**12)
    distance.open(there)
    assert isinstance(distance.publish(delay), Published)
    distance.ahead += step
    first = distance.publish(delay)
    assert isinstance(first, Published) or step > 0
    for _ in range(3):
        assert isinstance(distance.publish(delay), Published)


def test_impatience_does_not_change_the_clock() -> None:
    distance = Distance(10**12)
    distance.open()
    for _ in range(3):
        assert isinstance(distance.publish(10 * PATIENCE), Failure)
        assert distance.deadline() == distance.now - 10 * PATIENCE + PATIENCE + distance.ahead


def test_who_waits_longer_says_so_and_who_would_say_it_again_has_no_deadline() -> None:
    distance = Distance(7)
    distance.open()
    distance.publish(waits=17)
    assert distance.deadline() == distance.now + 17 * PATIENCE + 7
    distance.publish(waits=0)
    assert distance.deadline() is None
    assert isinstance(distance.ask(Subscribe(0, "a", "cayuga", "every S", None, None, None, 1)), Message)
    assert distance.deadline() == distance.now + PATIENCE + 7
    distance.session.begin_anew()
    distance.publish()
    assert distance.deadline() is None, "before the next broker has told its clock"


def test_other_requests_and_sessions_without_a_clock_have_none() -> None:
    session = Session()
    session.request(lambda number: Hello(number, VERSION, ""))
    assert decode(session.request(Ping)[1]) == Ping(2)
    publish = decode(session.request(lambda number: Publish(number, "S", None, (), None, None))[1])
    assert isinstance(publish, Publish)
    assert publish.deadline is None


def test_the_error_says_that_nothing_was_done() -> None:
    error = remote_error(Failure(1, "expired", "too late", clock=5))
    assert isinstance(error, Expired)
    assert (str(error), error.clock, error.code) == ("too late", 5, "expired")
    assert (advice(error).fault, advice(error).retry) == (Fault.BROKER, Retry.SAFE)
    with pytest.raises(Expired):
        raise error
