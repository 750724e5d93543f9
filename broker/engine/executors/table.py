"""The table of executors, and which of them a subscription gets: the first that can run it and is not switched off.

Here: the only file beside an executor's own folder, and the languages, that names one. Not here: what a plan has to say
(machine_plan).
"""

from __future__ import annotations

from typing import Final

from ...automaton.analyses.sequences import sequences_of
from ...automaton.automaton import Automaton, Report
from ..options import Options
from .kleene.machine_plan import PatternPlan
from .machine_plan import MachinePlan
from .reference.machine_plan import ReferencePlan
from .sequence_trie.machine_plan import TriePlan
from .tuple_counts.machine_plan import CountsPlan

EXECUTORS: Final[tuple[type[MachinePlan], ...]] = (CountsPlan, TriePlan, PatternPlan, ReferencePlan)


def plan_of_pattern(automaton: Automaton, published: bool, options: Options) -> MachinePlan:
    """`published`: its results are events of a stream. Raises LimitExceeded."""
    if PatternPlan.executor in options.executors_off:
        return ReferencePlan(automaton)
    return PatternPlan(automaton, published)


def plan_of_composite(automaton: Automaton, foretold: bool, options: Options) -> MachinePlan:
    """`foretold`: it is asked where it is, which only tuple counting knows."""
    if not foretold:
        spelled = automaton.report is Report.COMPLETIONS and TriePlan.executor not in options.executors_off
        words = sequences_of(automaton) if spelled else None
        if words is not None:
            return TriePlan(automaton, words)
        if CountsPlan.executor in options.executors_off:
            return ReferencePlan(automaton)
    return CountsPlan(automaton)
