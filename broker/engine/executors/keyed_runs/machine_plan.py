"""The plan of an automaton over epochs for keyed runs, which merge it with all others.

Here: what the planner needs. Not here: the merged program (program), its runs (runs).
"""

from __future__ import annotations

from typing import final

from ....automaton.automaton import Automaton
from ....automaton.binding import MarkedParts
from ...program.directory import Directory
from ..machine_plan import MergedPlan, PlanMaker
from ..merged import MergedAutomata
from .program import KeyedAutomata


@final
class KeyedRunsPlan(MergedPlan):
    """An automaton that is merged with others."""

    __slots__ = ()

    executor = "keyed_runs"
    version = 2
    figures = ()
    kind = "keyed runs"
    section = "keyed runs"

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton

    def maker(self, parts: MarkedParts) -> PlanMaker:
        return lambda bound, automaton: KeyedRunsPlan(automaton(bound))

    @classmethod
    def automata(cls, directory: Directory) -> MergedAutomata:
        return KeyedAutomata(directory)
