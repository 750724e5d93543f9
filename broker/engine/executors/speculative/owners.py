"""Whose a result is: units are the automata of one machine that run as one automaton, as a family or alone, and each
final state that a run can reach is one unit's.

Here: members, which of them are of one unit, and whose a result is. Not here: where automata may differ (constants),
whose a result of a family is (families), units that run together (together), results as matches (found).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from mypy_extensions import i64

from ....automaton.automaton import Automaton
from ...program.target import Target
from ..contract import Member
from .changes import Changes
from .constants import ALONE, RegisterForm, RegisterText, bits, text_of
from .families import ConstantFamily


@final
class RegisterMember(Member):
    """A subscription and its automaton. `number`: its place among those of the machine."""

    __slots__ = ("number", "text")

    def __init__(self, target: Target, text: RegisterText, number: int) -> None:
        super().__init__(target)
        self.text = text
        self.number = number

    def write(self, automaton: Automaton) -> None:
        """Replace the automaton."""
        self.text = text_of(automaton)


@final
class Unit:
    """`places`: where the constants of its members' automata are. Once it runs, `family` is theirs, if they are one,
    and `states` says of each state of its automaton which one it is among units together."""

    def __init__(self, places: int, members: list[RegisterMember]) -> None:
        self.places = places
        self.members = members
        self.family: ConstantFamily | None = None
        self.states: list[int] = []

    def automaton(self) -> Automaton:
        """The automaton as which its members run. O(1), and once O(members log members)."""
        if self.places == ALONE:
            return self.members[0].text.automaton
        if self.family is None:
            self.family = ConstantFamily([member.text for member in self.members], self.places)
        return self.family.automaton


def units_of(members: Sequence[RegisterMember]) -> list[Unit]:
    """Families of two or more members, and the others alone, in the order of the members. O(members x constants)."""
    forms: dict[RegisterForm, list[RegisterMember]] = {}
    for member in members:
        forms.setdefault(member.text.form, []).append(member)
    units: list[Unit] = []
    for form, alike in forms.items():
        if form.places != ALONE and len(alike) > 1:
            units.append(Unit(_where(form, alike), alike))
        else:
            units += [Unit(ALONE, [member]) for member in alike]
    return sorted(units, key=lambda unit: unit.members[0].number)


def _where(form: RegisterForm, members: Sequence[RegisterMember]) -> int:
    """Where texts of a form differ, of the places where they may. At the first one, if they are equal."""
    first = members[0].text.constants
    differ = 0
    for number, constant in enumerate(form.constants):
        if any(member.text.constants[number] != first[number] for member in members):
            differ |= constant.place
    return differ or bits(form.places)[0]


@final
class ResultOwners:
    """The units of one automaton; immutable. `final`: its first result. By result: `units`, whose it is, and `states`,
    which one it is in the automaton of that. `single`: each result is one member's; `lives`: members may have a WITHIN
    of their own."""

    def __init__(self, final: int, units: list[Unit], owners: list[tuple[int, int]]) -> None:
        """`owners`: for each result the number of the unit, and which result it is there."""
        self.final = final
        self.units = [units[number] for number, _ in owners]
        self.states = [unit.automaton().final + own for unit, (_, own) in zip(self.units, owners)]
        self.single = all(unit.family is None for unit in units)
        self.lives = any(unit.family is not None and unit.family.lives for unit in units)

    def members(self, changes: Changes, at: i64) -> list[RegisterMember]:
        """Whose the result at a place is. O(log members), and these."""
        unit = self.units[changes.state(at) - self.final]
        family, members = unit.family, unit.members
        return members if family is None else [members[number] for number in family.completed(changes, at)]

    def count(self, changes: Changes, at: i64) -> int:
        """How many members have the result at a place. Costs as `members`."""
        family = self.units[changes.state(at) - self.final].family
        return 1 if family is None else len(family.completed(changes, at))
