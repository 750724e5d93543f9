"""Tuples that are too many to be made at once: made against credits, in turns, in order, and none of them lost."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.engine import Engine, Options
from broker.engine import shares as shares_module
from broker.kernel import Gone, Kernel, Limits, MakeResults, Received, Send, Stop
from broker.kernel.distribution import TURN_RESULTS_MAX
from broker.wire import (
    VERSION,
    Credit,
    Goodbye,
    Hello,
    ListSubscriptions,
    Message,
    Notifications,
    Ping,
    Pong,
    Publish,
    Published,
    Statistics,
    Subscribe,
    Subscriptions,
    Unsubscribe,
    decode_result,
    encode,
)

ANN, BEN, CAY = b"ann", b"ben", b"cay"
PAIRS = "FROM S a, b: x = 1 c: x = 2 MATCH a; b; c"
HUGE = "FROM S a1, a2, a3, a4, a5, a6, a7, a8, a9, a10: x = 1 z: x = 2 MATCH " + "; ".join(
    [*(f"a{n}" for n in range(1, 11)), "z"]
)
HUGE_TUPLES = 263_409_560_461_970_212_832_400  # 1,000 choose 10


class Rig:
    """A kernel over an engine with a stream S(x int), and what each session was told of each subscription."""

    def __init__(self, limits: Limits | None = None, options: Options | None = None, configured: str = "") -> None:
        self.engine = Engine(options)
        self.engine.add_stream("S", {"x": "int"})
        if configured:
            self.engine.subscribe("nobody", "ptopss", configured)
        self.kernel = Kernel(self.engine, limits)
        self.told: dict[tuple[bytes, str], list[dict[str, Any]]] = {}
        self.numbers: dict[tuple[bytes, str], int] = {}
        for session in (ANN, BEN, CAY):
            self.say(session, Hello(1, VERSION, ""))

    def say(self, session: bytes, message: Message) -> list[Message]:
        """The answers; notifications are kept."""
        return self.hear(self.kernel.step(Received(session, message), 0).sends)

    def stop(self) -> None:
        for send in self.kernel.step(Stop("the end"), 0).sends:
            if isinstance(send.message, Notifications):
                self.told[send.session, send.message.subscription].extend(map(decode_result, send.message.results))

    def turn(self, full: tuple[bytes, ...] = ()) -> None:
        self.hear(self.kernel.step(MakeResults(full), 0).sends)

    def hear(self, sends: list[Send]) -> list[Message]:
        answers: list[Message] = []
        for send in sends:
            encode(send.message)
            if isinstance(send.message, Notifications):
                at = (send.session, send.message.subscription)
                assert send.message.first == self.numbers[at] + 1
                self.numbers[at] += len(send.message.results)
                self.told[at].extend(map(decode_result, send.message.results))
            else:
                answers.append(send.message)
        self.kernel.check_invariants()
        return answers

    def subscribe(
        self, session: bytes, name: str, query: str, credits: int, report: str | None = "all", language: str = "ptopss"
    ) -> None:
        self.told[session, name], self.numbers[session, name] = [], 0
        self.say(session, Subscribe(2, name, language, query, None, report, None, credits))

    def publish(self, session: bytes, xs: list[int], first: int = 0) -> None:
        times = tuple(range(first, first + len(xs)))
        (answer,) = self.say(session, Publish(3, "S", times, tuple((x,) for x in xs), None, None))
        assert isinstance(answer, Published)
        assert answer.count == len(xs)

    def broker(self, name: str) -> int:
        count: int = self.kernel.statistics()["broker"][name]
        return count


def embedded(query: str, xs: list[int], name: str, options: Options | None = None) -> list[dict[str, Any]]:
    engine = Engine(options)
    engine.add_stream("S", {"x": "int"})
    engine.subscribe(name, "ptopss", query, report="all")
    return [match.line() for match in engine.publish("S", list(range(len(xs))), [(x,) for x in xs])]


def test_the_tuples_of_one_event_are_made_against_credits_and_all_arrive_in_order() -> None:
    xs = [1] * 246 + [2]
    expected = embedded(PAIRS, xs, "pairs")
    assert len(expected) == 30_135
    rig = Rig()
    rig.subscribe(ANN, "pairs", PAIRS, 1_000)
    tracemalloc.start()
    rig.publish(BEN, xs)
    told = rig.told[ANN, "pairs"]
    assert told == []
    assert rig.broker("results") == rig.broker("notifications_queued") == 30_135
    read, turns = 0, 0
    while rig.kernel.has_work():
        before = len(told)
        rig.turn()
        turns += 1
        assert len(told) - before <= TURN_RESULTS_MAX
        assert rig.say(BEN, Ping(9)) == [Pong(9)], "others are served between two turns"
        if not rig.kernel.has_work():
            assert told == expected[read : read + len(told)]
            read += len(told)
            told.clear()
            rig.say(ANN, Credit(0, "pairs", 1_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read == len(expected)
    assert turns >= len(expected) / TURN_RESULTS_MAX
    assert rig.broker("notifications_queued") == rig.broker("notifications_queued_bytes") == 0
    assert peak < 3_000_000, "thirty thousand lines would take much more"


def test_a_reader_without_credits_holds_nobody_up() -> None:
    rig = Rig()
    rig.subscribe(ANN, "slow", PAIRS, 10)
    rig.subscribe(BEN, "fast", PAIRS, 1_000_000)
    rig.subscribe(BEN, "plain", "SELECT * FROM S", 1_000_000, None, "cayuga")
    rig.subscribe(CAY, "fast", PAIRS, 5)
    rig.publish(ANN, [1] * 60 + [2, 1, 2])
    assert len(rig.told[BEN, "plain"]) == 63, "in the same step"
    turns = 0
    while rig.kernel.has_work():
        rig.turn()
        turns += 1
    expected = embedded(PAIRS, [1] * 60 + [2, 1, 2], "fast")
    assert rig.told[BEN, "fast"] == expected
    assert rig.told[CAY, "fast"] == expected[:5]
    assert [len(rig.told[ANN, "slow"]), turns] == [10, 2 + -(-len(expected) // TURN_RESULTS_MAX)]
    rig.publish(ANN, [5], 100)
    assert len(rig.told[BEN, "plain"]) == 64
    (page,) = rig.say(ANN, ListSubscriptions(4, ""))
    assert isinstance(page, Subscriptions)
    assert [(e.name, e.queued) for e in page.entries] == [
        ("fast", len(expected) - 5),
        ("plain", 0),
        ("slow", len(expected) - 10),
    ]


def test_nothing_is_made_for_a_session_whose_messages_wait() -> None:
    rig = Rig()
    rig.subscribe(ANN, "a", PAIRS, 5_000)
    rig.subscribe(BEN, "b", PAIRS, 5_000)
    rig.publish(CAY, [1] * 60 + [2])
    rig.turn((ANN,))
    rig.turn((ANN,))
    assert (len(rig.told[ANN, "a"]), len(rig.told[BEN, "b"])) == (0, 2 * TURN_RESULTS_MAX)
    assert rig.kernel.has_work((ANN,))
    assert not rig.kernel.has_work((ANN, BEN))
    rig.turn((ANN, BEN))
    rig.turn()
    assert len(rig.told[ANN, "a"]) == TURN_RESULTS_MAX


@pytest.mark.parametrize("leave", [Received(ANN, Unsubscribe(4, "huge")), Received(ANN, Goodbye(4)), Gone(ANN)])
def test_who_leaves_takes_what_was_not_made_along(leave: Received | Gone) -> None:
    rig = Rig()
    rig.subscribe(ANN, "huge", HUGE, 1_000)
    rig.publish(BEN, [1] * 1_000 + [2])
    rig.turn()
    assert len(rig.told[ANN, "huge"]) == TURN_RESULTS_MAX
    rig.hear(rig.kernel.step(leave, 0).sends)
    assert not rig.kernel.has_work()
    assert rig.broker("notifications_queued") == 0
    assert not rig.engine.subscriptions


def test_counts_beyond_every_integer_of_the_wire_are_told() -> None:
    rig = Rig(configured=HUGE)  # whose tuples are neither made nor passed over one by one
    rig.subscribe(ANN, "huge", HUGE, 3)
    rig.subscribe(BEN, "counted", HUGE, 3, "completions")
    rig.publish(CAY, [1] * 1_000 + [2])
    (match,) = rig.told[BEN, "counted"]
    assert match["tuples"] == HUGE_TUPLES
    rig.turn()
    assert rig.broker("results") == 2**63 - 1, "it stands still there"
    assert len(rig.say(CAY, Statistics(4))) == 1
    assert len(rig.say(CAY, ListSubscriptions(4, ""))) == 1
    rig.stop()
    *matches, gap = rig.told[ANN, "huge"]
    assert len(matches) == 3
    assert gap == {
        "kind": "incomplete",
        "subscription": "huge",
        "limit": "closing",
        "since": 1_000,
        "missed": HUGE_TUPLES - 3,
    }


def test_a_queue_that_is_full_of_shares_misses_the_next_ones_and_counts_them() -> None:
    rig = Rig(Limits(queue_notifications=2))
    rig.subscribe(ANN, "pairs", PAIRS, 1)
    xs = [1] * 60 + [2] * 3
    rig.publish(BEN, xs)
    rig.say(ANN, Credit(0, "pairs", 1_000_000))
    while rig.kernel.has_work():
        rig.turn()
    *matches, gap = rig.told[ANN, "pairs"]
    expected = embedded(PAIRS, xs, "pairs")
    each = len(expected) // 3
    assert matches == expected[: 2 * each]
    assert (gap["limit"], gap["since"], gap["missed"]) == ("queue_notifications", 62, each)
    rig.publish(BEN, [2], 100)
    while rig.kernel.has_work():
        rig.turn()
    assert rig.told[ANN, "pairs"][-1]["end"] == 100


def test_what_nobody_has_counted_is_missed_without_a_number() -> None:
    options = Options(nodes_max=50)
    xs = [1] * 60 + [2]
    expected = embedded(PAIRS, xs, "pairs", options)
    notices = [line["kind"] for line in expected].index("match")
    assert notices > 0, "the engine says when it forgot"
    rig = Rig(options=options)
    rig.subscribe(ANN, "pairs", PAIRS, notices + 3)
    rig.publish(BEN, xs)
    rig.turn()
    assert rig.told[ANN, "pairs"] == expected[: notices + 3]
    assert [match["incomplete"] for match in rig.told[ANN, "pairs"][notices:]] == [True] * 3
    assert rig.broker("notifications_queued") == 1
    rig.stop()
    gap = rig.told[ANN, "pairs"][notices + 3]
    assert gap == {"kind": "incomplete", "subscription": "pairs", "limit": "closing", "since": 60}


def test_what_nobody_has_counted_arrives_and_ends() -> None:
    options = Options(nodes_max=50)
    xs = [1] * 60 + [2, 2]
    rig = Rig(options=options)
    rig.subscribe(ANN, "pairs", PAIRS, 1_000_000)
    rig.publish(BEN, xs[:-1])
    rig.publish(BEN, xs[-1:], 61)
    while rig.kernel.has_work():
        rig.turn()
    assert rig.told[ANN, "pairs"] == embedded(PAIRS, xs, "pairs", options)
    assert rig.broker("notifications_queued") == rig.broker("notifications_queued_bytes") == 0


stories = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.lists(st.sampled_from([1, 1, 1, 2, 2, 3]), min_size=1, max_size=8)),
        st.tuples(st.just("credit"), st.integers(1, 30)),
        st.tuples(st.just("turn"), st.integers(1, 3)),
    ),
    max_size=25,
)


@settings(max_examples=2 * settings().max_examples)
@given(
    stories,
    st.sampled_from([0, 5]),
    st.sampled_from([PAIRS, PAIRS + " WITHIN 4 us", "FROM S a: x = 1 b: x < 3 c: x = 2 MATCH (a AND b); c"]),
)
def test_shares_are_told_as_if_everything_was_made_at_once(story: list[tuple[str, Any]], few: int, query: str) -> None:
    """Whatever comes between: a window that moves on, other results, credits in any portions."""
    rig = Rig()
    rig.subscribe(ANN, "q", query, 2)
    rig.subscribe(BEN, "q", query, 1_000_000)
    rig.subscribe(ANN, "p", "SELECT * FROM FILTER{x = 2}(S)", 1_000_000, None, "cayuga")
    xs: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares_module, "MADE_AT_ONCE_MAX", few)
        patch.setattr("broker.kernel.distribution.TURN_RESULTS_MAX", 7)
        for what, value in [*story, ("credit", 1_000_000)]:
            match what:
                case "publish":
                    rig.publish(CAY, value, len(xs))
                    xs += value
                case "credit":
                    rig.say(ANN, Credit(0, "q", value))
                case _:
                    for _ in range(value):
                        rig.turn()
        while rig.kernel.has_work():
            rig.turn()
    expected = embedded(query, xs, "q")
    assert rig.told[ANN, "q"] == rig.told[BEN, "q"] == expected
    assert [line["end"] for line in rig.told[ANN, "p"]] == [at for at, x in enumerate(xs) if x == 2]


def test_shares_of_a_stream_that_a_subscription_publishes() -> None:
    rig = Rig()
    rig.subscribe(ANN, "doubled", "SELECT x AS x FROM S PUBLISH D", 1, None, "cayuga")
    rig.subscribe(BEN, "pairs", PAIRS.replace("FROM S", "FROM D"), 1_000_000)
    rig.publish(CAY, [1] * 60 + [2])
    assert rig.told[BEN, "pairs"] == []
    while rig.kernel.has_work():
        rig.turn()
    expected = embedded(PAIRS, [1] * 60 + [2], "pairs")
    assert [line["bindings"] for line in rig.told[BEN, "pairs"]] == [line["bindings"] for line in expected]
    assert {line["end"] for line in rig.told[BEN, "pairs"]} == {60}
