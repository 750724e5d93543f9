"""Families: register automata that differ in some constants run as one, and a result says how far it reaches.

The family's automaton asks for the loosest number at each place, or any text, and its runs have a further register for
each, the value that the constant was compared with; runs live as long as the longest WITHIN says. A result is one of
each member whose constants the values satisfy, and whose WITHIN the result has kept.

Here: whose a result is. Not here: the family's automaton (family_automaton), which automata are of one family
(constants, owners), the search for members (limit_table), automata that differ otherwise (merging), who reads results
(together).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ..packed import Floats, floats_of, integers_of
from .arena import FLOAT
from .changes import Changes
from .constants import FINAL, LIFETIME, LOOP, Literal, PlacedConstant, RegisterText
from .family_automaton import family_automaton
from .limit_table import LimitTable, above
from .operations import as_float

NONE: Final = -1


@final
class ConstantFamily:
    """Automata that are equal but for constants. `automaton`: all of them as one; its last `width` registers are those
    that no text has: of numbers, of texts, and whether a loop was taken that has one of them. `lives`: they differ in
    WITHIN, too, which is the last number."""

    def __init__(self, texts: list[RegisterText], places: int) -> None:
        """`texts`: those of the members, which are equal but for the constants at `places`. O(members log members)."""
        form = texts[0].form
        self._texts = texts
        self._known = sorted([(form.constants[number], number) for number in form.at(places)], key=_rank)
        registers = [(each, number) for each, number in self._known if each.place != LIFETIME]
        self._numbers = [(each, number) for each, number in registers if not each.textual]
        written = [(each, number) for each, number in registers if each.textual]
        self.lives = len(registers) < len(self._known)
        self._textual: i64 = len(written)
        counted = self._known[: len(self._numbers) + (1 if self.lives else 0)]
        self._values: Floats = floats_of([0.0] * len(counted))
        columns = [_limits(each, number, texts) for each, number in counted]
        # By the texts of a result, of which that of a loop is None before a first turn.
        loop = next((at for at, (each, _) in enumerate(written) if each.loops), NONE)
        self.width: i64 = len(registers) + (0 if loop == NONE else 1)
        by_text: dict[tuple[Literal | None, ...], list[int]] = {}
        for member, text in enumerate(texts):
            key: tuple[Literal | None, ...] = tuple([text.constants[number] for _, number in written])
            by_text.setdefault(key, []).append(member)
            if loop != NONE:
                by_text.setdefault((*key[:loop], None, *key[loop + 1 :]), []).append(member)
        self._tables = {key: LimitTable(columns, integers_of(members)) for key, members in by_text.items()}
        self._only = self._tables.get(())
        automaton = texts[0].automaton
        if self.lives:
            _, number = counted[len(counted) - 1]
            automaton = replace(automaton, within=int(max([as_float(text.constants[number]) for text in texts])))
        loosest = [_loosest(each, number, texts) for each, number in registers]
        known = [each for each, _ in registers]
        self.automaton = family_automaton(automaton, known, loosest, self._parted())

    def _parted(self) -> bool:
        """Whether each member has one number up to which its runs turn in the loop, and beyond which they end."""
        ends = [number for each, number in self._numbers if each.place == FINAL]
        turns = [number for each, number in self._numbers if each.place == LOOP]
        if len(ends) == 0 or len(turns) == 0:
            return False
        return all(text.constants[ends[0]] == text.constants[turns[0]] for text in self._texts)

    def own(self, registers: Slots) -> Slots:
        """The registers that the text of a member has."""
        return registers[: len(registers) - self.width]

    def may_be(self, member: int, registers: Slots, age: int) -> bool:
        """Whether a run that has left the start may be one of that member. O(constants)."""
        constants = self._texts[member].constants
        at = len(registers) - self.width
        for each, number in self._known:
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
            elif each.role != FINAL and not _limit(each, constant) <= each.sign * as_float(value):
                return False
        return True

    def completed(self, changes: Changes, place: i64) -> list[int]:
        """The numbers of the members that have the result at a place. Costs as a search in the table."""
        values, layout = self._values, changes.layout
        first = len(layout.banks) - self.width
        upto: i64 = len(self._numbers)
        table = self._only
        if table is None:
            texts: list[Literal | None] = []
            at: i64
            for at in range(first + upto, first + upto + self._textual):
                texts.append(changes.register(place, at))
            table = self._tables.get(tuple(texts))
            if table is None:
                return []
        for at in range(upto):
            sign = self._numbers[at][0].sign
            if layout.banks[first + at] == FLOAT:
                values[at] = sign * changes.numbers[place * layout.floats + layout.places[first + at]]
            else:
                values[at] = sign * float(changes.register(place, first + at))
        if self.lives:
            values[upto] = float(changes.start(place) - changes.time(place))
        return table.reached(values)


def _rank(known: tuple[PlacedConstant, int]) -> int:
    """Numbers, then WITHIN, then texts; else in the order of the places."""
    place = known[0]
    return 2 if place.textual else 1 if place.place == LIFETIME else 0


def _loosest(place: PlacedConstant, number: int, texts: list[RegisterText]) -> float:
    """The constant that the most values satisfy; 0 for texts."""
    if place.textual:
        return 0.0
    sign, least = place.sign, math.inf
    for text in texts:
        value = sign * as_float(text.constants[number])
        if value < least:
            least = value
    return sign * least


def _limits(place: PlacedConstant, number: int, texts: list[RegisterText]) -> Floats:
    """The limits at a place of all texts."""
    return floats_of([_limit(place, text.constants[number]) for text in texts])


def _limit(place: PlacedConstant, constant: Literal) -> float:
    return above(place.sign * as_float(constant), place.strict)
