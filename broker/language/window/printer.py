"""Prints window queries as text that parses to the same tree.

`parse(print_query(q)) == q` for every query that can be written. Each pair has its own line. So texts that differ only
in layout, letter case of keywords and unnecessary parentheses of regular expressions print alike.
"""

from __future__ import annotations

from typing import Any, Final

from ...events.instant import format_duration
from ..printing import print_expression
from ..syntax import And, Expression, Not, Or
from .regex import (
    Alternation,
    AnyEvent,
    Complement,
    Concatenation,
    EventPredicate,
    Intersection,
    Quantified,
    RegexExpression,
)
from .sugar import written_out
from .syntax import (
    AggregateExpression,
    ClockWindows,
    Equivalence,
    Implication,
    MarkedWindows,
    Membership,
    PairExpression,
    Pairs,
    QuantifiedFormula,
    SessionWindows,
    WindowQuery,
    WindowSize,
)

# Binding strengths of regular expressions: one inside another that binds tighter needs parentheses.
_ALTERNATION, _INTERSECTION, _CONCATENATION, _QUANTIFIED, _UNIT = range(5)
_SHORT: Final = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def print_query(query: WindowQuery) -> str:
    """Return the text of a window query. Linear in its size times its depth; recursion as deep as its expressions."""
    by = f" BY {', '.join(map(print_expression, query.partition))}" if query.partition else ""
    lines = [f"FROM {query.stream}{by}", f"WINDOW {print_windows(query.windows)}"]
    if query.keep != "each":
        lines.append(f"KEEP {query.keep.upper()}")
    if query.aggregates:
        lines.append(f"AGGREGATE {', '.join(map(_aggregate, query.aggregates))}")
    if query.publish is not None:
        lines.append(f"PUBLISH {query.publish}")
    return "\n".join(lines)


def print_written_out(query: WindowQuery) -> str:
    """Return the text of the windows of a query without short forms."""
    windows, keep = written_out(query.windows, query.keep)
    return print_windows(windows) + ("" if keep == "each" else f" KEEP {keep.upper()}")


def print_windows(windows: Pairs | ClockWindows | SessionWindows | MarkedWindows) -> str:
    """Return the text behind WINDOW."""
    match windows:
        case Pairs(pairs):
            return "\nOR ".join(map(_pair, pairs))
        case SessionWindows(gap):
            return f"SESSION {format_duration(gap)}"
        case MarkedWindows(first, last, formula):
            return f"START {first}, END {last} WHERE {print_formula(formula)}"
        case ClockWindows(size, slide, offset):
            text = [] if size is None else [f"LAST {_extent(size)}"]
            text += [] if slide is None else [f"EVERY {_extent(slide)}"]
            text += [f"OFFSET {format_duration(offset)}"] if offset else []
            return " ".join(text)


def _extent(extent: WindowSize) -> str:
    return f"{extent.amount} EVENTS" if extent.events else format_duration(extent.amount)


def _pair(pair: PairExpression) -> str:
    within = "" if pair.within is None else f" WITHIN {format_duration(pair.within)}"
    return f"AFTER {print_regex(pair.prefix)} MATCHING {print_regex(pair.body)}{within}"


def _aggregate(aggregate: AggregateExpression) -> str:
    values = ", ".join(map(print_expression, aggregate.arguments))
    if aggregate.function == "count" and not aggregate.arguments:
        values = "*"
    return f"{aggregate.function}({'DISTINCT ' if aggregate.distinct else ''}{values}) AS {aggregate.name}"


def print_regex(regex: RegexExpression) -> str:
    """Return the text of a regular expression, on one line."""
    return _regex(regex, _ALTERNATION)


def _regex(regex: RegexExpression, place: int) -> str:
    text, binding = _regex_text(regex)
    return text if binding >= place else f"({text})"


def _regex_text(regex: RegexExpression) -> tuple[str, int]:
    match regex:
        case AnyEvent():
            return "any", _UNIT
        case EventPredicate(predicate):
            return f"[{print_expression(predicate)}]", _UNIT
        case Complement(part):
            return f"!({print_regex(part)})", _UNIT
        case Quantified(part, least, most, reluctant):
            return f"{_regex(part, _UNIT)}{_times(least, most)}{'?' if reluctant else ''}", _QUANTIFIED
        case Concatenation(parts):
            return " ".join(_regex(part, _QUANTIFIED) for part in parts), _CONCATENATION
        case Intersection(parts):
            return " & ".join(_regex(part, _CONCATENATION) for part in parts), _INTERSECTION
        case Alternation(parts):
            return " | ".join(_regex(part, _INTERSECTION) for part in parts), _ALTERNATION


def _times(least: int, most: int | None) -> str:
    if (least, most) in _SHORT:
        return _SHORT[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


# --- formulas ---------------------------------------------------------------------------------------------------


def print_formula(formula: Any) -> str:
    """Return the text of a formula, on one line; parts of connectives that are connectives have parentheses."""
    match formula:
        case And(operands):
            return " AND ".join(map(_part, operands))
        case Or(operands):
            return " OR ".join(map(_part, operands))
        case Not(operand):
            return f"NOT {_part(operand)}"
        case Implication(premise, conclusion):
            return f"{_part(premise)} IMPLIES {_part(conclusion)}"
        case Equivalence(left, right):
            return f"{_part(left)} IFF {_part(right)}"
        case Membership(variable, collection):
            return f"{variable} IN {collection}"
        case QuantifiedFormula(every, sets, variables, between, body):
            word = f"{'ALL' if every else 'EXISTS'}{' SET' if sets else ''} {', '.join(variables)}"
            limits = "" if between is None else f" BETWEEN {between[0]} AND {between[1]}"
            return f"{word}{limits}: {print_formula(body)}"
        case _:
            return print_expression(formula)


def _part(formula: Expression) -> str:
    text = print_formula(formula)
    return f"({text})" if isinstance(formula, And | Or | Implication | Equivalence | QuantifiedFormula) else text
