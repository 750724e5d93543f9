"""Positions of operands among the machines, for time conditions: which are first, last, adjacent, alternative.

Here: facts about the machines alone. Not here: conditions, configurations.
"""

from __future__ import annotations

from typing import TypeAlias

from ....algebra.structure import Both, Chain, Either, Structure, parts_of

Choices: TypeAlias = frozenset[tuple[int, int]]
"""Branches of ORs, each as (number of the OR in text order, branch)."""


def firsts(node: Structure) -> frozenset[int]:
    """The operands that can take the first event of a match."""
    match node:
        case Chain(symbols):
            return firsts(symbols[0])
        case Both(inputs) | Either(inputs):
            return frozenset[int]().union(*map(firsts, inputs))
        case _:
            return frozenset((node,))


def lasts(node: Structure) -> frozenset[int]:
    """The operands that can take the last event of a match."""
    match node:
        case Chain(symbols):
            return lasts(symbols[-1])
        case Both(inputs) | Either(inputs):
            return frozenset[int]().union(*map(lasts, inputs))
        case _:
            return frozenset((node,))


def choices(root: Structure) -> dict[int, Choices]:
    """For each operand the branches that a match with an event for it takes."""
    found: dict[int, Choices] = {}
    alternatives = 0

    def walk(node: Structure, taken: Choices) -> None:
        nonlocal alternatives
        if isinstance(node, int):
            found[node] = taken
            return
        either = -1
        if isinstance(node, Either):
            either, alternatives = alternatives, alternatives + 1
        for branch, symbol in enumerate(parts_of(node)):
            walk(symbol, taken if either < 0 else taken | {(either, branch)})

    walk(root, frozenset())
    return found


def runs(root: Structure) -> dict[int, tuple[int, int]]:
    """For each operand its contiguous run (operands of one machine with `,` between them), and its position in it.

    Between two events of a run there is no other event of the stream, so one position determines the times of all.
    """
    found: dict[int, tuple[int, int]] = {}

    def walk(node: Structure) -> None:
        before: tuple[int, int] | None = None
        separators = ("", *node.separators) if isinstance(node, Chain) else None
        for number, symbol in enumerate(parts_of(node)):
            if not isinstance(symbol, int):
                walk(symbol)
                before = None
                continue
            adjacent = before is not None and separators is not None and separators[number] == ","
            before = (before[0], before[1] + 1) if adjacent and before is not None else (symbol, 0)
            found[symbol] = before

    walk(root)
    return found
