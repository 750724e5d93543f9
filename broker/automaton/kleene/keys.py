"""The key of a pattern: attributes on which all events of a match agree, so that runs can be kept apart by them.

Equivalence tests say so outright; equality joins do where a chain of them leads from each event of a component to those
before it (semantics 2.3, point 2). Here: which these are. Not here: what is done with keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ...algebra.guard import Guard, Join
from ...algebra.kleene import Bound, Component, Pattern
from ...algebra.normal_form import Form
from ...algebra.partitioned_stream import PartitionedStream
from ...algebra.terms import Attribute, Comparison, Constant, Side

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


def constants(pattern: Pattern, parts: tuple[KeyPart, ...]) -> dict[int, Constant]:
    """By part of the key, the value that some component's only or first event must have there: so then must all events
    of a match. O(components x parts x size of the guards)."""
    found: dict[int, Constant] = {}
    for number, part in enumerate(parts):
        types = {
            pattern.sources[component.source].schema.attributes[position].type
            for component, position in zip(pattern.components, part.positions)
        }
        for component, position in zip(pattern.components, part.positions):
            value = _constant(component.begin.static, position)
            if value is not None and len(types) == 1:
                found.setdefault(number, value)
    return found


def _constant(form: Form, position: int) -> Constant | None:
    """What every clause wants the attribute to equal."""
    found: set[Constant] = set()
    for clause in form:
        own = [atom.right for atom in clause if _equals(atom, position) and isinstance(atom.right, Constant)]
        if not own:
            return None
        found.add(own[0])
    return found.pop() if len(found) == 1 else None


def _equals(atom: Comparison, position: int) -> bool:
    left = atom.left
    event = isinstance(left, Attribute) and left.side == Side.EVENT and left.position == position
    return event and atom.operator == "="


def narrowed(form: Form, source: PartitionedStream, values: dict[int, Constant]) -> Form:
    """A guard of events that must also have these values at these positions."""
    atoms: list[Comparison] = []
    for position, value in sorted(values.items()):
        own = source.schema.attributes[position]
        if own.type != value.type:
            continue  # a negated event's, which may be of another type
        atoms.append(Comparison("=", Attribute(Side.EVENT, position, own.type, own.name, own.nullable), value))
    return tuple(clause + tuple(atom for atom in atoms if atom not in clause) for clause in form)


def covered(pattern: Pattern, parts: tuple[KeyPart, ...], guard: Guard, positions: tuple[int, ...]) -> tuple[Join, ...]:
    """The joins of a guard that hold for all events of one key: its event has part i at `positions[i]`."""
    return tuple(
        join
        for join in guard.joins
        for part, position in zip(parts, positions)
        if join.position == position and _leads(pattern, join, dict(enumerate(part.positions)))
    )
