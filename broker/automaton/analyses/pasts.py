"""Whether runs are few once those that are equal from then on are one, so that their pasts are worth sharing.

Here: that fact. Not here: what is still read of a run (memory), shared pasts (broker.engine.executors.kleene).
"""

from __future__ import annotations

from ...algebra.normal_form import ALWAYS
from ..automaton import Accumulated, Automaton, Kind, Report
from .ignoring import may_skip_any_event
from .memory import memories
from .window import is_one_event, looks_ahead, looks_back


def shares_pasts(automaton: Automaton) -> bool:
    """All relevant events may be skipped, nothing is remembered that nearly every path has a value of its own of, and
    what is forbidden stands in the middle and is found by a key. O(arcs x slots)."""
    if not may_skip_any_event(automaton) or automaton.report == Report.NONOVERLAP:
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
