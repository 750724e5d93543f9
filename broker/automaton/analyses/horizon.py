"""How long events can still be of use, where a run keeps their times.

Here: that bound. Not here: how long a match may take (window), which conditions follow from others (constructions).
"""

from __future__ import annotations

from ..automaton import Automaton, Stay
from ..distances import FOREVER
from .kept_times import KeptTime


def horizon(automaton: Automaton, times: list[dict[int, KeptTime]]) -> int | None:
    """How long after its last event a match can be of any use at most, in microseconds; None: no bound. `times`: those
    that it keeps (kept_times)."""
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
