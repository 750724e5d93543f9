"""The key of a pattern: attributes on which all events of a match agree, so that runs can be kept apart by them.

Equivalence tests say so outright; equality joins do where a chain of them leads from each event of a component to those
before it (semantics 2.3, point 2). Here: which these are. Not here: what is done with keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ...algebra.kleene import Bound, Component, Guard, Join, Pattern

Place: TypeAlias = tuple[int, int]
"""A component and a position in its events."""


@dataclass(frozen=True, slots=True)
class KeyPart:
    """One value that all events of a match share: its position in the events of each positive component."""

    positions: tuple[int, ...]


def key_parts(pattern: Pattern) -> tuple[KeyPart, ...]:
    """The parts of the key, those of the equivalence attributes first. O(joins x components).

    A part that follows from joins leaves out no match: an event whose value is null joins nothing, and is part of no
    match of more than one component.
    """
    parts = [
        KeyPart(tuple(pattern.sources[component.source].key[at] for component in pattern.components))
        for at in range(len(pattern.partition))
    ]
    if len(pattern.components) > 1:
        parts += [part for part in _joined(pattern) if part not in parts]
    return tuple(parts)


def _joined(pattern: Pattern) -> list[KeyPart]:
    """Parts that joins make: one for each position of the first component that leads through all others."""
    first = pattern.components[0]
    found: list[KeyPart] = []
    for position in range(len(pattern.sources[first.source].schema.attributes)):
        chain: dict[int, int] = {0: position}
        if first.take is not None and not _agrees(pattern, first.take, chain, 0):
            continue
        for number, component in enumerate(pattern.components[1:], 1):
            if not _extended(pattern, chain, number, component):
                break
        else:
            found.append(KeyPart(tuple(chain[number] for number in range(len(pattern.components)))))
    return found


def _extended(pattern: Pattern, chain: dict[int, int], number: int, component: Component) -> bool:
    """Enter a component whose events all have the chain's value, if it is one."""
    for join in component.begin.joins:
        if _leads(pattern, join, chain):
            chain[number] = join.position
            if component.take is None or _agrees(pattern, component.take, chain, number):
                return True
            del chain[number]
    return False


def _agrees(pattern: Pattern, take: Guard, chain: dict[int, int], number: int) -> bool:
    """Whether the further events of a Kleene component have the chain's value where its first one has it."""
    return any(join.position == chain[number] and _leads(pattern, join, chain) for join in take.joins)


def _leads(pattern: Pattern, join: Join, chain: dict[int, int]) -> bool:
    """Whether a join is with a value of the chain."""
    slot = pattern.slots[join.register.slot]
    return isinstance(slot, Bound) and chain.get(slot.component) == join.register.position


def covered(pattern: Pattern, parts: tuple[KeyPart, ...], guard: Guard, positions: tuple[int, ...]) -> tuple[Join, ...]:
    """The joins of a guard that hold for all events of one key: its event has part i at `positions[i]`."""
    return tuple(
        join
        for join in guard.joins
        for part, position in zip(parts, positions)
        if join.position == position and _leads(pattern, join, dict(enumerate(part.positions)))
    )
