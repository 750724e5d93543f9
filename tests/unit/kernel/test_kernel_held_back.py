"""Events that wait for a related stream: since when by the clock, and once a wait what the log and receipts say."""

from __future__ import annotations

import io
from dataclasses import replace

from doubles.kernel_rig import ANN, BEN, SECOND, Rig, publish, subscribe

from broker.engine.disorder.looking import HeldStream
from broker.kernel import Limits, Tick
from broker.kernel.held_back import TOLD_AFTER
from broker.server.logs import LOG, log_held_back, open_log
from broker.wire import (
    AddStream,
    Published,
    Retract,
    Subscribed,
    SubscribedMany,
    SubscribeMany,
    SubscriptionOutcome,
    SubscriptionRequest,
)
from broker.wire.limits import FRAME_BYTES_MAX, SUBSCRIPTIONS_AT_ONCE_MAX

WHY = "because an earlier event may still come on it: give it lateness and idle, or punctuate it"


class Held(Rig):
    """A rig in which 765 events of S wait for T."""

    def __init__(self) -> None:
        super().__init__(Limits(ahead_max=600 * SECOND))
        self.say(ANN, AddStream(3, "T", {"x": "int"}, None, "buffer", None, None))
        self.say(ANN, AddStream(4, "U", {"x": "int"}, None, "arrival", None, None))
        self.hold()

    def hold(self, events: int = 765, safe: int = 5) -> None:
        self.engine.held = [HeldStream("T", events, safe, ["S", "T"])]

    def after(self, microseconds: int) -> tuple[list[str], list[str]]:
        """What a tick that much later has for the log."""
        self.now += microseconds
        self.step(Tick())
        held = self.kernel.held_back
        return [each["reason"] for each in held.began], [each["stream"] for each in held.ended]

    def said(self) -> list[str]:
        found: list[str] = self.kernel.statistics()["engine"].get("held_back", [])
        return found

    def receipt(self, stream: str) -> str | None:
        answer = self.answer(Published, replace(publish(None, [1]), stream=stream))
        return answer.held_back


def sentence(seconds: int, events: int = 765) -> str:
    return f"{events} events of related streams wait for stream 'T' since {seconds} s, {WHY}"


def test_a_wait_is_logged_once_and_again_when_it_has_ended() -> None:
    rig = Held()
    assert rig.after(0) == ([], [])
    assert rig.said() == [sentence(0)]
    assert rig.after(TOLD_AFTER - 1) == ([], [])
    rig.hold(events=800)
    assert rig.after(1) == ([sentence(10, 800)], [])
    assert rig.after(179 * SECOND) == ([], [])
    assert rig.said() == [sentence(189, 800)]
    rig.engine.held = []
    assert rig.after(SECOND) == ([], ["T"])
    assert rig.after(SECOND) == ([], [])
    assert rig.said() == []
    rig.hold()
    assert rig.after(0) == ([], [])
    assert rig.after(TOLD_AFTER) == ([sentence(10)], [])


def test_what_becomes_final_and_a_clock_that_steps_begin_a_wait_anew() -> None:
    rig = Held()
    rig.after(0)
    rig.hold(safe=6)
    assert rig.after(TOLD_AFTER) == ([], [])
    rig.after(-20 * SECOND)
    assert rig.said() == [sentence(0)]
    rig.after(3_600 * SECOND)  # a jump, which the broker does not believe yet
    assert rig.said() == [sentence(0)]
    rig.hold(safe=7)
    assert rig.after(SECOND) == ([], [])


def test_receipts_say_so_for_each_stream_that_waits_while_it_lasts() -> None:
    rig = Held()
    rig.after(0)
    assert rig.receipt("S") is None
    rig.after(TOLD_AFTER)
    assert rig.receipt("S") == rig.receipt("T") == sentence(10)
    assert rig.receipt("U") is None
    withdrawn = rig.answer(Published, Retract(9, (1,)))
    assert withdrawn.held_back is None
    rig.engine.held = []
    rig.after(SECOND)
    assert rig.receipt("S") is None


def test_the_answer_to_subscribe_says_how_long_by_the_clock() -> None:
    rig = Held()
    rig.after(0)
    rig.now += 3 * SECOND
    answer = rig.answer(Subscribed, subscribe("one", "every S"))
    assert answer.warnings == (sentence(3),)


def many(*wanted: SubscriptionRequest) -> SubscribeMany:
    return SubscribeMany(8, wanted, 10)


def outcomes(rig: Rig, *wanted: SubscriptionRequest) -> tuple[SubscriptionOutcome, ...]:
    answer = rig.answer(SubscribedMany, many(*wanted))
    return answer.outcomes


def test_each_of_many_subscriptions_has_its_warnings() -> None:
    rig = Held()
    rig.engine.warned = ["line 1, column 1: so"]
    rig.ask(publish([rig.now], [1]))
    rig.ask(subscribe("old", "every T"), BEN)
    wanted = [("absent", "every S"), ("alike", "every S"), ("other", "every T"), ("wrong", "none"), ("old", None)]
    found = outcomes(rig, *[SubscriptionRequest(name, "cayuga", query) for name, query in wanted])
    assert [each.warnings for each in found] == [
        (sentence(0), "absence in S", "line 1, column 1: so"),
        (sentence(0),),
        (sentence(0), "line 1, column 1: so"),
        (),
        (),
    ]
    assert [each.code is None for each in found] == [True, True, True, False, True]


def test_the_warnings_of_many_fit_a_frame() -> None:
    rig = Rig()
    rig.engine.warned = ["\U0001f600" * 600] * 20
    for at in range(SUBSCRIPTIONS_AT_ONCE_MAX):
        rig.ask(AddStream(3, f"S{at}", {"x": "int"}, None, "arrival", None, None))
    wanted = [SubscriptionRequest(f"n{at}", "cayuga", f"every S{at}") for at in range(SUBSCRIPTIONS_AT_ONCE_MAX)]
    found = outcomes(rig, *wanted)
    assert found[0].warnings
    assert sum(len(said.encode()) for each in found for said in each.warnings) < FRAME_BYTES_MAX / 2


def test_the_log_has_a_line_for_the_begin_and_one_for_the_end() -> None:
    before = LOG.handlers[:], LOG.level, LOG.propagate
    stream = io.StringIO()
    try:
        open_log("info", "text", stream)
        log_held_back([{"stream": "T", "seconds": 10, "events": 765, "reason": "so"}], [{"stream": "T", "seconds": 12}])
    finally:
        (LOG.handlers[:], level, LOG.propagate) = before
        LOG.setLevel(level)
    began, ended = [line.partition(" ")[2] for line in stream.getvalue().splitlines()]
    assert began == "warning related streams wait stream=T seconds=10 events=765 reason=so"
    assert ended == "info related streams wait no more stream=T seconds=12"
