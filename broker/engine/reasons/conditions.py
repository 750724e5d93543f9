"""The conditions of one arc at one event, each with its values put in and judged by the meaning of terms.

Here: conjuncts of guards, joins, distances in time, the partition and the window. Not here: which arcs and events are
asked (matched, unmatched).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

from ...algebra.normal_form import Form
from ...algebra.predicate import computation
from ...algebra.semantics import Environment, Occurrence, holds
from ...algebra.terms import (
    Attribute,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Register,
    Side,
    Term,
    describe,
    replace,
)
from ...automaton.automaton import Arc, Automaton, Elapsed, Stay
from ...events.instant import format_duration
from ..executors.reference.arcs import Surrounding, surrounding
from ..executors.reference.run import ReferenceRun, SeenEvent

NOTHING: Final = Environment(Occurrence((), 0, 0, ()))
"""What a term reads whose leaves are constants."""


@final
@dataclass(frozen=True, slots=True)
class JudgedCondition:
    """A condition as text, the same with its values, and whether it holds. `term` is None where it is no term."""

    text: str
    values: str
    holds: bool
    term: Term | None = None

    def line(self) -> dict[str, Any]:
        return {"condition": self.text, "values": self.values, "holds": self.holds}


def conditions_of(automaton: Automaton, arc: Arc, run: ReferenceRun, event: SeenEvent | None) -> list[JudgedCondition]:
    """All conditions under which a run takes an event by an arc, as far as they concern it. O(size of the arc)."""
    read = surrounding(run, event)
    found: list[JudgedCondition] = []
    if event is not None:
        found += _partition(automaton, run, event)
    found += [_judged(term, read) for term in _terms(automaton, arc)]
    if event is not None:
        found += [_distance(elapsed, run, event) for elapsed in arc.elapsed]
        found += _window(automaton, run, event)
    return found


def wanted_by(automaton: Automaton, arc: Arc, run: ReferenceRun) -> list[str]:
    """What an event must fulfil, as text, with the values that the run has already put in."""
    read: Surrounding = ((), run.last().row if run.taken else (), run.slots, 0, 0)

    def known(leaf: Term) -> Term:
        return _constant(leaf, read) if isinstance(leaf, Register) else leaf

    texts = [describe(replace(term, known)) for term in _terms(automaton, arc)]
    return texts + [elapsed.text for elapsed in arc.elapsed if elapsed.text]


def name_of(automaton: Automaton, arc: Arc, number: int) -> str:
    """What an event is called: by its operand, or by its number in the match."""
    return automaton.operands[arc.operand] if 0 <= arc.operand < len(automaton.operands) else f"event {number}"


def _terms(automaton: Automaton, arc: Arc) -> list[Term]:
    """The conditions of the arc, behind those by which its state waits: where it stays by FAILING, an event must fulfil
    theta, and take the state's loop if it takes anything."""
    terms: list[Term] = []
    state = automaton.states[arc.source]
    if state.stay is Stay.FAILING:
        terms += _conjuncts(state.theta)
        loop = automaton.loop(arc.source)
        if loop is not None and loop is not arc:
            terms += [*_conjuncts(loop.guard), *_joins(automaton, loop), *_conjuncts(loop.rest)]
    return list(dict.fromkeys([*terms, *_conjuncts(arc.guard), *_joins(automaton, arc), *_conjuncts(arc.rest)]))


def _conjuncts(form: Form) -> list[Term]:
    if len(form) == 1:
        return list(form[0])
    clauses = tuple([clause[0] if len(clause) == 1 else Conjunction(tuple(clause)) for clause in form])
    return [Disjunction(clauses)]


def _joins(automaton: Automaton, arc: Arc) -> list[Term]:
    found: list[Term] = []
    for join in arc.joins:
        own = automaton.source_of(arc).schema.attributes[join.position]
        found.append(Comparison("=", Attribute(Side.EVENT, join.position, own.type, own.name), join.register))
    return found


def _judged(term: Term, read: Surrounding) -> JudgedCondition:
    filled = replace(term, lambda leaf: _constant(leaf, read))
    return JudgedCondition(describe(term), describe(filled), holds(filled, NOTHING), filled)


def _constant(leaf: Term, read: Surrounding) -> Term:
    return leaf if isinstance(leaf, Constant) else Constant(computation(leaf).value(*read), leaf.type)


def _distance(elapsed: Elapsed, run: ReferenceRun, event: SeenEvent) -> JudgedCondition:
    since: int = run.slots[elapsed.slot] if elapsed.slot >= 0 else run.taken[elapsed.slot].event.end
    apart = event.end - since
    text = elapsed.text or "the distance in time"
    allowed = any(low <= apart <= high for low, high in elapsed.allowed)
    return JudgedCondition(text, f"{format_duration(apart)} apart", allowed)


def _partition(automaton: Automaton, run: ReferenceRun, event: SeenEvent) -> list[JudgedCondition]:
    names = ", ".join(automaton.partition)
    if not names:
        return []
    if event.partition is None:
        return [JudgedCondition(f"{names} is not null", f"{_shown(event.partition)}", False)]
    if not run.taken:
        return []
    own = run.first().partition
    values = f"{_shown(event.partition)} beside {_shown(own)}"
    return [JudgedCondition(f"{names} as in the events before", values, event.partition == own)]


def _window(automaton: Automaton, run: ReferenceRun, event: SeenEvent) -> list[JudgedCondition]:
    if automaton.within is None or not run.taken:
        return []
    apart = event.end - run.first().end
    text = f"WITHIN {format_duration(automaton.within)}"
    return [JudgedCondition(text, f"{format_duration(apart)} after the first event", apart <= automaton.within)]


def _shown(values: Any) -> str:
    return "null" if values is None else ", ".join("null" if value is None else repr(value) for value in values)
