"""keys: over EPOCHS, an equality with a value that the run knows is one with the row before it.

`name = 'S1'` behind a step with `name = 'S1'`, `$1.name`, `$.name` and `name_1` become one join. Otherwise the equality
is one with the constant that the register has, or with the smallest register of those that are equal.

Sound, run by run: on every run in the state the two values are equal, so that the event's attribute equals both or
neither, a null included. Equality of int and float is transitive, because it is exact. Only the row before and, in one
stream, only the same attribute are taken: other equal values are a coincidence of literals. A row of constants of which
one differs ('A', 'B', 'A') stays constants: it is a chain of texts, which needs no key. Constants that are floats stay:
as keys they would cost more than as ranges.
"""

from __future__ import annotations

from dataclasses import replace

from ...algebra.normal_form import Form, key, reordered
from ...algebra.terms import Attribute, Comparison, Constant, Register, Side, Term
from ...language.literal_orders import equal
from ..automaton import TAKING, Automaton
from .facts import LAST, Facts
from .known import KnownAtoms
from .rule import Rewritten


def keys(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> shown(keys, cel("SELECT * FROM FILTER{name = 'A'}(Stock) NEXT{$2.name = $1.name AND $2.name = 'A'} Stock"))
    ["name = 'A'", 'name = $.name']
    """
    rows = _Rows(automaton, facts)
    states = tuple(
        [
            replace(state, theta=theta) if (theta := rows.form(number, state.theta)) != state.theta else state
            for number, state in enumerate(automaton.states)
        ]
    )
    arcs = tuple(
        [
            arc.with_terms(guard, arc.update, arc.output)
            if arc.kind in TAKING and (guard := rows.form(arc.source, arc.guard)) != arc.guard
            else arc
            for arc in automaton.arcs
        ]
    )
    return (replace(automaton, states=states, arcs=arcs) if rows.count else automaton), rows.count


class _Rows:
    """`count`: the equalities that have another value now. `texts`: by stream and attribute, those that stay rows of
    constants."""

    def __init__(self, automaton: Automaton, facts: Facts) -> None:
        self.count = 0
        self.streams = [state.stream for state in automaton.states]
        self.known: list[KnownAtoms] = [facts.at(number) for number in range(len(automaton.states))]
        self.before: list[set[str]] = [set() for _ in automaton.states]
        for arc in automaton.arcs:
            if arc.kind in TAKING and arc.target < automaton.final:
                self.before[arc.target].add(self.streams[arc.source])
        self.texts = {
            (self.streams[number], atom.left.position)
            for number, state in enumerate(automaton.states)
            for clause in state.theta
            for atom in clause
            if isinstance(atom.left, Attribute) and self._differs(number, atom)
        }

    def form(self, state: int, form: Form) -> Form:
        """A condition on an event that a run in a state sees."""
        if state == 0 or not self.known[state].atoms:
            return form
        return reordered(tuple([tuple([self._atom(state, atom) for atom in clause]) for clause in form]))

    def _atom(self, state: int, atom: Comparison) -> Comparison:
        match atom:
            case Comparison("=", Attribute(Side.EVENT, position) as own, Constant() | Register() as value):
                found = self._value(state, position, value)
                if found != value:
                    self.count += 1
                    return Comparison("=", own, found)
            case _:
                pass
        return atom

    def _value(self, state: int, position: int, value: Term) -> Term:
        known, same = self.known[state], self.before[state] == {self.streams[state]}
        if isinstance(value, Constant):
            rows = (self._rows(state, position, same) if value.type in ("string", "int") else {}).items()
            return next((row for row, constant in rows if _equal(constant, value)), value)
        members = known.equals(value)
        constant = known.constant(value)
        if constant is None or (self.streams[state], position) not in self.texts:
            before = [r for r in members if isinstance(r, Register) and r.slot == LAST]
            before = [r for r in before if r.position == position or not same]
            if before:
                return min(before, key=key)
        if constant is not None:
            return constant
        return min([each for each in members if isinstance(each, Register)], key=key)

    def _rows(self, state: int, position: int, same: bool) -> dict[Register, Constant]:
        """The attributes of the row before that are constants, and may stand for an equal one."""
        if (self.streams[state], position) in self.texts:
            return {}
        found: dict[Register, Constant] = {}
        for atom in self.known[state].atoms:
            match atom:
                case Comparison("=", Register(slot, at) as row, Constant() as constant) if slot == LAST:
                    if at == position or not same:
                        found[row] = constant
                case _:
                    pass
        return found

    def _differs(self, state: int, atom: Comparison) -> bool:
        """Whether an equality wants another constant than the row before had at its place."""
        match atom:
            case Comparison("=", Attribute(Side.EVENT, position), Constant() as value):
                constant = self.known[state].constant(Register(LAST, position, value.type))
                same = self.before[state] == {self.streams[state]}
                return same and constant is not None and not _equal(constant, value)
            case _:
                return False


def _equal(one: Constant, other: Constant) -> bool:
    return one.type == other.type and equal(one.value, other.value)
