"""The plan of a pattern with Kleene parts and negations, and the choice of the subscriptions that share its runs.

Here: what the dispatcher needs. Not here: runs (machine), the tests of each edge (plan).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, cast

from ....automaton.analyses.ignoring import asks_for_adjacent_events_of_a_partition
from ....automaton.analyses.measures import measures_of, monotone, variant
from ....automaton.automaton import Automaton
from ....automaton.binding import AutomatonMaker, BoundLiterals, MarkedParts
from ....automaton.diagram import Graph
from ....automaton.drawing import automata_diagram
from ...options import Options
from ...program.target import Outcome, Target
from ..contract import Executor, Input, Member
from ..machine_plan import Known, MachinePlan, PlanMaker
from .explanation import plan_lines
from .family import FactorFamily, FamilyMember
from .machine import KleeneMachine, inputs_of
from .plan import KleenePlan, compile_kleene
from .plan_template import plan_maker
from .tables import RunBounds, Switches

LIMITS: Final = "runs_max, matches_max or negated_max"
SHOWN: Final = 8  # subscriptions up to which each is explained


class PatternPlan(MachinePlan):
    """The plan of a pattern. Raises LimitExceeded (compile_kleene).

    `variant`: the common part of patterns that differ only in a factor, and the factor. `plan`: the automaton's, if it
    is known already; `varies` is false if it is known that there is no such factor.
    """

    __slots__ = ("plan", "published", "variant")

    executor = "kleene"
    version = 1
    figures = ("patterns", "pattern_keys", "pattern_runs", "pattern_waiting", "pattern_negated")
    kind = "pattern"

    def __init__(
        self, automaton: Automaton, published: bool = False, plan: KleenePlan | None = None, varies: bool = True
    ) -> None:
        self.automaton = automaton  # equal for subscriptions that may share a machine
        self.plan: KleenePlan = compile_kleene(automaton) if plan is None else plan
        self.published = published
        if not varies:
            self.variant = None
            return
        within_key = self.plan.automaton
        measures = measures_of(within_key)
        merges = measures is None or monotone(within_key, measures)
        # If equal runs are merged, that saves more than sharing them with other factors.
        self.variant = None if measures is None or merges or published else variant(automaton, measures)

    def maker(self, parts: MarkedParts) -> PlanMaker:
        make, varies = plan_maker(self.plan, parts), self.variant is not None

        def made(bound: BoundLiterals, automaton: AutomatonMaker) -> MachinePlan:
            return PatternPlan(automaton(bound), self.published, make(bound), varies)

        return made

    def inputs(self) -> list[Input]:
        return inputs_of(self.plan)

    def streams(self) -> tuple[str, ...]:
        return tuple(sorted(source.stream for source in self.automaton.sources))

    def keys(self) -> tuple[tuple[int, ...], ...]:
        ordered = sorted(self.automaton.sources, key=lambda source: source.stream)
        adjacent = asks_for_adjacent_events_of_a_partition(self.automaton)
        return tuple(source.key for source in ordered) if adjacent else ()

    def outcome(self) -> Outcome:
        return Outcome(self.automaton.schema.names, (), (), LIMITS)

    def alike(self, options: Options) -> Hashable:
        if options.columns and options.variants and self.variant is not None:
            return self.variant[0]
        return self.automaton

    def make(self, options: Options) -> Executor:
        bounds, switches = bounds_of(options), switches_of(options)
        family = FactorFamily() if options.columns and options.variants and self.variant is not None else None
        return KleeneMachine(self.plan, bounds, switches, family)

    def join(self, machine: Executor, symbols: list[int]) -> Member:
        family = cast(KleeneMachine, machine).family
        if family is None or self.variant is None:
            return super().join(machine, symbols)
        member = family.find(self.variant[1])
        if member is None:
            member = FamilyMember(self.variant[1], Target(self.outcome(), None), self.plan)
            family.enter(member)
        return member

    def leave(self, machine: Executor, member: Member, symbols: list[int]) -> None:
        if isinstance(member, FamilyMember):
            family = cast(KleeneMachine, machine).family
            assert family is not None
            family.leave(member)

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
            lines.append(f"{name}: how runs are kept: {'suspended' if machine is None else machine.method}")
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
    return RunBounds(options.runs_max, options.matches_max, options.negated_max, options.work_max, options.work_earned)


def switches_of(options: Options) -> Switches:
    return Switches(options.columns, options.merging, options.buffer, options.variants)
