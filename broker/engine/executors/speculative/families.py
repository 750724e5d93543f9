"""Families: register automata that differ in one constant run as one, and a result says how far it reaches in them.

The constant is one with which the only arc out of the start, or the only arc into the only final state, compares an
attribute of its event. The family's automaton asks for the loosest constant, and its runs have a further register, the
value of that attribute. A result is one of each member whose constant the value satisfies: of a stretch of the sorted
members.

Here: which automata are of one family, and that automaton. Not here: automata that differ otherwise (merging), who
reads results (together).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, final

from ....algebra.terms import Attribute, Comparison, Constant, Side
from ....automaton.automaton import Arc, Automaton, Carry, Computed, Kind
from ....events.schema import Attribute as Column
from ....events.schema import Schema, Value
from .operations import EXACT_MAX

# Where the constant is. A unit of one automaton that is of no family is ALONE.
ALONE: Final = 0
START: Final = 1
FINAL: Final = 2
REGISTER: Final = "_reach"  # a text cannot declare it twice, as it is added behind all others


@final
@dataclass(frozen=True, slots=True)
class VaryingConstant:
    """A constant at a place of an automaton: the number of the arc, and that of the comparison in its only clause.
    `template`: the automaton with zero instead, which is equal for all of a family."""

    template: Automaton
    arc: int
    atom: int
    operator: str
    constant: float


def varying(automaton: Automaton, place: int) -> VaryingConstant | None:
    """The constant at START or FINAL; None if there is none that runs read once. O(arcs)."""
    arcs = [(number, arc) for number, arc in enumerate(automaton.arcs) if len(arc.guard) > 0]
    if place == START:
        found = [(number, arc) for number, arc in arcs if arc.source == 0]
        if any(arc.target == 0 for _, arc in arcs):
            return None
    else:
        found = [(number, arc) for number, arc in arcs if arc.target == automaton.final]
    if len(found) != 1 or found[0][1].kind is Kind.EPSILON or len(found[0][1].guard) != 1:
        return None
    number, arc = found[0]
    for at, atom in enumerate(arc.guard[0]):
        constant = _constant(atom)
        if constant is not None:
            changed = _with_arc(automaton, number, _with_constant(arc, at, 0.0))
            return VaryingConstant(changed, number, at, atom.operator, constant)
    return None


def _constant(atom: Comparison) -> float | None:
    match atom:
        case Comparison("<" | "<=" | ">" | ">=", Attribute(Side.EVENT, _, "float"), Constant(value, _)):
            if type(value) is float or (type(value) is int and abs(value) <= EXACT_MAX):
                return float(value)
    return None


def _with_constant(arc: Arc, at: int, constant: float) -> Arc:
    atoms = list(arc.guard[0])
    atoms[at] = replace(atoms[at], right=Constant(constant, "float"))
    return replace(arc, guard=(tuple(atoms),))


def _with_arc(automaton: Automaton, number: int, arc: Arc) -> Automaton:
    return replace(automaton, arcs=(*automaton.arcs[:number], arc, *automaton.arcs[number + 1 :]))


@final
class ConstantFamily:
    """Automata that are equal but for a constant. `ranked`: their numbers, the loosest constant first."""

    def __init__(self, automata: Sequence[Automaton], place: int) -> None:
        found = [varying(automaton, place) for automaton in automata]
        constants = [each.constant for each in found if each is not None]
        assert len(constants) == len(automata)
        first = found[0]
        assert first is not None
        self.rising = first.operator in (">", ">=")
        self.strict = first.operator in (">", "<")
        signed = [constant if self.rising else -constant for constant in constants]
        self.ranked = sorted(range(len(signed)), key=lambda number: signed[number])
        self.limits = [signed[number] for number in self.ranked]
        self.automaton = self._common(automata[0], first, constants[self.ranked[0]])

    def _common(self, automaton: Automaton, place: VaryingConstant, loosest: float) -> Automaton:
        slot = len(automaton.initial)
        arcs: list[Arc] = []
        for number, arc in enumerate(automaton.arcs):
            if number == place.arc:
                looser = _with_constant(arc, place.atom, loosest)
                read = Computed(arc.guard[0][place.atom].left)
                arcs.append(replace(looser, update=(*looser.update, read)))
            else:
                arcs.append(replace(arc, update=(*arc.update, Carry(slot))))
        schema = Schema((*automaton.schema.attributes, Column(REGISTER, "float")))
        return replace(automaton, arcs=tuple(arcs), schema=schema, initial=(*automaton.initial, 0.0))

    def reach(self, value: Value) -> int:
        """How many of the ranked members a value satisfies. O(log members)."""
        assert isinstance(value, float)
        signed = value if self.rising else -value
        return bisect_left(self.limits, signed) if self.strict else bisect_right(self.limits, signed)
