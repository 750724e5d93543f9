"""What a client does with cursors: how it asks for them, what notifications know of theirs, and dead letters."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.answering_kernel import AnsweringKernel

from broker.kernel import Gone, Received
from broker.wire import VERSION, Forget, Hello, ListDeadLetters, Settle, Subscribe
from client import ConnectionLost, DefinitionError, Durable, Notification, UnknownSubscription, cursor_calls
from client.calls import Calls, run
from client.cursor_calls import CursorCalls
from client.session import Session


class Reader:
    """A client as far as notifications know one, over that broker."""

    def __init__(self, **options: Any) -> None:
        self.session = Session()
        self.broker = AnsweringKernel(self.session)
        self.calls = Calls(self.session)
        self.cursors = CursorCalls(self.session)
        self.run(self.calls.open())
        self.run(self.calls.add_stream("S", {}, None, "arrival", None, None))
        self.subscribe(Durable("mine", **options))

    def run(self, call: Any) -> Any:
        return run(call, self.broker.exchange)

    def subscribe(self, durable: Durable | str) -> None:
        asked = self.calls.prepare("all", "cayuga", "every S", None, None, None, 100, durable)
        self.run(self.calls.subscribe(asked))

    def publish(self, *times: int) -> None:
        self.run(self.calls.publish_batch("S", times, [()] * len(times), None, None))

    def take(self) -> list[Notification]:
        found: list[Notification] = []
        while (notification := self.session.take("all")[0]) is not None:
            found.append(notification.of(self))
        return found

    def acknowledge(self, name: str, position: int | None = None, incarnation: int | None = None) -> None:
        self.run(self.cursors.acknowledge(name, position, incarnation))

    def acknowledge_later(self, name: str, position: int | None = None, incarnation: int | None = None) -> None:
        self.cursors.acknowledge_later(name, position, incarnation)

    def refuse(self, name: str, reason: str, position: int | None = None, incarnation: int | None = None) -> None:
        self.run(self.cursors.refuse(name, position, reason, incarnation))

    def leave(self) -> None:
        self.run(self.calls.unsubscribe("all"))

    def lose(self) -> None:
        self.broker.kernel.step(Gone(b"it"), 0)
        self.session.lost = ConnectionLost("it has ended")

    def come_back(self) -> None:
        assert self.broker.renew().done()


def positions(found: list[Notification]) -> list[int | None]:
    return [each.position for each in found]


def test_a_notification_acknowledges_itself_and_what_is_before_it() -> None:
    reader = Reader()
    reader.publish(1, 2, 3)
    first, second, _ = reader.take()
    second.acknowledge()
    first.acknowledge()
    reader.leave()
    reader.subscribe("mine")
    assert positions(reader.take()) == [3]


def test_one_of_a_cursor_that_was_made_anew_acknowledges_nothing() -> None:
    reader = Reader()
    reader.publish(1, 2)
    earlier = reader.take()
    reader.lose()
    reader.broker.kernel.step(Received(b"other", Hello(1, VERSION, "other")), 0)
    reader.broker.kernel.step(Received(b"other", Forget(2, "mine")), 0)
    reader.come_back()
    reader.publish(3, 4)
    gap, *later = reader.take()
    assert (gap.kind, gap.limit, positions(later)) == ("incomplete", "connection", [1, 2])
    with pytest.raises(UnknownSubscription, match="forgotten and created anew: position 2 belongs to the earlier one"):
        earlier[1].acknowledge()
    with pytest.raises(UnknownSubscription, match="forgotten and created anew"):
        earlier[0].refuse("of the earlier one")
    later[0].acknowledge()
    reader.leave()
    reader.subscribe("mine")
    assert positions(reader.take()) == [2]


def test_what_is_of_no_cursor_cannot_be_acknowledged() -> None:
    with pytest.raises(UnknownSubscription, match="'s': expected a durable one, it has no cursor"):
        Notification({"kind": "match", "subscription": "s", "position": 1}).acknowledge()
    with pytest.raises(UnknownSubscription, match="'s': expected a durable one, it has no cursor"):
        Notification({"kind": "match", "subscription": "s"}).of(Reader()).refuse("why not")


@pytest.mark.parametrize("asked", [Durable("mine", replay=1), Durable("mine", since=1)])
def test_a_replay_goes_on_after_a_loss_and_does_not_begin_again(asked: Durable) -> None:
    reader = Reader(retain=9)
    reader.publish(1, 2, 3, 4, 5)
    reader.take()[-1].acknowledge()
    reader.leave()
    reader.subscribe(asked)
    for _ in range(2):
        reader.session.take("all")
    inbox = reader.session.inboxes["all"]
    while len(inbox.notifications) > 1:  # as if they had been lost on the way
        inbox.notifications.pop()
    inbox.position = 3
    reader.lose()
    reader.come_back()
    assert positions(reader.take()) == [3, 4, 5]
    assert not reader.session.flow_events
    again = [each for each in reader.broker.heard if isinstance(each, Subscribe)][-1]
    assert (again.replay, again.since, again.after) == (4, None, None)


def test_dead_letters_are_listed_discarded_and_delivered_again() -> None:
    reader = Reader()
    reader.publish(1, 2, 3)
    for number, each in enumerate(reader.take()):
        each.refuse(f"reason {number}")
    found = reader.run(reader.cursors.dead_letters("mine"))
    assert [(each.position, each.notification.end, each.reason, each.deliveries) for each in found] == [
        (1, 1, "reason 0", 1),
        (2, 2, "reason 1", 1),
        (3, 3, "reason 2", 1),
    ]
    reader.run(reader.cursors.settle("mine", [1], False))
    reader.run(reader.cursors.settle("mine", [3, 2], True))
    assert [(each.position, each.end, each.redelivered) for each in reader.take()] == [(4, 3, False), (5, 2, False)]
    reader.refuse("all", "what was read last")
    assert [each.position for each in reader.run(reader.cursors.dead_letters("mine"))] == [5]


def test_many_dead_letters_come_in_pages_and_are_settled_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursor_calls, "SETTLED_AT_ONCE", 400)
    reader = Reader()
    count = 999
    reader.publish(*range(1, count + 1))
    found: list[Notification] = []
    while len(found) < count:
        notification, grant = reader.session.take("all")
        if grant is not None:
            reader.broker.send(grant)
        assert notification is not None
        found.append(notification.of(reader))
    for each in found:
        each.refuse("r" * 256)
    listed = [each.position for each in reader.run(reader.cursors.dead_letters("mine"))]
    assert listed == list(range(1, count + 1))
    assert sum(isinstance(each, ListDeadLetters) for each in reader.broker.heard) > 1
    reader.run(reader.cursors.settle("mine", listed, False))
    assert [len(each.positions) for each in reader.broker.heard if isinstance(each, Settle)] == [400, 400, 199]
    assert reader.run(reader.cursors.dead_letters("mine")) == []


def test_what_nothing_can_be_made_of_is_refused_before_it_is_said() -> None:
    reader = Reader()
    said = len(reader.broker.heard)
    for call in (
        reader.cursors.refuse("all", 1, "", None),
        reader.cursors.refuse("all", 1, "x" * 257, None),
        reader.cursors.refuse("all", 0, "x", None),
        reader.cursors.refuse("all", None, "nothing was read", None),
        reader.cursors.settle("mine", [0], True),
        reader.cursors.dead_letters("a b"),
    ):
        with pytest.raises(DefinitionError):
            reader.run(call)
    assert len(reader.broker.heard) == said


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"retain": -1}, "cursor 'c': retain: expected a whole number from 0 on, found int -1"),
        ({"replay": 0}, "cursor 'c': replay: expected a whole number from 1 on, found int 0"),
        ({"replay": True}, "replay: expected a whole number"),
        ({"replay": 1, "since": 2}, "cursor 'c': expected replay or since, found both"),
        ({"acknowledge_within": 0}, "acknowledge_within: expected seconds greater than 0, found int 0"),
        ({"acknowledge_within": float("nan")}, "acknowledge_within: expected seconds greater than 0"),
        ({"deliveries_max": 0}, "deliveries_max: expected a whole number from 1 on, found int 0"),
    ],
)
def test_what_cannot_be_wanted_of_a_cursor_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        Durable("c", **options)


def test_times_and_waits_are_said_in_microseconds() -> None:
    fields = Durable("c", since="1970-01-01T00:00:01Z", acknowledge_within=0.5, deliveries_max=3, retain=7).fields()
    assert fields == {
        "durable": "c", "retain": 7, "replay": None, "since": 1_000_000, "within": 500_000, "deliveries_max": 3,
    }  # fmt: skip
