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
from ...algebra.timed_stream import untimed
from ...automaton.automaton import Arc, Automaton, Elapsed, Stay, TimeModel
from ...events.instant import FOREVER, format_distance, format_duration
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
    found += [judged(term, read) for term in _terms(automaton, arc)]
    if event is not None:
        found += [_distance(elapsed, run, event) for elapsed in arc.elapsed]
        found += _window(automaton, run, event)
        found += _existence(arc, event)
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
        terms += conjuncts(state.theta)
        loop = automaton.loop(arc.source)
        if loop is not None and loop is not arc:
            terms += [*conjuncts(loop.guard), *_joins(automaton, loop), *conjuncts(loop.rest)]
    return list(dict.fromkeys([*terms, *conjuncts(arc.guard), *_joins(automaton, arc), *conjuncts(arc.rest)]))


def conjuncts(form: Form) -> list[Term]:
    """The conditions of a form, all of which must hold."""
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


def judged(term: Term, read: Surrounding) -> JudgedCondition:
    """A condition with the values of an event and a run."""
    filled = replace(term, lambda leaf: _constant(leaf, read))
    return JudgedCondition(describe(term), describe(filled), holds(filled, NOTHING), filled)


def _constant(leaf: Term, read: Surrounding) -> Term:
    return leaf if isinstance(leaf, Constant) else Constant(computation(leaf).value(*read), leaf.type)


def _distance(elapsed: Elapsed, run: ReferenceRun, event: SeenEvent) -> JudgedCondition:
    since: int = run.slots[elapsed.slot] if elapsed.slot >= 0 else run.taken[elapsed.slot].event.end
    apart = event.end - since
    text = elapsed.text or "the distance in time"
    allowed = any(low <= apart <= high for low, high in elapsed.allowed)
    return JudgedCondition(text, f"{format_distance(apart)} apart", allowed)


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
    least = "<" if automaton.time is TimeModel.LIFETIMES else "<="  # a lifetime does not include its end
    return [numbers(text, f"{format_distance(apart)} after the first event", apart, least, automaton.within)]


def _existence(arc: Arc, event: SeenEvent) -> list[JudgedCondition]:
    """An arc that an update has inserted or deleted exists for the events of an interval."""
    found: list[JudgedCondition] = []
    if arc.begin > -FOREVER:
        text = f"the arc exists from {arc.begin} on"
        found.append(numbers(text, f"an event of {event.end}", event.end, ">=", arc.begin))
    if arc.end < FOREVER:
        text = f"the arc exists before {arc.end}"
        found.append(numbers(text, f"an event of {event.end}", event.end, "<", arc.end))
    return found


def same_stream(wanted: str, found: str) -> JudgedCondition:
    """An arc takes the events of one stream."""
    term = Comparison("=", Constant(untimed(wanted), "string"), Constant(untimed(found), "string"))
    return JudgedCondition(f"an event of {untimed(wanted)}", f"one of {untimed(found)}", holds(term, NOTHING), term)


def numbers(text: str, values: str, found: int, operator: str, wanted: int) -> JudgedCondition:
    """A condition on two numbers, such as times, which no term of the query states."""
    term = Comparison(operator, Constant(found, "int"), Constant(wanted, "int"))
    return JudgedCondition(text, values, holds(term, NOTHING), term)


def _shown(values: Any) -> str:
    return "null" if values is None else ", ".join("null" if value is None else repr(value) for value in values)
