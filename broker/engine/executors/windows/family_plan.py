"""The plan of a window subscription as a member of a family: the family, and its constants.

Here: what the dispatcher needs. Not here: the family of an automaton (automaton/analyses/window_family), its machine
(family_machine).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, cast, final

from ....algebra.marked_terms import number_of
from ....algebra.terms import Constant
from ....automaton.analyses.window_family import WindowFamily, family_of
from ....automaton.automaton import Automaton
from ....automaton.binding import AutomatonMaker, BoundLiterals, MarkedParts
from ....language.marked_literals import Literals, chosen, numbers_in
from ...compiler.recently_used import Recent
from ...options import Options
from ...program.account import Account
from ..contract import Executor, Member
from ..machine_plan import Known, MachinePlan, PlanMaker, counted
from .family_columns import tables_of_family
from .family_machine import FamilyMachine, FamilyMember
from .machine_plan import WindowsPlan
from .window_inputs import WindowInputs

FAMILIES_MAX: Final = 1_000  # the most families of one shape that are kept


@final
class WindowFamilyPlan(WindowsPlan):
    """Subscriptions of equal families share a machine; they join at any time if windows need no event before them."""

    __slots__ = ("constants", "family")

    executor = "window_families"
    version = 2
    figures = (
        *("window_families", "family_members", "family_keys"),
        *("family_starts", "family_rectangles", "family_events"),
    )
    kind = "window families"
    same_inputs = True
    pays = "a visit of the family, and the rectangles that it divides and reports"

    def __init__(self, automaton: Automaton, family: WindowFamily, constants: tuple[Constant, ...]) -> None:
        super().__init__(automaton)
        self.family = family
        self.constants = constants

    def maker(self, parts: MarkedParts) -> PlanMaker:
        """Of a family with literals of its own, those that have the same ones share it."""
        numbers = [number_of(constant) for constant in self.constants]
        common = sorted(numbers_in((self.family.conditions, self.family.values)))
        families: Recent[Literals, WindowFamily] = Recent(FAMILIES_MAX)

        def planned(bound: BoundLiterals, automaton: AutomatonMaker) -> MachinePlan:
            literals = bound.literals
            constants = tuple(
                [
                    constant if number is None else Constant(chosen(literals, number), constant.type)
                    for constant, number in zip(self.constants, numbers)
                ]
            )
            shared = tuple([literals[each] for each in common])
            family = families.get(shared)
            if family is not None:
                return WindowFamilyPlan(automaton(bound), family, constants)
            made = automaton(bound)
            assert made.windows is not None
            family = self.family.of_others(made.windows.atoms, constants)
            families.put(shared, family)
            return WindowFamilyPlan(made, family, constants)

        return planned

    def _inputs(self, keyed: bool) -> WindowInputs:
        _, _, needed = tables_of_family(self.family, keyed)
        return needed

    @property
    def wants_company(self) -> bool:
        return True

    @property
    def always_open(self) -> bool:
        return self.family.forgets

    def alike(self, options: Options) -> Hashable:
        return self.family

    def make(self, options: Options) -> Executor:
        account = Account(options.work_max, options.work_earned)
        limits = options.bindings_max, options.runs_max, options.nodes_max
        return FamilyMachine(self.family, self.outcome(), account, *limits, self._keyed())

    def join(self, machine: Executor, symbols: list[int]) -> Member:
        return cast(FamilyMachine, machine).join(self._values())

    def _values(self) -> tuple[Any, ...]:
        return tuple([constant.value for constant in self.constants])

    def leave(self, machine: Executor, member: Member, symbols: list[int]) -> None:
        cast(FamilyMachine, machine).leave(cast(FamilyMember, member))

    def saved(self, machine: Executor, member: Member, symbols: list[int]) -> Any:
        return cast(FamilyMember, member).order

    def rejoin(self, machine: Executor, symbols: list[int], saved: Any) -> Member:
        return cast(FamilyMachine, machine).rejoin(self._values(), saved)

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """Each subscription as if it were alone, and how its family keeps windows."""
        lines, families = cls.explained_together(known, "members of families")
        both = counted(len(known), "subscription"), counted(families, "family", "families")
        return [*lines, f"window families: {both[0]} in {both[1]}"]


def plan_of_family(automaton: Automaton) -> WindowFamilyPlan | str:
    """The plan, or the reason why the automaton is in no family. O(size of the conditions)."""
    found = family_of(automaton)
    if isinstance(found, str):
        return found
    family, constants = found
    return WindowFamilyPlan(automaton, family, constants)
