"""Results that a cursor tells again: from a position, from a time, when time passes; and which cursor is meant."""

from __future__ import annotations

import pytest
from doubles.durable_reader import FIRST, attached, durable, told
from doubles.kernel_rig import ANN, BEN, SECOND, Rig, publish

from broker.kernel import Gone, Limits, Send, Tick
from broker.wire import (
    VERSION,
    Acknowledge,
    Credit,
    Done,
    Failure,
    Forget,
    Hello,
    ListSubscriptions,
    Subscribed,
    Subscriptions,
    Unsubscribe,
    Welcome,
)

Told = list[tuple[int, str, bool]]


def again(first: int, last: int) -> Told:
    return [(position, f"all-{position}", True) for position in range(first, last + 1)]


def read(rig: Rig, count: int, acknowledged: int, **options: int) -> None:
    """So many results come to a new cursor, and so many are acknowledged; then its reader leaves."""
    rig.ask(durable(**options))
    for number in range(1, count + 1):
        rig.say(BEN, publish([10 * number], [number]))
    rig.ask(Acknowledge(7, "all", acknowledged))
    rig.ask(Unsubscribe(8, "all"))


def test_what_was_acknowledged_comes_again_from_a_position_on_and_stays_acknowledged() -> None:
    rig = Rig()
    read(rig, 5, 3, retain=10)
    assert attached(rig, durable(replay=2)) == (2, again(2, 5))
    assert rig.ask(Acknowledge(7, "all", 2)) == Done(7)
    rig.ask(Unsubscribe(8, "all"))
    assert attached(rig, durable()) == (4, again(4, 5))
    page = rig.answer(Subscriptions, ListSubscriptions(9, ""))
    assert [entry.cursors for entry in page.entries] == [{"mine": 2}]
    assert rig.kernel.statistics()["broker"]["cursors_kept"] == 5
    assert rig.kernel.statistics()["broker"]["notifications_redelivered"] == 6


def test_a_replay_may_leave_out_and_begins_at_the_latest_with_what_comes() -> None:
    rig = Rig()
    read(rig, 5, 1, retain=10)
    assert attached(rig, durable(replay=4)) == (4, again(4, 5))
    assert rig.ask(Acknowledge(7, "all", 3)) == Done(7)
    rig.ask(Unsubscribe(8, "all"))
    assert attached(rig, durable(replay=99)) == (6, [])
    assert told(rig.say(BEN, publish([60], [6]))) == [(6, "all-6", False)]


def test_what_is_not_kept_any_more_is_told_as_a_gap() -> None:
    rig = Rig()
    read(rig, 6, 5, retain=2)
    assert attached(rig, durable(replay=1)) == (1, [(3, "missed 3 durable_retained", True), *again(4, 6)])
    rig.ask(Unsubscribe(8, "all"))
    assert attached(rig, durable(replay=4)) == (4, again(4, 6))


@pytest.mark.parametrize(("time", "first"), [(35, 4), (40, 4), (20, 2), (51, 6)])
def test_a_replay_from_a_time(time: int, first: int) -> None:
    rig = Rig()
    read(rig, 5, 4, retain=10)
    assert attached(rig, durable(since=time)) == (first, again(first, 5))


def test_before_a_time_of_which_something_may_be_gone_there_is_a_gap_that_nobody_has_counted() -> None:
    rig = Rig()
    read(rig, 5, 4, retain=2)
    assert attached(rig, durable(since=30, credits=1)) == (2, [(2, "missed None durable_retained", True)])
    assert told(rig.say(ANN, Credit(0, "all", 9))) == again(3, 5)
    rig.ask(Unsubscribe(8, "all"))
    assert attached(rig, durable(since=31)) == (4, again(4, 5))
    rig = Rig()
    read(rig, 2, 2)  # nothing is kept
    assert attached(rig, durable(since=20)) == (2, [(2, "missed None durable_retained", True)])


def test_how_much_is_retained_is_said_once_and_bounded() -> None:
    rig = Rig(Limits(durable_retained=5))
    assert rig.refusal(durable(retain=6)) == (
        "limit", "durable_retained: this broker keeps at most 5 acknowledged results of a cursor, found 6",
    )  # fmt: skip
    read(rig, 1, 1, retain=5)
    assert rig.refusal(durable(retain=4)) == ("definition", "cursor 'mine': it retains 5 results, found 4")
    assert attached(rig, durable(retain=5)) == (2, [])


def test_a_cursor_that_was_made_anew_takes_nothing_that_was_meant_for_the_earlier_one() -> None:
    rig = Rig()
    read(rig, 3, 0)
    rig.ask(Forget(7, "mine"))
    answer = rig.answer(Subscribed, durable())
    assert answer.incarnation == FIRST + 1
    rig.say(BEN, publish([40, 50, 60], [4, 5, 6]))
    code, text = rig.refusal(Acknowledge(7, "all", 2, FIRST))
    assert (code, text) == (
        "unknown-subscription", "cursor 'mine' was forgotten and created anew: position 2 belongs to the earlier one",
    )  # fmt: skip
    assert rig.ask(Acknowledge(7, "all", 1, FIRST + 1)) == Done(7)
    for meant in ({"after": 2}, {"replay": 3}):
        rig.ask(Unsubscribe(8, "all"))
        assert attached(rig, durable(incarnation=FIRST, **meant))[0] == 2
        rig.ask(Unsubscribe(8, "all"))
        assert attached(rig, durable(incarnation=FIRST + 1, **meant))[0] == 3


def ticks(rig: Rig, seconds: int) -> list[Send]:
    sends: list[Send] = []
    for _ in range(seconds):
        rig.now += SECOND
        sends += rig.kernel.step(Tick(), rig.now).sends
        rig.kernel.check_invariants()
    return sends


def test_what_is_not_acknowledged_in_time_is_sent_again() -> None:
    rig = Rig(Limits(silence_seconds=10_000))
    rig.ask(durable(within=3 * SECOND))
    rig.say(BEN, publish([10, 20, 30], [1, 2, 3]))
    assert told(ticks(rig, 3)) == []
    assert told(ticks(rig, 1)) == again(1, 3)
    rig.ask(Acknowledge(7, "all", 1))
    assert told(ticks(rig, 3)) == []
    assert told(ticks(rig, 1)) == again(2, 3)
    rig.ask(Acknowledge(7, "all", 3))
    assert told(ticks(rig, 9)) == []


def test_a_late_acknowledgement_is_taken_and_ends_what_is_being_sent_again() -> None:
    rig = Rig(Limits(silence_seconds=10_000))
    rig.ask(durable(within=SECOND, credits=4))
    rig.say(BEN, publish([10, 20, 30], [1, 2, 3]))
    assert told(ticks(rig, 2)) == again(1, 1)  # as far as there are credits
    assert rig.ask(Acknowledge(7, "all", 2)) == Done(7)
    assert told(rig.say(ANN, Credit(0, "all", 5))) == again(3, 3)


def test_time_does_nothing_to_whoever_has_no_connection_or_reads_again_from_before() -> None:
    rig = Rig(Limits(silence_seconds=10_000))
    welcome = rig.answer(Welcome, Hello(1, VERSION, "test", b""), b"new")
    rig.ask(durable(within=SECOND, retain=9), b"new")
    rig.say(BEN, publish([10, 20, 30], [1, 2, 3]))
    rig.ask(Acknowledge(7, "all", 2), b"new")
    rig.kernel.step(Gone(b"new"), rig.now)
    assert told(ticks(rig, 9)) == []
    rig.say(b"back", Hello(1, VERSION, "test", welcome.session))
    asked = durable(received=3, within=SECOND, replay=1, credits=1, retain=9)
    assert attached(rig, asked, b"back")[1] == again(1, 1)
    assert told(ticks(rig, 9)) == []
    assert told(rig.say(b"back", Credit(0, "all", 9))) == again(2, 3)
    assert told(ticks(rig, 2)) == again(3, 3)


def test_a_clock_that_steps_back_only_makes_it_later() -> None:
    rig = Rig(Limits(silence_seconds=10_000))
    rig.ask(durable(within=2 * SECOND))
    rig.say(BEN, publish([10], [1]))
    ticks(rig, 2)
    rig.now -= 500 * SECOND
    assert told(ticks(rig, 2)) == []
    assert told(ticks(rig, 2)) == again(1, 1)


def test_a_refused_attachment_leaves_no_timer() -> None:
    rig = Rig(Limits(durable_cursors=1))
    rig.ask(durable(within=SECOND))
    _, refused = rig.say(BEN, durable(within=SECOND))
    assert isinstance(refused.message, Failure)
    rig.kernel.step(Gone(ANN), rig.now)
    rig.say(BEN, publish([10], [1]))
    assert told(ticks(rig, 9)) == []
