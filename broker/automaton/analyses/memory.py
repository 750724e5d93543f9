"""Which registers of a run are still read: runs that agree on these are equal (SASE+ 4.3; semantics 2.7).

Here: by state, the live slots and the attributes read in them. Not here: sharing equal runs
(broker.engine.executors.kleene).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ...algebra.terms import Register, walk
from ..automaton import Accumulated, Arc, Automaton, Carry, Kind

Read: TypeAlias = tuple[int, int]
"""A slot and a position in its row; -1 if the slot holds a value."""


@dataclass(frozen=True, slots=True)
class Memory:
    """`rows`: by slot that holds an event, the positions that are read, ascending; `values`: the slots of values that
    are read, even if only to compute later values."""

    rows: tuple[tuple[int, tuple[int, ...]], ...]
    values: tuple[int, ...]


def memories(automaton: Automaton) -> tuple[Memory, ...]:
    """By state, what conditions may still read of a run, without results and KILL arcs. O(states x arcs x slots)."""
    moving = [arc for arc in automaton.arcs if arc.kind != Kind.KILL and arc.target < automaton.final]
    live: list[set[Read]] = [set() for _ in automaton.states]
    for arc in moving:
        live[arc.source].update(_asked(arc))
    growing = True
    while growing:
        known = sum(map(len, live))
        for arc in reversed(moving):
            live[arc.source].update(_kept(arc, tuple(live[arc.target])))
        growing = sum(map(len, live)) > known
    return tuple(map(_memory, live))


def _asked(arc: Arc) -> Iterator[Read]:
    """The registers that the conditions of an arc read."""
    for join in arc.joins:
        yield join.register.slot, join.register.position
    for form in (arc.guard, arc.rest):
        for clause in form:
            for atom in clause:
                for part in walk(atom):
                    if isinstance(part, Register):
                        yield part.slot, part.position


def _kept(arc: Arc, read: tuple[Read, ...]) -> Iterator[Read]:
    """The registers needed before an arc, so that `read` can be read behind it."""
    for slot, position in read:
        match arc.update[slot]:
            case Carry(own):
                yield own, position
            case Accumulated(first=False):
                yield slot, position


def _memory(live: set[Read]) -> Memory:
    rows: dict[int, tuple[int, ...]] = {}
    for slot, position in sorted(live):
        if position >= 0:
            rows[slot] = (*rows.get(slot, ()), position)
    return Memory(tuple(rows.items()), tuple(sorted(slot for slot, position in live if position < 0)))
