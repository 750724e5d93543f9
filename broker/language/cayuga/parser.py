"""Parses CEL texts: turns what the grammar (grammar.lark) finds into the nodes of syntax.py.

One text in, one CelQuery or QueryError out.

The parser decides what the grammar leaves open: which part of a FOLD is which, how many stars a SELECT has, and where
PUBLISH is not allowed. It does not look up names.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final, final

from lark import Token, Transformer

from ..diagnostics import Misread
from ..expression import LABELS, name_of, place
from ..grammar import Words, parser_of, read
from ..limits import ITEMS_MAX
from ..syntax import Expression
from .syntax import (
    CelQuery,
    Filter,
    FoldExpression,
    Next,
    Select,
    SelectItem,
    Star,
    StreamExpression,
    StreamReference,
    UnionExpression,
)

_WORDS: Final = Words(
    MappingProxyType(
        {
            "SELECT": "SELECT",
            "FILTER": "FILTER",
            "STREAM": "a stream",
            "ALIAS": "a name",
            "PUBLISHED": "a name",
            "STAR": "'*'",
            **LABELS,
            "NEXT": "NEXT",
            "FOLD": "FOLD",
            "UNION": "UNION",
            "PUBLISH": "PUBLISH",
            "AS": "AS",
            "FROM": "FROM",
            "$END": "the end of the query",
        }
    ),
    meant=MappingProxyType({"STREAM": ("SELECT", "FILTER")}),
)


def parse(text: str) -> CelQuery:
    """Return the syntax of a CEL query. Linear in the text. Raises QueryError at a mistake.

    The first call builds the parser, which takes some tens of milliseconds.
    """
    query: CelQuery = read(parser_of("cayuga/grammar.lark", _CayugaReader), _WORDS, text)
    return query


@final
class _CayugaReader(Transformer[Token, CelQuery]):
    """Methods are named after the grammar's alternatives; children are in the order of the text, keywords included."""

    def query(self, children: list[Any]) -> CelQuery:
        source, *publish = children
        return CelQuery(source, name_of(publish[1]) if publish else None, 0)

    def nested_publish(self, children: list[Any]) -> StreamExpression:
        raise Misread(place(children[1]), "expected PUBLISH only at the end of the query, found it in parentheses")

    def select(self, children: list[Any]) -> Select:
        keyword, *items, _, source = children
        _check_number(items)
        stars = [item for item in items if isinstance(item, Star)]
        if len(stars) > 1:
            raise Misread(stars[1].at, "expected '*' at most once in a SELECT, found a second one")
        return Select(tuple(items), source, place(keyword))

    def star(self, children: list[Token]) -> Star:
        return Star(place(children[0]))

    def item(self, children: list[Any]) -> SelectItem:
        expression, *alias = children
        return SelectItem(expression, name_of(alias[1]) if alias else None, expression.at)

    def union(self, children: list[Any]) -> UnionExpression:
        left, keyword, right = children
        return UnionExpression(left, right, place(keyword))

    def next(self, children: list[Any]) -> Next:
        left, keyword, *condition, right = children
        return Next(condition[0] if condition else None, left, right, place(keyword))

    def fold(self, children: list[Any]) -> FoldExpression:
        left, keyword, *parts, right = children
        at = place(keyword)
        stay, rebind, aggregates = _fold_parts(parts, at)
        return FoldExpression(stay, rebind, aggregates, left, right, at)

    def absent(self, children: list[Any]) -> None:
        return None

    def condition(self, children: list[Expression]) -> Expression:
        return children[0]

    aggregate = item

    def source(self, children: list[Token]) -> StreamReference:
        return StreamReference(name_of(children[0]), place(children[0]))

    def filter(self, children: list[Any]) -> Filter:
        keyword, condition, source = children
        return Filter(condition, source, place(keyword))


def _fold_parts(
    parts: list[Expression | SelectItem | None], at: int
) -> tuple[Expression | None, Expression | None, tuple[SelectItem, ...]]:
    """Return stay, rebind and aggregates. If the part after stay has AS, rebind is omitted, since no condition has
    AS."""
    stay = _condition(parts[0])
    if len(parts) == 1:
        return stay, None, ()
    if isinstance(parts[1], SelectItem):
        rebind, rest = None, parts[1:]
    else:
        rebind, rest = parts[1], parts[2:]
    if rest == [None]:
        rest = []
    _check_number(rest)
    return stay, rebind, tuple(_aggregate(part, at) for part in rest)


def _condition(part: Expression | SelectItem | None) -> Expression | None:
    if isinstance(part, SelectItem):
        raise Misread(part.at, "expected the condition to stay as the first part of FOLD, found an aggregate with AS")
    return part


def _aggregate(part: Expression | SelectItem | None, at: int) -> SelectItem:
    if part is None:
        raise Misread(at, "expected an aggregate after each further comma of FOLD, found nothing")
    if not isinstance(part, SelectItem):
        raise Misread(part.at, "expected AS and a name after each aggregate of FOLD, found none")
    return part


def _check_number(items: list[Any]) -> None:
    if len(items) > ITEMS_MAX:
        at = getattr(items[ITEMS_MAX], "at", 0)
        raise Misread(at, f"expected at most {ITEMS_MAX} items, found {len(items)}")
