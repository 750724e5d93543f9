"""Prints CEL queries as text that parses to the same tree: one line without unnecessary parentheses.

`parse(print_query(q)) == q` for every query that can be written: names that the grammar accepts in their position,
numbers of at least 0, chains of at least two operands. Keywords are in upper case, so two texts that differ only in
layout, letter case of keywords and unnecessary parentheses print alike.
"""

from __future__ import annotations

from typing import Final

from ..printing import print_expression
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

# Binding strengths: a stream inside an operator that binds tighter needs parentheses.
_LOOSEST: Final = 0
_SELECTION, _UNION, _CHAIN, _STREAM = range(1, 5)


def print_query(query: CelQuery) -> str:
    """Return the text of a CEL query. Linear in its size times its depth; recursion as deep as the tree."""
    text = _stream(query.source, _LOOSEST)
    return text if query.publish is None else f"{text} PUBLISH {query.publish}"


def _stream(stream: StreamExpression, place: int) -> str:
    text, binding = _stream_text(stream)
    return text if binding >= place else f"({text})"


def _stream_text(stream: StreamExpression) -> tuple[str, int]:
    match stream:
        case StreamReference(name):
            return name, _STREAM
        case Filter(condition, source):
            inner = _stream(source, _STREAM)
            gap = "" if inner.startswith("(") else " "
            return f"FILTER{{{print_expression(condition)}}}{gap}{inner}", _STREAM
        case Select(items, source):
            return f"SELECT {', '.join(map(_item, items))} FROM {_stream(source, _UNION)}", _SELECTION
        case Next(condition, left, right):
            inner = "" if condition is None else print_expression(condition)
            return f"{_stream(left, _CHAIN)} NEXT{{{inner}}} {_stream(right, _STREAM)}", _CHAIN
        case FoldExpression(_, _, _, left, right):
            return f"{_stream(left, _CHAIN)} FOLD{{{_fold_parts(stream)}}} {_stream(right, _STREAM)}", _CHAIN
        case UnionExpression(left, right):
            return f"{_stream(left, _UNION)} UNION {_stream(right, _CHAIN)}", _UNION


def _fold_parts(fold: FoldExpression) -> str:
    conditions = ["" if part is None else print_expression(part) for part in (fold.stay, fold.rebind)]
    parts = [*conditions, *map(_item, fold.aggregates)]
    while parts and not parts[-1]:
        parts.pop()
    return ", ".join(parts)


def _item(item: Star | SelectItem) -> str:
    match item:
        case Star():
            return "*"
        case SelectItem(expression, None):
            return print_expression(expression)
        case SelectItem(expression, alias):
            return f"{print_expression(expression)} AS {alias}"
