"""The orders in which the operands of a match may come, if events between them do not matter: the automaton's paths.

`a AND b` has two, `a OR b` two of one operand each. A *step* is an operand with what its event is asked in an order:
where the key has a constant that one operand asks for, all operands of its orders do.

Here: that, for automata that are no line. Not here: what a template makes of it (arrival_template).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from ..automaton import Arc, Automaton, Kind, Report, Stay
from .keys import KeyPart, key_parts, within_key
from .template import NoTemplate

ORDERS_MAX: Final = 24  # as many as four operands have


class Orders(NamedTuple):
    """`steps`: the arc of each step; `orders`: by their indices, in order."""

    steps: list[Arc]
    orders: tuple[tuple[int, ...], ...]
    parts: tuple[KeyPart, ...]


def orders_of(automaton: Automaton) -> Orders:
    """Raises NoTemplate. O(orders x operands)."""
    if automaton.machines is None:
        raise NoTemplate("it is not a line of operands")
    if any(state.stay is not Stay.ALL for state in automaton.states[1:]):
        raise NoTemplate("it is not a line of operands, and some events must be adjacent")
    if automaton.output or any(arc.joins for arc in automaton.arcs):
        raise NoTemplate("it is not a line of operands, and has variables")
    if automaton.report is Report.COMPLETIONS:
        raise NoTemplate("it is not a line of operands, and reports completions only")
    if {arc.operand for arc in automaton.arcs} != set(range(len(automaton.operands))):
        raise NoTemplate("no arc takes one of its operands")
    parts = key_parts(automaton, joined=False)
    steps: dict[tuple[int, object], int] = {}
    taking: list[Arc] = []
    orders: list[tuple[int, ...]] = []
    for path in _paths(automaton):
        order: list[int] = []
        for arc in within_key(replace(automaton, arcs=path), parts).arcs:
            step = steps.setdefault((arc.operand, arc.guard), len(taking))
            if step == len(taking):
                taking.append(arc)
            order.append(step)
        orders.append(tuple(order))
    return Orders(taking, tuple(orders), parts)


def _paths(automaton: Automaton) -> list[tuple[Arc, ...]]:
    found: list[tuple[Arc, ...]] = []
    begun: list[tuple[Arc, ...]] = [()]
    while begun:
        path = begun.pop()
        state = path[-1].target if path else 0
        if state == automaton.final:
            found.append(path)
        for arc in automaton.arcs:
            if arc.source == state and arc.kind is Kind.FORWARD:
                begun.append((*path, arc))
        if len(found) + len(begun) > ORDERS_MAX:  # each of these leads to at least one order
            raise NoTemplate(f"its operands have more than {ORDERS_MAX} orders")
    return found
