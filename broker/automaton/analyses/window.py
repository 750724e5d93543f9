"""How long a match may take, and what outside of it decides whether it is one.

Here: facts about time. Not here: what follows from times that a run keeps (horizon).
"""

from __future__ import annotations

from ...algebra.normal_form import duration_bound
from ...events.instant import FOREVER
from ..automaton import TAKING, Automaton, Kind, TimeModel


def window_of(automaton: Automaton) -> int | None:
    """Microseconds between the first and the last event of a match at most, and of what may forbid it behind; None if
    unbounded."""
    if is_one_event(automaton):
        return 0
    if automaton.time is TimeModel.EPOCHS:
        longest = state_windows(automaton)[-1]
        return None if longest == FOREVER else longest
    return automaton.within


def is_one_event(automaton: Automaton) -> bool:
    """Whether a match is one event alone, which nothing else can forbid."""
    further = any(arc.kind in TAKING and (arc.source > 0 or arc.target == 0) for arc in automaton.arcs)
    return not further and not any(arc.kind == Kind.KILL for arc in automaton.arcs)


def looks_back(automaton: Automaton) -> bool:
    """Whether events before the first one of a match may forbid it."""
    return any(arc.kind == Kind.KILL and arc.source == 0 for arc in automaton.arcs)


def looks_ahead(automaton: Automaton) -> bool:
    """Whether a match is known only once time has passed its window."""
    return any(arc.kind == Kind.TIMEOUT for arc in automaton.arcs)


def state_windows(automaton: Automaton) -> list[int]:
    """By state of a chain, how long after its beginning a run can still come to something, in microseconds, or FOREVER.

    The bounds on DUR of all that a run must pass, as this automaton alone sees them: a place that it shares may keep
    runs for longer.
    """
    found = [FOREVER] * len(automaton.states)
    bound = duration_bound(automaton.forward(len(automaton.states) - 1).guard)
    for depth in range(len(automaton.states) - 1, 0, -1):
        limits = [bound, duration_bound(automaton.states[depth].theta)]
        loop = automaton.loop(depth)
        if loop is not None:
            limits.append(duration_bound(loop.guard))
        finite = [limit for limit in limits if limit is not None]
        if finite:
            found[depth] = min(finite)
        entry = duration_bound(automaton.forward(depth - 1).guard)
        finite += [] if entry is None else [entry]
        bound = min(finite) if finite else None
    return found
