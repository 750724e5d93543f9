"""The plan of a subscription as a member of a group: the template, the key, and its constants as a point.

Here: what the dispatcher needs. Not here: templates and the choice of a mechanism (broker.automaton.analyses), the
group's machine (machine).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, cast, final

from ....algebra.marked_terms import number_of
from ....algebra.normal_form import reordered
from ....algebra.terms import Comparison, Constant
from ....automaton.analyses.coordinates import MarkedCoordinate
from ....automaton.analyses.grouping import grouping_of
from ....automaton.analyses.mechanism import Layout, Mechanism, layout_of
from ....automaton.analyses.template import Compared, GroupTemplate
from ....automaton.analyses.wide_rows import asked_of
from ....automaton.automaton import Automaton, Stay, TimeModel
from ....automaton.binding import AutomatonMaker, BoundLiterals, MarkedParts
from ....automaton.diagram import Graph
from ....automaton.drawing import automata_diagram, written
from ....language.marked_literals import Literals, chosen, numbers_in
from ...compiler.recently_used import Recent
from ...options import Options
from ...program.account import Account
from ...program.target import Outcome
from ...program.watcher import Watcher
from ..common_runs import Keeper
from ..contract import EventKey, Executor, Input, Member
from ..machine_plan import Known, MachinePlan, PlanMaker, counted, kept_by
from .epoch_machine import EpochMachine
from .machine import GroupMachine, GroupMember
from .making import CellRecipe
from .wide_rows import event_key

LIMITS: Final = "runs_max"
FORMS_MAX: Final = 1_000  # the most templates of one shape that are kept
KEYS_MAX: Final = 10_000  # and keys of one template
SHOWN: Final = 8  # subscriptions up to which each is explained
UNWATCHED: Final = "only in a chain of NEXT it knows the states that a forecast follows"


@final
class GroupForm:
    """A template with its layout; equal for all subscriptions that differ in the key and the point only.

    `keys`: the attributes by which the events are counted.
    """

    __slots__ = ("_hash", "_recipe", "keys", "layout", "template")

    def __init__(self, template: GroupTemplate, layout: Layout) -> None:
        self.template = template
        self.layout = layout
        adjacent = any(step.stay is Stay.FOREIGN for step in template.steps)
        parted, wide = template.partition, template.wide
        keys = (parted,) if wide is None else tuple([tuple([own[at] for at in parted]) for own in wide.keys])
        self.keys: tuple[tuple[int, ...], ...] = keys if adjacent else ()
        self._hash = hash((template, layout))
        self._recipe: CellRecipe | None = None

    @property
    def unwatched(self) -> str:
        """Why nobody can be told where its runs wait; empty for a chain in which a cohort is a run of each member."""
        template = self.template
        if self.layout.mechanism is not Mechanism.CHAIN or template.time is not TimeModel.EPOCHS:
            return f"{UNWATCHED}, this is a {self.layout.mechanism.value}"
        if any(step.stay is not Stay.FAILING or step.sees for step in template.steps[1:]):
            return f"{UNWATCHED}, and only if its runs pass by no event of the key"
        if any(len(step.clauses) != 1 for step in template.steps):
            return f"{UNWATCHED}, and only without OR in a step"
        if template.parts or template.found:
            return f"{UNWATCHED}, and only if a constant says which key it is about"
        return ""

    @property
    def recipe(self) -> CellRecipe:
        """How cells are made, for all groups of the form."""
        if self._recipe is None:
            self._recipe = CellRecipe(self.template, self.layout)
        return self._recipe

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, GroupForm) and self.layout == other.layout and self.template == other.template


class GroupPlan(MachinePlan):
    """Subscriptions with equal forms and keys are members of one group, whenever they join.

    A plan that `shared` made has only its literals, from which the automaton and the point are made when asked for.
    `watched`: somebody is told where its runs wait.
    """

    __slots__ = ("_made", "form", "keeper", "key", "literals", "shared", "watched")

    executor = "groups"
    version = 2
    figures = ("groups", "group_members", "group_cells", "group_events")
    kind = "group"
    same_inputs = True
    pays = "a visit of the group, and the matches that it completes"

    def __init__(
        self,
        form: GroupForm,
        key: tuple[Constant, ...],
        made: tuple[Automaton, list[float]] | None,
        keeper: Keeper,
        shared: MemberPlans | None = None,
        literals: Literals = (),
        watched: bool = False,
    ) -> None:
        self.watched = watched
        self.form = form
        self.key = key
        self.keeper = keeper
        self._made = made
        self.shared = shared
        self.literals = literals

    @property
    def automaton(self) -> Automaton:
        if self._made is None:
            assert self.shared is not None
            return self.shared.automaton(self.literals)
        return self._made[0]

    @automaton.setter
    def automaton(self, other: Automaton) -> None:
        raise AssertionError("the automaton of a plan does not change")

    @property
    def point(self) -> list[float]:
        """O(constants)."""
        if self._made is None:
            assert self.shared is not None
            return self.shared.point(self.literals)
        return self._made[1]

    @property
    def common_key(self) -> tuple[Constant, ...]:
        """What members have in common of it: nothing, if each step has a text of its own that may be another."""
        return () if self.form.template.texts else self.key

    @property
    def _texts(self) -> tuple[Any, ...]:
        """Of each step, if steps have texts of their own."""
        return tuple([text.value for text in self.key]) if self.form.template.texts else ()

    @property
    def always_open(self) -> bool:
        return True

    @property
    def wants_company(self) -> bool:
        template = self.form.template
        if template.texts and template.time is not TimeModel.EPOCHS:
            return True  # it looks at events that one alone need not see
        return template.wide is not None or self.form.layout.mechanism in (Mechanism.KLEENE, Mechanism.SELECTION)

    @property
    def merges_first(self) -> bool:
        return self.form.template.time is TimeModel.EPOCHS and not self.selective()

    def inputs(self) -> list[Input]:
        template = self.form.template
        asked = [Comparison("=", one, value) for one, value in zip(template.constants, self.key)]
        form, wide = template.found or (tuple(asked),), template.wide
        if wide is None:
            return [Input(template.streams[0], reordered(form))]
        each = [(stream, asked_of(wide, number, form)) for number, stream in enumerate(wide.streams)]
        return [Input(stream, reordered(own)) for stream, own in each if own]

    def selective(self) -> bool:
        """Whether constants say which events it is about."""
        return len(self.key) > 0 or len(self.form.template.found) > 0

    def scales_only(self) -> bool:
        """Whether it is two events of CEL, of any key, whose constants are factors of the first one's numbers."""
        template = self.form.template
        pair = template.time is TimeModel.EPOCHS and len(template.steps) == 2 and template.steps[1].again is None
        asked = [one for each in template.clauses() for one in each.asked]
        return pair and not self.selective() and all(one.source is Compared.FACTOR for one in asked)

    def streams(self) -> tuple[str, ...]:
        return self.form.template.streams

    def keys(self) -> tuple[tuple[int, ...], ...]:
        return self.form.keys

    def filed(self, options: Options) -> EventKey | None:
        template = self.form.template
        if template.found:
            begun = None if template.wakes else template.beginning
            return None if begun is None else event_key({begun[0].position: begun[1]}, len(begun[1]), template.wide)
        known = {one.position: constant.value for one, constant in zip(template.constants, self.key)}
        return event_key(known, -1, template.wide)

    def outcome(self) -> Outcome:
        output = self.automaton.output if self.automaton.time is TimeModel.EPOCHS else ()
        return Outcome(self.automaton.schema.names, output, (), LIMITS)

    def maker(self, parts: MarkedParts) -> PlanMaker:
        return MemberPlans(self, parts).plan

    def alike(self, options: Options) -> Hashable:
        return self.form, self.common_key, self.watched

    def make(self, options: Options) -> Executor:
        machine = self._machine(options)
        constants = zip(self.form.template.constants, self.key)
        machine.fixed = {one.position: constant.value for one, constant in constants}
        return machine

    def _machine(self, options: Options) -> GroupMachine:
        template, most = self.form.template, options.runs_max
        if template.common is not None:
            account = Account(options.work_max, options.work_earned, options.run_bytes_max)
            whole = self.form.layout.coordinates[len(template.steps[0].clauses[0].asked) :]
            own = CellRecipe(template, self.form.layout, self.keeper(template.common, whole, account, options))
            return GroupMachine(own, self.inputs(), self.outcome(), most, None, account)
        knowing = template.texts or self.form.layout.mechanism in (Mechanism.NEXT_MATCH, Mechanism.ANY_MATCH)
        recipe = CellRecipe(template, self.form.layout) if knowing else self.form.recipe
        if recipe.epochs is None:
            return GroupMachine(recipe, self.inputs(), self.outcome(), most)
        return EpochMachine(recipe, self.inputs(), self.outcome(), most, recipe.epochs.alike(), self.watched)

    def join(self, machine: Executor, symbols: list[int]) -> Member:
        return cast(GroupMachine, machine).join(self.point, self._texts)

    def leave(self, machine: Executor, member: Member, symbols: list[int]) -> None:
        known, group = cast(GroupMember, member), cast(GroupMachine, machine)
        point = group.members.nearby(known.handle)
        group.leave(known, self.point if point is None else point)

    def saved(self, machine: Executor, member: Member, symbols: list[int]) -> Any:
        known = cast(GroupMember, member)
        return [known.handle, cast(GroupMachine, machine).since(known, self.point)]

    def rejoin(self, machine: Executor, symbols: list[int], saved: Any) -> Member:
        handle, since = saved
        return cast(GroupMachine, machine).rejoin(handle, self.point, since, self._texts)

    @property
    def reports_runs(self) -> bool:
        return self.watched

    def watch(self, machine: Executor, member: Member, watcher: Watcher, states: list[int]) -> None:
        watch = cast(EpochMachine, machine).watch
        assert watch is not None
        watch.watch(cast(GroupMember, member).handle, watcher, states)

    def unwatch(self, machine: Executor, member: Member) -> None:
        watch = cast(EpochMachine, machine).watch
        assert watch is not None
        watch.unwatch(cast(GroupMember, member).handle)

    def company(self, machine: Executor) -> str:
        members = counted(int(cast(GroupMachine, machine).members.count), "member")
        return f"group of {members} that shares {self.shares()}"

    def shares(self) -> str:
        """What members have in common, for users."""
        template = self.form.template
        same = self.common_key or template.beginning is not None or template.wakes
        first = ", the first" if template.wakes else ""
        equal = f"{first} with {written(self.inputs()[0].guard)}" if same else ""
        return f"{counted(len(template.steps), 'step')} on {' and '.join(template.streams)}{equal}"

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """The group of each subscription, what it shares, how runs are kept, the number of members."""
        lines: list[str] = []
        numbers: dict[tuple[GroupForm, tuple[Constant, ...]], int] = {}
        for name, plan, machine in known:
            number = numbers.setdefault((plan.form, plan.common_key), len(numbers) + 1)
            if len(lines) < 2 * SHOWN:
                kept = kept_by(machine)
                lines.append(f"{name}: group {number} shares {plan.shares()}")
                lines.append(f"{name}: how runs are kept: {kept}, {plan.form.layout.dimensions} constants each")
        if len(known) > SHOWN:
            lines.append(f"and {len(known) - SHOWN} more members of groups")
        groups = {id(machine) for _, _, machine in known if machine is not None}
        lines.append(f"groups: {counted(len(known), 'subscription')} in {counted(len(groups), 'group')}")
        return lines

    @classmethod
    def drawn(cls, known: list[Known]) -> Graph:
        """Each automaton once. O(subscriptions)."""
        return automata_diagram("group", [(name, plan.automaton) for name, plan, _ in known])


@final
class MemberPlans:
    """The plans of all subscriptions of a shape, from one plan whose literals are marked.

    A template may have literals of its own, such as those that an aggregate computes with: subscriptions that share
    these share the template. Of the first one of them the plan is made anew, and what is made here must equal it.
    """

    def __init__(self, plan: GroupPlan, parts: MarkedParts) -> None:
        self._parts = parts
        self._keeper = plan.keeper
        self._watched = plan.watched
        self._make = parts.automaton(plan.automaton)
        self._point = plan.point
        self._common = sorted(numbers_in(plan.form.template))
        self._key = [(number_of(constant), constant) for constant in plan.key]
        self._forms: Recent[Literals, GroupForm | Unequal] = Recent(FORMS_MAX)
        self._texts = [number for number, _ in self._key if number is not None]  # of the literals in the key
        self._keys: Recent[Literals, tuple[Constant, ...]] = Recent(KEYS_MAX)
        self._newest: tuple[Literals, list[float]] | None = None  # of the last plan, which is going to join

    def automaton(self, literals: Literals) -> Automaton:
        """O(size of the parts with marks)."""
        return self._make(self._parts.bind(literals))

    def point(self, literals: Literals) -> list[float]:
        """O(constants)."""
        if self._newest is not None and self._newest[0] is literals:
            return self._newest[1]
        found = self._chosen(literals)
        assert found is not None, "a plan with these literals was made"
        return found

    def _chosen(self, literals: Literals) -> list[float] | None:
        """The coordinates of these literals; None if one has none."""
        found: list[float] = []
        for known in self._point:
            value = known.of(literals) if isinstance(known, MarkedCoordinate) else known
            if value is None:
                return None
            found.append(value)
        return found

    def plan(self, bound: BoundLiterals, make: AutomatonMaker) -> GroupPlan | None:
        """None if a literal has no coordinate. O(constants), and once for each set of the template's own literals
        O(size of the automaton squared)."""
        literals = bound.literals
        point = self._chosen(literals)
        if point is None:
            return None
        common = tuple([literals[number] for number in self._common])
        form = self._forms.get(common)
        if isinstance(form, GroupForm):
            self._newest = literals, point
            return GroupPlan(form, self._keyed(literals), None, self._keeper, self, literals, self._watched)
        anew = plan_of_group(make(bound), self._keeper, self._watched)
        assert not isinstance(anew, str), "the analysis of these literals has the same outcome"
        if form is None:
            equal = (anew.key, anew.point) == (self._keyed(literals), point)
            self._forms.put(common, anew.form if equal else Unequal())
        return anew

    def _keyed(self, literals: Literals) -> tuple[Constant, ...]:
        """The key. Members of a group have the same tuple, if its literals are texts."""
        known = tuple([chosen(literals, number) for number in self._texts])
        key = self._keys.get(known)
        if key is None:
            key = self._made_key(literals)
            if all(isinstance(literal, str) for literal in known):  # numbers of other types are equal, too
                self._keys.put(known, key)
        return key

    def _made_key(self, literals: Literals) -> tuple[Constant, ...]:
        return tuple(
            [
                constant if number is None else Constant(chosen(literals, number), constant.type)
                for number, constant in self._key
            ]
        )


@final
class Unequal:
    """In place of a form: the plan has to be made for each subscription."""


def plan_of_group(automaton: Automaton, keeper: Keeper, watched: bool = False) -> GroupPlan | str:
    """The plan, or the reason why the automaton does not fit a group. O(its size squared).

    `keeper` keeps runs that do not depend on members. `watched`: somebody is to be told where its runs wait.
    """
    grouping = grouping_of(automaton)
    if isinstance(grouping, str):
        return grouping
    layout = layout_of(grouping)
    if isinstance(layout, str):
        return layout
    form, made = GroupForm(grouping.template, layout), (automaton, layout.point(grouping))
    if watched and form.unwatched:
        return form.unwatched
    return GroupPlan(form, grouping.key, made, keeper, watched=watched)
