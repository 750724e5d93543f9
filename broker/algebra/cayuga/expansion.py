"""How large the terms of a query become when what SELECTs compute stands in the place of its names; not that step.

`SELECT x + x AS x`, thirty times within itself, is a short text and a term of 2**30 parts. So the parts are counted
before anything is put in place: with numbers, in one walk over the query.
"""

from __future__ import annotations

from typing import Final

from ...events import LimitExceeded
from ..operators import Expression, Iteration, Projection, Selection, Sequence, Source, Union
from ..terms import Attribute, Side, Term, walk

EXPANDED_TERM_MAX: Final = 4_096
"""Parts of a term that a SELECT below it has made larger."""
EXPANDED_TOTAL_MAX: Final = 65_536
"""Parts that all terms of a query become larger by, together: about a second of compiling."""

_Sizes = tuple[int, ...]


def check_expansion(expression: Expression) -> None:
    """Raises LimitExceeded where a term would have too many parts. O(parts of the query)."""
    _Count().sizes(expression)


class _Count:
    def __init__(self) -> None:
        self.grown = 0

    def sizes(self, expression: Expression) -> _Sizes:
        """Of each attribute that comes out, the parts of the term that computes it, or more."""
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
                kept = [1] * len(first)  # values that a run has computed
                lasts = list(first)
                for condition in (theta, rebind):
                    self.size(condition, first, kept, event)
                for position, term in aggregates:
                    lasts[position] = max(lasts[position], self.size(term, first, kept, event))
                for at, position in expression.shared():
                    lasts[at] = max(lasts[at], event[position])
                return (*(first[at] for at, _ in expression.shared()), *lasts)

    def read(self, expression: Expression) -> _Sizes:
        """The same of a right operand: what is more than a filtered and projected stream is read as events of its own,
        whose values have been computed."""
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
            raise LimitExceeded(f"{what} once what SELECT computes is put in; compute less at once")
        return total
