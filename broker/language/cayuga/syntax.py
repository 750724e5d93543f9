"""The nodes of a CEL query as written; no meaning, no schemas, no text. Conditions are in syntax.py.

The operators are those of Cayuga's event language: FILTER, NEXT, FOLD, UNION and SELECT nest freely, PUBLISH occurs
once at the end. `at` is as in syntax.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, final

from ..syntax import Expression


@final
@dataclass(frozen=True, slots=True)
class StreamReference:
    """A stream by its name."""

    stream: str
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Filter:
    """`FILTER{condition} source`"""

    condition: Expression
    source: StreamExpression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Star:
    """The `*` of a SELECT: all attributes, in schema order."""

    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class SelectItem:
    """`expression [AS alias]` in a SELECT; an aggregate of a FOLD, where it always has an alias."""

    expression: Expression
    alias: str | None
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Select:
    """`SELECT items FROM source`; at least one item, at most one of them a Star. A query may have no SELECT."""

    items: tuple[Star | SelectItem, ...]
    source: StreamExpression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Next:
    """`left NEXT{condition} right`"""

    condition: Expression | None
    left: StreamExpression
    right: StreamExpression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class FoldExpression:
    """`left FOLD{stay, rebind, aggregates} right`"""

    stay: Expression | None
    rebind: Expression | None
    aggregates: tuple[SelectItem, ...]
    left: StreamExpression
    right: StreamExpression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class UnionExpression:
    """`left UNION right`, a union of bags."""

    left: StreamExpression
    right: StreamExpression
    at: int = field(default=-1, compare=False, repr=False)


StreamExpression: TypeAlias = StreamReference | Filter | Select | Next | FoldExpression | UnionExpression
"""An expression that yields a stream of events."""


@final
@dataclass(frozen=True, slots=True)
class CelQuery:
    """A whole query; `publish` names the stream of its results."""

    source: StreamExpression
    publish: str | None
    at: int = field(default=-1, compare=False, repr=False)


def reads(query: CelQuery) -> list[str]:
    """Return the streams that a query reads, in the order of the text, with repetitions."""
    return _sources(query.source)


def _sources(node: StreamExpression) -> list[str]:
    match node:
        case StreamReference(stream):
            return [stream]
        case Filter() | Select():
            return _sources(node.source)
        case Next() | FoldExpression() | UnionExpression():
            return _sources(node.left) + _sources(node.right)


def followers(query: CelQuery) -> Iterator[tuple[int, str, list[str]]]:
    """Each NEXT and FOLD: its place, its name, and the streams of which an event follows those before."""
    left: list[StreamExpression] = [query.source]
    while left:
        node = left.pop()
        match node:
            case Filter() | Select():
                left.append(node.source)
            case Next() | FoldExpression() | UnionExpression():
                left += (node.left, node.right)
                if not isinstance(node, UnionExpression):
                    yield node.at, "NEXT" if isinstance(node, Next) else "FOLD", _sources(node.right)
