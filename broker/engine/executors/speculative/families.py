"""Families: register automata that differ in one or two constants run as one, and a result says how far it reaches.

A constant is one with which the only arc out of the start, or the only arc into the only final state, compares an
attribute of its event. The family's automaton asks for the loosest constant, and its runs have a further register, the
value of that attribute. A result is one of each member whose constants the values satisfy. Members are sorted by the
first constant, so that they are of a stretch of these.

Here: which automata are of one family, and that automaton. Not here: automata that differ otherwise (merging), who
reads results (together).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, final

from ....algebra.computation import Slots
from ....algebra.terms import Attribute, Comparison, Constant, Side
from ....automaton.automaton import Arc, Automaton, Carry, Computed, Kind
from ....events.schema import Attribute as Column
from ....events.schema import Schema, Value
from .operations import EXACT_MAX

# Where the constants are, as bits. A unit of one automaton that is of no family is ALONE.
ALONE: Final = 0
START: Final = 1
FINAL: Final = 2
BOTH: Final = 3
REGISTER: Final = "_reach"  # no text can declare it: they are added behind all others


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


def all_varying(automaton: Automaton, place: int) -> list[VaryingConstant] | None:
    """The constants at all places; the template of the last one is without all of them. None if one is missing."""
    found: list[VaryingConstant] = []
    for each in (START, FINAL):
        if place & each:
            one = varying(automaton, each)
            if one is None or any(one.arc == other.arc for other in found):
                return None
            found.append(one)
            automaton = one.template
    return found


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
    """Automata that are equal but for constants. `ranked`: their numbers, the loosest first constant first. `width`:
    how many constants, and so registers of runs, there are; the first one is that of the `place` START, if it varies.
    """

    def __init__(self, automaton: Automaton, known: Sequence[Sequence[VaryingConstant]], place: int) -> None:
        """`automaton`: one of them; `known`: the constants of each."""
        self.place = place
        self.width = len(known[0])
        self._signs = [1.0 if each.operator in (">", ">=") else -1.0 for each in known[0]]
        self._strict = [each.operator in (">", "<") for each in known[0]]
        signed = [[sign * each.constant for sign, each in zip(self._signs, own)] for own in known]
        self.ranked = sorted(range(len(signed)), key=lambda number: signed[number][0])
        self._limits = [signed[number][0] for number in self.ranked]
        self._others = LimitTree([signed[number][1] for number in self.ranked]) if self.width > 1 else None
        loosest = [sign * min(each) for sign, each in zip(self._signs, zip(*signed))]
        self.automaton = self._common(automaton, known[0], loosest)

    def _common(self, automaton: Automaton, places: Sequence[VaryingConstant], loosest: list[float]) -> Automaton:
        for number, (place, constant) in enumerate(zip(places, loosest)):
            slot = len(automaton.initial)
            arcs: list[Arc] = []
            for at, arc in enumerate(automaton.arcs):
                if at == place.arc:
                    looser = _with_constant(arc, place.atom, constant)
                    read = Computed(arc.guard[0][place.atom].left)
                    arcs.append(replace(looser, update=(*looser.update, read)))
                else:
                    arcs.append(replace(arc, update=(*arc.update, Carry(slot))))
            schema = Schema((*automaton.schema.attributes, Column(f"{REGISTER}{number}", "float")))
            automaton = replace(automaton, arcs=tuple(arcs), schema=schema, initial=(*automaton.initial, 0.0))
        return automaton

    def own(self, registers: Slots) -> Slots:
        """The registers that the text of a member has."""
        return registers[: len(registers) - self.width]

    def begun(self, registers: Slots) -> int:
        """How many of the ranked members a run that has left the start may be one of. O(log members)."""
        return self._reach(registers[len(registers) - self.width]) if self.place & START else len(self.ranked)

    def completed(self, registers: Slots) -> Sequence[int]:
        """The ranks of the members that have a result. O(log members), and with two constants O(log members) each."""
        first = len(registers) - self.width
        reach = self._reach(registers[first])
        if self._others is None:
            return range(reach)
        value = registers[first + 1]
        assert isinstance(value, float)
        return self._others.satisfied(reach, self._signs[1] * value, self._strict[1])

    def _reach(self, value: Value) -> int:
        assert isinstance(value, float)
        signed = self._signs[0] * value
        return bisect_left(self._limits, signed) if self._strict[0] else bisect_right(self._limits, signed)


@final
class LimitTree:
    """Lower limits in an order: which of the first so many a value satisfies. `_least`: for each node of a binary tree,
    whose children are at 2n and 2n + 1, the least limit below it; those of leaves in the order, from `_size` on."""

    def __init__(self, limits: Sequence[float]) -> None:
        self._size = 1 << max(0, len(limits) - 1).bit_length()
        self._least = [math.inf] * self._size + [*limits] + [math.inf] * (self._size - len(limits))
        for node in range(self._size - 1, 0, -1):
            self._least[node] = min(self._least[2 * node], self._least[2 * node + 1])

    def satisfied(self, upto: int, value: float, strict: bool) -> list[int]:
        """The numbers below `upto` of the limits at most, or below, a value, ascending. O(log limits) for each."""
        found: list[int] = []
        waiting = [(1, 0, self._size)]  # nodes, each with its first leaf and the number of its leaves
        least = self._least
        while waiting:
            node, first, count = waiting.pop()
            if first >= upto or least[node] > value or (strict and least[node] == value):
                continue
            if count == 1:
                found.append(first)
            else:
                half = count >> 1
                waiting.append((2 * node + 1, first + half, half))
                waiting.append((2 * node, first, half))
        return found
