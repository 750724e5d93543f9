"""Punctuations, retractions and updates: who may, what is refused, what is recorded, and that a repetition is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from doubles.guarded_rig import ANN as ANN_OF_GUARDED
from doubles.guarded_rig import BEN as BEN_OF_GUARDED
from doubles.guarded_rig import OPS, USERS
from doubles.guarded_rig import Rig as GuardedRig
from doubles.guarded_rig import publish as guarded_publish
from doubles.guarded_rig import subscribe as guarded_subscribe
from doubles.kernel_rig import ANN, SECOND, Rig, lines, publish, subscribe

from broker.kernel import User
from broker.kernel.records import Punctuated, Retracted, Updated
from broker.wire import (
    Failure,
    Message,
    Numbered,
    Publish,
    Published,
    Punctuate,
    Refusal,
    Retract,
    Update,
)


class Recording(Rig):
    """A rig whose kernel makes records."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel._durability = "always"  # a rig has no journal
        self.say(ANN, subscribe())
        self.say(ANN, publish([self.now, self.now + 1], [5, 6], [10, 11]))
        self.recorded()

    def told(self, message: Message) -> tuple[Message, list[dict[str, Any]]]:
        """The answer and the results."""
        answer, *more = self.say(ANN, message)
        return answer.message, lines(more)


def test_a_punctuation_is_recorded_and_answered_and_late_events_are_refused() -> None:
    rig = Recording()
    rig.engine.due = rig.now + 2
    moment = rig.now + 5
    answer, results = rig.told(Punctuate(7, moment, None, None))
    assert answer == Published(7, 0, rig.engine.now, None, ())
    assert [line["end"] for line in results] == [moment]
    assert rig.recorded() == [Punctuated(moment, None, None)]
    assert rig.told(Punctuate(8, rig.now + 6, "S", "x > 5"))[0] == Published(8, 0, rig.engine.now, None, ())
    assert rig.engine.punctuated[-1] == (rig.now + 6, "S", "x > 5")
    assert rig.kernel.statistics()["broker"]["punctuations"] == 2


@pytest.mark.parametrize(
    ("ahead", "stream", "code"),
    [(0, None, "late"), (10**15, None, "early"), (2**62, None, "event"), (10, "T", "unknown-stream")],
)
def test_a_punctuation_that_is_refused_changes_nothing(ahead: int, stream: str | None, code: str) -> None:
    rig = Recording()
    assert rig.refusal(Punctuate(7, rig.now + ahead, stream, None))[0] == code
    assert rig.recorded() == []
    assert rig.engine.punctuated == []


def test_events_are_withdrawn_and_one_that_cannot_be_is_refused_alone() -> None:
    rig = Recording()
    answer, results = rig.told(Retract(7, (11, 12, 10, 11)))
    reason = "expected the id of an event that may be withdrawn, found {}: it is unknown, or it is final"
    refused = (Refusal(1, "unknown-event", reason.format(12)), Refusal(3, "unknown-event", reason.format(11)))
    assert answer == Published(7, 2, rig.engine.now, None, refused)
    assert [(line["kind"], line["lineage"]) for line in results] == [("retraction", [11]), ("retraction", [10])]
    assert rig.recorded() == [Retracted([11, 10], refused=[(each.index, each.code, each.reason) for each in refused])]
    broker = rig.kernel.statistics()["broker"]
    assert (broker["events_withdrawn"], broker["retractions"]) == (2, 2)
    answer, results = rig.told(Retract(8, (11,)))
    assert isinstance(answer, Published)
    assert (answer.count, results, rig.recorded()) == (0, [], [])


def test_an_update_is_whole_or_not_at_all() -> None:
    rig = Recording()
    answer, results = rig.told(Update(7, "all", ("q -> q WHEN TRUE",), ("x",), 5, None))
    assert isinstance(answer, Published)
    assert [line["subscription"] for line in results] == ["all"]
    assert rig.recorded() == [Updated("all", ("q -> q WHEN TRUE",), ("x",), 5, None)]
    assert rig.refusal(Update(8, "all", ("wrong",), (), None, None))[0] == "query"
    assert rig.refusal(Update(9, "al", (), (), None, None)) == (
        "unknown-subscription",
        "subscription 'al' is not known; did you mean 'all'?",
    )
    assert rig.recorded() == []
    assert len(rig.engine.updated["all"]) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda rig: Punctuate(7, rig.now + 5, None, None, "p", 1),
        lambda rig: Retract(7, (10, 99), "p", 1),
        lambda rig: Update(7, "all", ("q -> q WHEN TRUE",), (), None, None, "p", 1),
    ],
)
def test_a_repetition_gets_the_first_answer_and_changes_nothing(change: Any) -> None:
    rig = Recording()
    request: Numbered = change(rig)
    answer, _ = rig.told(request)
    assert isinstance(answer, Published)
    assert len(rig.recorded()) == 1
    rig.say(ANN, publish([rig.now + 9], [5], [20]))  # after which a punctuation would be late
    rig.recorded()
    assert rig.ask(replace(request, correlation=8)) == replace(answer, correlation=8)
    assert rig.recorded() == []


def test_after_its_deadline_nothing_is_done() -> None:
    rig = Recording()
    for request in (
        Punctuate(7, rig.now + 5, None, None, deadline=rig.now - 1),
        Retract(7, (10,), deadline=rig.now - 1),
        Update(7, "all", (), (), None, None, deadline=rig.now - SECOND),
    ):
        assert rig.refusal(request)[0] == "expired"
    assert rig.recorded() == []


def test_who_may_publish_may_punctuate_and_others_learn_nothing() -> None:
    rig = GuardedRig()
    there = rig.refusal(ANN_OF_GUARDED, Punctuate(5, 1, "Secret", None))
    not_there = rig.refusal(ANN_OF_GUARDED, Punctuate(5, 1, "Sekret", None))
    assert there == "stream 'Secret': user 'ann' has no permission to publish"
    assert there.replace("Secret", "Sekret") == not_there
    every = rig.refusal(ANN_OF_GUARDED, Punctuate(5, 1, None, None))
    assert every == "a punctuation of all streams: user 'ann' may not publish on each of them"
    assert isinstance(rig.ask(OPS, Punctuate(5, 1, None, None)), Failure | Published)


def test_an_event_of_others_and_one_that_does_not_exist_are_refused_alike() -> None:
    dan = "d" * 40
    rig = GuardedRig({**USERS, dan: User("dan", publish=("Late",))})
    rig.engine.add_stream("Late", {"price": "int"}, disorder="speculate", lateness=100)
    rig.say(dan, Publish(3, "Late", (10,), ((5,),), (77,), None))
    told = []
    for number in (77, 78):
        answer = rig.answer(Published, ANN_OF_GUARDED, Retract(5, (number,)))
        told.append([replace(each, reason=each.reason.replace(str(number), "N")) for each in answer.refused])
    assert told[0] == told[1] != []
    allowed = rig.answer(Published, dan, Retract(5, (77,)))
    assert allowed.count == 1


def test_who_may_have_a_subscription_may_change_it() -> None:
    rig = GuardedRig()
    rig.say(BEN_OF_GUARDED, guarded_subscribe("all", "SELECT * FROM Secret"))
    rig.say(BEN_OF_GUARDED, guarded_publish("Secret", 1))
    update = Update(5, "all", (), (), None, None)
    there = rig.refusal(ANN_OF_GUARDED, update)
    assert there == rig.refusal(ANN_OF_GUARDED, replace(update, name="alk")).replace("alk", "all")
    answer = rig.answer(Failure, BEN_OF_GUARDED, update)
    assert answer.code != "permission"
