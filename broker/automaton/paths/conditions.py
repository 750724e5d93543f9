"""Time conditions as sets of allowed distances, without those that the others imply.

Of two events the one that arrives later decides: the distance is what lies between them, never negative, whichever
operand is written first. So a condition of any operator, absolute or not, is a set of distances, and several on one
pair are one set. WITHIN is a condition on the first and the last event.

Implied conditions are found as shortest paths over bounds of differences, in integer microseconds (`< d` is `<= d-1`);
order gives `>= 0` and not `> 0`, as events tie. A path may lead only over operands that every match has which has both
ends. Here: that. Not here: where in an automaton a condition is decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...algebra.composite import Composite, Condition, Order, order
from ...algebra.functions import MIRRORED
from .places import Choices, choices, firsts, lasts

FOREVER: Final = 1 << 62  # further apart than any two events
START: Final = -1  # in the place of an operand: the first event of a match, whichever operand takes it
FINISH: Final = -2  # the last one

Distances: TypeAlias = tuple[tuple[int, int], ...]
"""Sorted ranges (low, high) of microseconds, both inclusive, that neither meet nor touch."""
ANY: Final[Distances] = ((0, FOREVER),)

Pair: TypeAlias = tuple[int, int]
Orders: TypeAlias = Mapping[Pair, Order]
Edges: TypeAlias = dict[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class Requirement:
    """The events of `pair` must be an allowed distance apart. Where `ordered`, the first of the pair comes first."""

    pair: Pair
    ordered: bool
    allowed: Distances


def distances(operator: str, duration: int) -> Distances:
    """Which distances compare so with a duration."""
    ranges = {
        "<": ((0, duration - 1),),
        "<=": ((0, duration),),
        "=": ((duration, duration),),
        "!=": ((0, duration - 1), (duration + 1, FOREVER)),
        ">": ((duration + 1, FOREVER),),
        ">=": ((duration, FOREVER),),
    }[operator]
    clipped = ((max(low, 0), min(high, FOREVER)) for low, high in ranges)
    return joined(tuple((low, high) for low, high in clipped if low <= high))


def joined(ranges: Distances) -> Distances:
    """Ranges that touch made one: `!= -3` allows everything."""
    found: list[tuple[int, int]] = []
    for low, high in ranges:
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def common(one: Distances, other: Distances) -> Distances:
    """The distances in both."""
    pairs = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return tuple(sorted((low, high) for low, high in pairs if low <= high))


def requirements(composite: Composite) -> tuple[Requirement, ...]:
    """What must still be tested of a subscription's conditions and WITHIN, in the order in which they were written.

    An empty set of distances stands for what no match with both operands can satisfy. O(conditions^2 * mentioned^2).
    """
    asked = _asked(composite)
    apart = FOREVER  # what WITHIN says of any two events, where it is not the condition of a pair
    if composite.within is not None:
        first, last = firsts(composite.structure), lasts(composite.structure)
        (start,) = first if len(first) == 1 else (START,)
        (finish,) = last if len(last) == 1 else (FINISH,)
        if start == START or finish == FINISH:
            apart = composite.within
        if start != finish:
            _ask(asked, Requirement((start, finish), True, distances("<=", composite.within)))
    taken = choices(composite.structure)
    mentioned = sorted({operand for pair in asked for operand in pair if operand >= 0})
    orders = {(a, b): order(composite.structure, a, b) for a in mentioned for b in mentioned if a < b}
    kept = dict(asked)
    for pair, requirement in asked.items():
        if START in pair or FINISH in pair:
            continue
        del kept[pair]
        low, high = _implied(orders, taken, kept, requirement, apart)
        possible = common(requirement.allowed, ((low, high),)) if low <= high else ()
        if not possible:
            kept[pair] = Requirement(pair, requirement.ordered, ())
        elif possible != ((low, high),):
            kept[pair] = requirement
    return tuple(kept[pair] for pair in asked if pair in kept)


def _asked(composite: Composite) -> dict[Pair, Requirement]:
    found: dict[Pair, Requirement] = {}
    for condition in composite.conditions:
        requirement = _requirement(composite, condition)
        if requirement is not None:
            _ask(found, requirement)
    return found


def _ask(found: dict[Pair, Requirement], more: Requirement) -> None:
    known = found.get(more.pair)
    allowed = more.allowed if known is None else common(known.allowed, more.allowed)
    found[more.pair] = Requirement(more.pair, more.ordered, allowed)


def _requirement(composite: Composite, condition: Condition) -> Requirement | None:
    """A condition as one on the distance; None where no match has both events."""
    early, late = sorted((condition.minuend, condition.subtrahend))
    relation = order(composite.structure, early, late)
    if relation == "exclusive":
        return None
    operator, duration = condition.operator, condition.duration
    if relation == "ordered" and condition.minuend == early:  # what is written is the negative distance
        operator, duration = MIRRORED[operator], -duration
    return Requirement((early, late), relation == "ordered", distances(operator, duration))


def _implied(
    orders: Orders,
    taken: Mapping[int, Choices],
    asked: Mapping[Pair, Requirement],
    requirement: Requirement,
    apart: int,
) -> tuple[int, int]:
    """The least and the greatest distance that the others leave to a requirement's pair; none if the first is greater.

    `asked` are the others; no two events of a match are further than `apart`.
    """
    one, other = requirement.pair
    present = taken[one] | taken[other]
    mentioned = {operand for each in asked for operand in each if operand >= 0}
    nodes = sorted(operand for operand in mentioned | {one, other} if taken[operand] <= present)
    edges = _edges(orders, asked, nodes, apart)
    forth, consistent = _shortest(nodes, edges, one)
    back, _ = _shortest(nodes, edges, other)
    if not consistent:
        return 1, 0
    later, earlier = forth.get(other, FOREVER), back.get(one, FOREVER)  # how much later the other may be; and one
    if requirement.ordered:
        return max(0, -earlier), later
    return max(0, -later, -earlier), max(later, earlier)


def _edges(orders: Orders, asked: Mapping[Pair, Requirement], nodes: list[int], apart: int) -> Edges:
    """(a, b): by how much b may at most be later than a."""
    edges: Edges = {}
    for number, a in enumerate(nodes):
        for b in nodes[number + 1 :]:
            forth = back = apart
            requirement = asked.get((a, b))
            if orders[a, b] == "ordered":
                back = 0
                if requirement is not None and requirement.allowed:
                    forth = min(forth, requirement.allowed[-1][1])
                    back = -requirement.allowed[0][0]
            elif requirement is not None and requirement.allowed:
                forth = back = min(forth, requirement.allowed[-1][1])
            if forth < FOREVER:
                edges[a, b] = forth
            if back < FOREVER:
                edges[b, a] = back
    return edges


def _shortest(nodes: list[int], edges: Edges, source: int) -> tuple[dict[int, int], bool]:
    """Shortest distances from a node, and whether there is no negative circle on the way."""
    far = {source: 0}
    for _ in nodes:
        changed = False
        for (a, b), length in edges.items():
            if a in far and far[a] + length < far.get(b, FOREVER):
                far[b] = far[a] + length
                changed = True
        if not changed:
            return far, True
    return far, False
