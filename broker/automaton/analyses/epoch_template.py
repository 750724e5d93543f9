"""The template of an automaton over epochs: each next event of the key moves a run or ends it, or a run takes it again
and again in some states (CEL's FOLD).

The key are the attributes in which every event of a run equals the one before: what waits for an event sees no others.
With what such an attribute begins in the first event, it begins in all.
What else it asks of events that it sees has no constants that may differ, unless nothing more is asked of the last
event, or each step has a text of its own. Registers are named by the step whose event they read.

Where a run takes events again and again, what is asked later may read what it computes, and registers keep their names.

Here: that. Not here: automata over arrival (arrival_template), what a template is (template).
"""

from __future__ import annotations

from itertools import pairwise
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
    any_value,
    beyond,
    by_form,
    clause_of,
    of_rows,
    reads_durations,
)

COMPUTED: Final = -2
"""In place of the step whose event a slot has."""
ANY_STEP: Final = -2
NO_LINE: Final = "it is no line of single events and of those that a FOLD takes"


def epoch_grouping(automaton: Automaton) -> Grouping:
    """Raises NoTemplate. O(size of the automaton)."""
    arcs = automaton.arcs
    ways = _ways(automaton)
    folds = any(loop >= 0 for loop, _ in ways)
    stream = automaton.states[0].stream
    if any(state.stream != stream for state in automaton.states):
        raise NoTemplate("it reads several streams")
    parts = _parts(automaton.states[1:])
    slots = [] if folds else _slots(arcs)
    forms = [arc.guard if folds else _stepped(arc.guard, at, slots[at]) for at, arc in enumerate(arcs)]
    passed = [_passed(state, parts) for state in automaton.states]
    if folds and len(passed) > 2 and any(joined(atom) >= 0 for clause in passed for atom in clause):
        raise NoTemplate("events that repeat and others are found by other keys")  # runs would come in another order
    own = () if folds else texts_of_steps(automaton)
    if own:  # all that is asked of an event that is waited for is which one it is
        passed = [() for _ in passed]
    waits = not folds and waits_for_numbers(automaton)
    if waits:  # all that is asked of the last event is which one it is
        forms[1], passed[1] = _stepped((passed[1],), 1, slots[1]), ()
    sees = passed
    if not folds:
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
        computes = any_value if folds and step > 0 else of_rows
        found: list[Valued] = []
        key = dict([own[step]]) if own else known
        for clause, among in alternatives(forms[step], ((),), len(arcs)):
            before = ANY_STEP if folds else step - 1
            asked = tuple(atom for atom in _without_key(clause, parts, before) if atom not in begun)
            if not folds:
                asked = tuple(atom for atom in asked if atom not in sees[step])
            found.append(clause_of(asked, key, computes, texts, among))
        found.sort(key=by_form)
        if computes is of_rows and any(reads_durations(atom) for clause, _ in found for atom in clause.rest):
            raise NoTemplate("it computes with durations")
        values.extend(value for _, valued in found for value in valued)
        return tuple(clause for clause, _ in found)

    steps: tuple[TemplateStep, ...]
    if folds:
        made: list[TemplateStep] = []
        for (loop, forward), seen in zip(ways, sees):
            ends = clauses(forward)
            made.append(TemplateStep(Stay.FAILING, ends, clauses(loop) if loop >= 0 else None, seen))
        steps = tuple(made)
    else:
        stays = [Stay.UNTAKEN if waits and step == 1 else Stay.FAILING for step in range(len(arcs))]
        steps = tuple(TemplateStep(stays[step], clauses(step), sees=sees[step]) for step in range(len(arcs)))
    template = GroupTemplate(
        automaton.time,
        (stream,),
        tuple(known),
        beyond(known, parts),
        (),
        steps,
        automaton.output,
        automaton.schema.names,
        slots=tuple(range(len(arcs))),
        updates=tuple(arc.update for arc in arcs[:-1]),
        found=(begun,) if begun else (),
        texts=tuple(attribute for attribute, _ in own),
    )
    return Grouping(template, tuple(text for _, text in own) or tuple(known.values()), tuple(values))


def _ways(automaton: Automaton) -> list[tuple[int, int]]:
    """By state the arc by which a run takes events again, -1 for none, and that by which it goes on."""
    found: list[tuple[int, int]] = []
    if any(arc.source > following.source for arc, following in pairwise(automaton.arcs)):
        raise NoTemplate(NO_LINE)
    for state in range(len(automaton.states)):
        own = [at for at, arc in enumerate(automaton.arcs) if arc.source == state]
        kinds = [(automaton.arcs[at].kind, automaton.arcs[at].target - state) for at in own]
        loops = kinds == [(Kind.LOOP, 0), (Kind.FORWARD, 1)] and state > 0
        if not loops and kinds != [(Kind.FORWARD, 1)]:
            raise NoTemplate(NO_LINE)
        found.append((own[0] if loops else -1, own[-1]))
    return found


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


def _without_key(clause: Clause, parts: tuple[int, ...], before: int) -> Clause:
    """A condition without the joins that the key answers, with the event of a step before, or of any."""

    def answered(atom: Comparison) -> bool:
        match atom:
            case Comparison("=", Attribute(Side.EVENT, position), Register(step, other)):
                return before in (step, ANY_STEP) and position == other and position in parts
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
