"""The executable semantics of terms, shared by all languages: events, the environment of a term, values and conditions.

This module is slow and simple, and the reference for tests, together with the semantics of each language
(cayuga/semantics.py and others). The code follows the definitions (semantics 1.2; Cayuga 2.2) literally. It imports
nothing of the engine, because it is the reference for the engine.

Conditions are evaluated as they are written, not in the canonical form that the engine uses.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..events.schema import Row, Value
from .functions import NEGATED, calculate, call, compare
from .terms import (
    Arithmetic,
    Attribute,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Duration,
    Function,
    Instant,
    Negation,
    Register,
    Side,
    Term,
)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event `(a1..an; t0, t1)`, and the ids of the primitive events that it consists of."""

    row: Row
    start: int
    end: int
    lineage: tuple[int, ...]


Bag = list[Occurrence]


@dataclass(frozen=True, slots=True)
class Environment:
    """The values that a term can read."""

    event: Occurrence
    first: Row = ()
    last: Row = ()
    start: int | None = None  # the start of the composition, if there is one
    ends: tuple[int, int] = (0, 0)  # when the left input ended, and the composition so far

    def side(self, side: Side) -> Row:
        return {Side.EVENT: self.event.row, Side.FIRST: self.first, Side.LAST: self.last}[side]

    def interval(self, side: Side) -> tuple[int, int]:
        """When an input began and ended; a composition begins with its left input."""
        start = self.event.start if self.start is None else self.start
        left, last = self.ends
        return {Side.EVENT: (self.event.start, self.event.end), Side.FIRST: (start, left), Side.LAST: (start, last)}[
            side
        ]


def value(term: Term, environment: Environment) -> Value:
    match term:
        case Constant(constant, _):
            return constant
        case Attribute(side, position):
            return environment.side(side)[position]
        case Duration(composition):
            event = environment.event
            start = environment.start if composition and environment.start is not None else event.start
            return event.end - start + 1
        case Instant(side, begins):
            began, ended = environment.interval(side)
            return began if begins else ended
        case Arithmetic(operator, left, right):
            return calculate(operator, value(left, environment), value(right, environment))
        case Function(name, arguments, type_):
            return call(name, [value(a, environment) for a in arguments], type_)
        case Register():
            raise AssertionError("registers belong to automata")
        case _:
            return holds(term, environment)


def holds(term: Term, environment: Environment, wanted: bool = True) -> bool:
    """Return whether a condition, or its negation if `wanted` is false, is satisfied. A null satisfies neither."""
    match term:
        case Conjunction(operands):
            results = [holds(o, environment, wanted) for o in operands]
            return all(results) if wanted else any(results)
        case Disjunction(operands):
            results = [holds(o, environment, wanted) for o in operands]
            return any(results) if wanted else all(results)
        case Negation(operand):
            return holds(operand, environment, not wanted)
        case Comparison(operator, left, right):
            chosen = operator if wanted else NEGATED[operator]
            return compare(chosen, value(left, environment), value(right, environment))
        case Function(name, arguments, type_):
            return call(name, [value(a, environment) for a in arguments], type_) is wanted
        case _:
            return value(term, environment) is wanted
