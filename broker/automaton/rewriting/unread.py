"""unread: slots that nothing reads do not exist; the others are numbered in their order.

Texts that select different columns then have equal states. Sound, run by run: no condition, value of a result or later
slot reads what goes. Over ARRIVAL, where a slot has one number in all states, it goes if no state needs it; what is
forbidden reads the slots that the match has at its end. Not of lines side by side, each with slots of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...algebra.guard import Join
from ...algebra.normal_form import Form, canonical, reordered
from ...algebra.terms import Comparison, Register, Term, walk
from ...algebra.terms import replace as replace_leaves
from ..automaton import Arc, Automaton, Carry, Computed, Kind, SlotSource, TimeModel
from .facts import Facts
from .rule import Rewritten


def unread(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> text = "SELECT name FROM (FILTER{price > 5}(Stock) NEXT{$2.name = $1.name} Stock) NEXT{$2.name = $1.name} Stock"
    >>> automaton, count = unread(cel(text), Facts(cel(text)))
    >>> count, [len(arc.update) for arc in automaton.arcs]
    (1, [0, 0, 0])
    """
    lines = len([arc for arc in automaton.arcs if arc.target == automaton.final])
    arrival = automaton.time is TimeModel.ARRIVAL
    if not any(arc.update for arc in automaton.arcs) or (arrival and lines > 1):
        return automaton, 0
    live = _live(automaton)
    if arrival:
        live = [set[int]().union(*live)] * automaton.final
    count = sum(len(arc.update) - len(live[arc.target]) for arc in automaton.arcs if arc.update)
    if not count:
        return automaton, 0
    return renumbered(automaton, [{slot: at for at, slot in enumerate(sorted(slots))} for slots in live]), count


def renumbered(automaton: Automaton, numbers: Sequence[Mapping[int, int]]) -> Automaton:
    """The automaton with only these slots, by state, in this order; each with its new number for who reads it."""
    states = tuple([replace(state, theta=_form(state.theta, numbers[at])) for at, state in enumerate(automaton.states)])
    return replace(automaton, states=states, arcs=tuple([_arc(arc, numbers) for arc in automaton.arcs]))


def _live(automaton: Automaton) -> list[set[int]]:
    """By state the slots that something reads. O(states x arcs)."""
    live = [set(_slots_of(_terms([state.theta]))) for state in automaton.states]
    ends = [arc.source for arc in automaton.arcs if arc.target == automaton.final]
    for arc in automaton.arcs:
        read = [*_terms([arc.guard, arc.rest]), *arc.output, *[join.register for join in arc.joins]]
        for state in ends if arc.kind is Kind.KILL else (arc.source,):
            live[state] |= set(_slots_of(read))
    changed = True
    while changed:
        changed = False
        for arc in automaton.arcs:
            if arc.target == automaton.final or arc.kind is Kind.KILL:
                continue
            found = {each for slot in live[arc.target] for each in _sources_of(arc.update[slot])}
            if not found <= live[arc.source]:
                live[arc.source] |= found
                changed = True
    return live


def _sources_of(source: SlotSource) -> Iterable[int]:
    if isinstance(source, Carry):
        return (source.slot,)
    return _slots_of([source.term]) if isinstance(source, Computed) else ()


def _slots_of(terms: Iterable[Term]) -> Iterator[int]:
    for term in terms:
        for part in walk(term):
            if isinstance(part, Register) and part.slot >= 0:
                yield part.slot


def _terms(forms: Iterable[Form]) -> Iterator[Term]:
    return (atom for form in forms for clause in form for atom in clause)


def _arc(arc: Arc, numbers: Sequence[Mapping[int, int]]) -> Arc:
    own = numbers[arc.source]
    update = tuple([_source(arc.update[slot], own) for slot in numbers[arc.target]]) if arc.update else ()
    if arc.kind is Kind.KILL:  # which reads the slots of another state
        own = numbers[-1]
    output = tuple([_renumbered(term, own) for term in arc.output])
    joins = tuple([_joined(join, own) for join in arc.joins])
    guard, rest = _form(arc.guard, own), _form(arc.rest, own)
    return replace(arc, guard=guard, joins=joins, rest=rest, update=update, output=output)


def _joined(join: Join, numbers: Mapping[int, int]) -> Join:
    register = _renumbered(join.register, numbers)
    return Join(join.position, register) if isinstance(register, Register) else join


def _source(source: SlotSource, numbers: Mapping[int, int]) -> SlotSource:
    if isinstance(source, Carry):
        return Carry(numbers[source.slot])
    return replace(source, term=_renumbered(source.term, numbers)) if isinstance(source, Computed) else source


def _form(form: Form, numbers: Mapping[int, int]) -> Form:
    clauses = [[_renumbered(atom, numbers) for atom in clause] for clause in form]
    return reordered(tuple([tuple([a for a in clause if isinstance(a, Comparison)]) for clause in clauses]))


def _renumbered(term: Term, numbers: Mapping[int, int]) -> Term:
    def leaf(each: Term) -> Term:
        return replace(each, slot=numbers[each.slot]) if isinstance(each, Register) and each.slot >= 0 else each

    return canonical(replace_leaves(term, leaf)) if next(iter(_slots_of([term])), None) is not None else term
