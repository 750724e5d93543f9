"""Readers that are too slow: whatever becomes of a full queue, all that was found came, or is told as missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from doubles.small_engine import SmallEngine, SmallResult
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.engine.shares import Share
from broker.kernel import Gone, Kernel, Limits, Received, Send
from broker.kernel.delivery import NOTIFICATION_BYTES_EXTRA, SHARE_BYTES, Delivery, encoded
from broker.wire import (
    VERSION,
    WHEN_SLOW,
    AddStream,
    Credit,
    Ended,
    Failure,
    Hello,
    Message,
    Notifications,
    Publish,
    Subscribe,
    Subscribed,
    Unsubscribe,
    Welcome,
    decode_result,
)


def small(number: int) -> SmallResult:
    return SmallResult("s", number, number, {})


class Reader:
    """A delivery, and what its reader has been told: `came` for good; `lines` of it."""

    def __init__(self, when_slow: str, limits: Limits, credits: int, resumable: bool) -> None:
        self.delivery = Delivery("s", limits, credits, resumable=resumable, when_slow=when_slow)
        self.limits = limits
        self.offered = 0
        self.lines: list[dict[str, Any]] = []
        self.times: dict[int, int] = {}  # of each result, by its number
        self.most = limits.queue_notifications + credits
        self.away = False
        self.read = 0

    def offer(self) -> None:
        self.offered += 1
        self.times[self.offered] = self.offered
        self.delivery.offer(*encoded(small(self.offered)))

    def share(self, count: int) -> None:
        """So many results, of one time, that are made when they are due."""
        first = self.offered + 1
        self.offered += count
        results: Any = [SmallResult("s", number, first, {}) for number in range(first, first + count)]
        self.times.update(dict.fromkeys(range(first, first + count), first))
        self.delivery.defer(Share("s", first, count, results))

    def hear(self, messages: list[Notifications]) -> None:
        for message in messages:
            assert message.first == len(self.lines) + 1, "numbered without a gap"
            self.lines += map(decode_result, message.results)
        if not self.delivery.over:
            self.delivery.check_invariants()
            self.check_memory()

    def settle(self) -> None:
        """What a step ends with."""
        self.hear(self.delivery.due())

    def make(self) -> None:
        while self.delivery.ready:
            self.hear(self.delivery.make(3))

    def check_memory(self) -> None:
        delivery = self.delivery
        assert len(delivery.queue) <= self.most
        assert delivery.unconfirmed_bytes <= self.limits.queue_bytes

    def come_back(self, lost: int, credits: int) -> None:
        del self.lines[len(self.lines) - lost :]
        self.most += lost  # waits again
        self.read = len(self.lines)
        self.delivery.resume(len(self.lines), credits)
        self.away = False

    def told(self) -> int:
        """Everything that was told, in order: how many results that stands for."""
        at = 0
        for line in self.lines:
            if line["kind"] == "incomplete":
                if "since" in line:
                    assert line["since"] == self.times[at + 1], "since the first of those that are missing"
                at += line["missed"]
            else:
                assert line["lineage"] == [at + 1], "in order, each once"
                at += 1
        return at


steps = st.lists(
    st.one_of(
        st.tuples(st.just("offer"), st.integers(1, 6)),
        st.tuples(st.just("share"), st.integers(1, 9)),
        st.tuples(st.just("grant"), st.integers(1, 8)),
        st.tuples(st.just("make"), st.just(0)),
        st.tuples(st.just("leave"), st.just(0)),
        st.tuples(st.just("return"), st.integers(0, 6)),
    ),
    max_size=30,
)
ONE_BYTES = len(encoded(small(1))[0]) + NOTIFICATION_BYTES_EXTRA


@settings(max_examples=4 * settings().max_examples)
@given(
    st.sampled_from(WHEN_SLOW),
    steps,
    st.integers(1, 5),
    st.sampled_from([10**9, 3 * ONE_BYTES, 2 * SHARE_BYTES + ONE_BYTES]),
    st.integers(1, 4),
)
def test_what_came_and_what_is_told_as_missing_is_what_was_found(
    when_slow: str, story: list[tuple[str, int]], queue: int, size: int, credits: int
) -> None:
    """Offers of results and shares, credits, and a reader that leaves, comes back and has lost what was on the way."""
    reader = Reader(when_slow, Limits(queue_notifications=queue, queue_bytes=size), credits, resumable=True)
    delivery = reader.delivery
    for what, number in story:
        if delivery.over:
            break
        match what:
            case "offer":
                for _ in range(number):
                    reader.offer()
            case "share":
                reader.share(number)
            case "grant" if not reader.away and len(reader.lines) > reader.read:
                reader.read += (taken := min(number, len(reader.lines) - reader.read))
                delivery.grant(taken)
            case "make":
                reader.make()
            case "leave":
                delivery.pause()
                reader.away = True
            case "return":
                reader.come_back(min(number, len(reader.lines) - reader.read), 1 + number)
            case _:
                pass
        reader.settle()
    if delivery.over:
        assert when_slow == "disconnect"
        assert (delivery.waiting, delivery.queued_bytes, delivery.unconfirmed_bytes) == (0, 0, 0), "freed at once"
        reader.hear(delivery.final_gap())
        assert reader.lines[-1]["limit"] in ("queue_notifications", "queue_bytes")
    else:
        if reader.away:
            reader.come_back(0, 1)
        while delivery.waiting or delivery.missed:
            delivery.grant(1)
            reader.settle()
            reader.make()
    assert reader.told() == reader.offered


# ---- of a broker ----

PUBLISHER, ANN, BEN, NEW = b"publisher", b"ann", b"ben", b"new"


class Rig:
    """A kernel with a stream S and short queues; what each session was told."""

    def __init__(self, queue: int = 3) -> None:
        self.engine = SmallEngine()
        self.kernel = Kernel(self.engine, Limits(queue_notifications=queue), secret=b"secret")
        self.published = 0
        self.say(PUBLISHER, Hello(1, VERSION, ""))
        self.say(PUBLISHER, AddStream(2, "S", {}, None, "arrival", None, None))

    def say(self, session: bytes, message: Message) -> list[Message]:
        sends = self.kernel.step(Received(session, message), 0).sends
        self.kernel.check_invariants()
        return [send.message for send in sends if send.session == session]

    def open(self, session: bytes, token: bytes | None = b"") -> bytes | None:
        (welcome,) = self.say(session, Hello(1, VERSION, "", token))
        assert isinstance(welcome, Welcome)
        return welcome.session

    def publish(self, count: int) -> list[Send]:
        times = tuple(range(self.published + 1, self.published + count + 1))
        self.published += count
        sends = self.kernel.step(Received(PUBLISHER, Publish(3, "S", times, ((),) * count, None, None)), 0).sends
        self.kernel.check_invariants()
        return [send for send in sends if send.session != PUBLISHER]

    def broker(self) -> dict[str, Any]:
        return self.kernel.statistics()["broker"]


def wanted(when_slow: str | None, credits: int = 1, name: str = "all", **more: Any) -> Subscribe:
    return Subscribe(5, name, "cayuga", "every S", None, None, None, credits, when_slow=when_slow, **more)


def lines(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [
        decode_result(each) for message in messages if isinstance(message, Notifications) for each in message.results
    ]


def test_the_oldest_give_way_and_the_gap_stands_before_the_newest() -> None:
    rig = Rig()
    rig.open(ANN)
    rig.say(ANN, wanted("drop_oldest", credits=2))
    first = lines([send.message for send in rig.publish(9)])
    assert [line["end"] for line in first] == [1, 2], "what there were credits for"
    rig.publish(1)
    gap, *newest = lines(rig.say(ANN, Credit(0, "all", 9)))
    assert gap == {"kind": "incomplete", "subscription": "all", "limit": "queue_notifications", "since": 3, "missed": 5}
    assert [line["end"] for line in newest] == [8, 9, 10]
    assert rig.broker()["notifications_missed_drop_oldest"] == rig.broker()["notifications_missed"] == 5


def test_what_nobody_has_counted_gives_way_without_a_number() -> None:
    delivery = Delivery("s", Limits(queue_notifications=1), 0, when_slow="drop_oldest")
    results: Any = [small(1), small(2)]
    delivery.defer(Share("s", 1, None, results))
    delivery.offer(*encoded(small(3)))
    delivery.grant(2)
    gap, result = lines(delivery.due())
    assert gap == {"kind": "incomplete", "subscription": "s", "limit": "queue_notifications", "since": 1}
    assert result["end"] == 3


def test_who_asked_for_it_is_ended_alone_and_may_come_again() -> None:
    rig = Rig()
    for session in (ANN, BEN):
        rig.open(session)
    rig.say(ANN, wanted("disconnect"))
    rig.say(ANN, wanted(None, 100, "other"))
    rig.say(BEN, wanted(None, 100))
    sends = rig.publish(8)
    assert [line["end"] for line in lines([send.message for send in sends if send.session == BEN])] == [*range(1, 9)]
    mine = [send.message for send in sends if send.session == ANN]
    ended = mine[-1]
    reason = "queue_notifications: the reader was too slow, so the queue was full, and when_slow is 'disconnect'"
    assert ended == Ended(0, "all", "slow", reason)
    of_all = [each for each in mine if isinstance(each, Notifications) and each.subscription == "all"]
    result, gap = lines(of_all)
    assert (result["end"], gap["since"], gap["missed"]) == (1, 2, 7)
    assert rig.broker()["notifications_queued_bytes"] == 0, "freed at once"
    assert (rig.broker()["subscriptions_ended_slow"], rig.broker()["notifications_missed_disconnect"]) == (1, 7)
    assert len(lines([send.message for send in rig.publish(1) if send.session == ANN])) == 1, "the other goes on"
    (failure,) = rig.say(ANN, Unsubscribe(6, "all"))
    assert isinstance(failure, Failure)
    assert failure.code == "unknown-subscription"
    assert rig.say(ANN, wanted("disconnect")) == [Subscribed(5, "all", True)]


def test_with_its_only_reader_the_subscription_goes() -> None:
    rig = Rig()
    rig.open(ANN)
    rig.say(ANN, wanted("disconnect"))
    rig.publish(9)
    assert rig.engine.subscriptions == {}


@pytest.mark.parametrize("heard", ["away", "lost on the way", "all of it"])
def test_a_session_that_is_resumed_learns_of_the_end(heard: str) -> None:
    rig = Rig()
    token = rig.open(ANN)
    rig.say(ANN, wanted("disconnect", credits=4))
    received = len(lines([send.message for send in rig.publish(3)]))
    if heard == "away":
        rig.kernel.step(Gone(ANN), 0)
    sends = rig.publish(6)
    assert len(lines([send.message for send in sends])) == (0 if heard == "away" else 2)
    if heard == "all of it":
        received = 5
    assert rig.broker()["notifications_queued"] == 0
    assert rig.open(NEW, token) == token
    again = wanted("disconnect", received=received)
    for _ in range(2):
        answer, *rest = rig.say(NEW, again)
        assert answer == Subscribed(5, "all", True, True)
        assert [type(each) for each in rest[-1:]] == [Ended]
        told = lines(rest)
        if heard == "all of it":
            assert told == []
        else:
            (gap,) = told
            assert gap["missed"] == 6
    assert rig.say(NEW, wanted("disconnect")) == [Subscribed(5, "all", False)]
    assert rig.say(NEW, wanted("disconnect", received=0))[0] == Subscribed(5, "all", True, True)


def test_what_cannot_be_asked_for() -> None:
    rig = Rig()
    token = rig.open(ANN)
    for request, reason in (
        (
            wanted("elastic"),
            "expected when_slow to be one of drop_newest, drop_oldest, disconnect, found string 'elastic'",
        ),
        (wanted("disconnect", durable="mine"), "expected either durable or when_slow"),
    ):
        (failure,) = rig.say(ANN, request)
        assert isinstance(failure, Failure)
        assert failure.code == "definition"
        assert reason in failure.message
    rig.say(ANN, wanted("drop_oldest"))
    rig.open(NEW, token)
    (failure,) = rig.say(NEW, wanted(None, received=0))
    assert isinstance(failure, Failure)
    assert failure.message == "subscription 'all': this client has it with when_slow 'drop_oldest'"
