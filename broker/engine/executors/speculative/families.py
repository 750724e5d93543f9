"""Families: register automata that differ in some constants run as one, and a result says how far it reaches.

The family's automaton asks for the loosest constant at each place, and its runs have a further register for each, the
value that the constant was compared with; runs live as long as the longest WITHIN says. A result is one of each member
whose constants the values satisfy, and whose WITHIN the result has kept.

Here: that automaton, and whose a result is. Not here: which automata are of one family (constants, units), the search
for members (limit_table), automata that differ otherwise (merging), who reads results (together).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....automaton.automaton import Arc, Automaton, Carry, Computed
from ....events.schema import Attribute as Column
from ....events.schema import Schema
from ..packed import Floats, floats_of
from .arena import FLOAT
from .changes import Changes
from .constants import FINAL, LIFETIME, START, PlacedConstant, RegisterText, with_constant
from .limit_table import LimitTable, above

GREATEST: Final = sys.float_info.max
REGISTER: Final = "_reach"  # no text can declare it: they are added behind all others


@final
class ConstantFamily:
    """Automata that are equal but for constants. `automaton`: all of them as one; its last `width` registers are those
    that no text has. `lives`: they differ in WITHIN, too, which is the last constant."""

    def __init__(self, texts: Sequence[RegisterText], places: int) -> None:
        """`texts`: those of the members, which are equal but for the constants at `places`. O(members log members)."""
        form = texts[0].form
        numbers = form.at(places)
        assert numbers is not None
        known = [form.constants[number] for number in numbers]
        self.lives = known[-1].place == LIFETIME
        self.width: i64 = len(known) - 1 if self.lives else len(known)
        self._final: i64 = next((at for at, each in enumerate(known) if each.place == FINAL), -1)
        self._signs: list[float] = [each.sign for each in known]
        limits = [
            [above(each.sign * text.constants[number], each.strict) for text in texts]
            for number, each in zip(numbers, known)
        ]
        self._limits = LimitTable(limits)
        self._values: Floats = floats_of([0.0] * len(known))
        automaton = texts[0].automaton
        for at, (number, each) in enumerate(zip(numbers, known)):
            loosest = each.sign * min([each.sign * text.constants[number] for text in texts])
            if each.place == LIFETIME:
                automaton = replace(automaton, within=int(loosest))
            else:
                automaton = _with_register(automaton, at, each, loosest)
        self.automaton = automaton

    def own(self, registers: Slots) -> Slots:
        """The registers that the text of a member has."""
        return registers[: len(registers) - self.width]

    def begun(self, registers: Slots, age: int) -> list[int]:
        """The numbers of the members that a run that has left the start may be one of. Costs as `completed`."""
        values, width = self._values, self.width
        first = len(registers) - width
        at: i64
        for at in range(width):
            value = registers[first + at]
            assert isinstance(value, float)
            values[at] = GREATEST if at == self._final else self._signs[at] * value
        if self.lives:
            values[width] = -float(age)
        return self._limits.reached(values)

    def completed(self, changes: Changes, place: i64) -> list[int]:
        """The numbers of the members that have the result at a place. Costs as a search in the table."""
        values, width, layout = self._values, self.width, changes.layout
        first = len(layout.banks) - width
        at: i64
        for at in range(width):
            if layout.banks[first + at] == FLOAT:
                values[at] = self._signs[at] * changes.numbers[place * layout.floats + layout.places[first + at]]
            else:
                values[at] = self._signs[at] * float(changes.register(place, first + at))
        if self.lives:
            values[width] = float(changes.start(place) - changes.time(place))
        return self._limits.reached(values)


def _with_register(automaton: Automaton, number: int, place: PlacedConstant, constant: float) -> Automaton:
    """The automaton with that constant at a place, and a register for the value that is compared with it."""
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
    before = 0.0 if place.place in (START, FINAL) else place.sign * GREATEST
    return replace(automaton, arcs=tuple(arcs), schema=schema, initial=(*automaton.initial, before))
