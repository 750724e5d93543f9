"""spans: over EPOCHS, a difference of the event's time and the start of the whole composition is DUR.

DUR is that difference and one more, so that `time - start < 5` is `DUR <= 5`, in any writing. Sound, run by run: both
are known at each event, and none leaves 64 bits. Not of `$2.time - $1.time`: the first event may last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...algebra.normal_form import Form, reordered
from ...algebra.terms import Attribute, Comparison, Constant, Duration, Side, Term
from ...language.literal_orders import total
from ..automaton import TAKING, Arc, Automaton
from .facts import Facts
from .moments import apart, first_values
from .rule import Rewritten

ONE_LESS: Final[dict[str, str]] = {"<": "<=", ">=": ">"}  # where DUR may be as great as the distance


def spans(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> shown(spans, cel("SELECT * FROM FILTER{time - start < 5}(Stock NEXT{$2.name = $1.name} Stock)"))
    ['name = $.name', 'DUR <= 5']
    """
    if not any(facts.time_of(state.stream) is not None for state in automaton.states):
        return automaton, 0

    def begun(arc: Arc) -> list[Term]:
        """When the event that an arc takes began."""
        position = facts.time_of(automaton.states[arc.source].stream)
        if position is None or arc.kind not in TAKING:
            return []
        return [Attribute(Side.EVENT, position + 1, "int")]

    ways = first_values(automaton, begun)
    ways[0] = {frozenset([term for arc in automaton.arcs if arc.source == 0 for term in begun(arc)])}
    count = 0

    def changed(number: int, form: Form) -> Form:
        nonlocal count
        found = tuple([tuple([atom(number, each) for each in clause]) for clause in form])
        if found == form:
            return form
        count += 1
        return reordered(found)

    def atom(number: int, asked: Comparison) -> Comparison:
        position = facts.time_of(automaton.states[number].stream)
        if position is None or not ways[number]:
            return asked
        time = Attribute(Side.EVENT, position, "int")
        found = apart(asked, lambda term: term == time)
        if found is None or not all(found.earlier in way for way in ways[number]):
            return asked
        operator, distance = found.operator, found.distance.value
        if operator in ONE_LESS:
            return Comparison(ONE_LESS[operator], Duration(number > 0), found.distance)
        return Comparison(operator, Duration(number > 0), Constant(total(distance, 1), "int"))

    states, arcs = list(automaton.states), list(automaton.arcs)
    for number, state in enumerate(states):
        if number and (theta := changed(number, state.theta)) is not state.theta:
            states[number] = replace(state, theta=theta)
    for at, arc in enumerate(arcs):
        if arc.kind in TAKING and (guard := changed(arc.source, arc.guard)) is not arc.guard:
            arcs[at] = replace(arc, guard=guard)
    return (replace(automaton, states=tuple(states), arcs=tuple(arcs)) if count else automaton), count
