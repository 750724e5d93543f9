"""The planner: chooses the executor that keeps the partial matches of an automaton, and gives the reason.

A row of the table is an executor with its plan. The plan either accepts an automaton or gives a reason against it; it
reads facts about the automaton (automaton.analyses), never a language. The planner takes the first row that accepts and
is not switched off (`Options.off`). `explain` shows the choice, and the reasons against the rows before it.

Here: the table; no other file outside an executor's folder names an executor. Not here: the content of a plan
(executors.machine_plan).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, final

from ..automaton.analyses.branches import branches_of
from ..automaton.analyses.line import is_plain_line
from ..automaton.analyses.sequences import sequences_of
from ..automaton.automaton import Automaton, Report, TimeModel
from ..events.errors import DefinitionError
from .executors.groups.machine_plan import GroupPlan, plan_of_group
from .executors.keyed_runs.machine_plan import KeyedRunsPlan
from .executors.kleene.branching_plan import BranchingPlan
from .executors.kleene.group_runs import common_pattern
from .executors.kleene.machine_plan import PatternPlan
from .executors.machine_plan import MachinePlan, MergedPlan
from .executors.reference.machine_plan import ReferencePlan
from .executors.sequence_trie.machine_plan import TriePlan
from .executors.speculative.machine_plan import RegisterPlan, plan_of_registers
from .executors.tuple_counts.machine_plan import CountsPlan
from .executors.windows.family_plan import WindowFamilyPlan, plan_of_family
from .executors.windows.machine_plan import WindowsPlan
from .options import Options

SWITCHED_OFF: Final = "it is switched off"
IN_ORDER: Final = (TimeModel.EPOCHS, TimeModel.ARRIVAL)


@final
class Wanted(NamedTuple):
    """An automaton that needs an executor.

    `forecast`: a forecast asks for the states of the automaton's partial matches. `published`: its results are events
    of a stream.
    """

    automaton: Automaton
    forecast: bool = False
    published: bool = False


class ExecutorRow(NamedTuple):
    """An executor: its plan's class, a function that returns a plan or a reason against it, and its time models."""

    plan: type[MachinePlan]
    attempt: Callable[[Wanted], MachinePlan | str]
    times: tuple[TimeModel, ...] = (TimeModel.ARRIVAL,)


NO_STATES: Final = "it keeps no states that a forecast could follow"


def _group(wanted: Wanted) -> MachinePlan | str:
    if wanted.forecast and wanted.automaton.time is not TimeModel.EPOCHS:
        return NO_STATES
    plan = plan_of_group(wanted.automaton, common_pattern, wanted.forecast)
    if isinstance(plan, GroupPlan):
        if plan.scales_only():
            return "an index of factors finds the second of two events"
        if wanted.forecast and not plan.selective():
            return "no constant says which events it is about, and a forecast follows them"
    return plan


def _trie(wanted: Wanted) -> MachinePlan | str:
    if wanted.automaton.report is not Report.COMPLETIONS:
        return "it reports completions only"
    if wanted.forecast:
        return "it cannot say where partial matches are, which the forecast asks"
    words = sequences_of(wanted.automaton)
    if words is None:
        return "the automaton is more than sequences of adjacent events"
    return TriePlan(wanted.automaton, words)


def _counts(wanted: Wanted) -> MachinePlan | str:
    if wanted.automaton.machines is None:
        return "the paths of the automaton cannot be counted without enumerating them"
    return CountsPlan(wanted.automaton)


def _pattern(wanted: Wanted) -> MachinePlan | str:
    if wanted.forecast:
        return NO_STATES
    if is_plain_line(wanted.automaton):
        return PatternPlan(wanted.automaton)
    branches = branches_of(wanted.automaton)
    if not branches or not all(is_plain_line(branch.automaton) for branch in branches):
        return "the automaton is not a line of operands"
    if wanted.automaton.report is Report.NONOVERLAP:
        return "matches of several lines of operands must not overlap"
    return BranchingPlan(wanted.automaton, branches)


def _keyed_runs(wanted: Wanted) -> MachinePlan | str:
    return KeyedRunsPlan(wanted.automaton)


def _registers(wanted: Wanted) -> MachinePlan | str:
    return NO_STATES if wanted.forecast else plan_of_registers(wanted.automaton)


def _window_family(wanted: Wanted) -> MachinePlan | str:
    return NO_STATES if wanted.forecast else plan_of_family(wanted.automaton)


def _windows(wanted: Wanted) -> MachinePlan | str:
    return WindowsPlan(wanted.automaton)


def _reference(wanted: Wanted) -> MachinePlan | str:
    return NO_STATES if wanted.forecast else ReferencePlan(wanted.automaton)


TABLE: Final[tuple[ExecutorRow, ...]] = (
    ExecutorRow(GroupPlan, _group, IN_ORDER),
    ExecutorRow(TriePlan, _trie),
    ExecutorRow(CountsPlan, _counts),
    ExecutorRow(PatternPlan, _pattern),
    ExecutorRow(KeyedRunsPlan, _keyed_runs, (TimeModel.EPOCHS,)),
    ExecutorRow(RegisterPlan, _registers, (TimeModel.LIFETIMES,)),
    ExecutorRow(WindowFamilyPlan, _window_family, (TimeModel.WINDOWS,)),
    ExecutorRow(WindowsPlan, _windows, (TimeModel.WINDOWS,)),
    ExecutorRow(ReferencePlan, _reference, IN_ORDER),
)
MERGED: Final[type[MergedPlan]] = KeyedRunsPlan  # only one executor can be this: it sits inside the lookup of events
EXECUTORS: Final[tuple[type[MachinePlan], ...]] = tuple([row.plan for row in TABLE if not row.plan.merged])


def plan_of(wanted: Wanted, options: Options) -> MachinePlan:
    """The plan of the first executor that can run the automaton. O(size of the automaton).

    Raises LimitExceeded beyond an executor's limits, DefinitionError if every executor that could run it is switched
    off.
    """
    passed: list[str] = []
    for at, row in enumerate(TABLE):
        if wanted.automaton.time not in row.times:
            continue
        plan = SWITCHED_OFF if row.plan.executor in options.off else row.attempt(wanted)
        if not isinstance(plan, str):
            plan.passed_over = tuple(passed)
            plan.wanted = wanted
            plan.alone = _alone(wanted, options, TABLE[at + 1 :]) if plan.wants_company else ()
            return plan
        passed.append(f"{row.plan.executor}: {plan}")
    raise DefinitionError(f"no executor can run this: {'; '.join(passed)}")


def _alone(wanted: Wanted, options: Options, rows: tuple[ExecutorRow, ...]) -> tuple[str, ...]:
    """The executors that run it as long as it has no company: the next ones that can, up to one that wants none, unless
    that is the last resort."""
    found: list[str] = []
    for row in rows:
        if wanted.automaton.time not in row.times or row.plan.executor in options.off:
            continue
        plan = row.attempt(wanted)
        if not isinstance(plan, str):
            if row.plan is not ReferencePlan:
                found.append(row.plan.executor)
            if not plan.wants_company:
                break
    return tuple(found)


def plan_again(plan: MachinePlan, executor: str, why: str = "another executor has saved it") -> MachinePlan:
    """The plan with which a named executor, and not that of the plan, runs an automaton: it has saved it, or is better
    while it is alone. O(size of the automaton).

    Raises DefinitionError if that executor cannot run it.
    """
    row = next(row for row in TABLE if row.plan.executor == executor)
    wanted = plan.wanted._replace(automaton=plan.automaton)
    other = row.attempt(wanted)
    if isinstance(other, str):
        raise DefinitionError(f"{executor} has saved this and cannot run it: {other}")
    other.passed_over = (f"{plan.executor}: {why}",)
    other.wanted = plan.wanted
    other.alone = plan.alone[plan.alone.index(executor) + 1 :] if executor in plan.alone else ()
    return other


def followed(plan: MachinePlan, lineage: bool) -> MachinePlan:
    """The plan of a subscription whose results have lineage, if `lineage`: a forecast has that of a run, and a machine
    that tells of the runs of its members has none for each. O(1), or O(size of the automaton)."""
    if plan.reports_runs and lineage:
        return plan_again(plan, MERGED.executor, "its forecasts have lineage")
    return plan


def decision(plan: MachinePlan) -> str:
    """The executor of a plan, and the reasons against the executors before it, for users."""
    return "; not ".join([f"executor {plan.executor}", *plan.passed_over])
