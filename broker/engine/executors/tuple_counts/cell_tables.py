"""What the cells of one machine share: its states and arcs, flat, and how an arc finds the cells that it may move.

Here: tables, made once. Not here: cells.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...account import Account
from .completion import ALWAYS_GOOD
from .plan import CountingPlan
from .runner import FlatArc
from .slots import Slots

ALL: Final = -2  # an arc that tests none of its source's variables
EXACT: Final = -1  # one that tests all of them
PLANS_MAX: Final = 1024  # sets of operands whose arcs are remembered


@final
class CellTables:
    """What the runners of one machine share. `indexes` by state: the variables that some arc probes by, beside all;
    `probes` by arc: the attributes, and into which index."""

    def __init__(self, plan: CountingPlan, tuples: bool, cells_max: int, nodes_max: int, account: Account) -> None:
        self.tuples = tuples
        self.account = account
        self.cells_max = cells_max
        self.nodes_max = nodes_max
        self.horizon: i64 = ALWAYS_GOOD if plan.horizon is None else plan.horizon
        self.skips = [state.skips for state in plan.states]
        self.final = [state.final for state in plan.states]
        self.slots = [Slots(plan, state) for state in plan.states]
        self.arcs = [FlatArc(plan, number) for number in range(len(plan.arcs))]
        self.depth: i64 = max([n for arc in self.arcs for n in arc.recents], default=0)
        self.indexes: list[list[tuple[int, ...]]] = [[] for _ in plan.states]
        self.probes: list[list[int]] = []
        self.into: list[int] = []
        for arc in self.arcs:
            attributes: dict[int, int] = {}
            for at in range(0, len(arc.tests), 2):
                attribute, variable = arc.tests[at], arc.tests[at + 1]
                if variable in attributes:
                    arc.equals += [attributes[variable], attribute]
                attributes.setdefault(variable, attribute)
            subset = tuple(sorted(attributes))
            known = self.indexes[arc.source]
            if len(subset) == len(plan.states[arc.source].variables):
                into = EXACT
            elif not subset:
                into = ALL
            else:
                if subset not in known:
                    known.append(subset)
                into = known.index(subset)
            self.probes.append([attributes[variable] for variable in subset])
            self.into.append(into)
        # A completion's binding: for each final state, by variable, where it is among the state's; -1: unbound.
        self.bound = [
            [state.variables.index(v) if v in state.variables else -1 for v in range(plan.variables)]
            for state in plan.states
        ]
        self._plans: dict[int, list[FlatArc]] = {}

    def plan(self, mask: int) -> list[FlatArc]:
        """The arcs that an event satisfying the operands in `mask` may take."""
        plan = self._plans.get(mask)
        if plan is None:
            if len(self._plans) >= PLANS_MAX:
                self._plans.clear()
            plan = self._plans[mask] = [arc for arc in self.arcs if mask >> arc.operand & 1]
        return plan
