"""Durable subscriptions as the kernel decides: who has a cursor, what it keeps, and that the records say all of it."""

from __future__ import annotations

import pytest
from doubles.durable_reader import FIRST, attached, durable, told
from doubles.guarded_rig import ANN as ANN_KEY
from doubles.guarded_rig import BEN as BEN_KEY
from doubles.guarded_rig import OPS as OPS_KEY
from doubles.guarded_rig import Rig as GuardedRig
from doubles.kernel_rig import ANN, BEN, SECOND, Rig, publish, subscribe

from broker.engine import Engine, Match
from broker.engine.shares import MADE_AT_ONCE_MAX, Share
from broker.kernel import Cursors, Gone, Kernel, Limits, Quota, Received, Send, Tick, User
from broker.kernel.records import CursorAdded, CursorMoved, StreamDeclared, SubscriptionAdded, SubscriptionRemoved
from broker.server.replicated_state import ReplicatedState
from broker.wire import (
    VERSION,
    Acknowledge,
    Credit,
    Done,
    Failure,
    Forget,
    Hello,
    ListSubscriptions,
    Notifications,
    Probe,
    Subscribe,
    Subscribed,
    Subscriptions,
    Unsubscribe,
    Welcome,
    decode_result,
)

NEW = b"new"


def test_what_is_found_is_kept_with_positions_whether_or_not_somebody_is_there() -> None:
    rig = Rig()
    assert rig.ask(durable()) == Subscribed(5, "all", False, False, "memory", 1, FIRST)
    assert told(rig.say(BEN, publish([1, 2], [1, 2]))) == [(1, "all-1", False), (2, "all-2", False)]
    assert rig.ask(Acknowledge(7, "all", 1)) == Done(7)
    assert rig.ask(Unsubscribe(8, "all")) == Done(8)
    rig.say(BEN, publish([3], [3]))
    answer, *rest = rig.say(ANN, durable())
    assert answer.message == Subscribed(5, "all", True, False, "memory", 2, FIRST)
    assert told(rest) == [(2, "all-2", True), (3, "all-3", False)]
    assert rig.ask(Acknowledge(9, "all", 3)) == Done(9)
    assert rig.kernel.statistics()["broker"]["cursors_kept"] == 0


@pytest.mark.parametrize(
    "limits", [Limits(durable_notifications=2), Limits(durable_bytes=330)], ids=["notifications", "bytes"]
)
def test_the_oldest_is_dropped_and_the_gap_told_in_its_place(limits: Limits) -> None:
    rig = Rig(limits)
    rig.ask(durable(credits=1))
    assert told(rig.say(BEN, publish([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]))) == [
        (3, "missed 3 durable_notifications", False)
    ]
    assert told(rig.say(ANN, Credit(0, "all", 1))) == [(4, "all-4", False)]
    rig.ask(Unsubscribe(8, "all"))
    again = [(3, "missed 3 durable_notifications", True), (4, "all-4", True), (5, "all-5", False)]
    assert told(rig.say(ANN, durable())) == again
    rig.ask(Acknowledge(9, "all", 3))  # now the gap is known
    rig.ask(Unsubscribe(8, "all"))
    assert told(rig.say(ANN, durable())) == [(4, "all-4", True), (5, "all-5", True)]


def test_an_acknowledgement_is_for_what_was_sent_and_by_who_is_attached() -> None:
    rig = Rig()
    rig.ask(subscribe(), BEN)
    assert rig.refusal(Acknowledge(7, "all", 1), BEN)[0] == "unknown-subscription"
    rig.ask(durable(credits=1))
    rig.say(ANN, publish([1, 2], [1, 2]))
    assert rig.refusal(Acknowledge(7, "all", 2))[0] == "protocol"
    assert rig.ask(Acknowledge(7, "all", 1)) == Done(7)
    assert rig.ask(Acknowledge(7, "all", 1)) == Done(7)
    assert rig.ask(Acknowledge(7, "all", 0)) == Done(7)


def test_one_session_at_a_time_and_a_second_one_has_the_first_probed() -> None:
    rig = Rig()
    rig.ask(durable())
    probe, answer = rig.say(BEN, durable())
    assert probe == Send(ANN, Probe(0))
    assert isinstance(answer.message, Failure)
    assert answer.message.code == "busy"
    assert answer.message.retry
    assert rig.refusal(durable())[0] == "definition"  # its own
    rig.kernel.step(Gone(ANN), rig.now)
    assert isinstance(rig.ask(durable(), BEN), Subscribed)


def test_one_without_a_connection_gives_way() -> None:
    rig = Rig()
    welcome = rig.answer(Welcome, Hello(1, VERSION, "test", b""), NEW)
    rig.ask(durable(), NEW)
    rig.say(BEN, publish([1], [1]))
    rig.kernel.step(Gone(NEW), rig.now)
    assert attached(rig, durable()) == (1, [(1, "all-1", True)])
    rig.say(b"back", Hello(1, VERSION, "test", welcome.session))
    _, refused = rig.say(b"back", durable(received=1, after=1))
    assert isinstance(refused.message, Failure)


def test_who_comes_back_gets_what_has_not_come() -> None:
    rig = Rig()
    welcome = rig.answer(Welcome, Hello(1, VERSION, "test", b""), NEW)
    rig.ask(durable(), NEW)
    rig.say(BEN, publish([1, 2], [1, 2]))
    rig.kernel.step(Gone(NEW), rig.now)
    rig.say(BEN, publish([3], [3]))
    rig.say(b"back", Hello(1, VERSION, "test", welcome.session))
    answer, *rest = rig.say(b"back", durable(received=1, after=1))
    assert answer.message == Subscribed(5, "all", True, True, "memory", 2, FIRST)
    assert told(rest) == [(2, "all-2", True), (3, "all-3", False)]
    assert [send.message.first for send in rest if isinstance(send.message, Notifications)] == [2, 3]


def test_a_cursor_holds_its_subscription_until_it_is_forgotten() -> None:
    rig = Rig()
    rig.ask(durable())
    rig.kernel.step(Gone(ANN), rig.now)
    rig.kernel.step(Tick(), rig.now + 1_000 * SECOND)
    assert set(rig.engine.subscriptions) == {"all"}
    assert rig.refusal(Forget(7, "mind"), BEN) == (
        "unknown-subscription",
        "cursor 'mind' is not known; did you mean 'mine'?",
    )
    assert rig.ask(Forget(7, "mine"), BEN) == Done(7)
    assert set(rig.engine.subscriptions) == set()


def test_to_forget_detaches_oneself_but_nobody_else() -> None:
    rig = Rig()
    rig.ask(durable())
    _, refused = rig.say(BEN, Forget(7, "mine"))
    assert isinstance(refused.message, Failure)
    assert refused.message.code == "busy"
    assert rig.ask(Forget(7, "mine")) == Done(7)
    assert set(rig.engine.subscriptions) == set()
    assert rig.say(BEN, publish([1], [1]))[1:] == []


def test_limits_and_names() -> None:
    rig = Rig(Limits(durable_cursors=1))
    rig.ask(durable())
    rig.ask(subscribe("more"))
    refused = rig.refusal(subscribe("other", durable="second"))[1]
    assert refused == "durable_cursors: this broker keeps at most 1 cursors"
    assert set(rig.engine.subscriptions) == {"all", "more"}
    assert rig.refusal(subscribe("more", durable="mine"), BEN) == (
        "definition", "cursor 'mine' belongs to subscription 'all'",
    )  # fmt: skip
    assert rig.refusal(subscribe("more", durable="a b"), BEN)[0] == "definition"


def test_no_user_has_all_cursors() -> None:
    every = ("*",)
    users = {key: User(name, every, every, every) for key, name in ((ANN_KEY, "ann"), (BEN_KEY, "ben"))}
    rig = GuardedRig(users, limits=Limits(durable_cursors=3, durable_cursors_user=2))

    def asked(identity: str, cursor: str) -> object:
        name = f"{cursor}.{identity[0]}"
        text = "SELECT * FROM Stock"
        return rig.ask(identity, Subscribe(2, name, "cayuga", text, None, None, None, 1, durable=cursor))

    assert isinstance(asked(ANN_KEY, "one"), Subscribed)
    assert isinstance(asked(ANN_KEY, "two"), Subscribed)
    refused = asked(ANN_KEY, "three")
    assert isinstance(refused, Failure)
    assert refused.message == "durable_cursors_user: this broker keeps at most 2 cursors of a user"
    assert isinstance(asked(BEN_KEY, "one"), Subscribed)
    refused = asked(BEN_KEY, "two")
    assert isinstance(refused, Failure)
    assert refused.message == "durable_cursors: this broker keeps at most 3 cursors"
    assert rig.ask(ANN_KEY, Forget(3, "one")) == Done(3)
    assert isinstance(asked(BEN_KEY, "two"), Subscribed)
    anonymous = Rig(Limits(durable_cursors_user=1))
    assert isinstance(anonymous.ask(durable()), Subscribed)
    assert isinstance(anonymous.ask(subscribe("more", durable="second")), Subscribed)


def test_records_say_all_of_it_and_give_the_same_cursors() -> None:
    rig = Rig(Limits(durable_notifications=3))
    rig.kernel = Kernel(rig.engine, Limits(durable_notifications=3), durability="always")
    rig.say(ANN, Hello(1, VERSION, "test"))
    rig.ask(durable())
    added = CursorAdded("mine", "all", "anybody", 3, Limits().durable_bytes, 0, 1_000)
    first, second = rig.recorded()
    assert isinstance(first, SubscriptionAdded)
    assert second == added
    rig.say(ANN, publish([1], [1]))
    rig.recorded()
    rig.ask(Acknowledge(7, "all", 1))
    rig.ask(Acknowledge(7, "all", 1))
    assert rig.recorded() == [CursorMoved("mine", 1)]
    rig.ask(Forget(8, "mine"))
    assert rig.recorded() == [CursorMoved("mine", None), SubscriptionRemoved("all")]


def test_after_a_restart_positions_go_on_and_what_was_found_before_may_have_come() -> None:
    rig = Rig()
    rig.ask(durable(credits=1))
    rig.say(BEN, publish([1, 2, 3], [1, 2, 3]))
    rig.ask(Acknowledge(7, "all", 1))
    saved = Cursors()
    saved.restore(rig.kernel._cursors.save())
    saved.check_invariants()
    kernel = Kernel(rig.engine, durability="always", permanent=(), cursors=saved)
    kernel.step(Received(ANN, Hello(1, VERSION, "test")), 0)
    kernel.step(Tick(), 0)
    kernel.step(Tick(), 1_000 * SECOND)
    assert set(rig.engine.subscriptions) == {"all"}
    answer, *rest = kernel.step(Received(ANN, durable(after=2)), 0).sends
    assert answer.message == Subscribed(5, "all", True, False, "always", 3, FIRST)
    assert told(rest) == [(3, "all-3", True)]
    later = kernel.step(Received(ANN, publish([4], [4], [4])), 0).sends
    assert told(later) == [(4, "all-4", False)]
    kernel.check_invariants()


def test_a_cursor_is_its_users_and_counts_for_quotas() -> None:
    every = ("*",)
    users = {
        identity: User(name, every, every, every, admin=name == "ops", quota=Quota(subscriptions=1))
        for identity, name in ((ANN_KEY, "ann"), (BEN_KEY, "ben"), (OPS_KEY, "ops"))
    }
    rig = GuardedRig(users)

    def asked(name: str, cursor: str) -> Subscribe:
        return Subscribe(2, name, "cayuga", "SELECT * FROM Stock", None, None, None, 1, durable=cursor)

    assert isinstance(rig.ask(ANN_KEY, asked("all", "mine")), Subscribed)
    theirs = rig.ask(BEN_KEY, Subscribe(2, "all", "cayuga", None, None, None, None, 1, durable="mine"))
    assert isinstance(theirs, Subscribed), "each user has names of its own"
    assert rig.ask(BEN_KEY, Forget(3, "mine")) == Done(3)
    refused = rig.answer(Failure, BEN_KEY, Forget(3, "mine"))
    assert (refused.code, refused.message) == ("unknown-subscription", "cursor 'mine' is not known")
    rig.ask(ANN_KEY, Unsubscribe(3, "all"))
    refused = rig.answer(Failure, ANN_KEY, asked("more", "second"))
    assert refused.message == "quota subscriptions: user 'ann' may have 1 cursors"
    assert set(rig.engine.subscriptions) == {"all"}
    for identity, seen in ((BEN_KEY, {}), (ANN_KEY, {"mine": 0}), (OPS_KEY, {"ann/mine": 0})):
        page = rig.answer(Subscriptions, identity, ListSubscriptions(9, ""))
        assert [entry.cursors for entry in page.entries] == [seen]
    assert rig.ask(OPS_KEY, Forget(3, "ann/mine")) == Done(3)
    assert set(rig.engine.subscriptions) == set()


def test_tuples_that_are_too_many_are_told_as_dropped() -> None:
    engine = Engine()
    engine.add_stream("S", {"x": "int"})
    limits = Limits(durable_notifications=3_000)
    kernel = Kernel(engine, limits, durability="always", permanent=(), cursors=Cursors())
    kernel.step(Received(ANN, Hello(1, VERSION, "test")), 0)
    query = "FROM S a: x > 0 b: x = 0 MATCH a; b"
    asked = Subscribe(2, "all", "ptopss", query, None, "all", None, 1, durable="mine")
    effects = kernel.step(Received(ANN, asked), 0)
    records = list(effects.records)
    (answer,) = effects.sends
    assert isinstance(answer.message, Subscribed), answer
    history = ReplicatedState()
    history.replay(1, 0, StreamDeclared("S", {"x": "int"}, None, "arrival", None, None))

    def play(xs: list[int], first: int) -> None:
        effects = kernel.step(Received(ANN, publish(list(range(first, first + len(xs))), xs)), 0)
        records.extend(effects.records)
        kernel.check_invariants()

    play([1] * 2_000, 1)
    play([0], 3_000)  # 2,000 tuples: they are made
    play([1] * 2_000, 4_000)
    play([0], 7_000)  # more than are kept
    for position, record in enumerate(records, 2):
        history.replay(position, 0, record)
    cursor = history.cursors.find("mine")
    assert cursor is not None
    kept = [decode_result(each) for each in cursor.results]
    assert [line["kind"] for line in kept] == ["match"] * 2_000 + ["incomplete"]
    assert (kept[-1]["limit"], kept[-1]["missed"]) == ("durable_notifications", 4_000)
    assert history.cursors.save() == kernel._cursors.save()


def test_as_many_tuples_as_are_made_at_once_are_kept_and_one_more_are_a_gap() -> None:
    cursors = Cursors()
    cursor = cursors.add(CursorAdded("mine", "all", "ann", 5, 1_000_000))
    found = [Match("all", "id", 1, 1, None, {})] * (MADE_AT_ONCE_MAX + 1)
    cursors.keep_shares([Share("all", 1, MADE_AT_ONCE_MAX, found[1:])])
    assert cursor.last == MADE_AT_ONCE_MAX
    cursors.keep_shares([Share("all", 1, MADE_AT_ONCE_MAX + 1, found)])
    assert cursor.last == MADE_AT_ONCE_MAX + 1
    assert decode_result(cursor.results[-1])["missed"] == MADE_AT_ONCE_MAX + 1
