"""The table of executors, and which of them a composite subscription gets.

Here: the only file beside an executor's own folder, and the languages, that names one. Not here: what a plan has to say
(machine_plan).
"""

from __future__ import annotations

from typing import Final

from ...algebra.composite import Composite
from .composite_plan import CompositePlan
from .kleene.machine_plan import PatternPlan
from .machine_plan import MachinePlan
from .sequence_trie.machine_plan import TriePlan, words_of
from .tuple_counts.machine_plan import CountsPlan

EXECUTORS: Final[tuple[type[MachinePlan], ...]] = (CountsPlan, TriePlan, PatternPlan)


def plan_of_composite(composite: Composite, tuples: bool, foretold: bool = False) -> CompositePlan:
    """`tuples`: each tuple is reported, not only completions. `foretold`: it is asked where it is, which the trie does
    not know. Raises LimitExceeded or DefinitionError."""
    words = None if tuples or foretold else words_of(composite)
    return CountsPlan(composite, tuples) if words is None else TriePlan(composite, words)
