"""Prints P-ToPSS queries as text that parses to the same tree, without unnecessary parentheses.

`parse(print_query(q)) == q` for every query that can be written. Each definition, like FROM and MATCH, has its own
line; joins come first in it; durations have their largest unit. So texts that differ only in layout, letter case of
keywords, position of joins and unnecessary parentheses print alike.
"""

from __future__ import annotations

from typing import Final

from ...events.instant import format_duration
from ..printing import print_expression
from ..syntax import Or
from .syntax import (
    BothExpression,
    ConditionExpression,
    Definition,
    EitherExpression,
    Pattern,
    PrimitiveDeclaration,
    PtopssQuery,
    SequenceExpression,
    Timed,
)

# Binding strengths: a pattern inside one that binds tighter needs parentheses.
_EITHER, _BOTH, _CHAIN, _TIMED, _PRIMITIVE = range(5)
_LOOSEST: Final = _EITHER


def print_query(query: PtopssQuery) -> str:
    """Return the text of a P-ToPSS query. Linear in its size times its depth; recursion as deep as the tree."""
    streams = ", ".join(stream.name for stream in query.streams)
    by = f" BY {', '.join(map(print_expression, query.partition))}" if query.partition else ""
    within = "" if query.within is None else f" WITHIN {format_duration(query.within)}"
    publish = "" if query.publish is None else f" PUBLISH {query.publish}"
    match = f"MATCH {print_pattern(query.pattern)}{within}{publish}"
    return "\n".join([f"FROM {streams}{by}", *map(_definition, query.definitions), match])


def print_pattern(pattern: Pattern) -> str:
    """Return the text of the pattern in MATCH. Costs as print_query."""
    return _pattern(pattern, _LOOSEST)


def _definition(definition: Definition) -> str:
    conjuncts = [f"{print_expression(join.attribute)} = ${join.variable}" for join in definition.joins]
    if definition.predicate is not None:
        text = print_expression(definition.predicate)
        conjuncts.append(f"({text})" if conjuncts and isinstance(definition.predicate, Or) else text)
    on = "" if definition.stream is None else f" ON {definition.stream.name}"
    return f"{', '.join(name.name for name in definition.names)}{on}: {' AND '.join(conjuncts)}"


def _pattern(pattern: Pattern, place: int) -> str:
    text, binding = _pattern_text(pattern)
    return text if binding >= place else f"({text})"


def _pattern_text(pattern: Pattern) -> tuple[str, int]:
    match pattern:
        case PrimitiveDeclaration(name):
            return name, _PRIMITIVE
        case Timed(part, conditions):
            return " ".join([_pattern(part, _PRIMITIVE), *map(_condition, conditions)]), _TIMED
        case SequenceExpression(parts, separators):
            following = zip(separators, parts[1:], strict=True)
            rest = "".join(f"{separator} {_pattern(part, _TIMED)}" for separator, part in following)
            return _pattern(parts[0], _TIMED) + rest, _CHAIN
        case BothExpression(parts):
            return " AND ".join(_pattern(part, _CHAIN) for part in parts), _BOTH
        case EitherExpression(parts):
            return " OR ".join(_pattern(part, _BOTH) for part in parts), _EITHER


def _condition(condition: ConditionExpression) -> str:
    difference = f"t({condition.minuend.name}) - t({condition.subtrahend.name})"
    return f"@({difference} {condition.operator} {format_duration(condition.duration)})"
