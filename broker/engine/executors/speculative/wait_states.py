"""Which states wait: their runs ignore events or complete, and no two runs can become one.

A run that waits is not in the blocks between, so nothing may depend on its place there. That is so where it is the only
run of its first event in its state, and the only one that leads to its results.

Not here: the runs (waiting).
"""

from __future__ import annotations

from ....automaton.automaton import Arc, Automaton, Kind
from ....events.instant import FOREVER
from .arena import OBJECT, NodeLayout


def wait_states(automaton: Automaton, layout: NodeLayout) -> list[int]:
    """The states that wait. O(arcs x states)."""
    arcs = [arc for arc in automaton.arcs if len(arc.guard) > 0]
    always = all(arc.kind is not Kind.EPSILON and arc.begin == -FOREVER and arc.end == FOREVER for arc in arcs)
    if not always or OBJECT in layout.banks:
        return []
    return [state for state in range(1, len(automaton.states)) if _waits(automaton, arcs, state)]


def _waits(automaton: Automaton, arcs: list[Arc], state: int) -> bool:
    final = automaton.final
    leaving = [arc for arc in arcs if arc.source == state]
    loops = [arc for arc in leaving if _ignores(arc)]
    results = [arc for arc in leaving if arc.target == final]
    if not loops or len(loops) + len(results) < len(leaving):
        return False
    for arc in results:
        same = [other for other in arcs if other.target == final and other.operand == arc.operand]
        if len(same) > 1:
            return False
    return _on_one_path(arcs, state)


def _ignores(arc: Arc) -> bool:
    loops = arc.kind is Kind.LOOP and arc.target == arc.source
    return loops and all(_carries(arc, at) for at in range(len(arc.update)))


def _carries(arc: Arc, at: int) -> bool:
    return getattr(arc.update[at], "slot", -1) == at


def _on_one_path(arcs: list[Arc], state: int) -> bool:
    """Whether one arc leads to the state, one to that arc's source, and so on back to the start."""
    seen = {state}
    while state != 0:
        incoming = [arc.source for arc in arcs if arc.target == state and not (len(seen) == 1 and _ignores(arc))]
        if len(incoming) != 1 or incoming[0] in seen:
            return False
        state = incoming[0]
        seen.add(state)
    return all(arc.target != 0 for arc in arcs)
