"""Questions of other threads: answered a few milliseconds at a time, in their order, with what they took the loop."""

from __future__ import annotations

from typing import Any, cast

import pytest

from broker.kernel import Kernel
from broker.server.questions import PASS_NANOSECONDS, Questions

KERNEL = cast(Kernel, object())


class Clock:
    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def taking(clock: Clock, nanoseconds: int, answer: Any) -> Any:
    def question(kernel: Kernel) -> Any:
        assert kernel is KERNEL
        clock.now += nanoseconds
        return answer

    return question


def test_a_pass_answers_for_its_time_and_leaves_the_others() -> None:
    clock = Clock()
    questions = Questions(clock)
    answers = [questions.ask(taking(clock, PASS_NANOSECONDS * 2 // 5, number)) for number in range(7)]
    assert questions.answer(KERNEL)
    assert [each.done() for each in answers] == [True] * 3 + [False] * 4
    assert questions.answer(KERNEL)
    assert not questions.answer(KERNEL)
    assert [each.result(0) for each in answers] == list(range(7))
    assert not questions.answer(KERNEL)


def test_one_is_answered_however_long_the_last_one_took() -> None:
    clock = Clock()
    questions = Questions(clock)
    answers = [questions.ask(taking(clock, 10 * PASS_NANOSECONDS, number)) for number in range(3)]
    assert [questions.answer(KERNEL) for _ in range(3)] == [True, True, False]
    assert [each.result(0) for each in answers] == [0, 1, 2]
    microseconds = 10 * PASS_NANOSECONDS // 1_000
    assert questions.statistics() == {
        "questions": 3,
        "question_microseconds": 3 * microseconds,
        "question_microseconds_max": microseconds,
    }


def test_a_mistake_is_told_to_who_asked() -> None:
    questions = Questions(Clock())

    def wrong(kernel: Kernel) -> None:
        raise ValueError("a mistake")

    answer, other = questions.ask(wrong), questions.ask(lambda kernel: 5)
    assert not questions.answer(KERNEL)
    with pytest.raises(ValueError, match="a mistake"):
        answer.result(0)
    assert other.result(0) == 5
