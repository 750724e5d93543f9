"""Composite subscriptions as acyclic automata in which one path is one tuple of events."""

from __future__ import annotations

from .construction import automaton_of_composite

__all__ = ["automaton_of_composite"]
