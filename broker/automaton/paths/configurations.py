"""How far a match has come in a structure: configurations, and the steps between them.

A configuration of a leaf says whether it has its event; of a chain, which part is at work and how far that is; of AND,
how far each part is (the shuffle product); of OR, which branch was taken, if any, and how far. A structure that has
all its events is DONE, whatever its kind: so the branches of an OR meet again. A step takes one event at one leaf.

Here: these as plain values. Not here: times, variables, numbers of states (compilation).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias, TypeVar

from ...algebra.composite import Both, Chain, Either, Leaf, Structure, leaves

Configuration: TypeAlias = "int | tuple[Configuration, ...]"
Kind = TypeVar("Kind", Both, Either)

WAITING: Final = 0  # a leaf without its event
DONE: Final = 1
UNDECIDED: Final = ()  # an OR none of whose branches has begun


def flattened(structure: Structure) -> Structure:
    """The same meaning without chains in chains, ANDs in ANDs and ORs in ORs; the order of leaves is kept."""
    match structure:
        case Leaf():
            return structure
        case Both(parts):
            return Both(_spliced(Both, parts))
        case Either(parts):
            return Either(_spliced(Either, parts))
        case Chain(parts, separators):
            flat: list[Structure] = []
            between: list[str] = []
            for number, part in enumerate(map(flattened, parts)):
                if number:
                    between.append(separators[number - 1])
                if isinstance(part, Chain):
                    flat += part.parts
                    between += part.separators
                else:
                    flat.append(part)
            return Chain(tuple(flat), tuple(between))


def _spliced(kind: type[Kind], parts: tuple[Structure, ...]) -> tuple[Structure, ...]:
    flat: list[Structure] = []
    for part in map(flattened, parts):
        flat += part.parts if isinstance(part, kind) else (part,)
    return tuple(flat)


def initial(structure: Structure) -> Configuration:
    match structure:
        case Leaf():
            return WAITING
        case Chain(parts):
            return (0, initial(parts[0]))
        case Both(parts):
            return tuple(map(initial, parts))
        case Either():
            return UNDECIDED


def steps(structure: Structure, at: Configuration) -> Iterator[tuple[int, Configuration]]:
    """What one event may do: the operand that takes it, and how far the match is then. Each operand at most once."""
    if at == DONE:
        return
    match structure:
        case Leaf(operand):
            yield operand, DONE
        case Chain(parts):
            number, inner = _pair(at)
            for operand, after in steps(parts[number], inner):
                if after != DONE:
                    yield operand, (number, after)
                elif number + 1 < len(parts):
                    yield operand, (number + 1, initial(parts[number + 1]))
                else:
                    yield operand, DONE
        case Both(parts):
            inners = _inners(at)
            waiting = [number for number, part in enumerate(parts) if not skips(part, inners[number])]
            for number, part in enumerate(parts):
                if any(other != number for other in waiting):
                    continue  # another part needs the very next event
                for operand, after in steps(part, inners[number]):
                    moved = (*inners[:number], after, *inners[number + 1 :])
                    yield operand, DONE if all(inner == DONE for inner in moved) else moved
        case Either(parts):
            for branch, part in enumerate(parts):
                if at != UNDECIDED and _pair(at)[0] != branch:
                    continue
                for operand, after in steps(part, initial(part) if at == UNDECIDED else _pair(at)[1]):
                    yield operand, DONE if after == DONE else (branch, after)


def skips(structure: Structure, at: Configuration) -> bool:
    """Whether an event may pass by: not where what follows a `,` has yet to begin."""
    if at == DONE:
        return True
    match structure:
        case Leaf():
            return True
        case Chain(parts, separators):
            number, inner = _pair(at)
            if number and separators[number - 1] == "," and inner == initial(parts[number]):
                return False
            return skips(parts[number], inner)
        case Both(parts):
            return all(skips(part, inner) for part, inner in zip(parts, _inners(at)))
        case Either(parts):
            if at == UNDECIDED:
                return True
            branch, inner = _pair(at)
            return skips(parts[branch], inner)


def remaining(structure: Structure, at: Configuration) -> frozenset[int]:
    """The operands that some continuation may still take."""
    if at == DONE:
        return frozenset()
    match structure:
        case Leaf(operand):
            return frozenset((operand,))
        case Chain(parts):
            number, inner = _pair(at)
            return remaining(parts[number], inner).union(*map(leaves, parts[number + 1 :]))
        case Both(parts):
            return frozenset[int]().union(*(remaining(part, inner) for part, inner in zip(parts, _inners(at))))
        case Either(parts):
            if at == UNDECIDED:
                return frozenset(leaves(structure))
            branch, inner = _pair(at)
            return remaining(parts[branch], inner)


def _pair(at: Configuration) -> tuple[int, Configuration]:
    assert isinstance(at, tuple), at
    number, inner = at
    assert isinstance(number, int), at
    return number, inner


def _inners(at: Configuration) -> tuple[Configuration, ...]:
    assert isinstance(at, tuple), at
    return at
