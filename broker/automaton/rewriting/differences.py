"""The conditions of an automaton that its normal form has elsewhere, otherwise or not at all, for people."""

from __future__ import annotations

from ...algebra.normal_form import ALWAYS, Form, describe_form, narrowed
from ...algebra.terms import Comparison
from ..automaton import Arc, Automaton
from .facts import attribute_of


def differences(written: Automaton, automaton: Automaton) -> str:
    """What was written, step by step; a theta stands before the guards of its state."""
    found: list[str] = []
    for number, (state, other) in enumerate(zip(written.states, automaton.states)):
        if state.theta != other.theta:
            found.append(describe_form(state.theta))
        for arc, changed in zip(written.arcs, automaton.arcs):
            before, after = (arc.guard, arc.joins, arc.rest), (changed.guard, changed.joins, changed.rest)
            if arc.source == number and before != after:
                found.append(describe_form(_whole(written, arc)))
    if written.within != automaton.within:
        found.append("conditions of time")
    asked = [condition for condition in dict.fromkeys(found) if condition != describe_form(ALWAYS)]
    return ", then ".join(asked) or "slots that nothing reads"


def _whole(automaton: Automaton, arc: Arc) -> Form:
    joins = [Comparison("=", attribute_of(automaton.source_of(arc), j.position), j.register) for j in arc.joins]
    guard = narrowed(arc.guard, tuple(joins))
    if arc.rest == ALWAYS:
        return guard
    return tuple([(*clause, *more) for clause in guard for more in arc.rest])
