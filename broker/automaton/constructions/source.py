"""A stream: the start state, whose open arc takes every event of it unchanged."""

from __future__ import annotations

from ...algebra.operators import Source
from ...algebra.terms import TRUE, Attribute, Side, Term
from ..automaton import State
from ..fragment import EventView, Fragment


def attributes(source: Source) -> tuple[Term, ...]:
    """The values of a source: the event's own attributes."""
    schema = source.schema.attributes
    return tuple(Attribute(Side.EVENT, i, a.type, a.name, a.nullable) for i, a in enumerate(schema))


def start(source: Source) -> Fragment:
    return Fragment((State(source.stream),), (), TRUE, attributes(source))


def view(source: Source) -> EventView:
    return EventView(source.stream, TRUE, attributes(source))
