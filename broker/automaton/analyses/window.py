"""How long a match may take, and whether events outside it can forbid it.

Here: facts about time. Not here: bounds from the times that a run keeps (horizon).
"""

from __future__ import annotations

from ...algebra.normal_form import duration_bound
from ...events.instant import FOREVER
from ..automaton import TAKING, Automaton, Kind, TimeModel


def window_of(automaton: Automaton) -> int | None:
    """The most microseconds between the first event of a match and its last, or a later event that may forbid it.

    None: no bound.
    """
    if is_one_event(automaton):
        return 0
    if automaton.time is TimeModel.EPOCHS:
        longest = state_windows(automaton)[-1]
        return None if longest == FOREVER else longest
    return automaton.within


def is_one_event(automaton: Automaton) -> bool:
    """Whether a match is a single event, which no other event can forbid."""
    if automaton.windows is not None:
        return False
    further = any(arc.kind in TAKING and (arc.source > 0 or arc.target == 0) for arc in automaton.arcs)
    return not further and not any(arc.kind == Kind.KILL for arc in automaton.arcs)


def looks_back(automaton: Automaton) -> bool:
    """Whether events before the first one of a match may forbid it."""
    return any(arc.kind == Kind.KILL and arc.source == 0 for arc in automaton.arcs)


def looks_ahead(automaton: Automaton) -> bool:
    """Whether a match is known only once time has passed its window."""
    return any(arc.kind == Kind.TIMEOUT for arc in automaton.arcs)


def waits_for_time(automaton: Automaton) -> str | None:
    """What is told only once time has passed, whatever events come; None: nothing, or only the end of an epoch."""
    windows = automaton.windows
    if windows is not None and (windows.clock is not None or (windows.keep == "longest" and windows.gap is not None)):
        return "the end of a window"
    return "absence" if looks_ahead(automaton) else None


def remembers(automaton: Automaton) -> bool:
    """Whether events before the first one of a match decide if it is one, other than by forbidding it.

    Windows begin where a prefix says, look back, and may be reported only if no earlier one ends with them; windows of
    the clock begin whatever the events.
    """
    windows = automaton.windows
    if windows is None:
        return False
    begins_anywhere = all(len(part.starts) == 1 for part in windows.parts)
    return windows.clock is not None or windows.back > 0 or windows.keep == "earliest" or not begins_anywhere


def state_windows(automaton: Automaton) -> list[int]:
    """By state of a chain, how long after its beginning a run can still match, in microseconds, or FOREVER.

    These are the bounds on DUR of all arcs that a run must take in this automaton. A shared state may keep runs longer.
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
