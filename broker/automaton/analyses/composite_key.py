"""The key of a composite subscription: values that all events of every match have in attributes of BY.

An operand may want such an attribute to equal a constant. If every way to a match takes that operand, or another one
with the same constant, then only the partition with that value has matches, and no event of another one matters.

Here: finding such values, and conditions that ask for them. Not here: the same of windows (window_key), of runs that
begin with one event (event_constants).
"""

from __future__ import annotations

from ...algebra.normal_form import Form, narrowed
from ...algebra.terms import Attribute, Comparison, Constant, Side
from ..automaton import Automaton
from .event_constants import shared_constants


def composite_key(automaton: Automaton) -> dict[int, Constant]:
    """By place in BY the value; {} if nothing says one. O(constants x arcs)."""
    machines, sources = automaton.machines, automaton.sources
    if machines is None or not sources[0].key:
        return {}
    asked = [_asked(each.guard, sources[each.source].key) for each in machines.primitives]
    found: dict[int, Constant] = {}
    for place, value in dict.fromkeys(pair for each in asked for pair in each.items()):
        without = {operand for operand, each in enumerate(asked) if each.get(place) != value}
        if place not in found and not _has_matches(automaton, without):
            found[place] = value
    return found


def keyed_guards(automaton: Automaton) -> list[Form]:
    """By operand its condition, which also asks for the key. O(constants x arcs)."""
    assert automaton.machines is not None
    key = sorted(composite_key(automaton).items())
    guards: list[Form] = []
    for primitive in automaton.machines.primitives:
        source = automaton.sources[primitive.source]
        atoms: list[Comparison] = []
        for place, value in key:
            own = source.schema.attributes[source.key[place]]
            if own.type == value.type:
                attribute = Attribute(Side.EVENT, source.key[place], own.type, own.name, own.nullable)
                atoms.append(Comparison("=", attribute, value))
        guards.append(narrowed(primitive.guard, tuple(atoms)) if atoms else primitive.guard)
    return guards


def _asked(guard: Form, key: tuple[int, ...]) -> dict[int, Constant]:
    """By place in BY what every alternative of a condition wants it to equal."""
    constants = shared_constants([guard])
    return {
        key.index(attribute.position): value for attribute, value in constants.items() if attribute.position in key
    }


def _has_matches(automaton: Automaton, operands: set[int]) -> bool:
    """Whether some events of these operands only are a match."""
    known, waiting = {0}, [0]
    while waiting:
        state = waiting.pop()
        for arc in automaton.arcs:
            if arc.source == state and arc.operand in operands and arc.target not in known:
                if arc.target >= len(automaton.states):
                    return True
                known.add(arc.target)
                waiting.append(arc.target)
    return False
