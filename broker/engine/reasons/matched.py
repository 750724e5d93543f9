"""Why a match was reported: its events in order, the conditions under which each was taken, and what was passed over.

Not here: matches that were not reported (unmatched).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from ...events.errors import DefinitionError
from ...events.event import Event
from .rerun import Rerun, ids_of
from .steps import Step, steps_of

if TYPE_CHECKING:
    from ..engine import Engine


@final
@dataclass(frozen=True, slots=True)
class Why:
    """The steps of a match."""

    subscription: str
    id: str
    steps: tuple[Step, ...]

    def line(self) -> dict[str, Any]:
        """As one JSON object."""
        return {"subscription": self.subscription, "id": self.id, "steps": [step.line() for step in self.steps]}


def why(engine: Engine, match: str, events: Sequence[Event], names: Sequence[str]) -> Why:
    """The reasons of a match by its id, found among the results of these subscriptions on these events.

    Raises DefinitionError if none of them reports it. O(what the reference needs for the events).
    """
    for name in names:
        rerun = Rerun(engine, name)
        for matches in rerun.play(events):
            found = [each for each in matches if each.id == match]
            if found:
                lineage = sorted(found[0].lineage or ())
                for interpreter in rerun.interpreters:
                    notes = interpreter.notes
                    for run in [] if notes is None else reversed(notes.completed):
                        if sorted(ids_of(run.taken)) == lineage:
                            assert notes is not None
                            steps = steps_of(interpreter.automaton, run.taken, notes.seen)
                            return Why(name, match, tuple(steps))
    raise DefinitionError(f"expected the id of a match of these events, found {match[:64]!r}")
