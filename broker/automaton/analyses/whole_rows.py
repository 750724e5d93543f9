"""A line of single events whose registers are these events: slot n is the row of step n.

Languages keep what they read later: single values, times, rows, each in a slot of its own. A group keeps the events of
a match anyway, so there every register is an attribute of one of them. The automaton means the same afterwards.

Here: that rewriting. Not here: what a line is (line), what is compared (templates).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from ...algebra import terms
from ...algebra.guard import Join
from ...algebra.normal_form import Form
from ...algebra.terms import Attribute, Comparison, Register, Side, Term
from ..automaton import Arc, Automaton, BoundRow, Carry, Computed, EventRow, EventTime, Kind, SlotSource
from .template import NoTemplate

WHOLE: Final = -1
LAST: Final = -1  # the slot of the row that a run has taken last


class Content(NamedTuple):
    """What a slot holds: the row of a step, or the value at `position` in it."""

    step: int
    position: int = WHOLE


def with_whole_rows(automaton: Automaton) -> Automaton:
    """A line of single events, whose registers are rows. O(its size). Raises NoTemplate if one holds something else
    that a condition or a result reads."""
    known: dict[int, Content] = {}
    before: list[tuple[dict[int, Content], int]] = []  # for each arc what a run has there, and its number of steps
    step = 0
    for arc in automaton.arcs:
        before.append((known, step))
        if arc.kind is Kind.FORWARD:
            known = _after(arc, known, step)
            step += 1
        elif arc.kind is not Kind.KILL and arc.update:
            known = _after(arc, known, step)
    arcs: list[Arc] = []
    states = list(automaton.states)
    for arc, (own, at) in zip(automaton.arcs, before):
        if arc.kind is Kind.KILL:  # it reads the registers of the whole match
            own, at = known, step
        else:
            state = automaton.states[arc.source]
            states[arc.source] = replace(state, theta=mapped(state.theta, _reader(own)))
        arcs.append(_rewritten(arc, own, at))
    return replace(automaton, states=tuple(states), arcs=tuple(arcs))


def mapped(form: Form, leaf: Callable[[Term], Term]) -> Form:
    """A condition with other leaves."""

    def atom(one: Comparison) -> Comparison:
        found = terms.replace(one, leaf)
        assert isinstance(found, Comparison), "a condition in normal form has comparisons"
        return found

    return tuple(tuple(atom(one) for one in clause) for clause in form)


def _after(arc: Arc, known: dict[int, Content], step: int) -> dict[int, Content]:
    found = {LAST: Content(step if arc.kind is Kind.FORWARD else step - 1)}
    for slot, source in enumerate(arc.update):
        match source:
            case Carry(other) if other in known:
                found[slot] = known[other]
            case EventRow():
                found[slot] = Content(step)
            case BoundRow() if step > 0:
                found[slot] = Content(step - 1)
            case Computed(Attribute(Side.EVENT, position)):
                found[slot] = Content(step, position)
            case EventTime():
                pass  # only the window reads it
    return found


def _rewritten(arc: Arc, known: dict[int, Content], step: int) -> Arc:
    own = (EventRow(),) if arc.kind is Kind.FORWARD else ()
    update: tuple[SlotSource, ...] = (*map(Carry, range(step)), *own)

    earlier = _reader(known)

    def reported(leaf: Term) -> Term:
        if isinstance(leaf, Attribute) and leaf.side is Side.EVENT:
            return Register(step, leaf.position, leaf.type, leaf.name, leaf.nullable)
        return earlier(leaf)

    return replace(
        arc,
        update=update,
        joins=tuple(Join(join.position, _read(join.register, known)) for join in arc.joins),
        guard=mapped(arc.guard, earlier),
        rest=mapped(arc.rest, earlier),
        output=tuple(terms.replace(term, reported) for term in arc.output),
    )


def _reader(known: dict[int, Content]) -> Callable[[Term], Term]:
    return lambda leaf: _read(leaf, known) if isinstance(leaf, Register) else leaf


def _read(register: Register, known: dict[int, Content]) -> Register:
    content = known.get(register.slot)
    if content is None or (content.position == WHOLE) == (register.position == WHOLE):
        raise NoTemplate("a step asks for a value that an earlier one has computed")
    position = register.position if content.position == WHOLE else content.position
    return Register(content.step, position, register.type, register.name, register.nullable)
