"""Why a match was reported: its events in order, the conditions under which each was taken, and what was passed over.

Not here: matches that were not reported (unmatched).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...events.errors import DefinitionError
from .explaining import AskedInput
from .rerun import Rerun
from .told import Told, Why

if TYPE_CHECKING:
    from ..engine import Engine


def why(engine: Engine, match: str, events: Sequence[AskedInput], names: Sequence[str]) -> Why:
    """The reasons of a match by its id, found among the results of these subscriptions on these events.

    A match that was withdrawn and reported again is told as it was reported last. Raises DefinitionError if none of
    them reports it. O(what the rerun needs for the events).
    """
    for name in names:
        rerun = Rerun(engine, name, events, False)
        found: Why | None = None
        told: list[Told] = []
        for cause, matches in rerun.play(events):
            for each in matches:
                if each.id != match:
                    continue
                told.append(Told(each.kind, *cause))
                steps = None if each.withdrawn else rerun.steps(each)
                if steps is not None:
                    found = Why(name, match, steps[0], window=steps[1])
            if found is not None and not rerun.revises:
                return found
        if found is not None:
            return Why(name, match, found.steps, tuple(told), found.window)
    raise DefinitionError(f"expected the id of a match of these events, found {match[:64]!r}")
