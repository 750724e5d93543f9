"""Law: how a syntax tree is written as text that reads back as the same tree; one line, and no parentheses to spare.

`parse(print_query(q)) == q` for every query that can be written: names that the grammar accepts in their place, numbers
of at least 0, chains of at least two operands. Keywords are in upper case, so two texts that differ in nothing but
layout, letter case of keywords and needless parentheses print alike.
"""

from __future__ import annotations

from typing import Final

from .cayuga_syntax import Filter, Fold, Item, Next, Query, Select, Source, Star, StreamExpression, Union
from .syntax import (
    And,
    Arithmetic,
    Boolean,
    Call,
    Comparison,
    Duration,
    Expression,
    Member,
    Name,
    Negative,
    Not,
    Number,
    Or,
    String,
)

# How tightly what is written binds: an expression in a place that binds tighter needs parentheses.
_LOOSEST: Final = 0
_DISJUNCTION, _CONJUNCTION, _NEGATION, _COMPARISON, _SUM, _PRODUCT, _POWER, _SIGNED, _OPERAND = range(1, 10)
_ARITHMETIC: Final = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "^": _POWER, "%": _POWER}
_SELECTION, _UNION, _CHAIN, _STREAM = range(1, 5)


def print_query(query: Query) -> str:
    """The text of a CEL query. Linear in its size times its depth; recursion as deep as the tree."""
    text = _stream(query.source, _LOOSEST)
    return text if query.publish is None else f"{text} PUBLISH {query.publish}"


def print_expression(expression: Expression) -> str:
    """The text of an expression, the same in every language. Costs as print_query."""
    return _expression(expression, _LOOSEST)


def _stream(stream: StreamExpression, place: int) -> str:
    text, binding = _stream_text(stream)
    return text if binding >= place else f"({text})"


def _stream_text(stream: StreamExpression) -> tuple[str, int]:
    match stream:
        case Source(name):
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
        case Fold(_, _, _, left, right):
            return f"{_stream(left, _CHAIN)} FOLD{{{_fold_parts(stream)}}} {_stream(right, _STREAM)}", _CHAIN
        case Union(left, right):
            return f"{_stream(left, _UNION)} UNION {_stream(right, _CHAIN)}", _UNION


def _fold_parts(fold: Fold) -> str:
    conditions = ["" if part is None else print_expression(part) for part in (fold.stay, fold.rebind)]
    parts = [*conditions, *map(_item, fold.aggregates)]
    while parts and not parts[-1]:
        parts.pop()
    return ", ".join(parts)


def _item(item: Star | Item) -> str:
    match item:
        case Star():
            return "*"
        case Item(expression, None):
            return print_expression(expression)
        case Item(expression, alias):
            return f"{print_expression(expression)} AS {alias}"


def _expression(expression: Expression, place: int) -> str:
    text, binding = _expression_text(expression)
    return text if binding >= place else f"({text})"


def _expression_text(expression: Expression) -> tuple[str, int]:
    match expression:
        case Number(value):
            # Only made, never read: the grammar has a sign and a number for it.
            return repr(value), _SIGNED if value < 0 else _OPERAND
        case String(value):
            return "'" + value.replace("'", "''") + "'", _OPERAND
        case Boolean(value):
            return "TRUE" if value else "FALSE", _OPERAND
        case Duration():
            return "DUR", _OPERAND
        case Name(None, attribute):
            return attribute, _OPERAND
        case Name(qualifier, attribute):
            return f"${qualifier}.{attribute}", _OPERAND
        case Member(variable, subscript, attribute, aggregate):
            index = "" if subscript is None else f"[{variable}.LEN]" if subscript == "LEN" else f"[{subscript}]"
            member = f"{variable}{index}.{attribute}"
            return member if aggregate is None else f"{aggregate}({member})", _OPERAND
        case Call(function, arguments):
            return f"{function}({', '.join(map(print_expression, arguments))})", _OPERAND
        case Negative(operand):
            # Two signs in a row would begin a comment.
            text = _expression(operand, _SIGNED)
            return f"-({text})" if text.startswith("-") else f"-{text}", _SIGNED
        case Arithmetic(operator, left, right):
            binding = _ARITHMETIC[operator]
            return f"{_expression(left, binding)} {operator} {_expression(right, binding + 1)}", binding
        case Comparison(operator, left, right):
            return f"{_expression(left, _SUM)} {operator} {_expression(right, _SUM)}", _COMPARISON
        case Not(operand):
            return f"NOT {_expression(operand, _NEGATION)}", _NEGATION
        case And(operands):
            return " AND ".join(_expression(operand, _NEGATION) for operand in operands), _CONJUNCTION
        case Or(operands):
            return " OR ".join(_expression(operand, _CONJUNCTION) for operand in operands), _DISJUNCTION
