"""constants: over ARRIVAL, a join with a register that is known to have a constant is a condition on the event alone.

Executors over ARRIVAL find events by such conditions. Sound, run by run, as `keys` is, in the other direction. What is
forbidden reads the registers of the whole match, so that the facts before the final state count. Not where the constant
has another type than the attribute (`name` of two streams), and not for trees of machines, whose variables are their
own.
"""

from __future__ import annotations

from dataclasses import replace

from ...algebra.guard import Join
from ...algebra.normal_form import narrowed, reordered
from ...algebra.terms import Comparison, Constant
from ..automaton import TAKING, Arc, Automaton, Kind
from .facts import Facts, attribute_of
from .known import KnownAtoms
from .rule import Rewritten


def constants(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> text = "PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) { a.name = 'A' AND b.name = a.name }"
    >>> shown(constants, sase(text))
    ["a.name = 'A'", "name = 'A'"]
    """
    count = 0
    arcs: list[Arc] = []
    ends = [arc.source for arc in automaton.arcs if arc.target == automaton.final]
    last = facts.at(ends[0]) if len(ends) == 1 else KnownAtoms(())
    for arc in automaton.arcs:
        if arc.joins and (arc.kind in TAKING or arc.kind is Kind.KILL):
            known = last if arc.kind is Kind.KILL else facts.at(arc.source)
            kept: list[Join] = []
            atoms: list[Comparison] = []
            for join in arc.joins:
                own, constant = attribute_of(automaton.source_of(arc), join.position), known.constant(join.register)
                if isinstance(constant, Constant) and constant.type == own.type:
                    atoms.append(Comparison("=", own, constant))
                else:
                    kept.append(join)
            if atoms:
                count += len(atoms)
                arc = replace(arc, guard=reordered(narrowed(arc.guard, tuple(atoms))), joins=tuple(kept))
        arcs.append(arc)
    return (replace(automaton, arcs=tuple(arcs)) if count else automaton), count
