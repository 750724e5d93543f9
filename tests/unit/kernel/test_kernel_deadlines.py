"""What comes after its deadline is not begun, and is as if it had never come."""

from __future__ import annotations

from dataclasses import replace

from doubles.kernel_rig import ANN, SECOND, Rig, publish, subscribe
from hypothesis import given
from hypothesis import strategies as st

from broker.kernel import receipts
from broker.wire import VERSION, Failure, Hello, Published, Subscribed, Welcome

NEW = b"new"


def test_the_clock_is_told_and_what_is_late_is_refused_by_it() -> None:
    rig = Rig()
    welcome = rig.answer(Welcome, Hello(1, VERSION, ""), NEW)
    assert welcome.clock == rig.now
    batch = replace(publish([1], [1]), deadline=rig.now)
    assert isinstance(rig.ask(batch, NEW), Published), "in time to the microsecond"
    rig.now += 2 * SECOND
    refused = rig.ask(batch, NEW)
    reason = "the deadline was 2.000 s ago, before the broker began the request: nothing was done"
    assert refused == Failure(6, "expired", reason, clock=rig.now)
    assert rig.engine.taken == [1]
    assert rig.kernel.statistics()["broker"]["batches_expired"] == 1


def test_a_subscription_that_is_late_is_not_there() -> None:
    rig = Rig()
    request = replace(subscribe(), deadline=rig.now - 1)
    assert rig.refusal(request)[0] == "expired"
    assert rig.engine.subscriptions == {}
    assert rig.ask(replace(request, deadline=rig.now)) == Subscribed(5, "all", False)


def test_what_was_taken_is_answered_as_then_however_late_it_is_said_again() -> None:
    rig = Rig()
    batch = replace(publish([1], [1]), publisher="p", number=1, deadline=rig.now)
    first = rig.ask(batch)
    rig.now += SECOND
    assert rig.ask(batch) == first
    assert rig.engine.taken == [1]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=30))
def test_numbers_that_have_expired_leave_no_holes(story: list[tuple[bool, int]]) -> None:
    """Any of them late, and then or later said again in time: each is taken once, and later ones all the same."""
    rig = Rig()
    late: list[int] = []
    expected: list[int] = []

    def say(number: int, deadline: int) -> object:
        return rig.ask(replace(publish(None, [number]), publisher="p", number=number, deadline=deadline))

    for number, (in_time, again) in enumerate(story):
        answer = say(number, rig.now if in_time else rig.now - 1)
        assert isinstance(answer, Published) == in_time
        if in_time:
            expected.append(number)
        else:
            late.append(number)
        for _ in range(min(again, len(late))):
            expected.append(late.pop())
            assert isinstance(say(expected[-1], rig.now + 1), Published)
    answers = [say(number, 0) for number in expected]
    assert all(isinstance(answer, Published) for answer in answers), "they are known"
    assert len(rig.engine.taken) == len(expected)


def test_after_many_that_have_expired_the_next_is_taken() -> None:
    rig = Rig()
    for number in range(receipts.PUBLISHER_RECEIPTS_MAX + 10):
        batch = replace(publish(None, [number]), publisher="p", number=number, deadline=rig.now - 1)
        assert rig.refusal(batch, ANN)[0] == "expired"
    first = replace(publish(None, [1]), publisher="p", number=0, deadline=rig.now)
    assert isinstance(rig.ask(first), Published), "nothing was kept of them"
