"""The template of an automaton over epochs: each next event of the key moves a run or ends it, or a run takes it again
and again (CEL's FOLD).

The key are the attributes in which every event of a run equals the one before: what waits for an event sees no others.
With what such an attribute begins in the first event, it begins in all.
What else it asks of events that it sees has no constants that may differ, unless nothing more is asked of the last
event, or each step has a text of its own. Registers are named by the step whose event they read.

Here: that. Not here: automata over arrival (arrival_template), what a template is (template).
"""

from __future__ import annotations

from typing import Final

from ...algebra.normal_form import Clause, Form
from ...algebra.terms import Attribute, Comparison, Register, Side, Term, replace
from ..automaton import Arc, Automaton, BoundRow, Carry, EventRow, Kind, State, Stay
from .epoch_waits import joined, waits_for_numbers
from .event_constants import shared_beginning, shared_constants
from .step_texts import texts_of_steps
from .template import (
    Grouping,
    GroupTemplate,
    NoTemplate,
    TemplateClause,
    TemplateStep,
    Valued,
    alternatives,
    by_form,
    clause_of,
    reads_durations,
)

FOLD: Final = [(0, 1, Kind.FORWARD), (1, 1, Kind.LOOP), (1, 2, Kind.FORWARD)]
COMPUTED: Final = -2
"""In place of the step whose event a slot has."""


def epoch_grouping(automaton: Automaton) -> Grouping:
    """Raises NoTemplate. O(size of the automaton)."""
    arcs = automaton.arcs
    ways = [(arc.source, arc.target, arc.kind) for arc in arcs]
    folds = ways == FOLD
    if not folds and ways != [(at, at + 1, Kind.FORWARD) for at in range(len(automaton.states))]:
        raise NoTemplate("it is neither a chain of single events nor one event and those that a FOLD takes")
    stream = automaton.states[0].stream
    if any(state.stream != stream for state in automaton.states):
        raise NoTemplate("it reads several streams")
    parts = _parts(automaton.states[1:])
    slots = _slots(arcs)
    forms = [arc.guard if folds else _stepped(arc.guard, at, slots[at]) for at, arc in enumerate(arcs)]
    passed = [_passed(state, parts) for state in automaton.states]
    if folds and any(passed):
        raise NoTemplate("runs let events of their key pass")
    own = () if folds else texts_of_steps(automaton)
    if own:  # all that is asked of an event that is waited for is which one it is
        passed = [() for _ in passed]
    waits = not folds and waits_for_numbers(automaton)
    if waits:  # all that is asked of the last event is which one it is
        forms[1], passed[1] = _stepped((passed[1],), 1, slots[1]), ()
    sees = [_stepped((clause,), at, slots[at])[0] if clause else () for at, clause in enumerate(passed)]
    if any(reads_durations(atom) for clause in sees for atom in clause):
        raise NoTemplate("how long a run waits depends on durations")
    first = shared_constants([forms[0]])
    # An event without the key ends a run of several steps, unless what waits does not see it.
    known = {one: value for one, value in first.items() if one.position in parts or len(arcs) == 1}
    begun = () if known else shared_beginning(forms if len(arcs) == 1 else [((),), forms[0]], parts)
    texts = len(known) + len(begun) + len(own) > 0
    values: list[float] = []

    def clauses(step: int) -> tuple[TemplateClause, ...]:
        computes = folds and step > 0
        found: list[Valued] = []
        key = dict([own[step]]) if own else known
        for clause, among in alternatives(forms[step], ((),), len(arcs)):
            asked = tuple(atom for atom in _without_key(clause, parts, step) if atom not in begun)
            if not folds:
                asked = tuple(atom for atom in asked if atom not in sees[step])
            found.append(clause_of(asked, key, computes, texts, among))
        found.sort(key=by_form)
        if not computes and any(reads_durations(atom) for clause, _ in found for atom in clause.rest):
            raise NoTemplate("it computes with durations")
        values.extend(value for _, valued in found for value in valued)
        return tuple(clause for clause, _ in found)

    steps: tuple[TemplateStep, ...]
    if folds:
        steps = (TemplateStep(Stay.FAILING, clauses(0)), TemplateStep(Stay.FAILING, clauses(2), clauses(1)))
    else:
        stays = [Stay.UNTAKEN if waits and step == 1 else Stay.FAILING for step in range(len(arcs))]
        steps = tuple(TemplateStep(stays[step], clauses(step), sees=sees[step]) for step in range(len(arcs)))
    template = GroupTemplate(
        automaton.time,
        (stream,),
        tuple(known),
        tuple(position for position in parts if position not in {one.position for one in known}),
        (),
        steps,
        (),
        False,
        False,
        None,
        tuple(range(len(arcs))),
        automaton.output,
        automaton.schema.names,
        tuple(arc.update for arc in arcs[:-1]),
        found=(begun,) if begun else (),
        texts=tuple(attribute for attribute, _ in own),
    )
    return Grouping(template, tuple(text for _, text in own) or tuple(known.values()), tuple(values))


def _parts(states: tuple[State, ...]) -> tuple[int, ...]:
    """The attributes in which an event equals the one before, or else no waiting run sees it."""
    found: set[int] | None = None
    for state in states:
        if len(state.theta) != 1:
            raise NoTemplate("runs let events pass for alternatives")
        own = {position for position in map(joined, state.theta[0]) if position >= 0}
        found = own if found is None else found & own
    return tuple(sorted(found or ()))


def _passed(state: State, parts: tuple[int, ...]) -> Clause:
    """What a waiting run asks of an event beyond the key."""
    return tuple(atom for clause in state.theta for atom in clause if joined(atom) not in parts)


def _without_key(clause: Clause, parts: tuple[int, ...], step: int) -> Clause:
    """A condition without the joins that the key answers; registers are named by steps."""

    def answered(atom: Comparison) -> bool:
        match atom:
            case Comparison("=", Attribute(Side.EVENT, position), Register(before, other)):
                return before == step - 1 and position == other and position in parts
            case _:
                return False

    return tuple(atom for atom in clause if not answered(atom))


def _slots(arcs: tuple[Arc, ...]) -> list[list[int]]:
    """For each arc what its source remembers: by slot the step whose event it is."""
    found: list[list[int]] = [[]]
    for step, arc in enumerate(arcs[:-1]):
        own: list[int] = []
        for source in arc.update:
            match source:
                case EventRow():
                    own.append(step)
                case BoundRow():
                    own.append(step - 1)
                case Carry(slot):
                    own.append(found[step][slot])
                case _:
                    own.append(COMPUTED)
        found.append(own)
    return found


def _stepped(form: Form, source: int, slots: list[int]) -> Form:
    """What is asked in a state, with registers by step."""

    def named(term: Term) -> Term:
        if not isinstance(term, Register):
            return term
        step = source - 1 if term.slot < 0 else slots[term.slot]
        if step == COMPUTED or term.position < 0:
            raise NoTemplate("a step asks for a value that an earlier one has computed")
        return Register(step, term.position, term.type, term.name, term.nullable)

    def atom(one: Comparison) -> Comparison:
        found = replace(one, named)
        assert isinstance(found, Comparison)
        return found

    return tuple(tuple(atom(one) for one in clause) for clause in form)
