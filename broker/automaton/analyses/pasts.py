"""Whether merging runs with equal futures leaves few of them, so that sharing their pasts pays.

Here: that fact. Not here: what is still read of a run (memory), shared pasts (broker.engine.executors.kleene).
"""

from __future__ import annotations

from ...algebra.normal_form import ALWAYS
from ..automaton import Accumulated, Automaton, Kind, Report, Stay
from .memory import memories
from .window import is_one_event, looks_ahead, looks_back


def shares_pasts(automaton: Automaton) -> bool:
    """Whether all relevant events may be skipped, no register differs on nearly every path, and forbidden events lie
    between operands and are found by a key. O(arcs x slots)."""
    if any(state.stay is not Stay.ALL for state in automaton.states) or automaton.report == Report.NONOVERLAP:
        return False
    if is_one_event(automaton) or looks_back(automaton) or looks_ahead(automaton):
        return False
    if any(arc.kind == Kind.KILL and (arc.joins or arc.rest != ALWAYS) for arc in automaton.arcs):
        return False
    sums = {
        slot
        for arc in automaton.arcs
        for slot, source in enumerate(arc.update)
        if isinstance(source, Accumulated) and source.function in ("sum", "avg")
    }
    return not any(sums.intersection(memory.values) for memory in memories(automaton))
