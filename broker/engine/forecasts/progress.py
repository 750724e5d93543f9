"""The progress of a subscription for the key of the current event, by its runs, which the key's state counts.

Here: reading that state. Not here: the progress of an executor's machine (its own folder), using the answer
(broker.forecast).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ...events.instant import FOREVER
from ...events.schema import Row
from ...forecast.key_state import KeyState
from ...forecast.progress import Progress
from ...forecast.states import NONE, States
from ..matches.sources import flattened


@final
class RunProgress(Progress):
    """Progress by runs; the key's state counts those in each elementary state."""

    def __init__(self, states: States) -> None:
        super().__init__(len(states.left))
        self.states = states

    def look(self, state: KeyState, row: Row, time: i64) -> tuple[i64, bool]:
        states = self.states
        if states.sets:
            return self._look_at_all(state, time), False
        for elementary in states.order:
            until = state.until(elementary, time)
            if until >= time:
                self.until = until
                return elementary, False
        self.until = FOREVER
        return NONE, False

    def _look_at_all(self, state: KeyState, time: i64) -> i64:
        live: list[int] = []
        soonest: i64 = FOREVER
        for elementary in self.states.order:
            until = state.until(elementary, time)
            if until >= time:
                soonest = min(soonest, until)
                live.append(elementary)
        self.until = soonest
        return self.states.of(live)

    def end(self, row: Row, time: i64, until: i64) -> i64:
        return until

    def lineage(self, state: KeyState, row: Row, time: i64) -> list[int] | None:
        if state.state in (NONE, self.states.final):
            return None
        for elementary in self.states.order:
            run = state.newest(elementary, time)
            if run is not None:
                return lineage_of(run)
        return None

    def label(self, state: int) -> str:
        return self.states.label(state)


def lineage_of(run: Any) -> list[int]:
    """The ids of the events that a run has bound."""
    return flattened(run.lineage)
