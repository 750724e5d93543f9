"""Which variables a run keeps in which slots, and on which of them all events of a match agree.

A variable is a value of the result. Here: automata whose results are values that join events. Not here: times that a
run keeps (kept_times), the use of keys (engine).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ...algebra.terms import Attribute, Comparison, Function, Register, Term
from ..automaton import TAKING, Arc, Automaton, Carry, Computed, Kind

Positions: TypeAlias = dict[int, list[int]]
"""The attributes of an event that equal each variable."""


@dataclass(frozen=True, slots=True)
class Variables:
    """`slots`: for each state, the variable in each slot. `asked`: for each operand, which attributes of its event
    equal which variable; None for an operand that no arc takes. `key`: the variables that all other operands have."""

    slots: list[dict[int, int]]
    asked: list[Positions | None]
    key: tuple[int, ...]

    def keys(self) -> tuple[tuple[int, ...], ...]:
        """By operand, the attributes with the key; an operand that no arc takes has those of another one."""
        taken = [positions for positions in self.asked if positions is not None]
        return tuple(tuple((own or taken[0])[variable][0] for variable in self.key) for own in self.asked)


def variables_of(automaton: Automaton) -> Variables:
    """The variables of an automaton. O(arcs). States must be in topological order, arcs in that of their sources."""
    slots: list[dict[int, int]] = [{} for _ in automaton.states]
    asked: list[Positions | None] = [None] * len(automaton.operands)
    for arc in reversed(automaton.arcs):
        own = slots[arc.source]
        if arc.kind is Kind.KILL:
            continue
        if arc.target == automaton.final:
            for variable, term in enumerate(arc.output):
                value = uncast(term)
                if isinstance(value, Register) and value.position < 0:
                    own[value.slot] = variable
        else:
            for slot, variable in slots[arc.target].items():
                source = arc.update[slot]
                if isinstance(source, Carry):
                    own[source.slot] = variable
        if arc.kind in TAKING and asked[arc.operand] is None:
            asked[arc.operand] = _asked(automaton, slots, arc)
    shared = [frozenset(positions) for positions in asked if positions is not None]
    return Variables(slots, asked, tuple(sorted(shared[0].intersection(*shared))) if shared else ())


def _asked(automaton: Automaton, slots: list[dict[int, int]], arc: Arc) -> Positions:
    found: Positions = {}
    for join in arc.joins:
        variable = slots[arc.source].get(join.register.slot)
        if variable is not None:
            found.setdefault(variable, []).append(join.position)
    for variable, position in read_by(automaton, slots, arc).items():
        found[variable] = [position, *(other for first, other in equal_attributes(arc) if first == position != other)]
    return found


def read_by(automaton: Automaton, slots: list[dict[int, int]], arc: Arc) -> dict[int, int]:
    """The variables that an arc binds, each with the attribute of its event."""
    if arc.target == automaton.final:
        outputs = enumerate(map(uncast, arc.output))
        return {variable: value.position for variable, value in outputs if isinstance(value, Attribute)}
    found: dict[int, int] = {}
    for slot, variable in slots[arc.target].items():
        match arc.update[slot]:
            case Computed(Attribute(_, position)):
                found[variable] = position
    return found


def equal_attributes(arc: Arc) -> list[tuple[int, int]]:
    """Pairs of attributes of its event that an arc requires to be equal, the smaller first; with itself: not null."""
    found: list[tuple[int, int]] = []
    for atom in arc.rest[0] if len(arc.rest) == 1 else ():
        match atom:
            case Comparison("=", Attribute(_, one), Attribute(_, other)):
                found.append((min(one, other), max(one, other)))
    return found


def uncast(term: Term) -> Term:
    """The value of a result, before its conversion from int to float."""
    return term.arguments[0] if isinstance(term, Function) and term.name == "float" else term
