"""The table of executors, and which of them a composite subscription gets.

Here: the only file beside an executor's own folder, and the languages, that names one. Not here: what a plan has to say
(machine_plan).
"""

from __future__ import annotations

from typing import Final

from ...automaton.analyses.sequences import sequences_of
from ...automaton.automaton import Automaton, Report
from .composite_plan import CompositePlan
from .kleene.machine_plan import PatternPlan
from .machine_plan import MachinePlan
from .sequence_trie.machine_plan import TriePlan
from .tuple_counts.machine_plan import CountsPlan

EXECUTORS: Final[tuple[type[MachinePlan], ...]] = (CountsPlan, TriePlan, PatternPlan)


def plan_of_composite(automaton: Automaton, foretold: bool = False) -> CompositePlan:
    """`foretold`: it is asked where it is, which the trie does not know."""
    each = foretold or automaton.report is Report.EACH
    words = None if each else sequences_of(automaton)
    return CountsPlan(automaton) if words is None else TriePlan(automaton, words)
