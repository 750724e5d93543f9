"""untimed: of a stream whose times nobody reads, the plain rows are read, without them.

Sound, run by run: rows of a timed stream have their times behind the attributes, whose places stay. Not of the inner
streams of a query, whose own queries tell the times, nor of trees of machines, which read them in their guards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...algebra.terms import Attribute, Register, Term, walk
from ...algebra.timed_stream import source_out_of_use
from ...algebra.timed_stream import untimed as plain
from ..automaton import Accumulated, Automaton, TimeModel
from .facts import Facts, terms_of
from .moments import row_streams
from .rule import Rewritten


def untimed(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> text = "SELECT n FROM (SELECT name AS n, time AS t FROM Stock) NEXT{$2.name = $1.n} Stock"
    >>> automaton, count = untimed(cel(text), Facts(cel(text), {"Stock with time": 4}))
    >>> count, automaton.streams()
    (1, ['Stock'])
    """
    unread = {stream for stream in automaton.streams() if facts.time_of(stream) is not None}
    unread -= set(_read(automaton, facts)) if unread else set()
    if not unread:
        return automaton, 0

    def name(stream: str) -> str:
        return plain(stream) if stream in unread else stream

    states = tuple([replace(state, stream=name(state.stream)) for state in automaton.states])
    arcs = tuple([replace(arc, stream=name(arc.stream)) if arc.stream else arc for arc in automaton.arcs])
    sources = tuple([source_out_of_use(each) if each.stream in unread else each for each in automaton.sources])
    return replace(automaton, states=states, arcs=arcs, sources=sources), len(unread)


def _read(automaton: Automaton, facts: Facts) -> Iterator[str]:
    """The streams whose times something reads."""
    rows = row_streams(facts)
    if automaton.time is TimeModel.ARRIVAL:  # each slot has one number in all states
        slots = {slot for own in rows for slot in own}
        rows = [{slot: set[str]().union(*[own.get(slot, ()) for own in rows]) for slot in slots}] * len(rows)

    def streams(terms: Iterable[Term], state: int, seen: str) -> Iterator[str]:
        for part in [part for term in terms for part in walk(term)]:
            if isinstance(part, Attribute):
                yield from late([part.position], seen)
            elif isinstance(part, Register):
                for stream in rows[state].get(part.slot, ()):
                    yield from late([part.position], stream)

    def late(positions: Iterable[int], stream: str) -> Iterator[str]:
        time = facts.time_of(stream)
        if time is not None and max(positions, default=-1) >= time:
            yield stream

    for number, state in enumerate(automaton.states):
        if state.stream:
            yield from streams([atom for clause in state.theta for atom in clause], number, state.stream)
    for arc in automaton.arcs:
        seen = facts.stream_of(arc)
        yield from streams(terms_of(replace(automaton, states=(), arcs=(arc,))), arc.source, seen)
        yield from late([join.position for join in arc.joins], seen)
        yield from late([each.position for each in arc.update if isinstance(each, Accumulated)], seen)
    for source in automaton.sources:
        yield from late(source.key, source.stream)
