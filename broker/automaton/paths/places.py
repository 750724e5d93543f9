"""Where operands stand in a structure, as far as time conditions ask: what is first, last, adjacent, alternative.

Here: questions about the structure alone. Not here: conditions themselves, configurations.
"""

from __future__ import annotations

from typing import TypeAlias

from ...algebra.composite import Both, Chain, Either, Leaf, Structure

Choices: TypeAlias = frozenset[tuple[int, int]]
"""Branches of ORs, each as (number of the OR in text order, branch)."""


def firsts(structure: Structure) -> frozenset[int]:
    """The operands that can take the first event of a match."""
    match structure:
        case Leaf(operand):
            return frozenset((operand,))
        case Chain(parts):
            return firsts(parts[0])
        case Both(parts) | Either(parts):
            return frozenset[int]().union(*map(firsts, parts))


def lasts(structure: Structure) -> frozenset[int]:
    """The operands that can take the last event of a match."""
    match structure:
        case Leaf(operand):
            return frozenset((operand,))
        case Chain(parts):
            return lasts(parts[-1])
        case Both(parts) | Either(parts):
            return frozenset[int]().union(*map(lasts, parts))


def choices(structure: Structure) -> dict[int, Choices]:
    """For each operand the branches that a match takes in which it has an event."""
    found: dict[int, Choices] = {}
    alternatives = 0

    def walk(part: Structure, taken: Choices) -> None:
        nonlocal alternatives
        match part:
            case Leaf(operand):
                found[operand] = taken
            case Chain(parts) | Both(parts):
                for inner in parts:
                    walk(inner, taken)
            case Either(parts):
                number = alternatives
                alternatives += 1
                for branch, inner in enumerate(parts):
                    walk(inner, taken | {(number, branch)})

    walk(structure, frozenset())
    return found


def runs(structure: Structure) -> dict[int, tuple[int, int]]:
    """For each operand its contiguous run, leaves of one chain with `,` between them, and its place in the run.

    Between two events of one run there is no other event of the stream: one position gives the times of all. The
    structure must be flat (configurations.flattened).
    """
    found: dict[int, tuple[int, int]] = {}

    def walk(part: Structure) -> None:
        match part:
            case Leaf(operand):
                found[operand] = (operand, 0)
            case Both(parts) | Either(parts):
                for inner in parts:
                    walk(inner)
            case Chain(parts, separators):
                before: tuple[int, int] | None = None
                for number, inner in enumerate(parts):
                    walk(inner)
                    if not isinstance(inner, Leaf):
                        before = None
                        continue
                    if before is not None and separators[number - 1] == ",":
                        found[inner.operand] = (before[0], before[1] + 1)
                    before = found[inner.operand]

    walk(structure)
    return found
