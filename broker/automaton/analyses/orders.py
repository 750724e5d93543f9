"""The orders in which the operands of a match may come, if events between them do not matter: the automaton's paths.

`a AND b` has two, `a OR b` two of one operand each. A *step* is an operand with what its event is asked in an order:
where the key has a constant that one operand asks for, all operands of its orders do.

Here: that, for automata that are no line. Not here: what a template makes of it (arrival_template).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from ...algebra.normal_form import Form
from ...algebra.terms import Register
from ..automaton import Arc, Automaton, Kind, Report, Stay
from .keys import KeyPart, key_parts, within_key
from .template import NoTemplate
from .variables import variables_of

ORDERS_MAX: Final = 24  # as many as four operands have


class Orders(NamedTuple):
    """`steps`: the arc of each step; `orders`: by their indices, in order. `output`: the values of a result, which are
    those of the key, read of its first event."""

    steps: list[Arc]
    orders: tuple[tuple[int, ...], ...]
    parts: tuple[KeyPart, ...]
    output: tuple[Register, ...]


def orders_of(automaton: Automaton) -> Orders:
    """Raises NoTemplate. O(orders x operands)."""
    if automaton.machines is None:
        raise NoTemplate("it is not a line of operands")
    if any(state.stay is not Stay.ALL for state in automaton.states[1:]):
        raise NoTemplate("it is not a line of operands, and some events must be adjacent")
    if automaton.report is Report.COMPLETIONS:
        raise NoTemplate("it is not a line of operands, and reports completions only")
    if {arc.operand for arc in automaton.arcs} != set(range(len(automaton.operands))):
        raise NoTemplate("no arc takes one of its operands")
    joined = _joined(automaton)
    chains = dict.fromkeys([*(part.positions for part in key_parts(automaton, joined=False)), *dict(joined)])
    parts = tuple(KeyPart(chain, frozenset()) for chain in chains)
    steps: dict[tuple[int, Form, Form], int] = {}
    taking: list[Arc] = []
    orders: list[tuple[int, ...]] = []
    for path in _paths(automaton):
        order: list[int] = []
        own = tuple(replace(arc, joins=()) for arc in path)  # events of one key satisfy all joins
        for arc in within_key(replace(automaton, arcs=own), parts).arcs:
            step = steps.setdefault((arc.operand, arc.guard, arc.rest), len(taking))
            if step == len(taking):
                taking.append(arc)
            order.append(step)
        orders.append(tuple(order))
    return Orders(taking, tuple(orders), parts, tuple(register for _, register in joined))


def _joined(automaton: Automaton) -> list[tuple[tuple[int, ...], Register]]:
    """Of each variable where it is in the events of each operand, and where in the first event of a match."""
    known = variables_of(automaton)
    if len(known.key) != len(automaton.output):
        raise NoTemplate("it is not a line of operands, and some operands lack a variable")
    found: list[tuple[tuple[int, ...], Register]] = []
    attributes = automaton.sources[0].schema.attributes
    for variable in known.key:
        positions = [asked[variable] for asked in known.asked if asked is not None]
        if any(each != positions[0] or len(each) > 1 for each in positions):
            raise NoTemplate("it is not a line of operands, and a variable is in different attributes")
        at = positions[0][0]
        own = attributes[at]
        found.append((tuple(at for _ in automaton.operands), Register(0, at, own.type, own.name, own.nullable)))
    return found


def _paths(automaton: Automaton) -> list[tuple[Arc, ...]]:
    found: list[tuple[Arc, ...]] = []
    begun: list[tuple[Arc, ...]] = [()]
    while begun:
        path = begun.pop()
        state = path[-1].target if path else 0
        if state == automaton.final:
            found.append(path)
        for arc in reversed(automaton.arcs):
            if arc.source == state and arc.kind is Kind.FORWARD:
                begun.append((*path, arc))
        if len(found) + len(begun) > ORDERS_MAX:  # each of these leads to at least one order
            raise NoTemplate(f"its operands have more than {ORDERS_MAX} orders")
    return found
