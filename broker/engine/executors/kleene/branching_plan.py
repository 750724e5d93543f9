"""The plan of an automaton with several branches, each a line of operands with a plan of its own.

Here: the inputs of all branches, and what the dispatcher needs. Not here: the plan of one branch (kleene_plan), the
machine (branches).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from ....automaton.analyses.branches import LineBranch, branches_of
from ....automaton.automaton import Automaton
from ....automaton.binding import AutomatonMaker, BoundLiterals, MarkedParts
from ....events.errors import LimitExceeded
from ...options import Options
from ..contract import Executor, Input, Member
from ..machine_plan import MachinePlan, PlanMaker
from .branches import BranchingMachine
from .explanation import plan_lines
from .kleene_plan import INPUTS_MAX, KleenePlan, compile_kleene
from .machine import inputs_of
from .machine_plan import PatternPlan, bounds_of
from .plan_template import plan_maker

SHOWN: Final = 8  # branches up to which each is explained


@final
class BranchingPlan(PatternPlan):
    """`bits`: for each branch and each of its inputs the number among `asked`. Raises LimitExceeded.

    Inputs that several branches have in common are asked once.
    """

    __slots__ = ("asked", "bits", "branches", "plans")

    def __init__(
        self, automaton: Automaton, branches: Sequence[LineBranch], plans: Sequence[KleenePlan] | None = None
    ) -> None:
        self.automaton = automaton
        self.branches = tuple(branches)
        self.plans = tuple([compile_kleene(branch.automaton) for branch in branches] if plans is None else plans)
        super().__init__(automaton, self.plans[0])
        numbers: dict[Input, int] = {}
        self.bits = [[numbers.setdefault(given, len(numbers)) for given in inputs_of(plan)] for plan in self.plans]
        if len(numbers) > INPUTS_MAX:
            message = f"the variants of a pattern have {len(numbers)} different conditions on single events"
            raise LimitExceeded(f"{message}, at most {INPUTS_MAX}")
        self.asked = list(numbers)

    def maker(self, parts: MarkedParts) -> PlanMaker:
        makers = [plan_maker(plan, parts) for plan in self.plans]

        def made(bound: BoundLiterals, automaton: AutomatonMaker) -> MachinePlan:
            own = automaton(bound)
            return BranchingPlan(own, branches_of(own), [make(bound) for make in makers])

        return made

    def inputs(self) -> list[Input]:
        return self.asked

    def make(self, options: Options) -> Executor:
        operands = [branch.operands for branch in self.branches]
        return BranchingMachine(self.plans, operands, self.asked, self.bits, bounds_of(options), options.columns)

    def join(self, machine: Executor, symbols: list[int]) -> Member:
        return MachinePlan.join(self, machine, symbols)

    def leave(self, machine: Executor, member: Member, symbols: list[int]) -> None:
        """Nothing more is kept of it."""

    # --- for users --------------------------------------------------------------------------------------------------

    def lines(self) -> list[str]:
        found = [f"{len(self.branches)} variants, a set of runs for each"]
        for branch, plan in list(zip(self.branches, self.plans))[:SHOWN]:
            found += [f"variant {_named(branch)}: {line}" for line in plan_lines(plan)]
        more = len(self.branches) - SHOWN
        return found if more <= 0 else [*found, f"and {more} more variants"]

    def lines_of_operands(self, name: str) -> list[tuple[str, Automaton]]:
        return [(f"{name}: {_named(branch)}", branch.automaton) for branch in self.branches]


def _named(branch: LineBranch) -> str:
    return ", ".join(branch.automaton.operands)
