"""Time conditions as sets of allowed distances, without those that the others imply.

A condition is tested at the later of its two events: the distance between them is never negative, whichever operand is
written first. So a condition with any operator, absolute or not, is a set of distances, and several conditions on one
pair are one set. WITHIN is a condition on the first and the last event.

Implied conditions are found as shortest paths over bounds of differences, in integer microseconds (`< d` is `<= d-1`).
Order implies `>= 0` and not `> 0`, because events may have equal times. A path may use only operands that every match
with both ends has. Not here: the arc at which a condition is tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ....algebra.functions import MIRRORED
from ....algebra.structure import Condition, Order, order
from ....algebra.terms import check_plain
from ....events.errors import LimitExceeded
from ....language.literal_orders import at_most, total
from ....language.wording import Wording, with_durations
from ...distances import FOREVER, Distances, common, covers, distances, greatest, least
from ...machines.tree import MachineTree
from .places import Choices, choices, firsts, lasts

START: Final = -1  # stands for an operand: the first event of a match, whichever operand takes it
FINISH: Final = -2  # the last one
FREE_MAX: Final = 3  # of more conditions the durations decide the automaton: it is asked for too many orders
LIMITS_MAX: Final = 60  # conditions that are not implied: each is a bit in a machine integer

Pair: TypeAlias = tuple[int, int]
Orders: TypeAlias = Mapping[Pair, Order]
Edges: TypeAlias = dict[tuple[int, int], Any]


@dataclass(frozen=True, slots=True)
class Requirement:
    """The events of `pair` must be an allowed distance apart. `ordered`: the first of the pair comes first."""

    pair: Pair
    ordered: bool
    allowed: Distances


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Condition number `number` of a pattern: the event of operand `first` (START: the first event) and the later one
    of operand `last` (FINISH: the completing event) are an allowed distance apart. Inputs of an AND are unordered, so
    either may be the later one. `said`: for people."""

    number: int
    first: int
    last: int
    allowed: Distances
    said: Wording


def time_limits(tree: MachineTree) -> tuple[TimeLimit, ...]:
    """The requirements of a pattern, by number. Raises LimitExceeded beyond LIMITS_MAX."""
    found = requirements(tree)
    if len(found) > LIMITS_MAX:
        raise LimitExceeded(
            f"a subscription may have at most {LIMITS_MAX} time conditions that do not follow from each other, "
            f"this one has {len(found)}"
        )
    return tuple([TimeLimit(n, *asked.pair, asked.allowed, _written(tree, asked)) for n, asked in enumerate(found)])


def _written(tree: MachineTree, asked: Requirement) -> Wording:
    """A requirement for people: the conditions on its pair as they were written, and WITHIN if it is one of them."""
    parts: list[tuple[str, int]] = []
    for each in tree.conditions:
        if {each.minuend, each.subtrahend} == set(asked.pair):
            names = tree.names[each.minuend], tree.names[each.subtrahend]
            parts.append((f"t({names[0]}) - t({names[1]}) {each.operator} ", each.duration))
    if tree.within is not None and (START in asked.pair or FINISH in asked.pair or not parts):
        parts.append(("WITHIN ", tree.within))
    return with_durations(parts)


def requirements(tree: MachineTree) -> tuple[Requirement, ...]:
    """The conditions of a subscription, with WITHIN, that are not implied, in the order in which they were written.

    A condition that no match with both operands can satisfy has an empty set. O(conditions^2 * mentioned^2). Of many
    conditions the durations must be plain.
    """
    if len(tree.conditions) > FREE_MAX:
        for condition in tree.conditions:
            check_plain(condition.duration)
    asked = _asked(tree)
    apart = FOREVER  # the bound of WITHIN on any two events, unless it is a condition of a pair
    if tree.within is not None:
        first, last = firsts(tree.root), lasts(tree.root)
        (start,) = first if len(first) == 1 else (START,)
        (finish,) = last if len(last) == 1 else (FINISH,)
        if start == START or finish == FINISH:
            apart = tree.within
        if start != finish:
            _ask(asked, Requirement((start, finish), True, distances("<=", tree.within)))
    taken = choices(tree.root)
    mentioned = sorted({operand for pair in asked for operand in pair if operand >= 0})
    orders = {(a, b): order(tree.root, a, b) for a in mentioned for b in mentioned if a < b}
    kept = dict(asked)
    for pair, requirement in asked.items():
        if START in pair or FINISH in pair:
            continue
        del kept[pair]
        low, high = _implied(orders, taken, kept, requirement, apart)
        if not at_most(low, high) or not common(requirement.allowed, ((low, high),)):
            kept[pair] = Requirement(pair, requirement.ordered, ())
        elif not covers(requirement.allowed, low, high):
            kept[pair] = requirement
    return tuple(kept[pair] for pair in asked if pair in kept)


def _asked(tree: MachineTree) -> dict[Pair, Requirement]:
    found: dict[Pair, Requirement] = {}
    for condition in tree.conditions:
        requirement = _requirement(tree, condition)
        if requirement is not None:
            _ask(found, requirement)
    return found


def _ask(found: dict[Pair, Requirement], more: Requirement) -> None:
    known = found.get(more.pair)
    allowed = more.allowed if known is None else common(known.allowed, more.allowed)
    found[more.pair] = Requirement(more.pair, more.ordered, allowed)


def _requirement(tree: MachineTree, condition: Condition) -> Requirement | None:
    """A condition as a condition on the distance; None if no match has both events."""
    early, late = sorted((condition.minuend, condition.subtrahend))
    standing = order(tree.root, early, late)
    if standing == "exclusive":
        return None
    operator, duration = condition.operator, condition.duration
    if standing == "ordered" and condition.minuend == early:  # the condition is on the negative distance
        operator, duration = MIRRORED[operator], -duration
    return Requirement((early, late), standing == "ordered", distances(operator, duration))


def _implied(
    orders: Orders,
    taken: Mapping[int, Choices],
    asked: Mapping[Pair, Requirement],
    requirement: Requirement,
    apart: int,
) -> tuple[int, int]:
    """The least and the greatest distance of a requirement's pair that the others allow; none if the first is greater.

    `asked`: the others. No two events of a match are further apart than `apart`.
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
        return greatest(0, -earlier), later
    return greatest(greatest(0, -later), -earlier), greatest(later, earlier)


def _edges(orders: Orders, asked: Mapping[Pair, Requirement], nodes: list[int], apart: int) -> Edges:
    """By pair (a, b), how much later b may be than a at most."""
    edges: Edges = {}
    for number, a in enumerate(nodes):
        for b in nodes[number + 1 :]:
            forth = back = apart
            requirement = asked.get((a, b))
            if orders[a, b] == "ordered":
                back = 0
                if requirement is not None and requirement.allowed:
                    forth = least(forth, requirement.allowed[-1][1])
                    back = -requirement.allowed[0][0]
            elif requirement is not None and requirement.allowed:
                forth = back = least(forth, requirement.allowed[-1][1])
            if forth != FOREVER:
                edges[a, b] = forth
            if back != FOREVER:
                edges[b, a] = back
    return edges


def _shortest(nodes: list[int], edges: Edges, source: int) -> tuple[dict[int, int], bool]:
    """The shortest distances from a node, and whether there is no negative cycle."""
    far = {source: 0}
    for _ in nodes:
        changed = False
        for (a, b), length in edges.items():
            longer = total(far[a], length) if a in far else FOREVER
            if longer != FOREVER and not at_most(far.get(b, FOREVER), longer):
                far[b] = longer
                changed = True
        if not changed:
            return far, True
    return far, False
