"""Many register automata as one: states that the same arcs lead to from the start are one state for all (design 4.1).

A merged run has the digest that each of its subscriptions would give it alone: states merge only if they have one
number in all their automata, which is what digests are made of. Where several arcs lead to a state, or a cycle does,
all that comes before must be equal, in its order, as the first of two equal runs is the one that is kept.

Here: which automata can be merged, and merging. Not here: who reads the results (together).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, final

from ....automaton.automaton import Arc, Automaton, State

Key: TypeAlias = tuple[object, ...]


@final
@dataclass(frozen=True, slots=True)
class MergedRegisters:
    """`automaton`: all of them; `labels`: what digests say of the targets of its arcs; `owners`: for each of its final
    states the number of the automaton that it is from, and which final state it is there; `places`: by automaton, what
    became of its states, 0 for those that no run reaches."""

    automaton: Automaton
    labels: list[int]
    owners: list[tuple[int, int]]
    places: list[list[int]]


def merging_key(automaton: Automaton) -> Key:
    """What must be equal in automata that are merged."""
    registers = tuple([each.type for each in automaton.schema.attributes])
    sources = tuple([(source.stream, source.key) for source in automaton.sources])
    return sources, registers, automaton.initial, automaton.within, _key(automaton, 0, [])


def merged(automata: Sequence[Automaton]) -> MergedRegisters:
    """One automaton with the results of all, whose merging keys are equal. O(arcs x their ancestors)."""
    states: list[State] = []
    known: dict[Key, int] = {}
    arcs: dict[tuple[Arc, int], None] = {}  # with labels, in order
    owners: list[tuple[int, int]] = []
    all_places: list[list[int]] = []
    for number, automaton in enumerate(automata):
        places = [0] * len(automaton.states)
        all_places.append(places)
        reached = _from_the_start(automaton)
        for state in reached:
            key = _key(automaton, state, places)
            found = known.get(key)
            if found is None:
                found = known[key] = len(states)
                states.append(automaton.states[state])
            places[state] = found
        first = len(owners)
        owners += [(number, operand) for operand in range(len(automaton.operands))]
        for arc in automaton.arcs:
            if arc.source not in reached:
                continue
            source = places[arc.source]
            if arc.target < automaton.final:
                arcs[replace(arc, source=source, target=places[arc.target], name=""), arc.target] = None
            else:
                label = automaton.final + arc.operand
                arcs[replace(arc, source=source, target=-1, operand=first + arc.operand, name=""), label] = None
    final_state = len(states)
    written = tuple([replace(arc, target=final_state) if arc.target < 0 else arc for arc, _ in arcs])
    whole = replace(
        automata[0],
        states=tuple(states),
        arcs=written,
        operands=tuple([automata[number].operands[operand] for number, operand in owners]),
    )
    return MergedRegisters(whole, [label for _, label in arcs], owners, all_places)


def _from_the_start(automaton: Automaton) -> list[int]:
    """The states that a run can reach, each behind the only source of its only arc."""
    order, seen = [0], {0}
    for state in order:
        for arc in automaton.arcs:
            if arc.source == state and arc.target < automaton.final and arc.target not in seen:
                seen.add(arc.target)
                order.append(arc.target)
    return order


def _key(automaton: Automaton, state: int, places: list[int]) -> Key:
    """Equal for states that are one."""
    incoming = [arc for arc in automaton.arcs if arc.target == state]
    if state == 0 and not incoming:
        return ("start",)
    if state != 0 and len(incoming) == 1 and incoming[0].source != state:
        arc = incoming[0]
        return (state, replace(arc, source=places[arc.source], name=""))
    return (state, *_before(automaton, state))


def _before(automaton: Automaton, state: int) -> list[Arc]:
    """All arcs that a run may have taken when it is in the state, in their order."""
    ancestors = [state]
    for each in ancestors:
        for arc in automaton.arcs:
            if arc.target == each and arc.source not in ancestors:
                ancestors.append(arc.source)
    return [replace(arc, name="") for arc in automaton.arcs if arc.target in ancestors and arc.source in ancestors]
