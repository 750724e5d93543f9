"""Results that are set aside: by a reader that refuses them, or after too many deliveries; and what becomes of them."""

from __future__ import annotations

from doubles.durable_reader import FIRST, attached, durable, told
from doubles.guarded_rig import ANN as ANN_KEY
from doubles.guarded_rig import BEN as BEN_KEY
from doubles.guarded_rig import OPS as OPS_KEY
from doubles.guarded_rig import Rig as GuardedRig
from doubles.kernel_rig import ANN, BEN, SECOND, Rig, publish

from broker.kernel import Gone, Limits, Tick, User
from broker.kernel.records import CursorSetAside
from broker.wire import (
    Acknowledge,
    Credit,
    DeadLetters,
    Done,
    Failure,
    Forget,
    ListDeadLetters,
    Message,
    Refuse,
    Settle,
    Subscribe,
    Subscribed,
    Unsubscribe,
    decode_result,
)

Told = list[tuple[int, str, bool]]


def again(*positions: int) -> Told:
    return [(position, f"all-{position}", True) for position in positions]


def found(count: int, limits: Limits | None = None, **options: int) -> Rig:
    """So many results have come to the reader of a new cursor."""
    rig = Rig(limits or Limits(silence_seconds=10_000))
    rig.ask(durable(**options))
    for number in range(1, count + 1):
        rig.say(BEN, publish([10 * number], [number]))
    return rig


def refuse(position: int, reason: str = "no customer") -> Message:
    return Refuse(7, "all", position, reason)


def letters(rig: Rig, after: int = 0) -> list[tuple[int, str, str, int]]:
    page = rig.answer(DeadLetters, ListDeadLetters(9, "mine", after))
    assert not page.more
    return [(each.position, decode_result(each.result)["id"], each.reason, each.deliveries) for each in page.entries]


def back(rig: Rig, **options: int) -> tuple[int | None, Told]:
    """The reader leaves and comes back."""
    rig.ask(Unsubscribe(8, "all"))
    return attached(rig, durable(**options))


def test_what_is_refused_is_set_aside_and_not_delivered_again() -> None:
    rig = found(4)
    assert rig.ask(refuse(2)) == Done(7)
    assert rig.ask(refuse(2, "said twice")) == Done(7)
    assert letters(rig) == [(2, "all-2", "no customer", 1)]
    assert back(rig) == (1, again(1, 3, 4))
    assert rig.ask(Acknowledge(7, "all", 1)) == Done(7)
    assert back(rig) == (3, again(3, 4))  # what was set aside behind it is done, too
    assert rig.ask(refuse(3, "nor this")) == Done(7)
    assert back(rig) == (4, again(4))
    numbers = rig.kernel.statistics()["broker"]
    assert (numbers["results_refused"], numbers["dead_letters"], numbers["cursors_backlog"]) == (2, 2, 1)


def test_an_acknowledgement_is_for_what_was_sent_before_a_dead_letter_too() -> None:
    rig = found(3)
    rig.ask(refuse(3))
    rig.ask(refuse(2))
    assert back(rig, credits=1) == (1, again(1))
    assert rig.ask(Acknowledge(7, "all", 1)) == Done(7)
    assert told(rig.say(ANN, Credit(0, "all", 5))) == []
    assert told(rig.say(BEN, publish([99], [9]))) == [(4, "all-4", False)]


def test_only_what_was_sent_and_is_to_be_acknowledged_can_be_refused() -> None:
    rig = found(3, credits=2)
    assert rig.refusal(refuse(3))[0] == "protocol"
    rig.ask(Acknowledge(7, "all", 1))
    assert rig.refusal(refuse(1)) == (
        "definition", "cursor 'mine': position 1 does not await acknowledgement",
    )  # fmt: skip
    assert rig.refusal(Refuse(7, "all", 2, "x", FIRST + 1))[0] == "unknown-subscription"
    assert rig.refusal(refuse(2), BEN)[0] == "unknown-subscription"


def test_a_dead_letter_is_discarded_or_delivered_again_at_a_new_position() -> None:
    rig = found(3)
    for position in (1, 2, 3):
        rig.ask(refuse(position))
    assert rig.ask(Settle(7, "mine", (1,), False)) == Done(7)
    answer, *rest = rig.say(BEN, Settle(7, "mine", (3, 2, 3), True))  # who is not attached may do so
    assert answer.message == Done(7)
    assert told(rest) == [(4, "all-3", False), (5, "all-2", False)]
    assert letters(rig) == []
    for again in (False, True):
        assert rig.refusal(Settle(7, "mine", (1,), again)) == (
            "definition", "cursor 'mine': position 1 is not a dead letter",
        )  # fmt: skip
    assert back(rig)[0] == 4


def test_what_has_no_room_is_not_delivered_again() -> None:
    rig = found(2, Limits(durable_notifications=2))
    rig.ask(refuse(1))
    rig.say(BEN, publish([30], [3]))
    assert rig.refusal(Settle(7, "mine", (1,), True)) == (
        "limit", "cursor 'mine': it has no room for so many results beside those it keeps",
    )  # fmt: skip
    rig.ask(Acknowledge(7, "all", 2))
    assert told(rig.say(ANN, Settle(7, "mine", (1,), True))) == [(4, "all-1", False)]


def test_dead_letters_are_bounded_and_those_dropped_are_counted() -> None:
    rig = found(4, Limits(durable_dead_letters=2))
    for position in (3, 1, 2):
        rig.ask(refuse(position))
    assert [each[0] for each in letters(rig)] == [1, 2]
    assert [each[0] for each in letters(rig, 1)] == [2]
    page = rig.answer(DeadLetters, ListDeadLetters(9, "mine", 0))
    assert page.dropped == rig.kernel.statistics()["broker"]["dead_letters_dropped"] == 1
    assert back(rig) == (4, again(4))


def test_a_replay_leaves_dead_letters_out() -> None:
    rig = found(4, retain=9)
    rig.ask(refuse(2))
    rig.ask(Acknowledge(7, "all", 4))
    assert back(rig, replay=1) == (1, again(1, 3, 4))
    rig.ask(Settle(7, "mine", (2,), False))
    assert back(rig, replay=1) == (1, again(1, 2, 3, 4))


def test_what_is_dropped_before_it_was_read_does_not_count_what_was_set_aside() -> None:
    rig = found(3, Limits(durable_notifications=3))
    rig.ask(refuse(2))
    rig.say(BEN, publish([40, 50, 60], [4, 5, 6]))
    position, rest = back(rig)
    assert (position, rest[0]) == (1, (3, "missed 2 durable_notifications", True))
    assert rest[1:] == again(4, 5, 6)


def test_what_is_delivered_too_often_is_set_aside_and_told_in_its_place() -> None:
    rig = found(3, deliveries_max=2)
    assert back(rig, deliveries_max=2) == (1, again(1, 2, 3))
    gap = (1, "missed 1 deliveries_max", True)
    assert back(rig, deliveries_max=2) == (1, [gap, *again(2, 3)])
    assert rig.given_up == [CursorSetAside("mine", 1, "deliveries_max", rig.now, 2)]
    assert letters(rig) == [(1, "all-1", "deliveries_max", 2)]
    assert rig.ask(Acknowledge(7, "all", 1)) == Done(7)
    rig.ask(Acknowledge(7, "all", 2))  # so that 3 is in the reader's hands, for the first time as the first
    assert back(rig, deliveries_max=2) == (3, again(3))
    assert back(rig) == (3, again(3))  # who does not ask for it, gets it however often
    assert back(rig, deliveries_max=2) == (3, [(3, "missed 1 deliveries_max", True)])
    assert rig.kernel.statistics()["broker"]["results_given_up"] == 2


def test_time_counts_deliveries_too() -> None:
    rig = found(2, within=SECOND, deliveries_max=2)

    def ticks(count: int) -> Told:
        sends = []
        for _ in range(count):
            rig.now += SECOND
            sends += rig.step(Tick())
        return told(sends)

    assert ticks(2) == again(1, 2)
    assert ticks(2) == [(1, "missed 1 deliveries_max", True), *again(2)]
    assert ticks(2) == again(2)
    assert ticks(2) == [(2, "missed 1 deliveries_max", True)]
    assert ticks(9) == []


def test_without_a_credit_it_is_told_later() -> None:
    rig = found(2, deliveries_max=1)
    rig.kernel.step(Gone(ANN), rig.now)
    asked = durable(deliveries_max=1, credits=1)
    assert attached(rig, asked, BEN)[1] == [(1, "missed 1 deliveries_max", True)]
    assert told(rig.say(BEN, Credit(0, "all", 1))) == again(2)


def test_dead_letters_are_the_owners_and_go_with_the_cursor() -> None:
    every = ("*",)
    users = {
        identity: User(name, every, every, every, admin=name == "ops")
        for identity, name in ((ANN_KEY, "ann"), (BEN_KEY, "ben"), (OPS_KEY, "ops"))
    }
    rig = GuardedRig(users)
    asked = Subscribe(2, "all", "cayuga", "SELECT * FROM Stock", None, None, None, 1, durable="mine")
    assert isinstance(rig.ask(ANN_KEY, asked), Subscribed)
    for request in (ListDeadLetters(3, "mine", 0), Settle(3, "mine", (), False)):
        refused = rig.answer(Failure, BEN_KEY, request)
        assert refused.code == "unknown-subscription"
        assert not isinstance(rig.ask(ANN_KEY, request), Failure)
        assert not isinstance(rig.ask(OPS_KEY, request), Failure)
    assert rig.ask(ANN_KEY, Forget(3, "mine")) == Done(3)
    gone = rig.answer(Failure, ANN_KEY, ListDeadLetters(3, "mine", 0))
    assert gone.code == "unknown-subscription"
