"""Composite subscriptions as acyclic automata in which one path is one tuple of events.

Here: their tables, how they are built, their time conditions, how they are to be counted. Not here: counts of any
stream (engine), the paper's machines as they are drawn (machines).
"""

from __future__ import annotations

from .compilation import compile_paths
from .path_automaton import PathArc, PathAutomaton, PathState, Slot, Span, TimeLimit

__all__ = ["compile_paths", "PathArc", "PathAutomaton", "PathState", "Slot", "Span", "TimeLimit"]
