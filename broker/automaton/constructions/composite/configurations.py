"""The progress of a match in its machines: configurations, and the steps between them.

The configuration of an operand says whether it has its event; that of a series, which symbol is active and its
configuration; that of AND, the configuration of each input (the shuffle product); that of OR, which branch was taken,
if any, and its configuration. A node with all its events is DONE, whatever its kind, so that the branches of an OR meet
again. A step takes one event for one operand.

Here: these as plain values. Not here: times, variables, numbers of states (exploration, construction).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from ....algebra.structure import Both, Chain, Either, Structure, leaves

Configuration: TypeAlias = "int | tuple[Configuration, ...]"

WAITING: Final = 0  # an operand without its event
DONE: Final = 1
UNDECIDED: Final = ()  # an OR none of whose branches has begun


def initial(node: Structure) -> Configuration:
    match node:
        case Chain(symbols):
            return (0, initial(symbols[0]))
        case Both(inputs):
            return tuple(map(initial, inputs))
        case Either():
            return UNDECIDED
        case _:
            return WAITING


def steps(node: Structure, at: Configuration) -> Iterator[tuple[int, Configuration]]:
    """The steps for one event: the operand that takes it, and the next configuration. Each operand at most once."""
    if at == DONE:
        return
    match node:
        case Chain(symbols):
            number, inner = _pair(at)
            for operand, after in steps(symbols[number], inner):
                if after != DONE:
                    yield operand, (number, after)
                elif number + 1 < len(symbols):
                    yield operand, (number + 1, initial(symbols[number + 1]))
                else:
                    yield operand, DONE
        case Both(inputs):
            inners = _inners(at)
            waiting = [number for number, part in enumerate(inputs) if not skips(part, inners[number])]
            for number, part in enumerate(inputs):
                if any(other != number for other in waiting):
                    continue  # another part needs the very next event
                for operand, after in steps(part, inners[number]):
                    moved = (*inners[:number], after, *inners[number + 1 :])
                    yield operand, DONE if all(inner == DONE for inner in moved) else moved
        case Either(inputs):
            for branch, part in enumerate(inputs):
                if at != UNDECIDED and _pair(at)[0] != branch:
                    continue
                for operand, after in steps(part, initial(part) if at == UNDECIDED else _pair(at)[1]):
                    yield operand, DONE if after == DONE else (branch, after)
        case _:
            yield node, DONE


def skips(node: Structure, at: Configuration) -> bool:
    """Whether an event may be skipped: not if the symbol after a `,` has yet to begin."""
    if at in (DONE, UNDECIDED):
        return True
    match node:
        case Chain(symbols, separators):
            number, inner = _pair(at)
            if number and separators[number - 1] == "," and inner == initial(symbols[number]):
                return False
            return skips(symbols[number], inner)
        case Both(inputs):
            return all(skips(part, inner) for part, inner in zip(inputs, _inners(at)))
        case Either(inputs):
            branch, inner = _pair(at)
            return skips(inputs[branch], inner)
        case _:
            return True


def remaining(node: Structure, at: Configuration) -> frozenset[int]:
    """The operands that may still take an event."""
    if at == DONE:
        return frozenset()
    match node:
        case Chain(symbols):
            number, inner = _pair(at)
            return remaining(symbols[number], inner).union(*map(leaves, symbols[number + 1 :]))
        case Both(inputs):
            return frozenset[int]().union(*(remaining(part, inner) for part, inner in zip(inputs, _inners(at))))
        case Either(inputs) if at != UNDECIDED:
            branch, inner = _pair(at)
            return remaining(inputs[branch], inner)
        case _:
            return frozenset(leaves(node))


def _pair(at: Configuration) -> tuple[int, Configuration]:
    assert isinstance(at, tuple), at
    number, inner = at
    assert isinstance(number, int), at
    return number, inner


def _inners(at: Configuration) -> tuple[Configuration, ...]:
    assert isinstance(at, tuple), at
    return at
