"""The plan of any automaton, for the reference.

Here: what the dispatcher needs. Not here: runs (interpreter), which queries get the reference (planner).
"""

from __future__ import annotations

from typing import Final

from ....automaton.automaton import Automaton, Kind, Stay, TimeModel, describe_arc
from ....automaton.binding import MarkedParts
from ....automaton.diagram import Edge, Graph, Node
from ....automaton.diagram.graph import EdgeKind
from ...options import Options
from ...program.account import UNLIMITED, Account
from ...program.target import Outcome
from ..contract import Executor, Input
from ..machine_plan import Known, MachinePlan, PlanMaker
from .machine import Reference, ReferenceOverEpochs, inputs_of

STYLES: Final[dict[Kind, EdgeKind]] = {Kind.LOOP: "rebind", Kind.KILL: "trigger"}


class ReferencePlan(MachinePlan):
    """An automaton, unchanged."""

    __slots__ = ()

    executor = "reference"
    version = 1
    figures = ("references", "reference_keys", "reference_runs", "reference_waiting", "reference_log")
    kind = "reference"
    limits = "work_max or run_bytes_max"

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton

    def inputs(self) -> list[Input]:
        return inputs_of(self.automaton)

    def outcome(self) -> Outcome:
        if self.automaton.time is TimeModel.EPOCHS:
            return Outcome(self.automaton.schema.names, self.automaton.output)
        return super().outcome()

    def maker(self, parts: MarkedParts) -> PlanMaker:
        return lambda bound, automaton: ReferencePlan(automaton(bound))

    def make(self, options: Options) -> Executor:
        if self.automaton.time is TimeModel.EPOCHS:  # no option limits these
            return ReferenceOverEpochs(self.automaton, Account(UNLIMITED, UNLIMITED))
        return Reference(self.automaton, Account(options.work_max, options.work_earned, options.run_bytes_max))

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """The number of states of each automaton, and how its runs are stored."""
        return [
            f"{name}: {len(plan.automaton.states)} states; how runs are kept: "
            f"{'suspended' if machine is None else 'one by one, each tested with every event'}"
            for name, plan, machine in known
        ]

    @classmethod
    def drawn(cls, known: list[Known]) -> Graph:
        """Each automaton: states, how they stay, and arcs by kind."""
        nodes: list[Node] = []
        edges: list[Edge] = []
        for name, plan, _ in known:
            automaton: Automaton = plan.automaton
            key = [f"{name} state {at}" for at in range(automaton.final + 1)]
            for at, state in enumerate(automaton.states):
                nodes.append(Node(key[at], str(at) if at else ", ".join(plan.streams()), "state" if at else "start"))
                if at and state.stay is not Stay.NONE:
                    edges.append(Edge(key[at], key[at], f"stay: {state.stay.value}", "stay"))
            nodes.append(Node(key[-1], name, "end"))
            for arc in automaton.arcs:
                label = f"{arc.kind.value}: {describe_arc(arc)}"
                edges.append(Edge(key[arc.source], key[arc.target], label, STYLES.get(arc.kind, "forward")))
        return Graph("", tuple(nodes), tuple(edges))
