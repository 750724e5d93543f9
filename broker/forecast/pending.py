"""Predictions that wait for their outcome, reported or not: verification judges all of them.

Whether a match comes within N steps is known at the match, or N steps later. Until then a prediction stands in its
run's queue; one still there at the end is censored, never a failure (forecasting 2.13).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from mypy_extensions import i64

from ..events.batch import Floats, Integers, packed_floats, packed_integers
from .columns import with_room, with_room_for_floats
from .notifying import Run

ROOM: Final = 8  # entries at first
AS_IT_IS: Final = -1.0  # stands for the uncorrected probability where nothing corrects it


@final
class PredictionQueue:
    """The open predictions of one run, by clock, in packed columns from `_head` to `_upto`. A corrected one is kept
    beside its original."""

    __slots__ = ("_chances", "_clocks", "_head", "_uncorrected", "_upto")

    def __init__(self) -> None:
        self._clocks: Integers = packed_integers([])  # twice the clock, and whether it was made right after a match
        self._chances: Floats = packed_floats([])
        self._uncorrected: list[float] = []  # from the first entry on; empty where nothing is corrected
        self._head: i64 = 0
        self._upto: i64 = 0

    def predict(self, clock: i64, probability: float, after_match: bool = False, uncorrected: float = AS_IT_IS) -> None:
        """A prediction was made, by an event that completed a match (`after_match`) or did not. O(1), amortised."""
        if self._upto == len(self._clocks):
            self._make_room()
        at = self._upto
        self._clocks[at] = (clock << 1) + (1 if after_match else 0)
        self._chances[at] = probability
        self._upto = at + 1
        if uncorrected != AS_IT_IS:
            self._uncorrected.append(uncorrected)

    def _make_room(self) -> None:
        """Move the open ones to the beginning, or to longer columns if they fill more than half. O(entries)."""
        head, clocks, chances = self._head, self._clocks, self._chances
        if 2 * head < self._upto or self._upto == 0:
            size: i64 = max(2 * self._upto, ROOM)
            self._clocks, self._chances = with_room(clocks, size), with_room_for_floats(chances, size)
            return
        at: i64
        for at in range(head, self._upto):
            clocks[at - head], chances[at - head] = clocks[at], chances[at]
        self._upto -= head
        self._head = 0
        del self._uncorrected[: int(head)]

    def due(self, clock: i64) -> bool:
        """Whether the oldest one was made at that clock or before. O(1)."""
        head = self._head
        return head < self._upto and self._clocks[head] >> 1 <= clock

    def newest(self) -> i64:
        """The clock of the newest one, of which there is one at least. O(1)."""
        return self._clocks[self._upto - 1] >> 1

    def after_match(self) -> bool:
        """Whether the oldest one was made right after a match. O(1)."""
        return self._clocks[self._head] & 1 == 1

    def uncorrected(self) -> float:
        """The oldest one as it was before it was corrected. O(1)."""
        return self._uncorrected[self._head]

    def take(self) -> float:
        """The oldest one, which is not open any more. O(1)."""
        head = self._head
        self._head = head + 1
        return self._chances[head]

    def open(self) -> list[list[Any]]:
        """(clock, probability, whether it was made right after a match) of each, as plain data."""
        entries = [self._clocks[at] for at in range(self._head, self._upto)]
        chances = [self._chances[at] for at in range(self._head, self._upto)]
        return [[int(c >> 1), p, c & 1 == 1] for c, p in zip(entries, chances)]

    def open_uncorrected(self) -> list[list[Any]]:
        """The same with the probabilities before they were corrected; empty where nothing is corrected."""
        return [[c, p, a] for (c, _, a), p in zip(self.open(), self._uncorrected[int(self._head) :])]

    def __len__(self) -> int:
        return int(self._upto - self._head)


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
