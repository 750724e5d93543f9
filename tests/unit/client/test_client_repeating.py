"""A publisher whose connection is lost again and again: everything is taken once, in order, and has its receipt."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

import pytest
from doubles.small_engine import SmallEngine
from hypothesis import given
from hypothesis import strategies as st

from broker.events import Schema, StreamDefinition
from broker.kernel import Kernel, Received
from broker.wire import (
    VERSION,
    AddStream,
    DeclareGap,
    Hello,
    Message,
    Numbered,
    Ping,
    Publish,
    Punctuate,
    Retract,
    Update,
    decode,
    encode,
)
from client import ConnectionLost, Receipt
from client.ownership import ThreadOwner
from client.publisher import LOSSES_MAX, Publisher
from client.session import Session

STREAM = StreamDefinition("S", Schema.declare({"x": "int"}))


class BadLine:
    """A connection over a kernel that is lost after so many frames sent, of which so many have come to the broker."""

    repeats = True

    def __init__(self, losses: list[tuple[int, int]]) -> None:
        self.session = Session(True, "p")
        self.owner = ThreadOwner()
        self.engine = SmallEngine()
        self.kernel = Kernel(self.engine)
        self.losses = deque(losses)
        self.under_way: deque[bytes] = deque()
        self.sent = 0
        self.opened = 0
        self.open()

    def open(self) -> None:
        self.opened += 1
        self.key = str(self.opened).encode()
        self.kernel.step(Received(self.key, Hello(1, VERSION, "test")), 0)
        self.kernel.step(Received(self.key, AddStream(2, "S", {"x": "int"}, None, "arrival", None, None)), 0)

    def lose(self, come: int) -> None:
        for frame in list(self.under_way)[:come]:
            self.kernel.step(Received(self.key, decode(frame)), 0)  # and the answers are lost
        self.under_way.clear()
        self.session.lost = ConnectionLost("lost")

    def connected(self) -> int:
        if self.session.lost is not None:
            self.open()
            self.session.begin_anew()
        return self.session.begun

    def send(self, frame: bytes, correlation: int = 0, begun: int | None = None) -> None:
        self.connected()
        if begun is not None and self.session.begun != begun:
            raise ConnectionLost("the session has begun anew")
        self.session.expect(correlation)
        self.under_way.append(frame)
        self.sent += 1
        if self.losses and self.sent >= self.losses[0][0]:
            self.sent = 0
            self.lose(self.losses.popleft()[1])

    def collect(self) -> None:
        if self.under_way and self.session.lost is None:
            self.step()

    def step(self) -> None:
        for effect in self.kernel.step(Received(self.key, decode(self.under_way.popleft())), 0).sends:
            self.session.receive(encode(effect.message))

    def answer(self, correlation: int) -> Message:
        while True:
            found = self.session.answer(correlation)
            if found is not None:
                return found
            if self.session.lost is not None:
                raise self.session.lost
            self.step()


@given(
    st.lists(st.tuples(st.integers(1, 12), st.integers(0, 12)), max_size=LOSSES_MAX),
    st.integers(1, 8),
    st.lists(st.integers(1, 3), max_size=20),
    st.sampled_from([0, 2, 5, 100]),
)
def test_everything_is_taken_once_and_in_order(
    losses: list[tuple[int, int]], window: int, sizes: list[int], message_events: int
) -> None:
    line = BadLine(losses)
    receipts: list[tuple[int, Receipt]] = []

    def note(number: int, receipt: Receipt) -> None:
        receipts.append((number, receipt))

    with Publisher(line, STREAM, window, note, message_events=message_events) as publisher:
        for time, size in enumerate(sizes):
            publisher.publish_batch([time] * size, [(time,)] * size)
    assert line.engine.taken == list(range(1, sum(sizes) + 1))
    assert [number for number, _ in receipts] == list(range(len(sizes)))
    assert [receipt.count for _, receipt in receipts] == sizes
    assert [receipt.first_id for _, receipt in receipts] == [1 + sum(sizes[:at]) for at in range(len(sizes))]


def test_what_ends_every_session_is_given_up() -> None:
    line = BadLine([(1, 0)] * 100)
    publisher = Publisher(line, STREAM, 1, None)
    with pytest.raises(ConnectionLost, match="the outcome of batch 0 is unknown"):
        publisher.publish_batch([1], [(1,)])
    assert len(line.losses) < 100


@pytest.mark.parametrize(
    "make",
    [
        partial(Publish, stream="S", times=None, rows=(), ids=None, starts=None),
        partial(Punctuate, time=5, stream=None, where=None),
        partial(Retract, ids=(5,)),
        partial(DeclareGap, stream="S", first=5, last=7),
        partial(Update, name="a", insert=("q -> q WHEN TRUE",), delete=(), start=None, end=None),
    ],
)
def test_only_a_session_with_a_publisher_numbers_batches_and_changes(make: Callable[[int], Message]) -> None:
    for session, expected in ((Session(True, "p"), ("p", 1)), (Session(), (None, None))):
        correlation, frame = session.request(make)
        batch = decode(frame)
        assert isinstance(batch, Numbered)
        assert (batch.publisher, batch.number) == expected
        assert session.repeatable(correlation) == (expected[0] is not None)
        session.abandon(correlation)
        assert not session.repeatable(correlation)
        assert not session.repeatable(session.request(Ping)[0])
