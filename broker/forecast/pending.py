"""Predictions that wait for their outcome, reported or not: calibration judges all of them.

Whether a match comes within N steps is known at the match, or N steps later. Until then a prediction stands in its
run's queue; what is still there at the end is censored, never a failure (forecasting 2.13).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

from mypy_extensions import i64

from .notifying import Run

FEW: Final = 32  # entries gone before a queue is cut


@final
class Queue:
    """The open predictions of one run, by clock."""

    __slots__ = ("_after", "_chances", "_clocks", "_head")

    def __init__(self) -> None:
        self._clocks: list[int] = []
        self._chances: list[float] = []
        self._after: list[bool] = []
        self._head: i64 = 0

    def predict(self, clock: int, probability: float, after_match: bool = False) -> None:
        """A prediction was made, by an event that completed a match (`after_match`) or did not. O(1)."""
        self._clocks.append(clock)
        self._chances.append(probability)
        self._after.append(after_match)

    def due(self, clock: i64) -> bool:
        """Whether the oldest one was made at that clock or before. O(1)."""
        head = self._head
        return head < len(self._clocks) and self._clocks[head] <= clock

    def newest(self) -> int:
        """The clock of the newest one, of which there is one at least. O(1)."""
        return self._clocks[-1]

    def after_match(self) -> bool:
        """Whether the oldest one was made right after a match. O(1)."""
        return self._after[self._head]

    def take(self) -> float:
        """The oldest one, which is not open any more. O(1), amortised."""
        head = self._head
        chance = self._chances[head]
        head += 1
        if head > FEW and 2 * head > len(self._clocks):
            del self._clocks[:head], self._chances[:head], self._after[:head]
            head = 0
        self._head = head
        return chance

    def open(self) -> list[list[Any]]:
        """(clock, probability, whether it was made right after a match) of each, as plain data."""
        head = self._head
        return [[c, p, a] for c, p, a in zip(self._clocks[head:], self._chances[head:], self._after[head:])]

    def __len__(self) -> int:
        return len(self._clocks) - self._head


@final
class Pending:
    """The open predictions of one subscription, by run."""

    def __init__(self) -> None:
        self._queues: dict[Run, Queue] = {}

    def of(self, run: Run) -> Queue:
        """Those of a run; a queue is the same one for ever. O(1)."""
        queue = self._queues.get(run)
        if queue is None:
            queue = self._queues[run] = Queue()
        return queue

    def close(self) -> int:
        """The end: how many outcomes will never be known."""
        count = len(self)
        for queue in self._queues.values():
            while len(queue):
                queue.take()
        return count

    def __len__(self) -> int:
        return sum([len(queue) for queue in self._queues.values()])

    def dump(self) -> dict[str, Any]:
        """As plain data."""
        return {"open": [[run, queue.open()] for run, queue in self._queues.items() if len(queue)]}


def load_pending(data: Mapping[str, Any]) -> Pending:
    """What was dumped."""
    found = Pending()
    for run, predictions in data["open"]:
        queue = found.of(run)
        for clock, probability, after_match in predictions:
            queue.predict(clock, probability, after_match)
    return found
