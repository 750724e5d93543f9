"""A line of single events whose registers are these events: slot n is the row of step n.

Languages keep what they read later: single values, times, rows, each in a slot of its own. A group keeps the events of
a match anyway, so there every register is an attribute of one of them. The automaton means the same afterwards.

Here: that rewriting. Not here: what a line is (line), what is compared (arrival_template).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from ...algebra import terms
from ...algebra.guard import Join
from ...algebra.normal_form import Form
from ...algebra.terms import Attribute, Comparison, Register, Side, Term
from ..automaton import Arc, Automaton, BoundRow, Carry, Computed, EventRow, EventTime, Kind, SlotSource

WHOLE: Final = -1
LAST: Final = -1  # the slot of the row that a run has taken last


class Content(NamedTuple):
    """What a slot holds: the row of a step, or the value at `position` in it."""

    step: int
    position: int = WHOLE


class NoRows(Exception):
    """Raised with the reason, for people."""


def with_whole_rows(automaton: Automaton) -> Automaton:
    """A line of single events, whose registers are rows. O(its size). Raises NoRows if one holds something else that a
    condition or a result reads."""
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
    for arc, (own, at) in zip(automaton.arcs, before):
        if arc.kind is Kind.KILL:  # it reads the registers of the whole match
            own, at = known, step
        arcs.append(_rewritten(arc, own, at))
    return replace(automaton, arcs=tuple(arcs))


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

    def earlier(leaf: Term) -> Term:
        return _read(leaf, known) if isinstance(leaf, Register) else leaf

    def reported(leaf: Term) -> Term:
        if isinstance(leaf, Attribute) and leaf.side is Side.EVENT:
            return Register(step, leaf.position, leaf.type, leaf.name, leaf.nullable)
        return earlier(leaf)

    def all_of(form: Form) -> Form:
        return tuple(tuple(_atom(terms.replace(atom, earlier)) for atom in clause) for clause in form)

    return replace(
        arc,
        update=update,
        joins=tuple(Join(join.position, _read(join.register, known)) for join in arc.joins),
        guard=all_of(arc.guard),
        rest=all_of(arc.rest),
        output=tuple(terms.replace(term, reported) for term in arc.output),
    )


def _read(register: Register, known: dict[int, Content]) -> Register:
    content = known.get(register.slot)
    if content is None or (content.position == WHOLE) == (register.position == WHOLE):
        raise NoRows("it reads a value that is computed on the way")
    position = register.position if content.position == WHOLE else content.position
    return Register(content.step, position, register.type, register.name, register.nullable)


def _atom(term: Term) -> Comparison:
    assert isinstance(term, Comparison), "a condition in normal form has comparisons"
    return term
