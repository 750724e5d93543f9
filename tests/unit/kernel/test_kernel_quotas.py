"""What one user may use at a time, over all its connections, and what it is told when it is more."""

from __future__ import annotations

import pytest
from doubles.guarded_rig import ANN, BEN, Rig, publish, subscribe
from hypothesis import given
from hypothesis import strategies as st

from broker.events import DefinitionError
from broker.kernel import Gone, Quota, Received, User
from broker.kernel.accounts import UserAccount
from broker.wire import VERSION, Busy, Failure, Goodbye, Hello, Published, Subscribed, Unsubscribe, Welcome

AGAIN = b"again"


def rig(**quota: int) -> Rig:
    everything = ("*",)
    users = [User(name, everything, everything, everything, quota=Quota(**quota)) for name in ("ann", "ben")]
    return Rig(dict(zip((ANN, BEN), users)))


def test_connections_are_counted_over_the_user() -> None:
    broker = rig(connections=1)
    (refused,) = broker.say(ANN, Hello(1, VERSION, ""), AGAIN)
    assert isinstance(refused.message, Failure)
    assert (refused.message.code, refused.message.message) == (
        "limit",
        "quota connections: user 'ann' may have 1, and would have 2",
    )
    broker.kernel.step(Gone(b"a"), 0)
    assert isinstance(broker.say(ANN, Hello(1, VERSION, ""), AGAIN)[0].message, Welcome)


def test_subscriptions_are_counted_over_all_connections() -> None:
    broker = rig(subscriptions=2)
    broker.say(ANN, Hello(1, VERSION, ""), AGAIN)
    broker.say(ANN, subscribe("a", "SELECT * FROM Stock"))
    broker.say(ANN, subscribe("b", "SELECT * FROM Stock"), AGAIN)
    refused = broker.answer(Failure, ANN, subscribe("c", "SELECT * FROM Stock"))
    assert refused.message == "quota subscriptions: user 'ann' may have 2, and would have 3"
    assert isinstance(broker.ask(BEN, subscribe("c", "SELECT * FROM Stock")), Subscribed)
    broker.say(ANN, Goodbye(9), AGAIN)
    assert isinstance(broker.ask(ANN, subscribe("c", None)), Subscribed)


def test_states_are_those_of_the_automata_and_come_back() -> None:
    broker = rig(states=5)
    two = "SELECT * FROM Stock NEXT{} Stock"
    broker.say(ANN, subscribe("a", two))
    broker.say(ANN, subscribe("b", two))
    refused = broker.answer(Failure, ANN, subscribe("c", "SELECT * FROM Stock NEXT{} Stock NEXT{} Stock NEXT{} Stock"))
    assert refused.message.startswith("quota states: user 'ann' may have 5, and would have ")
    assert sorted(broker.engine.subscriptions) == ["a", "b"]
    broker.say(ANN, Unsubscribe(4, "a"))
    assert isinstance(broker.ask(ANN, subscribe("c", two)), Subscribed)


def test_the_rate_is_refused_as_busy_and_says_when() -> None:
    broker = rig(events_per_second=2)
    key = b"a"
    assert isinstance(broker.ask(ANN, publish("Stock", 1, 2, 3, 4)), Published)
    refused = broker.answer(Failure, ANN, publish("Stock", 5))
    assert (refused.code, refused.retry) == ("busy", 1_000_000)
    assert refused.message.endswith("may publish 2 events a second; try again in 1 s")
    assert isinstance(broker.ask(BEN, publish("Stock", 5)), Published), "it is nobody else's quota"
    (send,) = broker.kernel.step(Received(key, publish("Stock", 20), ANN), 2_000_000).sends
    assert isinstance(send.message, Published)


@given(
    st.integers(1, 5_000),
    st.lists(st.tuples(st.integers(0, 3_000_000), st.integers(1, 8_192)), min_size=1, max_size=40),
)
def test_on_average_no_more_than_the_rate(rate: int, story: list[tuple[int, int]]) -> None:
    """Whoever tries as often as it likes gets through what the rate allows, and one second and one batch more."""
    account = UserAccount(User("u", quota=Quota(events_per_second=rate)))
    now = begin = 10_000_000
    taken, largest = 0, 0
    for pause, events in story:
        now += pause
        now += wait(account, now)
        account.check_rate(now)  # it is as it was said
        account.spend(events, now)
        taken += events
        largest = max(largest, events)
        assert taken <= rate * (now - begin) / 1_000_000 + rate + largest + len(story)


def wait(account: UserAccount, now: int) -> int:
    """How long the account says one has to wait."""
    try:
        account.check_rate(now)
    except Busy as busy:
        return busy.retry
    return 0


def test_a_clock_that_steps_back_makes_nobody_wait_for_long() -> None:
    account = UserAccount(User("u", quota=Quota(events_per_second=8_192)))
    account.spend(8_192, 10**15)
    account.spend(8_192, 10**15)
    with pytest.raises(Busy) as caught:
        account.check_rate(0)
    assert caught.value.retry <= 1_000_000


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "5"])
def test_a_quota_is_a_number(value: object) -> None:
    with pytest.raises(DefinitionError, match=r"quota\.states: expected a whole number from 1 on"):
        Quota(states=value)  # type: ignore[arg-type]
