"""The planner: which executor keeps the partial matches of an automaton, and why.

A row of the table is an executor and what speaks against it, read from facts of the automaton (automaton.analyses),
never from a language. The planner takes the first row that nothing speaks against and that is not switched off
(`Options.executors_off`); `explain` shows which, and what spoke against those before it.

Here: the table, the only file beside an executor's own folder that names one. Not here: what a plan has to say
(executors.machine_plan).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, final

from ..automaton.analyses.line import is_plain_line
from ..automaton.analyses.sequences import sequences_of
from ..automaton.automaton import Automaton, Report, TimeModel
from ..events.errors import DefinitionError
from .executors.keyed_runs.machine_plan import KeyedRunsPlan
from .executors.kleene.machine_plan import PatternPlan
from .executors.machine_plan import MachinePlan
from .executors.reference.machine_plan import ReferencePlan
from .executors.sequence_trie.machine_plan import TriePlan
from .executors.tuple_counts.machine_plan import CountsPlan
from .options import Options

SWITCHED_OFF: Final = "it is switched off"


@final
class Wanted(NamedTuple):
    """`forecast`: a forecast asks where the automaton's partial matches are. `published`: its results are events of a
    stream."""

    automaton: Automaton
    forecast: bool = False
    published: bool = False


class ExecutorRow(NamedTuple):
    """An executor: its plan's class, why it cannot run what is wanted (None: it can), the plan, and what its runs take
    time for."""

    plan: type[MachinePlan]
    against: Callable[[Wanted], str | None]
    make: Callable[[Wanted], MachinePlan]
    times: tuple[TimeModel, ...] = (TimeModel.ARRIVAL,)


def _against_trie(wanted: Wanted) -> str | None:
    if wanted.automaton.report is not Report.COMPLETIONS:
        return "it reports completions only"
    if wanted.forecast:
        return "it cannot say where partial matches are, which the forecast asks"
    if sequences_of(wanted.automaton) is None:
        return "the automaton is more than sequences of adjacent events"
    return None


def _trie(wanted: Wanted) -> MachinePlan:
    words = sequences_of(wanted.automaton)
    assert words is not None
    return TriePlan(wanted.automaton, words)


def _against_counts(wanted: Wanted) -> str | None:
    if wanted.automaton.machines is None:
        return "the paths of the automaton cannot be counted without enumerating them"
    return None


def _against_kleene(wanted: Wanted) -> str | None:
    if wanted.forecast:
        return "it keeps no states that a forecast could follow"
    if not is_plain_line(wanted.automaton):
        return "the automaton is not a line of operands"
    return None


def _against_reference(wanted: Wanted) -> str | None:
    return "it keeps no states that a forecast could follow" if wanted.forecast else None


TABLE: Final[tuple[ExecutorRow, ...]] = (
    ExecutorRow(TriePlan, _against_trie, _trie),
    ExecutorRow(CountsPlan, _against_counts, lambda wanted: CountsPlan(wanted.automaton)),
    ExecutorRow(PatternPlan, _against_kleene, lambda wanted: PatternPlan(wanted.automaton, wanted.published)),
    ExecutorRow(KeyedRunsPlan, lambda _: None, lambda _: KeyedRunsPlan(), (TimeModel.EPOCHS,)),
    ExecutorRow(ReferencePlan, _against_reference, lambda wanted: ReferencePlan(wanted.automaton), tuple(TimeModel)),
)
EXECUTORS: Final[tuple[type[MachinePlan], ...]] = tuple([row.plan for row in TABLE if not row.plan.merged])


def plan_of(wanted: Wanted, options: Options) -> MachinePlan:
    """The plan of the first executor that can run what is wanted. O(size of the automaton).

    Raises LimitExceeded beyond an executor's limits, DefinitionError where every executor that could is switched off.
    """
    passed: list[str] = []
    for row in TABLE:
        if wanted.automaton.time not in row.times:
            continue
        against = SWITCHED_OFF if row.plan.executor in options.executors_off else row.against(wanted)
        if against is None:
            plan = row.make(wanted)
            plan.passed_over = tuple(passed)
            return plan
        passed.append(f"{row.plan.executor}: {against}")
    raise DefinitionError(f"no executor can run this: {'; '.join(passed)}")


def planning(options: Options, forecast: bool = False, published: bool = False) -> Callable[[Automaton], MachinePlan]:
    """`plan_of` for automata of which the same is wanted."""
    return lambda automaton: plan_of(Wanted(automaton, forecast, published), options)


def decision(plan: MachinePlan) -> str:
    """Which executor a plan is for, and what spoke against those that come before it, for people."""
    return "; not ".join([f"executor {plan.executor}", *plan.passed_over])
