"""A stream: the start state, whose open arc takes every event of it unchanged.

A query that reads times reads the timed stream, in which they are attributes behind those of the schema. So are they in
an internal stream of such a query.
"""

from __future__ import annotations

from ...algebra.operators import Source
from ...algebra.terms import TRUE, Attribute, Side, Term
from ...algebra.timed_stream import timed
from ...events.event import TIME_NAMES
from ..automaton import State
from ..fragment import NO_TIMES, EventView, Fragment, Times


def attributes(source: Source) -> tuple[Term, ...]:
    """The values of a source: the event's own attributes."""
    schema = source.schema.attributes
    return tuple(Attribute(Side.EVENT, i, a.type, a.name, a.nullable) for i, a in enumerate(schema))


def times(source: Source) -> Times:
    """The times of a source's events, in a query that reads times."""
    return tuple(Attribute(Side.EVENT, i, "int", name) for i, name in enumerate(TIME_NAMES, len(source.schema)))


def start(source: Source, reads_times: bool) -> Fragment:
    seen = view(source, reads_times)
    return Fragment((State(seen.stream),), (), TRUE, seen.values, seen.times)


def view(source: Source, reads_times: bool) -> EventView:
    stream = timed(source.stream) if reads_times else source.stream
    return EventView(stream, TRUE, attributes(source), times(source) if reads_times else NO_TIMES)


def internal_view(source: Source, reads_times: bool) -> EventView:
    """The view of an internal stream, whose own query adds the times."""
    return EventView(source.stream, TRUE, attributes(source), times(source) if reads_times else NO_TIMES)
