"""Units: the automata of one machine that run as one automaton, as a family or alone.

Here: which members are of one unit, and its automaton. Not here: where automata may differ (constants), whose a result
of a family is (families), units together (together).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from ....automaton.automaton import Automaton
from .constants import ALONE, BOTH, FINAL, START, Literal, RegisterForm, bits
from .families import ConstantFamily
from .owners import RegisterMember

Unit: TypeAlias = "tuple[int, list[RegisterMember]]"
"""Where the constants of the unit's automata are, and whose these are."""
ALL: Final = -1  # every place that a form has
NOWHERE: Final = 0  # but that of WITHIN


def units_of(members: Sequence[RegisterMember]) -> list[Unit]:
    """Families of two or more members, and the others alone, in the order of the members. O(members x constants)."""
    units: list[Unit] = []
    left = list(members)
    for level in (ALL, BOTH, START, FINAL, NOWHERE):
        forms: dict[RegisterForm, list[RegisterMember]] = {}
        for member in left:
            forms.setdefault(member.text.form, []).append(member)
        left = []
        for form, alike in forms.items():
            places = form.everywhere() if level == ALL else form.around(level)
            if places == ALONE or form.at(places) is None:
                left += alike
                continue
            for several in _equal(alike, form.elsewhere(places)):
                if len(several) > 1:
                    units.append((_where(form, places, several), several))
                else:
                    left += several
    units += [(ALONE, [member]) for member in left]
    return sorted(units, key=lambda unit: unit[1][0].number)


def _equal(members: list[RegisterMember], numbers: list[int]) -> list[list[RegisterMember]]:
    """Those together that have the constants with these numbers in common."""
    if len(numbers) == 0:
        return [members]
    found: dict[tuple[Literal, ...], list[RegisterMember]] = {}
    for member in members:
        constants = member.text.constants
        found.setdefault(tuple([constants[number] for number in numbers]), []).append(member)
    return list(found.values())


def _where(form: RegisterForm, places: int, members: Sequence[RegisterMember]) -> int:
    """Where texts of a form differ, of the places where they may. At the first one, if they are equal."""
    differ = 0
    for number in form.at(places) or []:
        first = members[0].text.constants[number]
        for member in members:
            if member.text.constants[number] != first:
                differ |= form.constants[number].place
                break
    return differ or bits(places)[0]


def family_of(unit: Unit) -> ConstantFamily | None:
    """The family of a unit's members; None if it is one alone."""
    places, members = unit
    return None if places == ALONE else ConstantFamily([member.text for member in members], places)


def common_of(unit: Unit, family: ConstantFamily | None) -> Automaton:
    """The automaton as which a unit's members run."""
    return unit[1][0].text.automaton if family is None else family.automaton
