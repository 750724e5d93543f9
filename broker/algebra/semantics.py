"""The executable meaning of the algebra over finite lists of events: slow, obvious, and the truth.

Written straight from the definitions (semantics 1.2; Cayuga 2.2), for reading. Here: nothing that is fast. Not here:
anything of the engine; nothing below imports what it is the judge of.

Conditions are evaluated as they are written, not in the canonical form that the engine uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..events.schema import Row, Value
from .functions import NEGATED, calculate, call, compare
from .operators import Expression, Iteration, Projection, Query, Selection, Sequence, Source, Union, sources
from .terms import (
    Arithmetic,
    Attribute,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Duration,
    Function,
    Negation,
    Register,
    Side,
    Term,
)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event `(a1..an; t0, t1)`, and the ids of the primitive events that it was made of."""

    row: Row
    start: int
    end: int
    lineage: tuple[int, ...]


Bag = list[Occurrence]


@dataclass(frozen=True, slots=True)
class Environment:
    """What a term can read."""

    event: Occurrence
    first: Row = ()
    last: Row = ()
    start: int | None = None  # of the composition, where there is one

    def side(self, side: Side) -> Row:
        return {Side.EVENT: self.event.row, Side.FIRST: self.first, Side.LAST: self.last}[side]


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
        case Arithmetic(operator, left, right):
            return calculate(operator, value(left, environment), value(right, environment))
        case Function(name, arguments, type_) if type_ != "bool":
            return call(name, [value(a, environment) for a in arguments], type_)
        case Register():
            raise AssertionError("registers belong to automata")
        case _:
            return holds(term, environment)


def holds(term: Term, environment: Environment, wanted: bool = True) -> bool:
    """Whether a condition, or with `wanted` false its negation, is satisfied. A null satisfies neither."""
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


def next_of(bound: Occurrence, theta: Term, first: Row, last: Row, candidates: Bag) -> Bag:
    """What `;_theta` chooses after `bound`: not overlapping it, satisfying theta, of the earliest end; ties all."""
    eligible = [e for e in candidates if e.start > bound.end and holds(theta, Environment(e, first, last, bound.start))]
    earliest = min((e.end for e in eligible), default=0)
    return [e for e in eligible if e.end == earliest]


def sequence(operator: Sequence, left: Bag, right: Bag) -> Bag:
    return [
        Occurrence(a.row + b.row, a.start, b.end, a.lineage + b.lineage)
        for a in left
        for b in next_of(a, operator.theta, a.row, (), right)
    ]


def iteration(operator: Iteration, left: Bag, right: Bag) -> Bag:
    """`union over k >= 1 of step^k(left)`: memory is the first and the last values, never the list of events."""
    shared = operator.shared()
    aggregates = dict(operator.aggregates)
    results: Bag = []
    instances = [(a.row, a.row, a) for a in left]  # (first, last, what has been composed so far)
    while instances:
        stepped = []
        for first, last, composed in instances:
            for event in next_of(composed, operator.theta, first, last, right):
                environment = Environment(event, first, last, composed.start)
                if not holds(operator.rebind, environment):
                    continue  # F rejects: this instance is dead
                taken = {i: event.row[j] for i, j in shared}
                taken |= {i: value(term, environment) for i, term in aggregates.items()}
                new_last = tuple(taken.get(i, old) for i, old in enumerate(last))
                lineage = composed.lineage + event.lineage
                row = tuple(first[i] for i, _ in shared) + new_last
                results.append(Occurrence(row, composed.start, event.end, lineage))
                stepped.append((first, new_last, results[-1]))
        instances = stepped
    return results


def evaluate(expression: Expression, streams: Mapping[str, Bag]) -> Bag:
    """The bag that an expression denotes over finite streams."""
    match expression:
        case Source(stream, _):
            return list(streams.get(stream, []))
        case Selection(condition, inner):
            return [e for e in evaluate(inner, streams) if holds(condition, Environment(e))]
        case Projection(items, inner):
            return [
                Occurrence(tuple(value(term, Environment(e)) for _, term in items), e.start, e.end, e.lineage)
                for e in evaluate(inner, streams)
            ]
        case Union(left, right):
            return evaluate(left, streams) + evaluate(right, streams)
        case Sequence(_, left, right):
            return sequence(expression, evaluate(left, streams), evaluate(right, streams))
        case Iteration(_, _, _, left, right):
            return iteration(expression, evaluate(left, streams), evaluate(right, streams))


def evaluate_queries(queries: Mapping[str, Query], streams: Mapping[str, Bag]) -> dict[str, Bag]:
    """The results of each query where queries may read what others publish (in any order, without cycles)."""
    results: dict[str, Bag] = {}
    known = dict(streams)
    waiting = dict(queries)
    while waiting:
        unpublished = {query.publish for query in waiting.values()}
        ready = [n for n, q in waiting.items() if not unpublished & set(sources(q.expression))]
        if not ready:
            raise ValueError("these queries read each other in a circle: " + ", ".join(waiting))
        for name in ready:
            query = waiting.pop(name)
            results[name] = evaluate(query.expression, known)
            if query.publish is not None:
                known[query.publish] = known.get(query.publish, []) + results[name]
    return results
