"""implied: an atom that follows from what holds anyway is not asked.

A theta goes by the facts of its state, a guard by these, theta and the loop that must take the event; an atom also by
the other atoms of its clause, so that of several bounds the closest stays. Sound, run by run: where the atom is tested,
it holds. `x = x`, which says that x is not null, goes only where something else says so. What an index answers stays:
over ARRIVAL a condition on the event alone goes only by others on the event alone; so does each in a tree of machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ...algebra.functions import IS_NULL
from ...algebra.normal_form import ALWAYS, Clause, Form, reordered
from ...algebra.terms import Comparison, Constant, Function
from ..automaton import TAKING, Arc, Automaton, Kind, TimeModel
from .alternatives import ALTERNATIVES_MAX
from .facts import Facts
from .forms import each_form
from .known import KnownAtoms
from .rule import Rewritten

ATOMS_MAX: Final = 64  # the atoms of a clause up to which each is compared with the others


def implied(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> shown(implied, cel("SELECT * FROM FILTER{price > 5}(FILTER{name = 'A' AND price > 3}(Stock))"))
    ["name = 'A' AND price > 5"]
    """
    short = _Shortening()
    if automaton.machines is not None:
        return each_form(automaton, short.alone)
    epochs = automaton.time is TimeModel.EPOCHS
    states = tuple(
        [
            replace(state, theta=theta)
            if epochs and number and (theta := short.form(state.theta, list(facts.by_state[number]))) != state.theta
            else state
            for number, state in enumerate(automaton.states)
        ]
    )
    arcs = tuple([_arc(automaton, arc, facts, short) for arc in automaton.arcs])
    return (replace(automaton, states=states, arcs=arcs) if short.count else automaton), short.count


def _arc(automaton: Automaton, arc: Arc, facts: Facts, short: _Shortening) -> Arc:
    if arc.kind is Kind.KILL:
        return arc
    epochs = automaton.time is TimeModel.EPOCHS
    guard = short.form(arc.guard, facts.before(arc) if epochs or arc.kind not in TAKING else ())
    rest = arc.rest
    if rest != ALWAYS:
        rest = short.form(rest, facts.tested(replace(arc, guard=guard)))
    return arc if (guard, rest) == (arc.guard, arc.rest) else replace(arc, guard=guard, rest=rest)


class _Shortening:
    """`count`: the atoms that have gone."""

    def __init__(self) -> None:
        self.count = 0

    def alone(self, form: Form) -> Form:
        """The condition where nothing else is known."""
        return self.form(form, ())

    def form(self, form: Form, base: Sequence[Comparison]) -> Form:
        """The condition where `base` holds. Of many alternatives none asks for the order of literals."""
        few = len(form) <= ALTERNATIVES_MAX
        short = tuple([self._clause(clause, base, few) for clause in form])
        return form if short == form else reordered(short)

    def _clause(self, clause: Clause, base: Sequence[Comparison], few: bool) -> Clause:
        if len(clause) > ATOMS_MAX or (not base and (not few or _unrelated(clause))):
            return clause
        kept = list(clause)
        for atom in clause:
            others = [other for other in kept if other is not atom]
            if KnownAtoms([*base, *others] if few else base).implies(atom, ordered=few):
                kept = others
                self.count += 1
        return clause if len(kept) == len(clause) else tuple(kept)


def _unrelated(clause: Clause) -> bool:
    """Whether no atom can follow from the others: each compares a term of its own with a constant. O(atoms)."""
    asked = [atom for atom in clause if atom.operator != "!="]
    known = {atom.left for atom in asked if isinstance(atom.right, Constant)}
    return len(known) == len(asked) and not any(isinstance(t, Function) and t.name == IS_NULL for t in known)
