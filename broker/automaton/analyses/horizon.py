"""How long the events whose times a run keeps can still contribute to a match.

Here: that bound. Not here: the duration of a match (window), implied conditions (constructions).
"""

from __future__ import annotations

from ..automaton import Automaton, Stay
from ..distances import FOREVER
from .kept_times import KeptTime


def horizon(automaton: Automaton, times: list[dict[int, KeptTime]]) -> int | None:
    """The longest time after its last event in which a partial match can be completed, in microseconds; None: no bound.

    `times`: those that it keeps (kept_times).
    """
    highest = {e.number: e.allowed[-1][1] for arc in automaton.arcs for e in arc.elapsed}
    longest = 0
    for state, own in zip(automaton.states[1:], times[1:]):
        if state.stay is not Stay.ALL:
            continue
        bounds = [highest[number] for kept in own.values() for number in kept.must]
        if not bounds or min(bounds) == FOREVER:
            return None
        longest = max(longest, min(bounds))
    return longest
