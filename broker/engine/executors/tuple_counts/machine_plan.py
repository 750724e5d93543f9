"""The plan of a composite subscription whose tuples are counted.

Here: what the dispatcher has to know of it. Not here: how tuples are counted (partition).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, TypeAlias, cast

from ....automaton.automaton import Automaton
from ....automaton.distances import Distances
from ....automaton.rewriting.partitions import asking_for_partition
from ....forecast.progress import Progress
from ....forecast.states import States
from ...options import Options
from ..composite_plan import CompositePlan
from ..contract import EventPlaces, Executor, Input
from .counting_plan import CountingPlan, counting_plan
from .machine import TupleCounts
from .progress import CountedProgress
from .tables import CountBounds, CountingTables

Bounds: TypeAlias = tuple[Distances, ...]

COUNTING_PLANS_MAX: Final = 64  # counting plans of one template


class CountsPlan(CompositePlan):
    """All such subscriptions: an automaton's tuples are counted. `counted`: how, found once for all automata that
    differ in guards only, which it does not read, and have the same bounds of time."""

    __slots__ = ("_counting",)

    executor = "tuple_counts"
    pays = "an update of counts, and the matches that it completes"
    version = 3
    figures = ("machines", "bindings", "cells", "nodes", "entries")

    def __init__(self, automaton: Automaton, counting: dict[Bounds, CountingPlan] | None = None) -> None:
        super().__init__(automaton)
        self._counting: dict[Bounds, CountingPlan] = {} if counting is None else counting

    @property
    def counted(self) -> CountingPlan:
        bounds = tuple([asked.allowed for arc in self.automaton.arcs for asked in arc.elapsed])
        found = self._counting.get(bounds)
        if found is None:
            if len(self._counting) >= COUNTING_PLANS_MAX:
                self._counting.clear()
            found = self._counting[bounds] = counting_plan(self.automaton)
        return found

    def again(self, automaton: Automaton) -> CountsPlan:
        return CountsPlan(automaton, self._counting)

    def wanted_inputs(self, options: Options) -> list[Input]:
        """Only those of the partition that may have matches; forecasts are told of all partitions."""
        if not self._keyed():
            return self.inputs()
        machines = asking_for_partition(self.automaton).machines
        assert machines is not None, "what is counted has a tree of machines"
        return [Input(before.stream, each.guard) for before, each in zip(self.inputs(), machines.primitives)]

    def _keyed(self) -> bool:
        return self.divided() and not self.wanted.forecast

    def keys(self) -> tuple[tuple[int, ...], ...]:
        ordered = sorted(self.sources, key=lambda source: source.stream)
        return tuple(source.key for source in ordered) if self.divided() else ()

    def divided(self) -> bool:
        return len(self.sources[0].key) > 0

    def alike(self, options: Options) -> Hashable:
        return (self.tree, self.tuples, self._keyed())  # what is made of the same has the same automaton

    def make(self, options: Options) -> Executor:
        kept = options.bindings_max, options.cells_max, options.nodes_max
        bounds = CountBounds(*kept, options.work_max, options.work_earned)
        tables = CountingTables(self.automaton, self.tuples, bounds, plan=self.counted)
        return TupleCounts(tables, self.keys(), self.wanted_inputs(options))

    def part(self, automaton: Automaton, operands: list[int]) -> CountsPlan:
        part = CountsPlan(automaton)
        part.wanted = self.wanted
        return part

    def progress(
        self, machine: Executor, places: EventPlaces, states: States, left: list[int], positions: tuple[int, ...]
    ) -> Progress:
        own = positions if len(self.sources) == 1 else ()  # of several streams only BY says where the key is
        by = self.keys()[0] if self.divided() else ()
        return CountedProgress(cast(TupleCounts, machine), places, states, left, own, by)

    def counting(self) -> str:
        tables = CountingTables(self.automaton, self.tuples, plan=self.counted)
        return f"{len(tables.plan.states)} states of its path automaton; tuples by {tables.method}"
