"""The nodes of a P-ToPSS query as written; no meaning, no schemas, no text. Predicates are in syntax.py.

Joins are separate from the rest of their predicate, in the order of the text: they may occur anywhere among its
conjuncts with the same meaning. `at` is as in syntax.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, final

from ..syntax import ComparisonOperator, Expression, Name


@final
@dataclass(frozen=True, slots=True)
class PrimitiveDeclaration:
    """The name of a primitive subscription in its definition, in MATCH or in a condition."""

    name: str
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class JoinExpression:
    """`attribute = $variable`; the variable's name has no sign, and `at` is its position."""

    attribute: Name
    variable: str
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class NamedStream:
    """A stream in FROM or after ON."""

    name: str
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Definition:
    """`name, name ON stream: join AND join AND predicate`: each name is a separate primitive. At least one join or a
    predicate. `stream` is None if FROM names one stream only."""

    names: tuple[PrimitiveDeclaration, ...]
    joins: tuple[JoinExpression, ...]
    predicate: Expression | None
    stream: NamedStream | None = None
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class SequenceExpression:
    """`part, part; part`: at least two; `separators[i]`, "," or ";", follows `parts[i]`."""

    parts: tuple[Pattern, ...]
    separators: tuple[str, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class BothExpression:
    """At least two parts, as one unparenthesised chain of AND was written."""

    parts: tuple[Pattern, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class EitherExpression:
    """At least two parts, as one unparenthesised chain of OR was written."""

    parts: tuple[Pattern, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class ConditionExpression:
    """`@(t(minuend) - t(subtrahend) operator duration)`, the duration in microseconds."""

    minuend: PrimitiveDeclaration
    subtrahend: PrimitiveDeclaration
    operator: ComparisonOperator
    duration: int
    at: int = field(default=-1, compare=False, repr=False)
    duration_at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Timed:
    """A primitive or a group in parentheses with the conditions that follow it, at least one."""

    part: Pattern
    conditions: tuple[ConditionExpression, ...]
    at: int = field(default=-1, compare=False, repr=False)


Pattern: TypeAlias = PrimitiveDeclaration | SequenceExpression | BothExpression | EitherExpression | Timed
"""A pattern in MATCH. Parentheses appear only as nesting."""


@final
@dataclass(frozen=True, slots=True)
class PtopssQuery:
    """A whole query: `partition` has the attributes of BY, `within` is in microseconds; `at` is the position of the
    first stream."""

    streams: tuple[NamedStream, ...]
    partition: tuple[Name, ...]
    definitions: tuple[Definition, ...]
    pattern: Pattern
    within: int | None
    publish: str | None
    at: int = field(default=-1, compare=False, repr=False)
    within_at: int = field(default=-1, compare=False, repr=False)


def primitives(pattern: Pattern) -> Iterator[PrimitiveDeclaration]:
    """Yield the operands of MATCH, in the order of the text."""
    match pattern:
        case PrimitiveDeclaration():
            yield pattern
        case Timed(part):
            yield from primitives(part)
        case SequenceExpression(parts) | BothExpression(parts) | EitherExpression(parts):
            for part in parts:
                yield from primitives(part)


def conditions(pattern: Pattern) -> Iterator[ConditionExpression]:
    """Yield all conditions of MATCH, in the order of the text."""
    match pattern:
        case PrimitiveDeclaration():
            return
        case Timed(part, own):
            yield from conditions(part)
            yield from own
        case SequenceExpression(parts) | BothExpression(parts) | EitherExpression(parts):
            for part in parts:
                yield from conditions(part)
