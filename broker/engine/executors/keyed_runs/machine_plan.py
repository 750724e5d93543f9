"""The plan of an automaton over epochs for keyed runs, which merge it with all others.

Here: what the planner needs. Not here: the merged program (program), its runs (runs).
"""

from __future__ import annotations

from typing import final

from ...program.directory import Directory
from ..machine_plan import MergedPlan
from ..merged import MergedAutomata
from .program import KeyedAutomata


@final
class KeyedRunsPlan(MergedPlan):
    """The name of the executor, and its program."""

    __slots__ = ()

    executor = "keyed_runs"
    version = 1
    figures = ()
    kind = "keyed runs"
    section = "keyed runs"

    @classmethod
    def automata(cls, directory: Directory) -> MergedAutomata:
        return KeyedAutomata(directory)
