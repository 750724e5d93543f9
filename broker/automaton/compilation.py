"""Compiles an algebra expression to automata, by applying constructions bottom-up along the left spine.

Here: the order of constructions, resubscription of expressions that are not left-deep (semantics 1.4), admission
limits. Not here: the construction for an operator (constructions).

A right operand that is more than a filtered, projected stream becomes a separate query whose results are an internal
stream. The stream's name is a digest of its meaning, so that equal operands share one stream. Rows, intervals and
lineage are the same as inline, because derived events are processed within the epoch in which they end.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Final, assert_never

from ..algebra.normal_form import canonical, normalise
from ..algebra.operators import (
    Expression,
    Iteration,
    Projection,
    Query,
    Selection,
    Sequence,
    Source,
    Union,
    reads_times,
)
from ..algebra.terms import Side, Term, both
from ..events.errors import LimitExceeded
from ..events.event import TIME_NAMES
from .automaton import Arc, Automaton
from .constructions.iteration import iteration
from .constructions.projection import project
from .constructions.selection import select
from .constructions.sequence import sequence
from .constructions.source import internal_view, start, view
from .fragment import EventView, Fragment, composition

STATES_MAX: Final = 256  # a subscription, over all its automata and internal streams
INTERNAL: Final = "~"  # begins the name of an internal stream, which no user can write


@dataclass(frozen=True, slots=True)
class Compiled:
    """The automata whose results together are the query's, and their internal streams, inner ones first."""

    automata: tuple[Automaton, ...]
    internal: tuple[tuple[str, tuple[Automaton, ...]], ...] = ()


def compile_query(query: Query) -> Compiled:
    """Automata for a query. Raises LimitExceeded beyond STATES_MAX states."""
    compiler = _Compiler(reads_times(query.expression))
    automata = compiler.automata(query.expression)
    return Compiled(automata, tuple(compiler.internal.items()))


class _Compiler:
    """`reads_times`: the query reads times, so that all its sources are timed streams."""

    def __init__(self, reads_times: bool) -> None:
        self.reads_times = reads_times
        self.internal: dict[str, tuple[Automaton, ...]] = {}
        self.states = 0

    def automata(self, expression: Expression, internal: bool = False) -> tuple[Automaton, ...]:
        """Those whose results are the expression's; of an internal stream, with their times behind them."""
        finished = []
        for fragment in self.fragments(expression):
            self.states += len(fragment.states)
            if self.states > STATES_MAX:
                raise LimitExceeded(f"a subscription may have at most {STATES_MAX} states, this one has more")
            source = len(fragment.states) - 1
            values = fragment.values + fragment.times if internal else fragment.values
            output = tuple(canonical(value) for value in values)
            last = Arc(source, source + 1, normalise(fragment.guard), output=output)
            finished.append(Automaton(fragment.states, (*fragment.arcs, last), expression.schema))
        return tuple(finished)

    def fragments(self, expression: Expression) -> list[Fragment]:
        match expression:
            case Source():
                return [start(expression, self.reads_times)]
            case Selection():
                return [select(expression, f) for f in self.fragments(expression.input)]
            case Projection():
                return [project(expression, f) for f in self.fragments(expression.input)]
            case Union():
                # NEXT and FOLD distribute over a union on their left: each left event is composed separately. On their
                # right the next event is the earliest of all branches, so that the union becomes an internal stream.
                return self.fragments(expression.left) + self.fragments(expression.right)
            case Sequence():
                right = self.event_view(expression.right)
                return [sequence(expression, f, right) for f in self.fragments(expression.left)]
            case Iteration():
                right = self.event_view(expression.right)
                return [iteration(expression, f, right) for f in self.fragments(expression.left)]
            case _:
                assert_never(expression)

    def event_view(self, expression: Expression) -> EventView:
        """A right operand as single events: of its own stream if possible, otherwise of an internal one."""
        inline = self.inline(expression)
        if inline is not None:
            return inline
        meaning = repr((expression, TIME_NAMES) if self.reads_times else expression)
        name = INTERNAL + hashlib.blake2b(meaning.encode(), digest_size=12).hexdigest()
        if name not in self.internal:
            automata = self.automata(expression, internal=True)
            self.internal[name] = automata
        return internal_view(Source(name, expression.schema), self.reads_times)

    def inline(self, expression: Expression) -> EventView | None:
        match expression:
            case Source():
                return view(expression, self.reads_times)
            case Selection(condition, inner) if (seen := self.inline(inner)) is not None:
                return replace(seen, guard=both(seen.guard, _read(seen, condition)))
            case Projection(items, inner) if (seen := self.inline(inner)) is not None:
                return replace(seen, values=tuple(_read(seen, term) for _, term in items))
            case _:
                return None


def _read(seen: EventView, term: Term) -> Term:
    return composition(term, _unbound, _unbound, seen.values, {Side.EVENT: seen.times})


def _unbound(position: int) -> Term:
    raise AssertionError(f"attribute {position} of a left input inside a right operand")
