"""Batches of events, and what comes of them: numbers, times, refusals, answers before notifications."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.kernel_rig import ANN, BEN, SECOND, Rig, publish, subscribe

from broker.kernel import Send
from broker.wire import (
    AddStream,
    Notifications,
    Publish,
    Published,
    Refusal,
    decode_result,
)


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_events_are_numbered_over_all_streams_and_clients(rig: Rig) -> None:
    rig.say(ANN, AddStream(3, "T", {}, None, "arrival", None, None))
    assert rig.ask(publish([1, 2], [1, 2])) == Published(6, 2, 2, 1, ())
    assert rig.ask(Publish(6, "T", (2,), ((),), None, None), BEN) == Published(6, 1, 2, 3, ())
    assert rig.ask(publish([3], [3], [70])) == Published(6, 1, 3, 70, ())
    assert rig.ask(publish([3], [3])) == Published(6, 1, 3, 5, ())
    assert rig.engine.taken == [1, 2, 3, 70, 5]


def test_without_times_the_clock_is_taken_but_never_before_the_newest(rig: Rig) -> None:
    assert rig.ask(publish(None, [1, 2])) == Published(6, 2, rig.now, 1, ())
    ahead = rig.now + 60 * SECOND
    rig.say(ANN, publish([ahead], [3]))
    rig.now += SECOND
    assert rig.ask(publish(None, [4])) == Published(6, 1, ahead, 4, ())


def test_late_events_are_refused_one_by_one(rig: Rig) -> None:
    rig.say(ANN, publish([10], [0]))
    answer = rig.ask(publish([9, 12, 11, 12, 5, 13], [1, 2, 3, 4, 5, 6]))
    assert answer == Published(
        6,
        3,
        13,
        2,
        (
            Refusal(0, "late", "expected a time of 10 or later, found 9"),
            Refusal(2, "late", "expected a time of 12 or later, found 11"),
            Refusal(4, "late", "expected a time of 12 or later, found 5"),
        ),
    )
    assert rig.engine.taken == [1, 2, 3, 4]
    assert rig.ask(publish([1, 20], [1, 2], [8, 9])) == Published(
        6, 1, 20, 9, (Refusal(0, "late", "expected a time of 13 or later, found 1"),)
    )
    answer = rig.ask(publish([1], [1]))
    assert isinstance(answer, Published)
    assert (answer.count, answer.newest, answer.first_id) == (0, 20, None)


@pytest.mark.parametrize("times", [[20, 21, 22], [1, 21, 22], [1, 2, 3]])
@pytest.mark.parametrize("wrong", ["text", 1.5, None, 2**63, (1,), b"bytes", {"a": 1}])
def test_a_wrong_value_refuses_the_whole_batch_also_beside_late_events(rig: Rig, times: list[int], wrong: Any) -> None:
    rig.say(ANN, publish([10], [0]))
    code, text = rig.refusal(publish(times, [1, wrong, 3]))
    assert code == "event"
    assert "stream 'S', row 1, attribute 'x': expected int, found" in text
    assert (rig.engine.taken, rig.engine.now) == ([1], 10)


def test_wrong_times_and_starts_refuse_the_whole_batch(rig: Rig) -> None:
    assert rig.refusal(publish([2**62], [1]))[0] == "event"
    rig.say(ANN, publish([10], [0]))
    assert rig.refusal(publish([2, 2**62], [1, 2]))[0] == "event"
    assert rig.refusal(Publish(6, "S", (2, 11), ((1,), (2,)), None, (1, 12)))[0] == "event"
    assert rig.engine.taken == [1]


@pytest.mark.parametrize("wrong", ["text", 1.5, None, True, 2**63, (1, 2), b"bytes", {"a": 1}])
def test_a_time_or_a_row_of_another_kind_refuses_the_whole_batch_also_beside_late_events(rig: Rig, wrong: Any) -> None:
    rig.say(ANN, publish([10], [0]))
    for times, row in (([11, wrong], 1), ([wrong, 11], 0), ([1, wrong], 1)):
        code, text = rig.refusal(publish(times, [1, 2]))
        assert code == "event"
        assert f"stream 'S', row {row}: expected" in text
    for times in ([11, 12], [1, 12]):
        code, text = rig.refusal(Publish(6, "S", tuple(times), ((1,), wrong), None, None))
        assert code == "event"
        assert "stream 'S', row 1" in text
    assert (rig.engine.taken, rig.engine.now) == ([1], 10)


def test_an_unknown_stream_is_refused(rig: Rig) -> None:
    assert rig.refusal(Publish(6, "R", (1,), ((1,),), None, None))[0] == "unknown-stream"


def test_an_empty_batch_is_taken(rig: Rig) -> None:
    assert rig.ask(publish([], [])) == Published(6, 0, None, None, ())


def test_the_publisher_is_answered_first_and_then_everyone_notified(rig: Rig) -> None:
    rig.say(ANN, subscribe())
    rig.say(BEN, subscribe())
    first, *others = rig.say(BEN, publish([4, 5], [1, 2]))
    assert first == Send(BEN, Published(6, 2, 5, 1, ()))
    assert [each.session for each in others] == [ANN, BEN]
    for each in others:
        assert isinstance(each.message, Notifications)
        assert [decode_result(result)["lineage"] for result in each.message.results] == [[1], [2]]
    messages = [each.message for each in others if isinstance(each.message, Notifications)]
    assert all(one is two for one, two in zip(messages[0].results, messages[1].results)), "encoded once"
