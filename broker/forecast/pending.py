"""Law: predictions that wait for their outcome, told to somebody or not: calibration asks what became of all of them.

Whether a match comes within N steps is known at the match, or N steps later. Until then a prediction stands in its
run's queue; what is still there at the end is censored, never a failure (forecasting 2.13).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, final

from .notifying import Run


@final
class Pending:
    """The open predictions of one subscription, by run."""

    def __init__(self, within: int) -> None:
        """`within`: the horizon, in the unit of the clocks (see notifying)."""
        self.within = within
        self._open: dict[Run, deque[tuple[int, float]]] = {}  # (clock, probability), by clock

    def predict(self, run: Run, clock: int, probability: float) -> None:
        """A prediction was made. O(1)."""
        queue = self._open.get(run)
        if queue is None:
            queue = self._open[run] = deque()
        queue.append((clock, probability))

    def matched(self, run: Run, clock: int) -> tuple[list[float], list[float]]:
        """A match: the probabilities that have come true, and those whose time had passed. O(what is resolved)."""
        queue = self._open.pop(run, None)
        if queue is None:
            return [], []
        late = [probability for made, probability in queue if clock > made + self.within]
        true = [probability for made, probability in queue if clock <= made + self.within]
        return true, late

    def advance(self, run: Run, clock: int) -> list[float]:
        """No match up to and with `clock`: the probabilities that have failed by it. O(what is resolved)."""
        queue = self._open.get(run)
        failed: list[float] = []
        if queue is not None:
            while queue and queue[0][0] + self.within <= clock:
                failed.append(queue.popleft()[1])
            if not queue:
                del self._open[run]
        return failed

    def close(self) -> int:
        """The end: how many outcomes will never be known."""
        count = len(self)
        self._open.clear()
        return count

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def dump(self) -> dict[str, Any]:
        """As plain data."""
        return {"within": self.within, "open": [[run, [list(p) for p in queue]] for run, queue in self._open.items()]}


def load_pending(data: Mapping[str, Any]) -> Pending:
    """What was dumped."""
    found = Pending(data["within"])
    for run, queue in data["open"]:
        found._open[run] = deque((clock, probability) for clock, probability in queue)
    return found
