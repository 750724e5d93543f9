"""Families: register automata that differ in some constants run as one, and a result says how far it reaches.

The family's automaton asks for the loosest number at each place, or any text, and its runs have a further register for
each, the value that the constant was compared with; runs live as long as the longest WITHIN says. A result is one of
each member whose constants the values satisfy, and whose WITHIN the result has kept.

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
from .constants import (
    FINAL,
    LIFETIME,
    START,
    Literal,
    PlacedConstant,
    RegisterText,
    as_float,
    with_any_text,
    with_constant,
)
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
        self._texts = texts
        self._known = known
        self._numbers = numbers
        # Registers are behind those of the texts, in the order of the places: numbers, then texts.
        self.lives = any(each.place == LIFETIME for each in known)
        self.width: i64 = len(known) - 1 if self.lives else len(known)
        self._textual: i64 = len([each for each in known if each.textual])
        counted = [(number, each) for number, each in zip(numbers, known) if not each.textual]
        self._signs: list[float] = [each.sign for _, each in counted if each.place != LIFETIME]
        columns = [[_limit(each, text.constants[number]) for text in texts] for number, each in counted]
        self._values: Floats = floats_of([0.0] * len(columns))
        self._tables: dict[tuple[Literal, ...], LimitTable] = {}
        by_text: dict[tuple[Literal, ...], list[int]] = {}
        written = numbers[len(counted) :]
        for member, text in enumerate(texts):
            by_text.setdefault(tuple([text.constants[number] for number in written]), []).append(member)
        for key, members in by_text.items():
            self._tables[key] = LimitTable(columns, members)
        self._only = self._tables.get(())
        automaton = texts[0].automaton
        at = 0
        for number, each in zip(numbers, known):
            if each.place == LIFETIME:
                automaton = replace(automaton, within=int(max([as_float(text.constants[number]) for text in texts])))
                continue
            loosest = 0.0
            if not each.textual:
                loosest = each.sign * min([each.sign * as_float(text.constants[number]) for text in texts])
            automaton = _with_register(automaton, at, each, loosest)
            at += 1
        self.automaton = automaton

    def own(self, registers: Slots) -> Slots:
        """The registers that the text of a member has."""
        return registers[: len(registers) - self.width]

    def may_be(self, member: int, registers: Slots, age: int) -> bool:
        """Whether a run that has left the start may be one of that member. O(constants)."""
        constants = self._texts[member].constants
        at = len(registers) - self.width
        for number, each in zip(self._numbers, self._known):
            constant = constants[number]
            if each.place == LIFETIME:
                if not age < as_float(constant):
                    return False
                continue
            value = registers[at]
            at += 1
            if each.textual:
                if value is not None and value != constant:
                    return False
            elif each.place != FINAL and not _limit(each, constant) <= each.sign * as_float(value):
                return False
        return True

    def completed(self, changes: Changes, place: i64) -> list[int]:
        """The numbers of the members that have the result at a place. Costs as a search in the table."""
        values, layout = self._values, changes.layout
        first = len(layout.banks) - self.width
        upto = self.width - self._textual
        table = self._only
        if table is None:
            texts: list[Literal] = []
            at: i64
            for at in range(first + upto, len(layout.banks)):
                texts.append(changes.register(place, at))
            table = self._tables.get(tuple(texts))
            if table is None:
                return []
        for at in range(upto):
            if layout.banks[first + at] == FLOAT:
                values[at] = self._signs[at] * changes.numbers[place * layout.floats + layout.places[first + at]]
            else:
                values[at] = self._signs[at] * float(changes.register(place, first + at))
        if self.lives:
            values[upto] = float(changes.start(place) - changes.time(place))
        return table.reached(values)


def _limit(place: PlacedConstant, constant: Literal) -> float:
    return above(place.sign * as_float(constant), place.strict)


def _with_register(automaton: Automaton, number: int, place: PlacedConstant, constant: float) -> Automaton:
    """The automaton with that constant at a place, and a register for the value that is compared with it."""
    slot = len(automaton.initial)
    arcs: list[Arc] = []
    for at, arc in enumerate(automaton.arcs):
        if at == place.arc:
            looser = with_any_text(arc, place.atom) if place.textual else with_constant(arc, place.atom, constant)
            read = Computed(arc.guard[0][place.atom].left)
            arcs.append(replace(looser, update=(*looser.update, read)))
        else:
            arcs.append(replace(arc, update=(*arc.update, Carry(slot))))
    column = Column(f"{REGISTER}{number}", "string" if place.textual else "float")
    schema = Schema((*automaton.schema.attributes, column))
    # No run is anybody's before the arc of START, or has a result before that of FINAL.
    before = None if place.textual else 0.0 if place.place in (START, FINAL) else place.sign * GREATEST
    return replace(automaton, arcs=tuple(arcs), schema=schema, initial=(*automaton.initial, before))
