"""Predictions that wait for their outcome, reported or not: verification judges all of them.

Whether a match comes within N steps is known at the match, or N steps later. Until then a prediction stands in its
run's queue; one still there at the end is censored, never a failure (forecasting 2.13).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from mypy_extensions import i64

from .notifying import Run

FEW: Final = 32  # entries gone before a queue is cut
AS_IT_IS: Final = -1.0  # stands for the uncorrected probability where nothing corrects it


@final
class PredictionQueue:
    """The open predictions of one run, by clock. A corrected one is kept beside its original."""

    __slots__ = ("_after", "_chances", "_clocks", "_head", "_uncorrected")

    def __init__(self) -> None:
        self._clocks: list[int] = []
        self._chances: list[float] = []
        self._after: list[bool] = []
        self._uncorrected: list[float] = []  # empty where nothing is corrected
        self._head: i64 = 0

    def predict(self, clock: int, probability: float, after_match: bool = False, uncorrected: float = AS_IT_IS) -> None:
        """A prediction was made, by an event that completed a match (`after_match`) or did not. O(1)."""
        self._clocks.append(clock)
        self._chances.append(probability)
        self._after.append(after_match)
        if uncorrected != AS_IT_IS:
            self._uncorrected.append(uncorrected)

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

    def uncorrected(self) -> float:
        """The oldest one as it was before it was corrected. O(1)."""
        return self._uncorrected[self._head]

    def take(self) -> float:
        """The oldest one, which is not open any more. O(1), amortised."""
        head = self._head
        chance = self._chances[head]
        head += 1
        if head > FEW and 2 * head > len(self._clocks):
            del self._clocks[:head], self._chances[:head], self._after[:head], self._uncorrected[:head]
            head = 0
        self._head = head
        return chance

    def open(self) -> list[list[Any]]:
        """(clock, probability, whether it was made right after a match) of each, as plain data."""
        return self._listed(self._chances)

    def open_uncorrected(self) -> list[list[Any]]:
        """The same with the probabilities before they were corrected; empty where nothing is corrected."""
        return self._listed(self._uncorrected)

    def _listed(self, chances: list[float]) -> list[list[Any]]:
        head = self._head
        return [[c, p, a] for c, p, a in zip(self._clocks[head:], chances[head:], self._after[head:])]

    def __len__(self) -> int:
        return len(self._clocks) - self._head


@final
class OpenPredictions:
    """The open predictions of one subscription, by run."""

    def __init__(self) -> None:
        self._queues: dict[Run, PredictionQueue] = {}

    def of(self, run: Run) -> PredictionQueue:
        """Those of a run; a queue is the same one for ever. O(1)."""
        queue = self._queues.get(run)
        if queue is None:
            queue = self._queues[run] = PredictionQueue()
        return queue

    def close(self) -> tuple[int, int]:
        """The end: how many outcomes will never be known, of patterns that have begun and right after a match."""
        begun = after_match = 0
        for queue in self._queues.values():
            while len(queue):
                after_match += queue.after_match()
                begun += not queue.after_match()
                queue.take()
        return begun, after_match

    def __len__(self) -> int:
        return sum([len(queue) for queue in self._queues.values()])

    def dump(self) -> list[dict[str, Any]]:
        """As plain data: as they were issued, and before they were corrected."""
        queues = [(run, queue) for run, queue in self._queues.items() if len(queue)]
        uncorrected = [[run, queue.open_uncorrected()] for run, queue in queues]
        return [
            {"open": [[run, queue.open()] for run, queue in queues]},
            {"open": [[run, entries] for run, entries in uncorrected if entries]},
        ]


def load_open_predictions(data: Sequence[Mapping[str, Any]]) -> OpenPredictions:
    """The open predictions of a dump."""
    found = OpenPredictions()
    issued, uncorrected = data
    before = {run: [chance for _, chance, _ in entries] for run, entries in uncorrected["open"]}
    for run, predictions in issued["open"]:
        queue, own = found.of(run), before.get(run, [])
        for at, (clock, probability, after_match) in enumerate(predictions):
            queue.predict(clock, probability, after_match, own[at] if own else AS_IT_IS)
    return found
