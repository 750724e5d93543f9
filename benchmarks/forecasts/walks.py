"""Events as a chain sees them: whose, when, in which state; nothing is forecast here.

A walk is in the order of its stream. A run is one key's part of it, and a step is an event of the run: an outcome is
whether a final state is entered within so many steps, and what the run's end cuts off is censored, never a failure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

DAY: Final = 86_400_000_000
UNKNOWN: Final = -1


@final
@dataclass(frozen=True, slots=True)
class Walk:
    """Columns of one length, an entry an event. `runs` number `names`; `times` are microseconds since 1970."""

    names: list[str]
    runs: list[int]
    times: list[int]
    states: list[int]
    final: int

    def __len__(self) -> int:
        return len(self.runs)

    def matches(self) -> int:
        """How many events complete a match."""
        return self.states.count(self.final)


@final
class Ahead:
    """What becomes of each event of a walk. O(events) to make."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self._members: list[list[int]] = [[] for _ in walk.names]
        self._ranks: list[int] = []
        for event, run in enumerate(walk.runs):
            self._ranks.append(len(self._members[run]))
            self._members[run].append(event)
        self._until: list[int] = [UNKNOWN] * len(walk)  # steps to the next match
        for members in self._members:
            since = UNKNOWN
            for event in reversed(members):
                since = since if since == UNKNOWN else since + 1
                self._until[event] = since
                if walk.states[event] == walk.final:
                    since = 0

    def outcome(self, event: int, steps: int) -> bool | None:
        """Whether the next match comes within so many steps; None: the run has not so many. O(1)."""
        if self._ranks[event] + steps >= len(self._members[self.walk.runs[event]]):
            return None
        return 0 < self._until[event] <= steps

    def known_at(self, event: int, steps: int) -> int:
        """The time of the step with which the outcome is known in any case; the run must have it. O(1)."""
        return self.walk.times[self._members[self.walk.runs[event]][self._ranks[event] + steps]]


def transitions(walk: Walk, before: int | None = None, first: bool = True) -> dict[tuple[int, int], int]:
    """How often each state was followed by each within a run, by events before a time. O(events).

    With `first` a run's first event is a step from state 0.
    """
    found: dict[tuple[int, int], int] = {}
    last = [0 if first else UNKNOWN] * len(walk.names)
    for run, time, state in zip(walk.runs, walk.times, walk.states):
        if before is None or time < before:
            if last[run] != UNKNOWN:
                step = (last[run], state)
                found[step] = found.get(step, 0) + 1
            last[run] = state
    return found
