"""Families: register automata that differ in some constants run as one, and a result says how far it reaches.

A constant is one with which an arc compares an attribute of its event: the only arc out of the start, the only arc into
the only final state, or one of those that follow the first, as long as nothing else leads to a state or out of it. So
the events of a run say which one such an arc has taken. The family's automaton asks for the loosest constant, and its
runs have a further register, the value of that attribute. A result is one of each member whose constants the values
satisfy. Members are sorted by the first constant, so that they are of a stretch of these.

Here: which automata are of one family, and that automaton. Not here: automata that differ otherwise (merging), who
reads results (together).
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, final

from ....algebra.computation import Slots
from ....algebra.terms import Attribute, Comparison, Constant, Side
from ....automaton.automaton import Arc, Automaton, Carry, Computed, Kind
from ....events.schema import Attribute as Column
from ....events.schema import Schema
from .operations import EXACT_MAX

# Where the constants are, as bits; those above FINAL are of the second arc, the third one and so on. A unit of one
# automaton that is of no family is ALONE.
ALONE: Final = 0
START: Final = 1
FINAL: Final = 2
BOTH: Final = 3
SECOND: Final = 4
ARCS_MAX: Final = 16  # behind the first that may have constants of their own
GREATEST: Final = sys.float_info.max
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
    """The constant at one place; None if there is none that runs read once. O(arcs), for a place behind START times
    those before."""
    if place == FINAL:
        found = [number for number, arc in _living(automaton) if arc.target == automaton.final]
        number = found[0] if len(found) == 1 else -1
    else:
        lane, at = _only_arcs(automaton), place.bit_length() - 1
        at = at - 1 if place > FINAL else at
        number = lane[at] if at < len(lane) else -1
    if number < 0:
        return None
    arc = automaton.arcs[number]
    if arc.kind is Kind.EPSILON or len(arc.guard) != 1:
        return None
    for at, atom in enumerate(arc.guard[0]):
        constant = _constant(atom)
        if constant is not None:
            changed = _with_arc(automaton, number, _with_constant(arc, at, 0.0))
            return VaryingConstant(changed, number, at, atom.operator, constant)
    return None


def _living(automaton: Automaton) -> list[tuple[int, Arc]]:
    return [(number, arc) for number, arc in enumerate(automaton.arcs) if len(arc.guard) > 0]


def _only_arcs(automaton: Automaton) -> list[int]:
    """The first arcs of all runs: each the only one out of its state, and the only one into the next."""
    living, state, found = _living(automaton), 0, list[int]()
    while len(found) <= ARCS_MAX:
        out = [(number, arc) for number, arc in living if arc.source == state]
        into = len([arc for _, arc in living if arc.target == state])
        if len(out) != 1 or into != min(1, len(found)) or out[0][1].kind is Kind.EPSILON:
            break
        found.append(out[0][0])
        state = out[0][1].target
    return found


def everywhere(automaton: Automaton) -> int:
    """All places that have a constant; ALONE if none of them lies between START and FINAL. O(arcs x places)."""
    places = START | FINAL
    for at, number in enumerate(_only_arcs(automaton)[1:]):
        if automaton.arcs[number].target != automaton.final:
            places |= SECOND << at
    found = sum(place for place in bits(places) if varying(automaton, place) is not None)
    return found if found >= SECOND else ALONE


def bits(places: int) -> list[int]:
    """The single places, those of START and FINAL first."""
    return [1 << at for at in range(places.bit_length()) if places >> at & 1]


def all_varying(automaton: Automaton, place: int) -> list[VaryingConstant] | None:
    """The constants at all places; the template of the last one is without all of them. None if one is missing."""
    found: list[VaryingConstant] = []
    for each in bits(place):
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
    how many constants, and so registers of runs, there are, in the order of their places.
    """

    def __init__(self, automaton: Automaton, known: Sequence[Sequence[VaryingConstant]], place: int) -> None:
        """`automaton`: one of them; `known`: the constants of each."""
        self.width = len(known[0])
        places = bits(place)
        self._final = places.index(FINAL) if FINAL in places else -1
        self._start = places.index(START) if START in places else -1
        self._signs = [1.0 if each.operator in (">", ">=") else -1.0 for each in known[0]]
        self._strict = [each.operator in (">", "<") for each in known[0]]
        signed = [[sign * each.constant for sign, each in zip(self._signs, own)] for own in known]
        self.ranked = sorted(range(len(signed)), key=lambda number: signed[number][0])
        self._limits = [signed[number][0] for number in self.ranked]
        self._second = LimitTree([signed[number][1] for number in self.ranked]) if self.width > 1 else None
        self._further = [[signed[number][at] for number in self.ranked] for at in range(2, self.width)]
        loosest = [sign * min(each) for sign, each in zip(self._signs, zip(*signed))]
        self.automaton = self._common(automaton, known[0], loosest)

    def _common(self, automaton: Automaton, places: Sequence[VaryingConstant], loosest: list[float]) -> Automaton:
        for number, (place, constant, sign) in enumerate(zip(places, loosest, self._signs)):
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
            # No run is anybody's before the arc of START, or has a result before that of FINAL.
            before = 0.0 if number in (self._start, self._final) else sign * GREATEST
            automaton = replace(automaton, arcs=tuple(arcs), schema=schema, initial=(*automaton.initial, before))
        return automaton

    def own(self, registers: Slots) -> Slots:
        """The registers that the text of a member has."""
        return registers[: len(registers) - self.width]

    def begun(self, registers: Slots) -> Sequence[int]:
        """The ranks of the members that a run that has left the start may be one of. As `completed`."""
        return self._satisfied(registers, self._final)

    def completed(self, registers: Slots) -> Sequence[int]:
        """The ranks of the members that have a result. O(log members), and with two constants O(log members) each."""
        return self._satisfied(registers, -1)

    def _satisfied(self, registers: Slots, but: int) -> Sequence[int]:
        """The ranks of the members whose constants the values satisfy, `but` for one of them; -1 for none."""
        values = [self._signed(registers, at) for at in range(self.width)]
        upto = len(self.ranked)
        if but != 0:
            limits, value = self._limits, values[0]
            upto = bisect_left(limits, value) if self._strict[0] else bisect_right(limits, value)
        ranks: Sequence[int] = range(upto)
        if self._second is not None and but != 1:
            ranks = self._second.satisfied(upto, values[1], self._strict[1])
        for at, limits in enumerate(self._further, 2):
            if at != but:
                value, strict = values[at], self._strict[at]
                ranks = [rank for rank in ranks if limits[rank] < value or (limits[rank] == value and not strict)]
        return ranks

    def _signed(self, registers: Slots, at: int) -> float:
        value = registers[len(registers) - self.width + at]
        assert isinstance(value, float)
        return self._signs[at] * value


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
