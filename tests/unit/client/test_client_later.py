"""Acknowledgements without waiting: what is sent, replaced, repeated after a loss, and refused."""

from __future__ import annotations

import pytest
from doubles.answering_kernel import AnsweringKernel
from doubles.small_engine import SmallEngine

from broker.kernel import Cursors, Kernel
from broker.wire import Acknowledge, decode
from client import ConnectionLost, Durable, Happening, ProtocolError, UnknownSubscription
from client.calls import Calls, hello, run
from client.cursor_calls import CursorCalls
from client.later import IN_FLIGHT_MAX, LaterAcknowledgements
from client.session import Session
from client.session_renewal import Renewal


class Line(AnsweringKernel):
    """With the durable subscription `all`; frames arrive when they are sent."""

    def __init__(self) -> None:
        self.kept = Cursors()
        super().__init__(Session(), Kernel(SmallEngine(), cursors=self.kept))
        calls = Calls(self.session)
        run(calls.open(), self.exchange)
        run(calls.add_stream("S", {}, None, "arrival", None, None), self.exchange)
        request = calls.prepare("all", "cayuga", "every S", None, None, None, 100, Durable("mine"))
        run(calls.subscribe(request), self.exchange)
        run(calls.publish_batch("S", list(range(1, 60)), [()] * 59, None, None), self.exchange)
        self.cursors = CursorCalls(self.session)

    def read(self, count: int) -> None:
        for _ in range(count):
            assert self.session.take("all")[0] is not None

    @property
    def acknowledged(self) -> int:
        return next(iter(self.kept)).acknowledged


def positions(frames: list[bytes]) -> list[int]:
    found = [decode(frame) for frame in frames]
    assert all(isinstance(each, Acknowledge) for each in found)
    return [each.position for each in found if isinstance(each, Acknowledge)]


def test_they_are_sent_in_order_and_a_newer_one_replaces_those_that_wait() -> None:
    line = Line()
    frames: list[bytes] = []
    for _ in range(40):
        line.read(1)
        line.cursors.acknowledge_later("all", None, None)
        frames += line.session.later.frames(line.session)
    assert positions(frames) == list(range(1, IN_FLIGHT_MAX + 1))
    for frame in frames:
        line.send(frame)
    last = line.session.later.frames(line.session)
    assert positions(last) == [40]
    line.send(last[0])
    assert line.acknowledged == 40
    assert not line.session.later.due
    assert not line.session.answered(), "nobody waits for the answers, so none is kept"


def test_before_a_request_that_may_end_the_subscription_all_are_sent() -> None:
    later = LaterAcknowledgements()
    session = Session()
    for name in range(100):
        later.note(f"s{name}", 1, 1)
    assert len(later.frames(session)) == IN_FLIGHT_MAX
    assert len(later.frames(session, every=True)) == 100 - IN_FLIGHT_MAX


def test_after_a_loss_the_newest_is_sent_again() -> None:
    line = Line()
    for _ in range(3):
        line.read(1)
        line.cursors.acknowledge_later("all", None, None)
        line.session.later.frames(line.session)  # and they are lost on the way
    line.session.lost = ConnectionLost("gone")
    renewal = Renewal(line.session, lambda number: hello(line.session, number))
    assert line.acknowledged == 0
    for frame in renewal.frames[1:]:  # the connection is the same for this kernel
        line.send(frame)
    again = line.session.later.frames(line.session)
    assert positions(again) == [3]
    line.send(again[0])
    assert line.acknowledged == 3


def test_a_refusal_is_told_and_raised_once_by_the_next() -> None:
    line = Line()
    line.read(1)
    line.cursors.acknowledge_later("all", 10_000, None)
    for frame in line.session.later.frames(line.session):
        line.send(frame)
    event = line.session.flow_events.popleft()
    assert (event.happening, event.name) == (Happening.UNACKNOWLEDGED, "all")
    with pytest.raises(ProtocolError):
        line.cursors.acknowledge_later("all", 1, None)
    line.cursors.acknowledge_later("all", 1, None)
    for frame in line.session.later.frames(line.session):
        line.send(frame)
    assert line.acknowledged == 1


def test_only_a_durable_subscription_of_this_client_is_acknowledged() -> None:
    line = Line()
    with pytest.raises(UnknownSubscription, match="subscription 'other': expected a durable one of this client"):
        line.cursors.acknowledge_later("other", 1, None)
