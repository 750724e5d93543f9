"""Applies a rule on conditions to all conditions of an automaton, and to those of its tree of machines alike.

Executors of composite subscriptions read conditions in the tree. Not here: a rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...algebra.normal_form import Form
from ..automaton import Automaton
from .rule import Rewritten


def each_form(automaton: Automaton, change: Callable[[Form], Form]) -> Rewritten:
    """The automaton with changed forms, and how many arcs and states have changed; `change` returns the same object
    where it changes nothing."""
    count = 0
    states = list(automaton.states)
    for number, state in enumerate(states):
        theta = change(state.theta)
        if theta is not state.theta:
            states[number], count = replace(state, theta=theta), count + 1
    arcs = list(automaton.arcs)
    for number, arc in enumerate(arcs):
        guard, rest = change(arc.guard), change(arc.rest)
        if guard is not arc.guard or rest is not arc.rest:
            arcs[number], count = replace(arc, guard=guard, rest=rest), count + 1
    if not count:
        return automaton, 0
    machines = automaton.machines
    if machines is not None:
        primitives = [replace(each, guard=change(each.guard)) for each in machines.primitives]
        machines = replace(machines, primitives=tuple(primitives))
    return replace(automaton, states=tuple(states), arcs=tuple(arcs), machines=machines), count
