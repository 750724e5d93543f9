"""The key of an automaton: attributes on which all events of a match agree, so that runs can be partitioned by them.

The attributes that partition the sources are parts of the key. So are equality joins, if a chain of them leads from
each operand's events to those of the operands before it (semantics 2.3, point 2).

Here: the key of automata that name operands, and the conditions that remain beyond it. Not here: the use of keys.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ...algebra.guard import Join
from ...algebra.normal_form import Form, narrowed
from ...algebra.terms import Attribute, Comparison, Constant, Side
from ..automaton import TAKING, Arc, Automaton, EventRow, Kind, Report
from .event_constants import shared_constants

ASKING: Final = (*TAKING, Kind.KILL)
"""The kinds of arcs that test an event."""

Holders: TypeAlias = dict[int, set[int]]
"""The operands whose events each slot may hold."""


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A value that all events of a match share: its position in the events of each operand, and the slots and positions
    where a run keeps it."""

    positions: tuple[int, ...]
    registers: frozenset[tuple[int, int]]


def key_parts(automaton: Automaton, joined: bool = True) -> tuple[KeyPart, ...]:
    """The parts of the key: those of the sources first, then with `joined` those of joins. O(joins x operands).

    A part that follows from joins loses no match: an event whose value is null joins nothing, so no match of several
    operands contains it. Without overlap a partition has one result at a time, so joins add no parts.
    """
    taking = [_taking(automaton, operand) for operand in range(len(automaton.operands))]
    holders: Holders = {}
    for arcs in taking:
        for arc in arcs:
            for slot, source in enumerate(arc.update):
                if isinstance(source, EventRow):
                    holders.setdefault(slot, set()).add(arc.operand)
    chains: list[tuple[int, ...]] = []
    if taking:
        keys = [automaton.source_of(arcs[0]).key for arcs in taking]
        chains += zip(*keys)
    if joined and len(taking) > 1 and automaton.report != Report.NONOVERLAP:
        chains += [chain for chain in _joined(automaton, taking, holders) if chain not in chains]
    return tuple(KeyPart(chain, _registers(chain, holders)) for chain in chains)


def _taking(automaton: Automaton, operand: int) -> list[Arc]:
    """The arcs that take an operand's events."""
    return [arc for arc in automaton.arcs if arc.operand == operand and arc.kind in TAKING]


def _registers(chain: tuple[int, ...], holders: Holders) -> frozenset[tuple[int, int]]:
    """The registers that keep the value of a chain, which may be incomplete."""
    found: set[tuple[int, int]] = set()
    for slot, operands in holders.items():
        position, *others = {chain[operand] if operand < len(chain) else -1 for operand in operands}
        if position >= 0 and not others:
            found.add((slot, position))
    return frozenset(found)


def _joined(automaton: Automaton, taking: list[list[Arc]], holders: Holders) -> list[tuple[int, ...]]:
    """The chains of joins: one for each position of the first operand that leads through all others."""
    found: list[tuple[int, ...]] = []
    for position in range(len(automaton.source_of(taking[0][0]).schema.attributes)):
        chain: tuple[int, ...] = ()
        for first, *more in taking:
            known = _registers(chain, holders)
            wanted = [join.position for join in first.joins if _leads(join, known)] if chain else [position]
            fitting = (one for one in wanted if _agree(more, one, _registers((*chain, one), holders)))
            following = next(fitting, None)
            if following is None:
                break
            chain = (*chain, following)
        else:
            found.append(chain)
    return found


def _agree(arcs: list[Arc], position: int, registers: frozenset[tuple[int, int]]) -> bool:
    """Whether further events of an operand have the key's value at the same position as its first one."""
    return all(any(j.position == position and _leads(j, registers) for j in arc.joins) for arc in arcs)


def _leads(join: Join, registers: frozenset[tuple[int, int]]) -> bool:
    return (join.register.slot, join.register.position) in registers


def places(automaton: Automaton, parts: tuple[KeyPart, ...], arc: Arc) -> dict[int, int]:
    """By part of the key, its position in an arc's event. An operand's events have all parts; forbidden events have the
    parts of their source and those on which they are joined."""
    if arc.kind != Kind.KILL:
        return {number: part.positions[arc.operand] for number, part in enumerate(parts)}
    found = dict(enumerate(automaton.source_of(arc).key))
    for number in range(len(found), len(parts)):
        position = next((join.position for join in arc.joins if _leads(join, parts[number].registers)), None)
        if position is not None:
            found[number] = position
    return found


def within_key(automaton: Automaton, parts: tuple[KeyPart, ...]) -> Automaton:
    """The automaton for runs that are partitioned by the key. O(arcs x (joins + parts)).

    Joins that the key implies are left out, the others are tested with the rest, and guards test the key's constants.
    """
    known = _constants(automaton, parts)
    shared = list(enumerate(parts))
    arcs: list[Arc] = []
    for arc in automaton.arcs:
        if arc.kind in ASKING:
            at = places(automaton, parts, arc)
            left = [
                j for j in arc.joins if not any(at.get(n) == j.position and _leads(j, p.registers) for n, p in shared)
            ]
            values = {position: known[number] for number, position in at.items() if number in known}
            arc = replace(arc, guard=_narrowed(automaton, arc, values), joins=(), rest=_tested(arc.rest, left))
        arcs.append(arc)
    return replace(automaton, arcs=tuple(arcs))


def _tested(form: Form, joins: list[Join]) -> Form:
    """A condition that also tests these joins."""
    atoms = tuple(Comparison("=", Attribute(Side.EVENT, j.position, j.register.type), j.register) for j in joins)
    return tuple(clause + atoms for clause in form)


def _constants(automaton: Automaton, parts: tuple[KeyPart, ...]) -> dict[int, Constant]:
    """By part of the key, a constant that an operand's only or first event must have there, and so all events of a
    match."""
    begins = [arc for arc in automaton.arcs if arc.kind == Kind.FORWARD]
    found: dict[int, Constant] = {}
    for number, part in enumerate(parts):
        types = {automaton.source_of(arc).schema.attributes[part.positions[arc.operand]].type for arc in begins}
        for arc in begins if len(types) == 1 else ():
            for attribute, value in shared_constants([arc.guard]).items():
                if attribute.position == part.positions[arc.operand]:
                    found.setdefault(number, value)
    return found


def _narrowed(automaton: Automaton, arc: Arc, values: dict[int, Constant]) -> Form:
    """A guard that also requires these values of the key."""
    atoms: list[Comparison] = []
    for position, value in sorted(values.items()):
        own = automaton.source_of(arc).schema.attributes[position]
        if own.type != value.type:
            continue  # of a forbidden event, whose attribute may have another type
        atoms.append(Comparison("=", Attribute(Side.EVENT, position, own.type, own.name, own.nullable), value))
    return narrowed(arc.guard, tuple(atoms))
