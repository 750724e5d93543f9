"""The common part of all plans of composite subscriptions, however an executor stores their tuples.

Users see them as the paper's machines, with the savings of merging. Not here: choosing the executor (planner), counting
tuples (tuple_counts, sequence_trie).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...automaton.automaton import Automaton, Report
from ...automaton.binding import MarkedParts
from ...automaton.diagram import Graph
from ...automaton.machines import machine_lines, machines_diagram, machines_of, merge, merged_diagram, merged_lines
from ..program.target import Outcome
from .contract import Input
from .machine_plan import Known, MachinePlan, PlanMaker

LIMITS: Final = "bindings_max, cells_max or nodes_max"
SHOWN: Final = 8  # subscriptions up to which each is explained
PREFIX: Final = "composite "


class CompositePlan(MachinePlan):
    """The plan of a composite subscription.

    `sources`: the streams that its events are merged from; `tree`: its expression; `tuples`: each tuple is a result,
    rather than one result for all tuples that an event completes.
    """

    __slots__ = ("sources", "tree", "tuples")

    kind = "composite"

    def __init__(self, automaton: Automaton) -> None:
        assert automaton.machines is not None
        self.automaton = automaton
        self.sources = automaton.sources
        self.tree = automaton.machines
        self.tuples = automaton.report is Report.EACH

    def maker(self, parts: MarkedParts) -> PlanMaker:
        return lambda bound, automaton: self.again(automaton(bound))

    def again(self, automaton: Automaton) -> CompositePlan:
        """The plan of the same automaton with other guards."""
        raise AssertionError

    def inputs(self) -> list[Input]:
        return [Input(self.sources[each.source].stream, each.guard) for each in self.tree.primitives]

    def outcome(self) -> Outcome:
        schema = self.automaton.schema
        return Outcome(schema.names, (), [attribute.type == "float" for attribute in schema.attributes], LIMITS)

    def counting(self) -> str:
        """How it counts tuples, for users."""
        raise AssertionError

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """One subscription's machines in lines; for more than a few only the savings of merging."""
        lines: list[str] = []
        for name, plan, _ in known[:SHOWN]:
            lines += [f"{name}: {line}" for line in machine_lines(machines_of(plan.tree))]
            lines.append(f"{name}: {plan.counting()}")
            lines += [f"{name}: {remark}" for remark in plan.tree.remarks]
        if len(known) > SHOWN:
            lines.append(f"and {len(known) - SHOWN} more composite subscriptions")
        if len(known) > 1:
            merged = merged_lines(merge([(name, machines_of(plan.tree)) for name, plan, _ in known]))
            lines += [f"composite subscriptions: {line}" for line in merged]
        return lines

    @classmethod
    def drawn(cls, known: list[Known]) -> Graph:
        """One subscription as its machines (P-ToPSS, figure 5), several as their merged states (figure 6)."""
        machines = [(name, machines_of(plan.tree)) for name, plan, _ in known]
        graph = machines_diagram("", machines[0][1]) if len(machines) == 1 else merged_diagram("", merge(machines))
        nodes = tuple(replace(node, key=PREFIX + node.key) for node in graph.nodes)
        edges = tuple(replace(e, source=PREFIX + e.source, target=PREFIX + e.target) for e in graph.edges)
        return Graph("", nodes, edges)
