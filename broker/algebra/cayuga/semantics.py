"""The executable semantics of CEL's operators over finite lists of events: slow, simple, and the reference for tests.

The code follows the definitions (semantics 1.2; Cayuga 2.2) literally. Nothing here is fast. Not here: terms
(algebra/semantics.py). This module imports nothing of the engine, because it is the reference for the engine.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...events.schema import Row
from ..operators import Expression, Iteration, Projection, Query, Selection, Sequence, Source, Union, sources
from ..semantics import Bag, Environment, Occurrence, holds, value
from ..terms import Term


def next_of(bound: Occurrence, theta: Term, first: Row, last: Row, candidates: Bag, left: int) -> Bag:
    """Return the events that `;_theta` chooses after `bound`, whose left input ended at `left`: not overlapping it,
    satisfying theta, with the earliest end."""

    def chosen(event: Occurrence) -> bool:
        return holds(theta, Environment(event, first, last, bound.start, (left, bound.end)))

    eligible = [e for e in candidates if e.start > bound.end and chosen(e)]
    earliest = min((e.end for e in eligible), default=0)
    return [e for e in eligible if e.end == earliest]


def sequence(operator: Sequence, left: Bag, right: Bag) -> Bag:
    return [
        Occurrence(a.row + b.row, a.start, b.end, a.lineage + b.lineage)
        for a in left
        for b in next_of(a, operator.theta, a.row, (), right, a.end)
    ]


def iteration(operator: Iteration, left: Bag, right: Bag) -> Bag:
    """`union over k >= 1 of step^k(left)`: memory is the first and the last values, never the list of events."""
    shared = operator.shared()
    aggregates = dict(operator.aggregates)
    results: Bag = []
    instances = [(a, a.row, a) for a in left]  # (the left event, the last values, the composition so far)
    while instances:
        stepped = []
        for a, last, composed in instances:
            for event in next_of(composed, operator.theta, a.row, last, right, a.end):
                environment = Environment(event, a.row, last, composed.start, (a.end, composed.end))
                if not holds(operator.rebind, environment):
                    continue  # F rejects: this instance is dead
                taken = {i: event.row[j] for i, j in shared}
                taken |= {i: value(term, environment) for i, term in aggregates.items()}
                new_last = tuple(taken.get(i, old) for i, old in enumerate(last))
                lineage = composed.lineage + event.lineage
                row = tuple(a.row[i] for i, _ in shared) + new_last
                results.append(Occurrence(row, composed.start, event.end, lineage))
                stepped.append((a, new_last, results[-1]))
        instances = stepped
    return results


def evaluate(expression: Expression, streams: Mapping[str, Bag]) -> Bag:
    """Return the bag that an expression denotes over finite streams."""
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
    """Return the results of each query, where queries may read published streams (in any order, without cycles)."""
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
