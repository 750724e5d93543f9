"""Questions that other threads ask the loop: the console's, which change nothing.

The loop answers them between two passes, for a few milliseconds at a time: many pages that ask at once do not keep
clients waiting, the rest is answered a pass later. How long the loop has spent on them is counted, so that everybody
sees what pages cost.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, final

from ..kernel import Kernel

PASS_NANOSECONDS: Final = 2_000_000
"""After so many the others wait for the next pass."""

Question = Callable[[Kernel], Any]


@final
class Questions:
    """Those that wait for an answer. `ask` may be called by any thread, all else by the loop's."""

    __slots__ = ("_answered", "_asked", "_clock", "_longest", "_spent")

    def __init__(self, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        self._asked: Final[deque[tuple[Question, Future[Any]]]] = deque()
        self._clock: Final = clock
        self._answered = self._spent = self._longest = 0

    def ask(self, question: Question) -> Future[Any]:
        """What will be the answer. The loop must be woken afterwards."""
        answer: Future[Any] = Future()
        self._asked.append((question, answer))
        return answer

    def answer(self, kernel: Kernel) -> bool:
        """Answer those that fit into a pass, at least one; whether others wait."""
        begun = now = self._clock()
        while self._asked and now - begun <= PASS_NANOSECONDS:
            question, answer = self._asked.popleft()
            before = now
            try:
                answer.set_result(question(kernel))
            except Exception as error:  # also a mistake of ours: who asked says so
                answer.set_exception(error)
            now = self._clock()
            self._answered += 1
            self._longest = max(self._longest, now - before)
        self._spent += now - begun
        return bool(self._asked)

    def statistics(self) -> dict[str, int]:
        """How many were answered, how long that took the loop, and the longest of them, in microseconds."""
        return {
            "questions": self._answered,
            "question_microseconds": self._spent // 1_000,
            "question_microseconds_max": self._longest // 1_000,
        }
