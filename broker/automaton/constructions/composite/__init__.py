"""Composite subscriptions as acyclic automata in which one path is one tuple of events.

Here: the lowering of the typed form, through its machines, to states and arcs. Not here: counting tuples (engine),
drawing machines (machines).
"""

from __future__ import annotations

from .construction import automaton_of
from .decomposition import decompose

__all__ = ["automaton_of", "decompose"]
