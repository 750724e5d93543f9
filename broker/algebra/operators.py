"""The operators of the subscription algebra (Cayuga, 2.2; semantics 1.2).

Here: the tree of operators, each with the schema of its output. Not here: the meaning of operators (cayuga/semantics)
and their automata (broker.automaton). CEL lowers to these operators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..events.schema import Attribute, Schema
from .naming import iteration_schema, sequence_schema
from .terms import Instant, Term, nullable, walk


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
    """Projection, renaming and aggregates (`pi`, `rho`) in one: attributes computed by name; intervals do not
    change."""

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
    """`left ;_th right`: each left event with its next right events, that is those with the earliest end that do not
    overlap it and satisfy `th`, which reads FIRST and EVENT."""

    theta: Term
    left: Expression
    right: Expression

    @property
    def schema(self) -> Schema:
        return sequence_schema(self.left.schema, self.right.schema)


@dataclass(frozen=True, slots=True)
class Iteration:
    """`mu_{F,th}(left, right)`; F = `rebind`, then `aggregates` as (position in the left schema, term).

    All three read FIRST and LAST (both in the left schema) and EVENT (the right schema). Every iteration is in the
    output.
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
        """Return (left position, right position) of the attributes that both inputs have, in left order."""
        right = self.right.schema
        pairs = ((i, right.position(a.name)) for i, a in enumerate(self.left.schema.attributes))
        return tuple((i, j) for i, j in pairs if j >= 0)


Expression: TypeAlias = Source | Selection | Projection | Union | Sequence | Iteration


@dataclass(frozen=True, slots=True)
class Query:
    """The meaning of a subscription: an expression, and the stream into which it publishes its results, if any."""

    expression: Expression
    publish: str | None = None

    @property
    def schema(self) -> Schema:
        return self.expression.schema


def parts(expression: Expression) -> tuple[tuple[Expression, ...], tuple[Term, ...]]:
    """Return the inputs of an operator, left to right, and the terms that it evaluates itself."""
    match expression:
        case Source():
            return (), ()
        case Selection(condition, inner):
            return (inner,), (condition,)
        case Projection(items, inner):
            return (inner,), tuple(term for _, term in items)
        case Union(left, right):
            return (left, right), ()
        case Sequence(theta, left, right):
            return (left, right), (theta,)
        case Iteration(theta, rebind, aggregates, left, right):
            return (left, right), (theta, rebind, *(term for _, term in aggregates))


def sources(expression: Expression) -> list[str]:
    """Return the streams that an expression reads, each once, left to right."""
    if isinstance(expression, Source):
        return [expression.stream]
    return list(dict.fromkeys(stream for each in parts(expression)[0] for stream in sources(each)))


def reads_times(expression: Expression) -> bool:
    """Whether a term of an expression reads `time` or `start`. O(size of its terms)."""
    inputs, terms = parts(expression)
    own = any(isinstance(part, Instant) for term in terms for part in walk(term))
    return own or any(map(reads_times, inputs))
