"""Sessions that outlive their connection: who gets one back, for how long, and what waits in it meanwhile."""

from __future__ import annotations

import pytest
from doubles.guarded_rig import ANN, BEN, USERS
from doubles.guarded_rig import Rig as GuardedRig
from doubles.kernel_rig import BEN as PUBLISHER
from doubles.kernel_rig import SECOND, Rig, publish, subscribe

from broker.kernel import Access, ContinueBatch, Drain, Gone, Limits, Received, Reconfigure, Send, Stop, Tick
from broker.wire import (
    VERSION,
    Closing,
    Credit,
    Failure,
    Hello,
    Message,
    Notifications,
    Subscribe,
    Subscribed,
    Unsubscribe,
    Welcome,
    decode_result,
)

OLD, NEW = b"old", b"new"


def opened(rig: Rig, key: bytes, session: bytes | None = b"") -> bytes | None:
    (send,) = rig.say(key, Hello(1, VERSION, "", session))
    assert isinstance(send.message, Welcome), send.message
    return send.message.session


def again(received: int, credits: int = 100) -> Subscribe:
    return Subscribe(5, "all", "cayuga", "every S", None, None, None, credits, received)


def numbers(sends: list[Send]) -> list[int]:
    """The `end` of every match, after checking that they are numbered without a gap."""
    found: list[int] = []
    for send in sends:
        if isinstance(send.message, Notifications):
            found += [decode_result(result).get("end", -1) for result in send.message.results]
    return found


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_only_who_asks_for_it_can_be_resumed(rig: Rig) -> None:
    assert opened(rig, OLD, None) is None
    assert opened(rig, NEW) is not None
    for key in (OLD, NEW):
        rig.kernel.step(Gone(key), rig.now)
    broker = rig.kernel.statistics()["broker"]
    assert (broker["sessions"], broker["sessions_away"]) == (2, 1)


def test_who_has_vanished_makes_room_for_who_comes_the_oldest_first() -> None:
    rig = Rig(Limits(sessions=4))
    tokens = []
    for key in (b"1", b"2"):
        tokens.append(opened(rig, key))
        rig.say(key, subscribe(key.decode().replace("1", "one").replace("2", "two")))
        rig.kernel.step(Gone(key), rig.now)
        rig.now += SECOND
    assert opened(rig, b"3") is not None
    broker = rig.kernel.statistics()["broker"]
    assert (broker["sessions"], broker["sessions_away"], broker["sessions_displaced"]) == (3, 1, 1)
    assert list(rig.engine.subscriptions) == ["two"], "what it had subscribed to goes with it"
    assert opened(rig, NEW, tokens[0]) != tokens[0], "a new session, in the place of the second"
    assert rig.refusal(Hello(1, VERSION, "", b""), b"5")[0] == "limit", "who is there stays"
    rig.kernel.step(Gone(b"3"), rig.now)
    assert opened(rig, b"5") is not None


def test_nobody_is_displaced_in_the_middle_of_a_batch() -> None:
    rig = Rig(Limits(sessions=3))
    opened(rig, OLD)
    rig.kernel.step(Gone(OLD), rig.now)
    rig.kernel.step(Received(PUBLISHER, publish([1, 2, 3], [0] * 3), events=1), rig.now)
    assert rig.kernel.work is not None
    (answer,) = rig.kernel.step(Received(NEW, Hello(1, VERSION, "", None)), rig.now).sends
    assert isinstance(answer.message, Failure)
    rig.kernel.step(ContinueBatch(None), rig.now)
    assert opened(rig, NEW) is not None


def test_what_is_not_kept_is_told_as_a_gap_with_its_number() -> None:
    rig = Rig(Limits(queue_bytes=200))
    token = opened(rig, OLD)
    rig.say(OLD, subscribe(credits=100))
    rig.say(PUBLISHER, publish(list(range(1, 21)), [0] * 20))
    sent = rig.kernel.statistics()["broker"]["notifications_sent"]
    opened(rig, NEW, token)
    _, notified = rig.say(NEW, again(2))
    assert isinstance(notified.message, Notifications)
    assert notified.message.first == 3
    gap, *kept = [decode_result(result) for result in notified.message.results]
    assert (gap["kind"], gap["limit"]) == ("incomplete", "queue_bytes")
    assert gap["missed"] == sent - 2 - len(kept)
    assert [line["end"] for line in kept] == list(range(21 - len(kept), 21))
    assert rig.kernel.statistics()["broker"]["notifications_missed"] == gap["missed"]


def test_a_number_that_cannot_be_is_refused(rig: Rig) -> None:
    token = opened(rig, OLD)
    rig.say(OLD, subscribe())
    opened(rig, NEW, token)
    assert rig.refusal(again(1), NEW) == ("protocol", "subscription 'all': 0 were sent, 1 cannot be received")


def test_it_is_kept_for_so_long_and_no_longer() -> None:
    rig = Rig(Limits(resume_seconds=10))
    token = opened(rig, OLD)
    rig.say(OLD, subscribe())
    rig.kernel.step(Gone(OLD), rig.now)
    rig.kernel.step(Tick(), rig.now + 9 * SECOND)
    assert "all" in rig.engine.subscriptions
    rig.kernel.step(Tick(), rig.now + 10 * SECOND)
    rig.kernel.check_invariants()
    assert rig.engine.subscriptions == {}
    assert opened(rig, NEW, token) not in (None, token), "another session, with another token"
    assert rig.ask(again(3), NEW) == Subscribed(5, "all", False)


def test_a_loss_that_is_told_twice_is_one_loss() -> None:
    """A request that was on the way when the connection ended is answered, and the answer reaches nobody."""
    rig = Rig(Limits(resume_seconds=10))
    token = opened(rig, OLD)
    rig.say(OLD, subscribe())
    rig.kernel.step(Gone(OLD), rig.now)
    rig.say(PUBLISHER, publish([1], [1]))
    (late,) = rig.say(OLD, Credit(0, "all", 5))
    assert isinstance(late.message, Failure)
    rig.kernel.step(Gone(OLD), rig.now + 5 * SECOND)
    rig.kernel.check_invariants()
    assert opened(rig, NEW, token) == token
    answer, notified = rig.say(NEW, again(0))
    assert answer.message == Subscribed(5, "all", True, True)
    assert numbers([notified]) == [1]
    rig.kernel.step(Gone(NEW), rig.now)
    rig.kernel.step(Gone(NEW), rig.now + 5 * SECOND)
    rig.kernel.step(Tick(), rig.now + 10 * SECOND)
    assert rig.engine.subscriptions == {}, "the first loss counts, not the last word of it"


def test_what_is_given_up_after_the_loss_goes(rig: Rig) -> None:
    token = opened(rig, OLD)
    rig.say(OLD, subscribe())
    rig.kernel.step(Gone(OLD), rig.now)
    opened(rig, NEW, token)
    rig.say(NEW, Unsubscribe(4, "all"))
    assert rig.engine.subscriptions == {}


def test_tokens_cannot_be_guessed_or_told_from_each_other(rig: Rig) -> None:
    tokens = [opened(rig, b"s%d" % number) for number in range(20)]
    assert len(set(tokens)) == 20
    assert all(token is not None and len(token) == 16 for token in tokens)
    other = Rig()
    other.kernel._sessions._secret = b"of another broker"
    assert opened(other, OLD) not in tokens
    assert opened(rig, NEW, b"a token that nobody has") not in tokens


def test_those_who_are_away_come_back_also_where_there_are_as_many_as_may_be() -> None:
    rig = Rig(Limits(sessions=3))
    token = opened(rig, OLD)
    rig.kernel.step(Gone(OLD), rig.now)
    assert opened(rig, NEW, token) == token
    assert rig.refusal(Hello(1, VERSION, ""), b"more")[0] == "limit"


def test_a_broker_that_stops_keeps_nobody(rig: Rig) -> None:
    token = opened(rig, OLD)
    rig.say(OLD, subscribe(credits=1))
    rig.kernel.step(Drain(), rig.now)
    assert rig.refusal(Hello(1, VERSION, "", token), NEW)[0] == "busy"
    rig.kernel.step(Gone(OLD), rig.now)
    rig.kernel.check_invariants()
    assert rig.engine.subscriptions == {}
    assert [type(send.message) for send in rig.kernel.step(Stop("the end"), rig.now).sends] == [Closing, Closing]


# ---- with keys ----


def token_of(rig: GuardedRig, identity: str) -> bytes:
    (send,) = rig.say(identity, Hello(1, VERSION, "", b""), OLD)
    assert isinstance(send.message, Welcome)
    assert send.message.session is not None
    return send.message.session


def test_a_session_that_was_overheard_is_of_no_use_to_another_key() -> None:
    rig = GuardedRig()
    token = token_of(rig, ANN)
    wanted = Subscribe(2, "ann.all", "cayuga", "SELECT * FROM Stock", None, None, None, 9)
    rig.say(ANN, wanted, OLD)
    (send,) = rig.say(BEN, Hello(1, VERSION, "", token), NEW)
    assert isinstance(send.message, Welcome)
    assert send.message.session != token, "ben has a session of his own"
    (send,) = rig.say(ANN, Hello(1, VERSION, "", token), b"newer")
    assert isinstance(send.message, Welcome)
    assert send.message.session == token


def test_who_is_away_loses_what_is_not_allowed_any_more() -> None:
    rig = GuardedRig()
    token = token_of(rig, ANN)
    rig.say(ANN, Subscribe(2, "ann.all", "cayuga", "SELECT * FROM Stock", None, None, None, 9), OLD)
    rig.kernel.step(Gone(OLD), 0)
    rig.kernel.step(Reconfigure(Limits(), Access({key: user for key, user in USERS.items() if key != ANN})), 0)
    rig.kernel.check_invariants()
    assert list(rig.engine.subscriptions) == []
    refused: Message = rig.say(ANN, Hello(1, VERSION, "", token), NEW)[0].message
    assert isinstance(refused, Failure)
    assert refused.code == "permission"
