"""The plan of a composite subscription whose tuples are counted by a path automaton.

Here: what the dispatcher has to know of it. Not here: how tuples are counted (machine).
"""

from __future__ import annotations

from collections.abc import Hashable

from ....algebra.composite import Composite
from ....automaton.paths import PathAutomaton, compile_paths
from ...options import Options
from ..composite_plan import CompositePlan
from ..contract import Executor, Input
from .counts import TupleCounts
from .machine import Bounds, Machine


class CountsPlan(CompositePlan):
    """`operands`: of a part of a subscription, those of the whole that are its own. Raises LimitExceeded or
    DefinitionError (compile_paths)."""

    __slots__ = ("operands", "paths")

    executor = "tuple_counts"
    version = 1
    figures = ("machines", "bindings", "cells", "nodes", "entries")

    def __init__(
        self,
        composite: Composite,
        tuples: bool,
        paths: PathAutomaton | None = None,
        operands: list[int] | None = None,
    ) -> None:
        super().__init__(composite, tuples)
        self.paths = compile_paths(composite) if paths is None else paths
        self.operands = operands

    def inputs(self) -> list[Input]:
        every = super().inputs()
        return every if self.operands is None else [every[operand] for operand in self.operands]

    def keys(self) -> tuple[tuple[int, ...], ...]:
        return (self.composite.partition,) if self.composite.partition else ()

    def divided(self) -> bool:
        return len(self.composite.partition) > 0

    def alike(self, options: Options) -> Hashable:
        composite = self.composite
        operands = tuple((operand.name, operand.guard, operand.joins) for operand in composite.operands)
        shape = (composite.structure, composite.conditions, composite.within)
        return (composite.stream, composite.partition, operands, shape, composite.variables, self.tuples)

    def make(self, options: Options) -> Executor:
        kept = options.bindings_max, options.cells_max, options.nodes_max
        bounds = Bounds(*kept, options.work_max, options.work_earned)
        return TupleCounts(Machine(self.paths, self.tuples, bounds), self.composite.partition, self.inputs())

    def part(self, automaton: PathAutomaton, operands: list[int]) -> CountsPlan:
        return CountsPlan(self.composite, False, automaton, operands)

    def counting(self) -> str:
        method = Machine(self.paths, self.tuples).method
        return f"{len(self.paths.states)} states of its path automaton; tuples by {method}"
