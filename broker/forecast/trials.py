"""What several models have predicted of one run and has no outcome yet: the candidates of `choose`.

A run has at most one entry for each of its events within the horizon, as predictions have (pending).

Here: waiting. Not here: what an outcome costs (choice).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, final

from .choice import Choice


@final
class Trials:
    """(deadline, probability of a match until then by model), the oldest first."""

    def __init__(self) -> None:
        self._open: deque[tuple[int, list[float]]] = deque()

    def put(self, deadline: int, chances: list[float]) -> None:
        """The models have spoken. Deadlines never go back. O(1)."""
        self._open.append((deadline, chances))

    def decide(self, choice: Choice, over: int, matched: bool) -> None:
        """What has a deadline up to `over` has not come true; if the run has `matched`, the rest has. O(these)."""
        while len(self._open) > 0 and (matched or self._open[0][0] <= over):
            deadline, chances = self._open.popleft()
            came = deadline > over
            choice.score([chance if came else 1.0 - chance for chance in chances])

    def __len__(self) -> int:
        return len(self._open)

    def dump(self) -> list[list[Any]]:
        """As plain data."""
        return [[deadline, list(chances)] for deadline, chances in self._open]


def load_trials(data: Sequence[Sequence[Any]]) -> Trials:
    """The trials of a dump."""
    found = Trials()
    for deadline, chances in data:
        found.put(deadline, list(chances))
    return found
