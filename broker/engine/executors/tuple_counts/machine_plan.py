"""The plan of a composite subscription whose tuples are counted.

Here: what the dispatcher has to know of it. Not here: how tuples are counted (machine).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

from ....automaton.automaton import Automaton
from ....forecast.progress import Progress
from ....forecast.states import States
from ...literals import number_in
from ...options import Options
from ..composite_plan import CompositePlan
from ..contract import EventPlaces, Executor
from .counts import TupleCounts
from .machine import CountBounds, CountingMachine
from .plan import CountingPlan, counting_plan
from .plan_template import with_window
from .progress import CountedProgress


class CountsPlan(CompositePlan):
    """All such subscriptions: an automaton's tuples are counted. `counted`: how, found once for all automata that
    differ in guards only, which it does not read, and in WITHIN."""

    __slots__ = ("_counting",)

    executor = "tuple_counts"
    version = 1
    figures = ("machines", "bindings", "cells", "nodes", "entries")

    def __init__(self, automaton: Automaton, counting: list[CountingPlan] | None = None) -> None:
        super().__init__(automaton)
        self._counting: list[CountingPlan] = [] if counting is None else counting

    @property
    def counted(self) -> CountingPlan:
        if not self._counting:
            self._counting.append(counting_plan(self.automaton))
        return self._counting[0]

    def again(self, automaton: Automaton) -> CountsPlan:
        if number_in(self.automaton.within) is None:
            return CountsPlan(automaton, self._counting)
        assert automaton.within is not None
        return CountsPlan(automaton, [with_window(self.counted, automaton.within)])

    def keys(self) -> tuple[tuple[int, ...], ...]:
        return (self.source.key,) if self.source.key else ()

    def divided(self) -> bool:
        return len(self.source.key) > 0

    def alike(self, options: Options) -> Hashable:
        return (self.tree, self.tuples)  # what is made of the same has the same automaton

    def make(self, options: Options) -> Executor:
        kept = options.bindings_max, options.cells_max, options.nodes_max
        bounds = CountBounds(*kept, options.work_max, options.work_earned)
        machine = CountingMachine(self.automaton, self.tuples, bounds, plan=self.counted)
        return TupleCounts(machine, self.source.key, self.inputs())

    def part(self, automaton: Automaton, operands: list[int]) -> CountsPlan:
        return CountsPlan(automaton)

    def progress(
        self, machine: Executor, places: EventPlaces, states: States, left: list[int], positions: tuple[int, ...]
    ) -> Progress:
        return CountedProgress(cast(TupleCounts, machine), places, states, left, positions)

    def counting(self) -> str:
        machine = CountingMachine(self.automaton, self.tuples, plan=self.counted)
        return f"{len(machine.plan.states)} states of its path automaton; tuples by {machine.method}"
