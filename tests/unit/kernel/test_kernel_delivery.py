"""What is delivered: every result once and in order, as far as there are credits, and no gap that is not told."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.small_engine import SmallEngine
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.engine.shares import Share
from broker.events import DefinitionError
from broker.kernel import Gone, Kernel, Limits, Received, Send
from broker.kernel.delivery import Delivery
from broker.wire import (
    RESULT_BYTES_MAX,
    VERSION,
    WHEN_SLOW,
    AddStream,
    Credit,
    Ended,
    Hello,
    Message,
    Notifications,
    Publish,
    Subscribe,
    Unsubscribe,
    decode_result,
    encode,
    encode_result,
)


def result(number: int, size: int = 0) -> bytes:
    return encode_result({"kind": "match", "subscription": "s", "end": number, "pad": "x" * size})


def lines(messages: list[Notifications]) -> list[dict[str, Any]]:
    return [decode_result(each) for message in messages for each in message.results]


def ends(messages: list[Notifications]) -> list[int]:
    return [line["end"] for line in lines(messages)]


def test_a_credit_buys_one_notification() -> None:
    delivery = Delivery("s", Limits(), 2)
    for number in range(5):
        delivery.offer(result(number), number)
    assert ends(delivery.due()) == [0, 1]
    assert delivery.due() == []
    delivery.grant(2)
    (message,) = delivery.due()
    assert (message.first, ends([message])) == (3, [2, 3])
    delivery.grant(100)
    assert ends(delivery.due()) == [4]
    assert delivery.credits == 99


def test_messages_are_bounded_in_number_and_bytes() -> None:
    delivery = Delivery("s", Limits(), 10_000)
    for number in range(3_000):
        delivery.offer(result(number), number)
    assert [len(each.results) for each in delivery.due()] == [1_024, 1_024, 952]
    for number in range(10):
        delivery.offer(result(number, RESULT_BYTES_MAX - 100), number)
    messages = delivery.due()
    assert [len(each.results) for each in messages] == [1] * 10
    for each in messages:
        encode(each)


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(queue_notifications=3), "queue_notifications"),
        (Limits(queue_bytes=3 * (len(result(0)) + 48)), "queue_bytes"),
    ],
)
def test_a_full_queue_is_one_gap_in_its_place(limits: Limits, name: str) -> None:
    delivery = Delivery("s", limits, 1)
    delivery.credits = 0
    for number in range(10):
        delivery.offer(result(number), number)
    delivery.grant(2)
    assert ends(delivery.due()) == [0, 1]
    delivery.offer(result(10), 10)  # there is room again, but the gap is not over before the queue is empty
    delivery.grant(100)
    told = lines(delivery.due())
    assert told[0]["end"] == 2
    assert told[1] == {"kind": "incomplete", "subscription": "s", "limit": name, "since": 3, "missed": 8}
    assert len(told) == 2
    delivery.offer(result(11), 11)
    assert ends(delivery.due()) == [11]
    assert delivery.missed_ever == 8
    delivery.check_invariants()


def test_what_was_on_the_way_comes_again_in_its_order() -> None:
    delivery = Delivery("s", Limits(), 4, resumable=True)
    for number in range(6):
        delivery.offer(result(number), number)
    assert ends(delivery.due()) == [0, 1, 2, 3]
    delivery.resume(1, 9)
    assert ends(delivery.due()) == [1, 2, 3, 4, 5]


def test_a_gap_that_nobody_has_counted_leaves_the_next_one_its_number() -> None:
    delivery = Delivery("s", Limits(queue_notifications=1), 0)
    delivery.offer(result(1), 1)
    delivery.defer(Share("s", 2, None, ()))
    delivery.grant(2)
    first, gap = lines(delivery.due())
    assert (first["end"], "missed" in gap) == (1, False)
    delivery.offer(result(3), 3)
    delivery.offer(result(4), 4)
    delivery.grant(2)
    assert [line.get("missed") for line in lines(delivery.due())] == [None, 1]


def test_limits_are_whole_numbers_from_one_on() -> None:
    with pytest.raises(DefinitionError, match=r"limits\.sessions: expected a whole number from 1 on, found int 0"):
        Limits(sessions=0)
    with pytest.raises(DefinitionError, match="queue_bytes"):
        Limits(queue_bytes=1.5)  # type: ignore[arg-type]


def test_a_result_that_fits_no_message_is_an_incomplete_in_its_place() -> None:
    engine = SmallEngine()
    kernel = Kernel(engine)
    for message in (
        Hello(1, VERSION, ""),
        AddStream(2, "S", {"x": "string", "y": "string"}, None, "arrival", None, None),
        Subscribe(3, "all", "cayuga", "every S", None, None, None, 10),
    ):
        kernel.step(Received(b"a", message), 0)
    large = "x" * (RESULT_BYTES_MAX - 10)
    sends = kernel.step(
        Received(b"a", Publish(4, "S", (5, 6, 7), (("a", ""), (large, ""), ("b", "")), None, None)), 0
    ).sends
    messages = [send.message for send in sends if isinstance(send.message, Notifications)]
    first, gap, last = lines(messages)
    assert (first["end"], last["end"]) == (5, 7)
    assert (gap["kind"], gap["since"], gap["missed"]) == ("incomplete", 6, 1)
    assert "bytes, expected at most" in gap["limit"]


SESSIONS = (b"a", b"b", b"c")
NAMES = ("one", "two")
steps = st.one_of(
    st.tuples(st.just("subscribe"), st.sampled_from(SESSIONS), st.sampled_from(NAMES), st.integers(1, 4)),
    st.tuples(st.just("unsubscribe"), st.sampled_from(SESSIONS), st.sampled_from(NAMES), st.just(0)),
    st.tuples(st.just("credit"), st.sampled_from(SESSIONS), st.sampled_from(NAMES), st.integers(1, 6)),
    st.tuples(st.just("publish"), st.sampled_from(SESSIONS), st.just(""), st.integers(1, 5)),
    st.tuples(st.just("gone"), st.sampled_from(SESSIONS), st.just(""), st.just(0)),
)


@settings(max_examples=max(400, 4 * settings().max_examples))
@given(st.lists(steps, max_size=40), st.integers(1, 6), st.tuples(*[st.sampled_from(WHEN_SLOW)] * len(SESSIONS)))
def test_whatever_happens_each_reader_gets_what_was_found_while_it_was_attached(
    story: list[tuple[str, bytes, str, int]], queue: int, policies: tuple[str, ...]
) -> None:
    """For every attachment: told results and counted gaps, in order and numbered, are a prefix of what was found.

    Of one that was ended for its slowness they are all that was found until then.
    """
    kernel = Kernel(SmallEngine(), Limits(queue_notifications=queue))
    found: dict[tuple[bytes, str], list[int]] = {}
    told: dict[tuple[bytes, str], list[dict[str, Any]]] = {}
    granted: dict[tuple[bytes, str], int] = {}
    when_slow = dict(zip(SESSIONS, policies))
    dropped = dict.fromkeys(WHEN_SLOW, 0)
    published = 0

    def step(session: bytes, message: Message) -> None:
        for send in kernel.step(Received(session, message), 0).sends:
            check(send)
        kernel.check_invariants()

    def check(send: Send) -> None:
        if isinstance(send.message, Notifications):
            so_far = told[send.session, send.message.subscription]
            assert send.message.first == len(so_far) + 1
            so_far.extend(map(decode_result, send.message.results))
            last = when_slow[send.session] == "disconnect"  # for which no credit is needed
            assert len(so_far) <= granted[send.session, send.message.subscription] + last
        elif isinstance(send.message, Ended):
            ended = (send.session, send.message.subscription)
            assert when_slow[send.session] == "disconnect"
            assert told[ended][-1]["kind"] == "incomplete"
            assert compare(ended) == [], "nothing is left out without being told"
            del found[ended]
            dropped["disconnect"] += told[ended][-1]["missed"]

    def compare(attachment: tuple[bytes, str]) -> list[int]:
        """What was found and not told."""
        rest = iter(found[attachment])
        for line in told[attachment]:
            if line["kind"] == "incomplete":
                missed = [next(rest) for _ in range(line["missed"])]
                assert line["since"] == missed[0]
            else:
                assert line["end"] == next(rest)
        return list(rest)

    for session in SESSIONS:
        step(session, Hello(1, VERSION, ""))
    step(b"a", AddStream(2, "S", {}, None, "arrival", None, None))
    for what, session, name, number in story:
        attachment = (session, name)
        match what:
            case "subscribe":
                if attachment not in found:
                    found[attachment], told[attachment], granted[attachment] = [], [], number
                policy = when_slow[session]
                wanted = Subscribe(3, name, "cayuga", "every S", None, None, None, number, when_slow=policy)
                step(session, wanted)
            case "unsubscribe":
                step(session, Unsubscribe(4, name))
                found.pop(attachment, None)
            case "credit":
                if attachment in granted:
                    granted[attachment] += number
                step(session, Credit(0, name, number))
            case "publish":
                new = range(published + 1, published + number + 1)
                published += number
                for each in found.values():
                    each.extend(new)
                step(session, Publish(5, "S", tuple(new), ((),) * number, None, None))
            case "gone":
                kernel.step(Gone(session), 0)
                for each_name in NAMES:
                    found.pop((session, each_name), None)
                step(session, Hello(1, VERSION, ""))
    for attachment in found:
        rest = compare(attachment)
        if granted[attachment] > len(told[attachment]):
            assert rest == [], "everything was told that there were credits for"
    counted = kernel.statistics()["broker"]
    assert counted["notifications_missed_disconnect"] == dropped["disconnect"]
    assert counted["notifications_missed"] == sum(counted[f"notifications_missed_{each}"] for each in WHEN_SLOW)
