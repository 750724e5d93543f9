"""Constructs the automata of windows: from pairs of regular expressions, or a formula, to minimal tables.

`construction` does it, `emptiness` finds what matches nothing; `regular` has regular expressions and their derivatives,
`lengths` takes lengths out of them, `marked` has the automata of formulas, `classes` the classes of events,
`determinisation` tables and their minimisation.
"""

from __future__ import annotations

from .construction import automaton_of_windows
from .emptiness import impossible

__all__ = ["automaton_of_windows", "impossible"]
