"""The plan of a subscription as a member of a group: the template, the key, and its constants as a point.

Here: what the dispatcher needs. Not here: templates and the choice of a mechanism (broker.automaton.analyses), the
group's machine (machine).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, cast

from ....algebra.normal_form import reordered
from ....algebra.terms import Comparison
from ....automaton.analyses.grouping import grouping_of
from ....automaton.analyses.mechanism import Layout, layout_of
from ....automaton.analyses.template import Grouping
from ....automaton.automaton import Automaton, Stay, TimeModel
from ....automaton.diagram import Graph
from ....automaton.drawing import automata_diagram
from ...account import Account
from ...binding import MarkedParts
from ...options import Options
from ...target import Outcome
from ..common_runs import Keeper
from ..contract import Executor, Input, Member
from ..machine_plan import Known, MachinePlan, PlanMaker
from .epoch_runs import EpochRuns
from .machine import GroupMachine, GroupMember

LIMITS: Final = "runs_max"
SHOWN: Final = 8  # subscriptions up to which each is explained


class GroupPlan(MachinePlan):
    """Subscriptions with equal templates, keys and layouts are members of one group, whenever they join."""

    __slots__ = ("grouping", "keeper", "layout", "point")

    executor = "groups"
    version = 1
    figures = ("groups", "group_members", "group_cells", "group_events")
    kind = "group"
    always_open = True

    def __init__(self, automaton: Automaton, grouping: Grouping, layout: Layout, keeper: Keeper) -> None:
        self.keeper = keeper
        self.automaton = automaton
        self.grouping = grouping
        self.layout = layout
        self.point = layout.point(grouping)

    def inputs(self) -> list[Input]:
        template = self.grouping.template
        asked = [Comparison("=", one, value) for one, value in zip(template.constants, self.grouping.key)]
        return [Input(template.stream, reordered((tuple(asked),)))]

    def streams(self) -> tuple[str, ...]:
        return (self.grouping.template.stream,)

    def keys(self) -> tuple[tuple[int, ...], ...]:
        template = self.grouping.template
        adjacent = any(step.stay is Stay.FOREIGN for step in template.steps)
        return (template.partition,) if adjacent else ()

    def outcome(self) -> Outcome:
        output = self.automaton.output if self.automaton.time is TimeModel.EPOCHS else ()
        return Outcome(self.automaton.schema.names, output, (), LIMITS)

    def maker(self, parts: MarkedParts) -> PlanMaker:
        # No coordinate is marked, because finding them computes with constants: marks are in the key, or outside atoms.
        return lambda bound, automaton: _again(automaton, self.keeper)

    def alike(self, options: Options) -> Hashable:
        return self.layout, self.grouping.template, self.grouping.key

    def make(self, options: Options) -> Executor:
        template, most = self.grouping.template, options.runs_max
        runs = EpochRuns(template.updates) if template.time is TimeModel.EPOCHS else None
        common, account = None, None
        if template.common is not None:
            account = Account(options.work_max, options.work_earned)
            whole = self.layout.coordinates[len(template.steps[0].clauses[0].asked) :]
            common = self.keeper(template.common, whole, account, options)
        return GroupMachine(template, self.layout, self.inputs(), self.outcome(), most, runs, common, account)

    def join(self, machine: Executor, symbols: list[int]) -> Member:
        return cast(GroupMachine, machine).join(self.point)

    def leave(self, machine: Executor, member: Member, symbols: list[int]) -> None:
        cast(GroupMachine, machine).leave(cast(GroupMember, member), self.point)

    def saved(self, machine: Executor, member: Member, symbols: list[int]) -> Any:
        known = cast(GroupMember, member)
        return [known.handle, cast(GroupMachine, machine).since(known, self.point)]

    def rejoin(self, machine: Executor, symbols: list[int], saved: Any) -> Member:
        handle, since = saved
        return cast(GroupMachine, machine).rejoin(handle, self.point, since)

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """The group of each subscription: the mechanism, the number of members, and how its events are found."""
        lines: list[str] = []
        for name, plan, machine in known[:SHOWN]:
            group = "suspended" if machine is None else machine.method
            lines.append(f"{name}: how runs are kept: {group}, {plan.layout.dimensions} constants each")
        if len(known) > SHOWN:
            lines.append(f"and {len(known) - SHOWN} more members of groups")
        groups = {id(machine) for _, _, machine in known if machine is not None}
        lines.append(f"groups: {len(known)} subscriptions in {len(groups)} groups")
        return lines

    @classmethod
    def drawn(cls, known: list[Known]) -> Graph:
        """Each automaton once. O(subscriptions)."""
        return automata_diagram("group", [(name, plan.automaton) for name, plan, _ in known])


def plan_of_group(automaton: Automaton, keeper: Keeper) -> GroupPlan | str:
    """The plan, or the reason why the automaton does not fit a group. O(its size squared).

    `keeper` keeps runs that do not depend on members.
    """
    grouping = grouping_of(automaton)
    if isinstance(grouping, str):
        return grouping
    layout = layout_of(grouping)
    return layout if isinstance(layout, str) else GroupPlan(automaton, grouping, layout, keeper)


def _again(automaton: Automaton, keeper: Keeper) -> GroupPlan:
    plan = plan_of_group(automaton, keeper)
    assert not isinstance(plan, str)
    return plan
