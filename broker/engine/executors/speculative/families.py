"""Families: register automata that differ in some constants run as one, and a result says how far it reaches.

The family's automaton asks for the loosest constant at each place, and its runs have a further register for each, the
value that the constant was compared with. A result is one of each member whose constants the values satisfy. Members
are sorted by the first constant, so that they are of a stretch of these.

Here: that automaton, and whose a result is. Not here: which automata are of one family (constants, together), automata
that differ otherwise (merging), who reads results (together).
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, final

from ....algebra.computation import Slots
from ....automaton.automaton import Arc, Automaton, Carry, Computed
from ....events.schema import Attribute as Column
from ....events.schema import Schema
from .constants import FINAL, START, PlacedConstant, RegisterText, with_constant

GREATEST: Final = sys.float_info.max
REGISTER: Final = "_reach"  # no text can declare it: they are added behind all others


@final
class ConstantFamily:
    """Automata that are equal but for constants. `ranked`: their numbers, the loosest first constant first. `width`:
    how many constants, and so registers of runs, there are, in the order of their places.
    """

    def __init__(self, texts: Sequence[RegisterText], places: int) -> None:
        """`texts`: those of the members, which are equal but for the constants at `places`. O(members log members)."""
        form = texts[0].form
        numbers = form.at(places)
        assert numbers is not None
        known = [form.constants[number] for number in numbers]
        self.width = len(known)
        self._final = next((at for at, each in enumerate(known) if each.place == FINAL), -1)
        self._start = next((at for at, each in enumerate(known) if each.place == START), -1)
        self._signs = [1.0 if each.operator in (">", ">=") else -1.0 for each in known]
        self._strict = [each.operator in (">", "<") for each in known]
        signed = [[sign * text.constants[number] for text in texts] for sign, number in zip(self._signs, numbers)]
        first = signed[0]
        self.ranked = sorted(range(len(texts)), key=first.__getitem__)
        ordered = [[own[number] for number in self.ranked] for own in signed]
        self._limits = ordered[0]
        self._second = LimitTree(ordered[1]) if self.width > 1 else None
        self._further = ordered[2:]
        loosest = [sign * min(own) for sign, own in zip(self._signs, signed)]
        self.automaton = self._common(texts[0].automaton, known, loosest)

    def _common(self, automaton: Automaton, places: Sequence[PlacedConstant], loosest: list[float]) -> Automaton:
        for number, (place, constant, sign) in enumerate(zip(places, loosest, self._signs)):
            slot = len(automaton.initial)
            arcs: list[Arc] = []
            for at, arc in enumerate(automaton.arcs):
                if at == place.arc:
                    looser = with_constant(arc, place.atom, constant)
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
