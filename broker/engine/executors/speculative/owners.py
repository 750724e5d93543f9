"""Whose a result is: members of merged units, by the final state that a run has reached.

Here: these members. Not here: how members come together (together), results as matches (found).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....automaton.automaton import Automaton
from ...program.target import Target
from ..contract import Member
from .changes import Changes
from .constants import RegisterText, text_of
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
class ResultOwners:
    """The units of one automaton; immutable. `final`: its first result. `owners`: for each of its results the number of
    the unit that it is from, and which result it is there. By unit: `families`; `each`: its members; `finals`: the
    first result of its own automaton. `lives`: members may have a WITHIN of their own."""

    def __init__(
        self, final: int, owners: list[tuple[int, int]], families: list[ConstantFamily | None],
        each: list[list[RegisterMember]], finals: list[int],
    ) -> None:  # fmt: skip
        self.final = final
        self.families = families
        self.each = each
        self.units = [unit for unit, _ in owners]
        self.states = [finals[unit] + own for unit, own in owners]
        self.single = all(family is None for family in families)  # each result is one member's
        self.lives = any(family is not None and family.lives for family in families)

    def members(self, changes: Changes, at: i64) -> list[RegisterMember]:
        """Whose the result at a place is. O(log members), and these."""
        unit = self.units[changes.state(at) - self.final]
        family = self.families[unit]
        members = self.each[unit]
        return members if family is None else [members[number] for number in family.completed(changes, at)]

    def count(self, changes: Changes, at: i64) -> int:
        """How many members have the result at a place. Costs as `members`."""
        family = self.families[self.units[changes.state(at) - self.final]]
        return 1 if family is None else len(family.completed(changes, at))
