"""The plan of a pattern with Kleene parts and negations, and the choice of the subscriptions that share its runs.

Here: what the dispatcher needs. Not here: runs (machine), the tests of each edge (kleene_plan).
"""

from __future__ import annotations

from typing import Final

from ....automaton.automaton import Automaton, Stay
from ....automaton.binding import AutomatonMaker, BoundLiterals, MarkedParts
from ....automaton.diagram import Graph
from ....automaton.drawing import automata_diagram
from ...options import Options
from ..contract import Executor, Input
from ..machine_plan import Known, MachinePlan, PlanMaker, kept_by
from .explanation import plan_lines
from .kleene_plan import KleenePlan, compile_kleene
from .machine import KleeneMachine, inputs_of
from .plan_template import plan_maker
from .tables import RunBounds

LIMITS: Final = "runs_max, run_bytes_max, matches_max or negated_max"
SHOWN: Final = 8  # subscriptions up to which each is explained


class PatternPlan(MachinePlan):
    """The plan of a pattern. Raises LimitExceeded (compile_kleene). `plan`: the automaton's, if it is known already."""

    __slots__ = ("plan",)

    executor = "kleene"
    version = 1
    figures = ("patterns", "pattern_keys", "pattern_runs", "pattern_waiting", "pattern_negated")
    kind = "pattern"
    limits = LIMITS

    def __init__(self, automaton: Automaton, plan: KleenePlan | None = None) -> None:
        self.automaton = automaton  # equal for subscriptions that may share a machine
        self.plan: KleenePlan = compile_kleene(automaton) if plan is None else plan

    def maker(self, parts: MarkedParts) -> PlanMaker:
        make = plan_maker(self.plan, parts)

        def made(bound: BoundLiterals, automaton: AutomatonMaker) -> MachinePlan:
            return PatternPlan(automaton(bound), make(bound))

        return made

    def inputs(self) -> list[Input]:
        return inputs_of(self.plan)

    def keys(self) -> tuple[tuple[int, ...], ...]:
        ordered = sorted(self.automaton.sources, key=lambda source: source.stream)
        adjacent = any(state.stay is Stay.FOREIGN for state in self.automaton.states)
        return tuple(source.key for source in ordered) if adjacent else ()

    def make(self, options: Options) -> Executor:
        return KleeneMachine(self.plan, bounds_of(options), options.columns)

    def lines(self) -> list[str]:
        """The plan in lines of text."""
        return plan_lines(self.plan)

    def lines_of_operands(self, name: str) -> list[tuple[str, Automaton]]:
        """The lines of operands of a subscription, each with a name."""
        return [(name, self.automaton)]

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """Each subscription's plan in lines; for more than a few, how they share."""
        lines: list[str] = []
        for name, plan, machine in known[:SHOWN]:
            lines += [f"{name}: {line}" for line in plan.lines()]
            lines.append(f"{name}: how runs are kept: {kept_by(machine)}")
        if len(known) > SHOWN:
            lines.append(f"and {len(known) - SHOWN} more patterns")
        if len(known) > 1:
            machines = len({id(machine) for _, _, machine in known if machine is not None})
            asked = [given for _, plan, _ in known for given in plan.inputs()]
            sets = "set" if machines == 1 else "sets"
            lines.append(f"patterns: {len(known)} subscriptions with {machines} {sets} of runs")
            different = f"{len(set(asked))} of them different, in the index"
            lines.append(f"patterns: {len(asked)} conditions on single events, {different}")
        return lines

    @classmethod
    def drawn(cls, known: list[Known]) -> Graph:
        """Each automaton once, with the names of its subscriptions. O(subscriptions)."""
        return automata_diagram("pattern", [part for name, plan, _ in known for part in plan.lines_of_operands(name)])


def bounds_of(options: Options) -> RunBounds:
    kept = options.runs_max, options.matches_max, options.negated_max
    return RunBounds(*kept, options.work_max, options.work_earned, options.run_bytes_max)
