"""Joined or not, every session is told the same, in the same order; only the number of messages differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from broker.kernel import Send
from broker.server.coalescing import coalesced
from broker.wire import Message, Notifications, Pong, encode
from broker.wire.limits import FRAME_BYTES_MAX, NOTIFICATIONS_BYTES_TARGET, NOTIFICATIONS_COUNT_MAX

ANN, BEN = b"ann", b"ben"
S, T = "s", "t"


def found(session: bytes, name: str, first: int, *results: bytes) -> Send:
    return Send(session, Notifications(0, name, first, results))


def told(sends: Iterable[Send]) -> dict[bytes, list[object]]:
    """What each session hears: its messages, and of notifications each result with its number."""
    heard: dict[bytes, list[object]] = {}
    for send in sends:
        message: Message = send.message
        these = heard.setdefault(send.session, [])
        if isinstance(message, Notifications):
            for number, result in enumerate(message.results, message.first):
                place = None if message.position is None else message.position + number - message.first
                these.append((message.subscription, number, result, place, message.redelivered))
        else:
            these.append(message)
    return heard


@st.composite
def passes(draw: st.DrawFn) -> list[Send]:
    """What may come of a pass; numbers go on for each session and subscription, or begin anew."""
    numbers: Counter[tuple[bytes, str]] = Counter()
    sends: list[Send] = []
    for session, name, count, kind in draw(
        st.lists(
            st.tuples(
                st.sampled_from((ANN, BEN)),
                st.sampled_from((S, T)),
                st.integers(0, 3),
                st.sampled_from(("found", "found", "found", "anew", "cursor", "other")),
            ),
            max_size=20,
        )
    ):
        if kind == "other":
            sends.append(Send(session, Pong(len(sends))))
            continue
        if kind == "anew":
            numbers[session, name] = 0
        first = numbers[session, name] + 1
        numbers[session, name] += count
        position = first + 7 if kind == "cursor" else None
        results = tuple(b"%d" % number for number in range(count))
        sends.append(Send(session, Notifications(0, name, first, results, position, position is not None)))
    return sends


@given(passes())
def test_every_session_is_told_the_same(sends: list[Send]) -> None:
    fewer = coalesced(list(sends))
    assert told(fewer) == told(sends)
    assert len(fewer) <= len(sends)
    assert coalesced(list(fewer)) == fewer


def test_what_follows_for_one_subscription_is_one_message() -> None:
    sends = [found(ANN, S, 1, b"a"), Send(BEN, Pong(1)), found(ANN, S, 2, b"b", b"c"), Send(BEN, Pong(2))]
    assert coalesced(sends) == [found(ANN, S, 1, b"a", b"b", b"c"), Send(BEN, Pong(1)), Send(BEN, Pong(2))]


def test_an_answer_is_not_overtaken() -> None:
    sends = [found(ANN, S, 1, b"a"), Send(ANN, Pong(1)), found(ANN, S, 2, b"b")]
    assert coalesced(sends) == sends
    sends = [found(ANN, S, 1, b"a"), found(ANN, T, 1, b"a"), found(ANN, S, 2, b"b")]
    assert coalesced(sends) == sends


def test_what_a_cursor_has_kept_stays_as_it_is() -> None:
    sends = [Send(ANN, Notifications(0, S, first, (b"a",), first + 7)) for first in (1, 2)]
    assert coalesced(sends) == sends


def test_a_message_stays_within_its_bounds() -> None:
    many = [found(ANN, S, first, b"a") for first in range(1, 2 * NOTIFICATIONS_COUNT_MAX + 2)]
    assert [len(send.message.results) for send in coalesced(many) if isinstance(send.message, Notifications)] == [
        NOTIFICATIONS_COUNT_MAX,
        NOTIFICATIONS_COUNT_MAX,
        1,
    ]
    half = bytes(NOTIFICATIONS_BYTES_TARGET // 2)
    large = [found(ANN, S, first, half) for first in range(1, 6)]
    sent = [send.message for send in coalesced(large)]
    assert [len(message.results) for message in sent if isinstance(message, Notifications)] == [2, 2, 1]
    assert all(len(encode(send.message)) <= FRAME_BYTES_MAX for send in coalesced(large))
