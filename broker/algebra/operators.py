"""The operators of the subscription algebra (Cayuga, 2.2; semantics 1.2).

Here: the operator tree, each with the schema it puts out. Not here: what operators mean (cayuga/semantics) and how they
are recognised (broker.automaton). CEL lowers to these; composite subscriptions lower to composite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..events.schema import Attribute, Schema
from .naming import iteration_schema, sequence_schema
from .terms import Term, nullable


@dataclass(frozen=True, slots=True)
class Source:
    """The events of a stream, declared or published."""

    stream: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Selection:
    """`sel_p(E)`: the events that satisfy `condition`, which reads EVENT and the event's own duration."""

    condition: Term
    input: Expression

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class Projection:
    """`pi`, `rho` and aggregates in one: computed attributes by name; intervals are untouched."""

    items: tuple[tuple[str, Term], ...]
    input: Expression

    @property
    def schema(self) -> Schema:
        return Schema(tuple(Attribute(name, term.type, nullable(term)) for name, term in self.items))


@dataclass(frozen=True, slots=True)
class Union:
    """Bag union; the schemas are equal in names and types."""

    left: Expression
    right: Expression

    @property
    def schema(self) -> Schema:
        pairs = zip(self.left.schema.attributes, self.right.schema.attributes, strict=True)
        return Schema(tuple(Attribute(a.name, a.type, a.nullable or b.nullable) for a, b in pairs))


@dataclass(frozen=True, slots=True)
class Sequence:
    """`left ;_th right`: each left event with its next right events (earliest end, not overlapping, satisfying `th`,
    which reads FIRST and EVENT)."""

    theta: Term
    left: Expression
    right: Expression

    @property
    def schema(self) -> Schema:
        return sequence_schema(self.left.schema, self.right.schema)


@dataclass(frozen=True, slots=True)
class Iteration:
    """`mu_{F,th}(left, right)`; F = `rebind`, then `aggregates` as (position in the left schema, term).

    All three read FIRST and LAST (both in the left schema) and EVENT (the right schema); every iteration is put out.
    """

    theta: Term
    rebind: Term
    aggregates: tuple[tuple[int, Term], ...]
    left: Expression
    right: Expression

    @property
    def schema(self) -> Schema:
        return iteration_schema(self.left.schema, self.right.schema)

    def shared(self) -> tuple[tuple[int, int], ...]:
        """(left position, right position) of the attributes that both inputs have, in left order."""
        right = self.right.schema
        pairs = ((i, right.position(a.name)) for i, a in enumerate(self.left.schema.attributes))
        return tuple((i, j) for i, j in pairs if j >= 0)


Expression: TypeAlias = Source | Selection | Projection | Union | Sequence | Iteration


@dataclass(frozen=True, slots=True)
class Query:
    """A subscription's meaning: an expression, and the stream that its results make up, if any."""

    expression: Expression
    publish: str | None = None

    @property
    def schema(self) -> Schema:
        return self.expression.schema


def sources(expression: Expression) -> list[str]:
    """The streams that an expression reads, each once, left to right."""
    match expression:
        case Source(stream, _):
            return [stream]
        case Selection() | Projection():
            return sources(expression.input)
        case Union() | Sequence() | Iteration():
            return list(dict.fromkeys(sources(expression.left) + sources(expression.right)))
