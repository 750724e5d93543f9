"""Composite subscriptions as acyclic automata in which one path is one tuple of events.

Here: the lowering of the typed form, through its machines, to states and arcs. Not here: counting tuples (engine),
drawing machines (machines).
"""

from __future__ import annotations

from ....algebra.ptopss.composite import Composite
from ...automaton import Automaton, Report
from .construction import automaton_of
from .decomposition import decompose

__all__ = ["automaton_of", "automaton_of_composite", "decompose"]


def automaton_of_composite(composite: Composite, report: Report = Report.EACH) -> Automaton:
    """The automaton of a composite subscription (automaton_of)."""
    return automaton_of(decompose(composite), report)
