"""Cycles on which runs stay as long as their events live, because nothing that they compute ends them.

The cost of an event grows with the runs that are under way. A condition that compares a register by <, <=, =, >= or >
ends most runs of a cycle soon; without one, each run stays until WITHIN has passed, and without WITHIN for ever.

Here: finding such cycles. Not here: the report to users (executors), limits on runs.
"""

from __future__ import annotations

from ...algebra.normal_form import Clause
from ...algebra.terms import Register, walk
from ..automaton import TAKING, Arc, Automaton, Carry


def unbounded_cycles(automaton: Automaton) -> list[tuple[Arc, ...]]:
    """The arcs of each such cycle, or of several that share states. With WITHIN, cycles that compute nothing are left
    out: to wait for an event is what a window is for. O(states x arcs)."""
    free = [arc for arc in automaton.arcs if arc.kind in TAKING and arc.target < automaton.final and not _bounds(arc)]
    found: list[tuple[Arc, ...]] = []
    known: set[int] = set()
    for state in range(automaton.final):
        if state in known:
            continue
        inside = {other for other in _reached(free, state) if state in _reached(free, other)}
        known |= inside
        cycle = tuple([arc for arc in free if arc.source in inside and arc.target in inside])
        if cycle and (automaton.within is None or any(map(_computes, cycle))):
            found.append(cycle)
    return found


def _reached(arcs: list[Arc], state: int) -> set[int]:
    """The states behind one, by at least one arc."""
    found: set[int] = set()
    waiting = [state]
    while waiting:
        last = waiting.pop()
        for arc in arcs:
            if arc.source == last and arc.target not in found:
                found.add(arc.target)
                waiting.append(arc.target)
    return found


def _bounds(arc: Arc) -> bool:
    """Whether each way in which the arc's condition can hold compares a register otherwise than by `!=`."""
    return all(map(_compares, arc.guard))


def _compares(clause: Clause) -> bool:
    return any(atom.operator != "!=" and any(isinstance(term, Register) for term in walk(atom)) for atom in clause)


def _computes(arc: Arc) -> bool:
    return any(source != Carry(slot) for slot, source in enumerate(arc.update))
