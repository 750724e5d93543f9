"""The key of all events of runs: what every first event has in attributes that partition the events.

Here: finding it. Not here: the attributes that partition events without a constant (keys), constants that every event
of a match is compared with (event_constants).
"""

from __future__ import annotations

from ...algebra.terms import Constant
from ..automaton import Automaton, Kind
from .event_constants import shared_constants


def first_key(automaton: Automaton) -> dict[int, Constant]:
    """By position the value that the events of all runs of the only stream have; empty if nothing says it, or there
    are several streams. O(arcs out of the start)."""
    if len(automaton.sources) != 1:
        return {}
    starts = [arc for arc in automaton.arcs if arc.source == 0 and len(arc.guard) > 0]
    if any(arc.kind is Kind.EPSILON for arc in starts):
        return {}
    parts = automaton.sources[0].key
    shared = shared_constants([arc.guard for arc in starts])
    return {attribute.position: value for attribute, value in shared.items() if attribute.position in parts}
