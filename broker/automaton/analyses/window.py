"""How long a match may take, and what outside of it decides whether it is one.

Here: facts about time. Not here: windows that conditions of single arcs add up to (engine.forecasts.plan).
"""

from __future__ import annotations

from ..automaton import Automaton, Kind


def window_of(automaton: Automaton) -> int | None:
    """Microseconds between the first and the last event of a match at most, and of what may forbid it behind; None if
    unbounded."""
    return 0 if is_one_event(automaton) else automaton.within


def is_one_event(automaton: Automaton) -> bool:
    """Whether a match is one event alone, which nothing else can forbid."""
    taking = (Kind.FORWARD, Kind.LOOP)
    return not any(arc.kind == Kind.KILL or (arc.kind in taking and arc.source > 0) for arc in automaton.arcs)


def looks_back(automaton: Automaton) -> bool:
    """Whether events before the first one of a match may forbid it."""
    return any(arc.kind == Kind.KILL and arc.source == 0 for arc in automaton.arcs)


def looks_ahead(automaton: Automaton) -> bool:
    """Whether a match is known only once time has passed its window."""
    return any(arc.kind == Kind.TIMEOUT for arc in automaton.arcs)
