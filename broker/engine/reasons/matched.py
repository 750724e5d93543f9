"""Why a match was reported: its events in order, the conditions under which each was taken, and what was passed over.

Where runs are kept (reference_runs), the match is found by the executor that the subscription has, and only then are
the events run again by the reference, which follows the runs that may become this match and no others.

Not here: matches that were not reported (unmatched).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...events.errors import DefinitionError
from ..match import Match
from ..parts import EngineParts
from ..program.account import MATCH_UNITS
from .budget import ReasonsBudget
from .explaining import AskedInput, Question
from .fresh_engine import MakeEngine
from .rerun import Rerun, in_order, keys_of
from .told import Told, Why


def why(engine: EngineParts, make: MakeEngine, match: str, events: Sequence[AskedInput], names: Sequence[str]) -> Why:
    """The reasons of a match by its id, found among the results of these subscriptions on these events.

    A match that was withdrawn and reported again is told as it was reported last. Raises DefinitionError if none of
    them reports it, LimitExceeded beyond the budget. O(what the subscription and the rerun need for the events).
    """
    for name in names:
        look = _of_runs if in_order(engine, name) else _of
        found = look(engine, make, name, match, events)
        if found is not None:
            return found
    raise DefinitionError(f"expected the id of a match of these events, found {match[:64]!r}")


def _of_runs(engine: EngineParts, make: MakeEngine, name: str, match: str, events: Sequence[AskedInput]) -> Why | None:
    budget = ReasonsBudget(len(events), True)
    known: tuple[int, Match] | None = None
    for at, (_, matches) in enumerate(Rerun(engine, make, name, events, budget).play(events)):
        for each in matches:
            budget.spend(MATCH_UNITS)
            if each.id == match:
                known = at, each
                break
        if known is not None:
            break
    if known is None:
        return None
    question = Question(positions=keys_of(engine), lineage=frozenset(known[1].lineage or ()))
    rerun = Rerun(engine, make, name, events, budget, question)
    for at, _ in enumerate(rerun.play(events)):
        steps = rerun.steps(known[1]) if at >= known[0] else None
        if steps is not None:
            return Why(name, match, steps[0], window=steps[1])
    return None


def _of(engine: EngineParts, make: MakeEngine, name: str, match: str, events: Sequence[AskedInput]) -> Why | None:
    rerun = Rerun(engine, make, name, events, ReasonsBudget(len(events), True), Question())
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
    return None if found is None else Why(name, match, found.steps, tuple(told), found.window)
