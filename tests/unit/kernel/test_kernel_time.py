"""Time that one stream, or the clock, would lead astray: what is refused, what is set back, and what a journal says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
from doubles.guarded_rig import ANN, BEN, OPS, subscribe
from doubles.guarded_rig import Rig as GuardedRig
from doubles.guarded_rig import publish as guarded_publish
from doubles.kernel_rig import lines
from hypothesis import given
from hypothesis import strategies as st

from broker.engine import Engine
from broker.kernel import Kernel, Limits, Received, Reconfigure, Send, Tick, open_access
from broker.kernel.clock_guard import CLOCK_SETTLES_MICROSECONDS, ClockGuard
from broker.kernel.limits import AHEAD_MICROSECONDS
from broker.kernel.records import Record, TimeWasReset
from broker.server.replicated_state import ReplicatedState
from broker.wire import (
    VERSION,
    AddStream,
    Failure,
    Hello,
    Message,
    Publish,
    Published,
    Refusal,
    ResetTime,
    Subscribe,
)
from broker.wire import TimeReset as TimeResetMessage

DAY = AHEAD_MICROSECONDS
SECOND = 1_000_000
FAR = 2**61
CLIENT = b"client"


class Life:
    """A kernel with a journal, its records and its clock; `end` is a crash."""

    def __init__(self, limits: Limits | None = None, records: list[Record] | None = None) -> None:
        self.limits = limits or Limits()
        self.written = [] if records is None else records
        self.history = ReplicatedState()
        for position, record in enumerate(self.written, 1):
            self.history.replay(position, 0, record)
        state = self.history
        self.kernel = Kernel(
            state.engine, self.limits, receipts=state.receipts, durability="always", permanent=(), cursors=state.cursors
        )
        self.now = 1_000 * DAY
        self.correlations: Iterator[int] = count(10)
        self.say(Hello(1, VERSION, "test"))
        for stream in ("S", "T"):
            self.say(AddStream(2, stream, {"x": "int"}, None, "arrival", None, None))

    def say(self, message: Message) -> list[Send]:
        effects = self.kernel.step(Received(CLIENT, message), self.now)
        self.written += effects.records
        self.kernel.check_invariants()
        return effects.sends

    def publish(self, stream: str, *times: int, clock: bool = False) -> Published | Failure:
        rows = tuple((at,) for at in range(max(1, len(times))))
        answer = self.say(Publish(next(self.correlations), stream, None if clock else times, rows, None, None))[0]
        assert isinstance(answer.message, Published | Failure)
        return answer.message

    def taken(self, stream: str, *times: int, clock: bool = False) -> int:
        answer = self.publish(stream, *times, clock=clock)
        assert isinstance(answer, Published), answer
        return answer.count

    def end(self) -> Life:
        """The same broker after a crash, once from the journal and once from a checkpoint: they are equal."""
        again = Life(self.limits, self.written)
        saved = ReplicatedState()
        saved.restore(self.history.save())
        assert again.history.digest() == self.history.digest() == saved.digest()
        again.now = self.now
        return again


# ---- too far ahead ----


def test_one_event_far_ahead_is_refused_by_itself_and_no_other_is_late() -> None:
    life = Life()
    now = life.now
    answer = life.publish("S", FAR, now, now + DAY + 1, now + DAY)
    assert isinstance(answer, Published)
    reason = f"expected a time up to {now + DAY} (ahead_max), found"
    assert answer.refused == (Refusal(0, "early", f"{reason} {FAR}"), Refusal(2, "early", f"{reason} {now + DAY + 1}"))
    assert (answer.count, answer.newest) == (2, now + DAY)
    assert life.kernel.statistics()["broker"]["events_refused_early"] == 2
    life = Life()
    assert life.taken("S", FAR) == 0
    assert life.taken("T", life.now) == 1
    life = life.end()
    assert life.taken("T", life.now) == 1


def test_what_was_reached_before_is_not_ahead() -> None:
    """So that nothing that is taken today is refused after the limit, or the clock, was set back."""
    life = Life(Limits(ahead_max=None))
    assert life.taken("S", FAR - 5) == 1
    life.kernel.step(Reconfigure(Limits(), open_access()), life.now)
    assert life.taken("T", FAR - 5) == 1
    answer = life.publish("T", FAR)
    assert isinstance(answer, Published)
    assert [each.code for each in answer.refused] == ["early"]


def test_off_any_time_is_taken() -> None:
    life = Life(Limits(ahead_max=None))
    assert life.taken("S", life.now, FAR) == 2
    life.now += 500 * DAY
    assert life.taken("S", clock=True) == 1


def test_step_by_step_nobody_gets_further_ahead_than_the_limit() -> None:
    """It is measured from the clock: newest times would let one climb a day at a time."""
    life = Life()
    for step in range(1, 50):
        life.publish("S", life.now + step * DAY // 2)
    assert life.kernel.statistics()["broker"]["events_refused_early"] == 47
    assert life.taken("T", life.now + DAY) == 1


def test_a_time_that_is_none_refuses_the_batch_as_before() -> None:
    life = Life()
    for times in (("x", FAR), (FAR, None), (FAR + 1, 5), (True, FAR)):
        answer = life.publish("S", *times)
        assert isinstance(answer, Failure), times
        assert answer.code == "event"


# ---- the clock ----


def test_a_clock_that_jumps_ahead_for_a_moment_is_not_believed() -> None:
    life = Life()
    assert life.taken("S", clock=True) == 1
    life.now += 10_000 * DAY
    answer = life.publish("S", clock=True)
    assert isinstance(answer, Failure)
    assert (answer.code, answer.retry) == ("busy", CLOCK_SETTLES_MICROSECONDS)
    assert "the broker's clock has jumped ahead by 864,000,000 s" in answer.message
    assert life.taken("S", life.now) == 0, "nor by who says the same time itself"
    life.now -= 10_000 * DAY - SECOND
    assert life.taken("T", life.now) == 1
    assert life.taken("S", clock=True) == 1


def test_a_clock_that_is_behind_for_a_moment_changes_nothing() -> None:
    life = Life()
    assert life.taken("S", clock=True) == 1
    life.now -= 10_000 * DAY
    assert life.taken("S", clock=True) == 1, "at the newest time"
    assert life.taken("T", life.now + 10_000 * DAY + SECOND) == 1, "what was right a moment ago"
    life.now += 10_000 * DAY + 2 * SECOND
    assert life.taken("S", clock=True) == 1
    assert life.taken("T", life.now + DAY) == 1


def test_a_clock_that_goes_on_behind_is_believed() -> None:
    life = Life()
    life.now -= 10_000 * DAY
    for _ in range(CLOCK_SETTLES_MICROSECONDS // SECOND + 1):
        life.kernel.step(Tick(), life.now)
        life.now += SECOND
    assert life.taken("T", life.now + 2 * DAY) == 0
    assert life.taken("S", clock=True) == 1


def test_a_clock_that_goes_on_where_it_has_jumped_to_is_believed() -> None:
    life = Life()
    assert life.taken("S", clock=True) == 1
    life.now += 3 * DAY  # the machine has slept
    for _ in range(CLOCK_SETTLES_MICROSECONDS // SECOND):
        assert isinstance(life.publish("S", clock=True), Failure)
        life.now += SECOND
        life.kernel.step(Tick(), life.now)
    assert life.taken("S", clock=True) == 1
    assert life.taken("S", life.now) == 1


@given(st.lists(st.integers(-3 * DAY, 3 * DAY) | st.integers(0, 2 * SECOND), max_size=40))
def test_no_clock_stamps_what_is_far_ahead_of_all_that_it_has_shown_for_a_while(steps: list[int]) -> None:
    ahead = ClockGuard(DAY)
    now, believed = 100 * DAY, 100 * DAY
    ahead.observe(now)
    for step in steps:
        now += step
        ahead.observe(now)
        latest = ahead.latest(None)
        assert latest is not None
        if latest != believed + DAY:
            assert latest == now + DAY, "only what the clock shows is believed"
        believed = latest - DAY
        if believed != now:
            assert abs(now - believed) > DAY
        if now <= believed:
            ahead.check_clock(now)


def test_a_clock_that_jumps_ahead_again_is_not_believed_for_that() -> None:
    ahead, now = ClockGuard(DAY), 0
    ahead.observe(now)
    for jumped in (400 * DAY, 401 * DAY, 401 * DAY + 3 * CLOCK_SETTLES_MICROSECONDS, 900 * DAY):
        for second in range(0, CLOCK_SETTLES_MICROSECONDS, SECOND):
            ahead.observe(jumped + second)
            assert ahead.latest(None) == DAY
    ahead.observe(900 * DAY + CLOCK_SETTLES_MICROSECONDS)
    assert ahead.latest(None) == 901 * DAY + CLOCK_SETTLES_MICROSECONDS


# ---- setting back ----


def results(sends: list[Send]) -> list[tuple[int, int]]:
    return [(line["start"], line["end"]) for line in lines(sends)]


def poisoned() -> Life:
    """A broker of before there was a limit: one event of S is at the end of time."""
    life = Life(Limits(ahead_max=None))
    for stream in "ST":
        query = f"SELECT * FROM {stream} NEXT{{}} {stream}"
        life.say(Subscribe(3, f"pairs{stream}", "cayuga", query, None, None, None, 100, durable=f"c{stream}"))
    assert life.taken("T", life.now) == 1
    assert life.taken("S", life.now + 1, FAR) == 2
    return life


def test_a_stream_whose_time_was_none_begins_anew_and_the_others_go_on() -> None:
    life = poisoned()
    now = life.now
    assert life.taken("T", now + 2) == 0
    assert life.say(ResetTime(7, "S"))[0].message == TimeResetMessage(7, now, "T")
    assert results(life.say(Publish(8, "T", (now + 3,), ((1,),), None, None))) == [(now, now + 3)]
    assert results(life.say(Publish(9, "S", (now + 4, now + 5), ((1,), (2,)), None, None))) == [(now + 4, now + 5)]
    assert life.written[-3] == TimeWasReset("S", now)


def test_it_is_so_after_a_crash_too() -> None:
    life = poisoned().end()
    assert life.taken("T", life.now + 2) == 0, "through restarts"
    life.say(ResetTime(7, "S"))
    life = life.end()
    assert life.taken("T", life.now + 2) == 1
    assert life.taken("S", life.now + 3, life.now + 4) == 2
    again = life.end()
    for name in ("cS", "cT"):
        before, behind = life.history.cursors.find(name), again.history.cursors.find(name)
        assert before is not None
        assert behind is not None
        assert before.save() == behind.save()
        assert before.last > 0


def test_where_no_other_stream_has_a_time_there_is_none() -> None:
    life = Life(Limits(ahead_max=None))
    assert life.taken("S", FAR) == 1
    assert life.say(ResetTime(7, "S"))[0].message == TimeResetMessage(7, None, None)
    assert life.taken("T", 5) == 1
    answer = life.say(ResetTime(7, "T"))[0].message
    assert answer == TimeResetMessage(7, None, None), "that of S is none any more"


def test_what_is_reset_must_be_there() -> None:
    (send,) = Life().say(ResetTime(7, "nothing"))
    assert isinstance(send.message, Failure)
    assert send.message.code == "unknown-stream"


def test_resetting_is_an_administrators_and_a_refusal_says_nothing() -> None:
    rig = GuardedRig()
    rig.say(BEN, subscribe("all", "SELECT * FROM Secret"))
    rig.say(BEN, guarded_publish("Secret", 1))
    there, not_there = rig.refusal(ANN, ResetTime(5, "Secret")), rig.refusal(ANN, ResetTime(5, "Sekret"))
    assert there == "stream 'Secret': user 'ann' is not an administrator"
    assert there.replace("Secret", "Sekret") == not_there
    assert isinstance(rig.ask(OPS, ResetTime(5, "Secret")), TimeResetMessage)


def test_a_forecast_that_is_open_is_censored() -> None:
    life = Life()
    forecast = {"within": 5, "threshold": 0.0}
    query = "SELECT * FROM FILTER{x = 0}(S) NEXT{} FILTER{x = 1}(S)"
    life.say(Subscribe(3, "foretold", "cayuga", query, None, None, forecast, 1_000))
    for step in range(20):
        life.taken("S", life.now + 2 * step, life.now + 2 * step + 1)
    opened = life.say(Publish(8, "S", (life.now + 100,), ((0,),), None, None))
    assert [line["kind"] for line in lines(opened)] == ["forecast"]
    told = lines(life.say(ResetTime(9, "S")))
    assert [(line["kind"], line["outcome"]) for line in told] == [("resolution", "censored")]


# ---- an engine by itself ----


def test_an_engine_has_no_such_limit() -> None:
    """`foretell run` and histories have no clock that their events could be ahead of."""
    engine = Engine()
    engine.add_stream("S", {"x": "int"})
    engine.publish("S", [5, FAR], [(1,), (2,)])
    assert engine.now == FAR


@pytest.mark.parametrize("number", [1, 2])
def test_a_repetition_of_what_was_refused_is_answered_alike(number: int) -> None:
    life = Life()
    message = Publish(8, "S", (life.now, FAR), ((1,), (2,)), None, None, "p", number)
    first = life.say(message)[0].message
    life.now += SECOND
    assert life.say(replace(message, correlation=9))[0].message == replace(first, correlation=9)
