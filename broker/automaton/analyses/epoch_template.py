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

from dataclasses import replace
from itertools import pairwise
from typing import Final

from ...algebra.normal_form import Clause, Form
from ...algebra.terms import Arithmetic, Attribute, Comparison, Constant, Register, Side
from ..automaton import Automaton, Kind, State, Stay
from .event_constants import OwnText, own_text_of_each, shared_beginning, shared_constants
from .template import (
    Alternative,
    Grouping,
    GroupTemplate,
    NoTemplate,
    TemplateClause,
    TemplateConditions,
    TemplateStep,
    alternatives,
    any_value,
    beyond,
    key_of,
    of_rows,
    reads_durations,
    reads_registers,
)
from .whole_rows import with_whole_rows

LAST: Final = -1  # the slot of the row that a run has taken last
ANY_EVENT: Final = -2
NUMBERS: Final = ("int", "float")
NO_LINE: Final = "it is no line of single events and of those that a FOLD takes"


def epoch_grouping(automaton: Automaton) -> Grouping:
    """Raises NoTemplate. O(size of the automaton)."""
    ways = _ways(automaton)
    folds = any(loop >= 0 for loop, _ in ways)
    stream = automaton.states[0].stream
    if any(state.stream != stream for state in automaton.states):
        raise NoTemplate("it reads several streams")
    line = automaton if folds else _by_step(automaton)
    steps = len(line.arcs)
    before = [LAST if folds else at - 1 for at in range(len(line.states))]
    parts = _parts(line.states, before)
    forms = [arc.guard for arc in line.arcs]
    sees = [_passed(state, parts, at) for state, at in zip(line.states, before)]
    if folds and len(sees) > 2 and any(_joined(atom, LAST) >= 0 for clause in sees for atom in clause):
        raise NoTemplate("events that repeat and others are found by other keys")  # runs would come in another order
    first = shared_constants([forms[0]])
    own = () if folds or parts or steps == 1 else _own_texts(forms[0], sees[1:])
    waits = not folds and steps == 2 and _waits_for_numbers(forms[1], sees[1], parts, [one.position for one in first])
    if waits:  # all that is asked of the last event is which one it is
        forms[1] = (sees[1],)
    if waits or own:
        sees = [() for _ in sees]
    if any(reads_durations(atom) for clause in sees for atom in clause):
        raise NoTemplate("how long a run waits depends on durations")
    # An event without the key ends a run of several steps, unless what waits does not see it.
    known = {one: value for one, value in first.items() if one.position in parts or steps == 1}
    begun = () if known else shared_beginning(forms if steps == 1 else [((),), forms[0]], parts)
    conditions = TemplateConditions(begun, len(known) + len(begun) + len(own) > 0)

    def clauses(step: int) -> tuple[TemplateClause, ...]:
        seen, at = ((), ANY_EVENT) if folds else (sees[step], before[step])
        asked = [
            Alternative(tuple(atom for atom in clause if _joined(atom, at) not in parts and atom not in seen), among)
            for clause, among in alternatives(forms[step], ((),), steps)
        ]
        later = folds and step > 0
        found = conditions.of(asked, dict([own[step]]) if own else known, any_value if later else of_rows)
        if not later and any(reads_durations(atom) for clause in found for atom in clause.rest):
            raise NoTemplate("it computes with durations")
        return found

    made: list[TemplateStep] = []
    for number, ((loop, forward), seen) in enumerate(zip(ways, sees)):
        stay = Stay.UNTAKEN if waits and number == 1 else Stay.FAILING
        ends = clauses(forward)
        made.append(TemplateStep(stay, ends, clauses(loop) if loop >= 0 else None, seen))
    template = GroupTemplate(
        automaton.time,
        (stream,),
        tuple(known),
        beyond(known, parts),
        (),
        tuple(made),
        automaton.output,
        automaton.schema.names,
        slots=tuple(range(steps)),
        updates=tuple(arc.update for arc in automaton.arcs[:-1]),
        found=(begun,) if begun else (),
        texts=tuple(attribute for attribute, _ in own),
    )
    return Grouping(template, key_of(known, own), tuple(conditions.values))


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


def _by_step(automaton: Automaton) -> Automaton:
    """A line of single events whose conditions read registers by step. What it reports stays as it is written."""
    return with_whole_rows(replace(automaton, arcs=tuple([replace(arc, output=()) for arc in automaton.arcs])))


def _joined(atom: Comparison, before: int) -> int:
    """The attribute in which an event is to equal the one in the slot `before`; -1 for any other condition."""
    match atom:
        case Comparison("=", Attribute(Side.EVENT, position), Register(slot, other)):
            return position if position == other and before in (slot, ANY_EVENT) else -1
        case _:
            return -1


def _parts(states: tuple[State, ...], before: list[int]) -> tuple[int, ...]:
    """The attributes in which an event equals the one before, or else no waiting run sees it."""
    each: list[set[int]] = []
    for state, at in zip(states[1:], before[1:]):
        if len(state.theta) != 1:
            raise NoTemplate("runs let events pass for alternatives")
        each.append({_joined(atom, at) for atom in state.theta[0]})
    return tuple(sorted(set.intersection(*each) - {-1})) if each else ()


def _passed(state: State, parts: tuple[int, ...], before: int) -> Clause:
    """What a waiting run asks of an event beyond the key."""
    return tuple(atom for clause in state.theta for atom in clause if _joined(atom, before) not in parts)


def _own_texts(first: Form, passed: list[Clause]) -> tuple[OwnText, ...]:
    """By step the text that its event equals, if all else are found by nothing but theirs; () if they are not."""
    if len(first) != 1 or any(len(clause) != 1 for clause in passed):
        return ()
    return own_text_of_each([first[0], *passed])


def _waits_for_numbers(asked: Form, passed: Clause, parts: tuple[int, ...], constants: list[int]) -> bool:
    """Whether runs with a key of constants wait for their second event until numbers are reached, and nothing more is
    asked of it. Earlier events matter in such comparisons only."""
    if not parts or not set(parts) <= set(constants) or len(asked) != 1:
        return False
    others = [atom for atom in passed if not _compares_number(atom)]
    more = [atom for atom in asked[0] if _joined(atom, 0) not in parts and atom not in passed]
    return not more and len(others) < len(passed) and not any(map(reads_registers, others))


def _compares_number(atom: Comparison) -> bool:
    match atom:
        case Comparison(_, Attribute(Side.EVENT, _, kind), Constant() | Arithmetic("*" | "+", Constant(), Register())):
            return atom.operator != "!=" and kind in NUMBERS
        case _:
            return False
