"""The variants of a SASE+ pattern as one automaton: their lines side by side, between one start and one final state.

Each variant keeps its states, arcs and slots; its operands get their numbers among those of all variants, so that the
results are those of all variants. A pattern of one variant is the line alone.

Here: that union. Not here: a line (pattern), taking the lines apart (analyses.branches).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...algebra.sase.pattern import Variants, schema_of_variants
from ..automaton import TAKING, Arc, Automaton, Kind, State
from .pattern import automaton_of_pattern


def automaton_of_variants(variants: Variants) -> Automaton:
    """The automaton of a whole pattern. O(variants x components x slots)."""
    lines = [automaton_of_pattern(pattern) for pattern in variants]
    if len(lines) == 1:
        return lines[0]
    forbidden = tuple(dict.fromkeys(name for line in lines for name in line.forbidden))
    final = 1 + sum(line.final - 1 for line in lines)
    states: list[State] = [lines[0].states[0]]
    arcs: list[Arc] = []
    for pattern, line in zip(variants, lines):
        numbers = [0, *range(len(states), len(states) + line.final - 1), final]
        gates = [forbidden.index(name) for name in line.forbidden]
        arcs += [_moved(arc, numbers, pattern.operands, gates) for arc in line.arcs]
        states += line.states[1:]
    return replace(
        lines[0],
        states=tuple(states),
        arcs=tuple(arcs),
        schema=schema_of_variants(variants),
        operands=variants[0].names,
        forbidden=forbidden,
    )


def _moved(arc: Arc, numbers: Sequence[int], operands: Sequence[int], gates: Sequence[int]) -> Arc:
    """The arc of a line between states with these numbers."""
    source, target, operand = numbers[arc.source], numbers[arc.target], arc.operand
    if arc.kind is Kind.KILL:
        operand = gates[operand]
        target = numbers[1] if arc.source == 0 else target
    elif arc.kind in TAKING:
        operand = operands[operand]
    return replace(arc, source=source, target=target, operand=operand)
