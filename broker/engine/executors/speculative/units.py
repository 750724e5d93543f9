"""Units: the automata of one machine that run as one automaton, as a family or alone.

Here: which members are of one unit, and its automaton. Not here: where automata may differ (constants), whose a result
of a family is (families), units together (together).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ....automaton.automaton import Automaton
from .constants import ALONE, RegisterForm, bits
from .families import ConstantFamily
from .owners import RegisterMember

Unit: TypeAlias = "tuple[int, list[RegisterMember]]"
"""Where the constants of the unit's automata are, and whose these are."""


def units_of(members: Sequence[RegisterMember]) -> list[Unit]:
    """Families of two or more members, and the others alone, in the order of the members. O(members x constants)."""
    forms: dict[RegisterForm, list[RegisterMember]] = {}
    for member in members:
        forms.setdefault(member.text.form, []).append(member)
    units: list[Unit] = []
    for form, alike in forms.items():
        if form.places != ALONE and len(alike) > 1:
            units.append((_where(form, alike), alike))
        else:
            units += [(ALONE, [member]) for member in alike]
    return sorted(units, key=lambda unit: unit[1][0].number)


def _where(form: RegisterForm, members: Sequence[RegisterMember]) -> int:
    """Where texts of a form differ, of the places where they may. At the first one, if they are equal."""
    first = members[0].text.constants
    differ = 0
    for number, constant in enumerate(form.constants):
        if any(member.text.constants[number] != first[number] for member in members):
            differ |= constant.place
    return differ or bits(form.places)[0]


def family_of(unit: Unit) -> ConstantFamily | None:
    """The family of a unit's members; None if it is one alone."""
    places, members = unit
    return None if places == ALONE else ConstantFamily([member.text for member in members], places)


def common_of(unit: Unit, family: ConstantFamily | None) -> Automaton:
    """The automaton as which a unit's members run."""
    return unit[1][0].text.automaton if family is None else family.automaton
