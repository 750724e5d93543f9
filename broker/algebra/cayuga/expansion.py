"""Counts how large the terms of a query become when names are replaced by the expressions of inner SELECTs.

Thirty nested `SELECT x + x AS x` are a short text but a term of 2**30 parts. So this module counts the parts before
anything is replaced: with numbers, in one walk over the query.
"""

from __future__ import annotations

from typing import Final

from ...events import LimitExceeded
from ..operators import Expression, Iteration, Projection, Selection, Sequence, Source, Union
from ..terms import Attribute, Side, Term, walk

EXPANDED_TERM_MAX: Final = 4_096
"""The most parts of a term that an inner SELECT has enlarged."""
EXPANDED_TOTAL_MAX: Final = 65_536
"""The most parts by which all terms of a query together may grow: about a second of compiling."""

_Sizes = tuple[int, ...]


def check_expansion(expression: Expression) -> None:
    """Raise LimitExceeded if a term would have too many parts. O(parts of the query)."""
    _Count().sizes(expression)


class _Count:
    def __init__(self) -> None:
        self.grown = 0

    def sizes(self, expression: Expression) -> _Sizes:
        """Return an upper bound for each output attribute: the parts of the term that computes it."""
        match expression:
            case Source(_, schema):
                return (1,) * len(schema.attributes)
            case Selection(condition, inner):
                sizes = self.sizes(inner)
                self.size(condition, (), (), sizes)
                return sizes
            case Projection(items, inner):
                sizes = self.sizes(inner)
                return tuple(self.size(term, (), (), sizes) for _, term in items)
            case Union(left, right):
                return tuple(map(max, self.sizes(left), self.sizes(right)))
            case Sequence(theta, left, right):
                first, event = self.sizes(left), self.read(right)
                self.size(theta, first, (), event)
                return (*first, *event)
            case Iteration(theta, rebind, aggregates, left, right):
                first, event = self.sizes(left), self.read(right)
                kept = [1] * len(first)  # a run has computed these values
                lasts = list(first)
                for condition in (theta, rebind):
                    self.size(condition, first, kept, event)
                for position, term in aggregates:
                    lasts[position] = max(lasts[position], self.size(term, first, kept, event))
                for at, position in expression.shared():
                    lasts[at] = max(lasts[at], event[position])
                return (*(first[at] for at, _ in expression.shared()), *lasts)

    def read(self, expression: Expression) -> _Sizes:
        """Return the same for a right operand. If it is more than a filtered and projected stream, its events arrive
        with computed values, so each attribute is one part."""
        sizes = self.sizes(expression)
        while isinstance(expression, Selection | Projection):
            expression = expression.input
        return sizes if isinstance(expression, Source) else (1,) * len(sizes)

    def size(self, term: Term, first: _Sizes, last: list[int] | _Sizes, event: _Sizes) -> int:
        own = total = 0
        sides = {Side.FIRST: first, Side.LAST: last, Side.EVENT: event}
        for part in walk(term):
            own += 1
            total += sides[part.side][part.position] if isinstance(part, Attribute) else 1
        self.grown += total - own
        if total > max(own, EXPANDED_TERM_MAX) or self.grown > EXPANDED_TOTAL_MAX:
            what = f"an expression has more than {EXPANDED_TERM_MAX:,} parts, or all have {EXPANDED_TOTAL_MAX:,} more,"
            raise LimitExceeded(f"{what} once inner SELECTs are substituted; compute fewer values in one query")
        return total
