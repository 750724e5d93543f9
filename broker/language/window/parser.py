"""Parses window queries: turns what the grammar (grammar.lark) finds into the nodes of regex.py and syntax.py.

One text in, one WindowQuery or QueryError out.

The parser decides what the grammar leaves open: numbers of quantifiers, forms of KEEP, which arguments an aggregate
has, and that only a formula has quantifiers. It does not look up streams and attributes.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Any, Final, final

from lark import Token

from ...events.nearest import suggestion
from ..clauses import ClauseReader, length_of, nodes
from ..diagnostics import Misread, quoted
from ..expression import LABELS, ExpressionReader, name_of, place
from ..grammar import Words, parser_of, read
from ..limits import ITEMS_MAX, REPETITIONS_MAX
from ..syntax import (
    ArithmeticExpression,
    Call,
    CaseExpression,
    ComparisonExpression,
    Expression,
    InRange,
    IsNull,
    MemberAccess,
    Name,
    Negative,
    OneOf,
    TextTest,
)
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
from .syntax import (
    FORMULA_NODES,
    KEEPS,
    AggregateExpression,
    ClockWindows,
    Equivalence,
    Implication,
    Keep,
    MarkedWindows,
    Membership,
    PairExpression,
    Pairs,
    QuantifiedFormula,
    SessionWindows,
    WindowQuery,
    WindowSize,
)

_KEYWORDS: Final = (
    *("FROM", "BY", "WINDOW", "AFTER", "MATCHING", "WITHIN", "LAST", "EVERY", "OFFSET", "SESSION", "START"),
    *("WHERE", "KEEP", "AGGREGATE", "AS", "PUBLISH", "EVENTS", "DISTINCT", "SET", "IMPLIES", "IFF"),
)
_WORDS: Final = Words(
    MappingProxyType(
        {
            "STREAM": "a stream",
            "VARIABLE": "a variable",
            "ATTRIBUTE": "an attribute",
            "LSQB": "'['",
            "ANY": "any",
            "BANG": "'!'",
            "REPEATED": "'*', '+', '?' or '{'",
            "VBAR": "'|'",
            "AMPERSAND": "'&'",
            "MODE": "shortest, longest, earliest or latest",
            "FUNCTION": "an aggregate",
            "STAR": "'*'",
            "ALIAS": "a name",
            "PUBLISHED": "a name",
            **LABELS,
            "RSQB": "']'",
            "COLON": "':'",
            "DOT": "'.'",
            **{word: word for word in _KEYWORDS},
            "$END": "the end of the query",
        }
    ),
)
_BOUNDS: Final = re.compile(r"\{\s*([0-9]+)\s*(,\s*([0-9]*)\s*)?\}")
_WHOLE: Final = (
    *(ArithmeticExpression, Call, CaseExpression, ComparisonExpression, InRange, IsNull, Negative, OneOf),
    TextTest,
)
_SHORT: Final = {"*": (0, None), "+": (1, None), "?": (0, 1)}

AGGREGATES: Final = MappingProxyType(
    {
        **dict.fromkeys(("sum", "count", "avg", "min", "max", "first", "last", "stdev", "median"), 1),
        **dict.fromkeys(("argmin", "argmax", "quantile"), 2),
        **dict.fromkeys(("from", "until"), 0),
    }
)
"""The number of arguments of each aggregate; `count` may have none, written `*`."""


def parse(text: str) -> WindowQuery:
    """Return the syntax of a window query. Linear in the text. Raises QueryError at a mistake.

    The first call builds the parser, which takes some tens of milliseconds.
    """
    query: WindowQuery = read(parser_of("window/grammar.lark", _WindowReader), _WORDS, text)
    return query


@final
class _WindowReader(ClauseReader):
    """Methods are named after the grammar's alternatives; children are in the order of the text, keywords included."""

    def query(self, children: list[Any]) -> WindowQuery:
        _, stream, partition, _, windows, keep, aggregates, publish = children
        clocked = isinstance(windows, ClockWindows) and not _by_events(windows)
        if keep is not None and (clocked or isinstance(windows, SessionWindows)):
            raise Misread(keep[1], "expected no KEEP beside windows of the clock, all of which are kept")
        for aggregate in aggregates:
            if aggregate.function in ("from", "until") and not (clocked and windows.slide is not None):
                message = f"expected {aggregate.function}() beside windows of the clock alone, such as EVERY 5 min"
                raise Misread(aggregate.at, message)
        mode: Keep = "each" if keep is None else keep[0]
        return WindowQuery(name_of(stream), partition, windows, mode, aggregates, publish, place(stream))

    # --- windows ------------------------------------------------------------------------------------------------

    def pairs(self, children: list[Any]) -> Pairs:
        pairs = tuple(children[::2])
        if len(pairs) > ITEMS_MAX:
            raise Misread(pairs[ITEMS_MAX].at, f"expected at most {ITEMS_MAX} pairs, found more")
        return Pairs(pairs, pairs[0].at)

    def pair(self, children: list[Any]) -> PairExpression:
        after, prefix, _, body, within = children
        return PairExpression(prefix, body, within, place(after))

    def within(self, children: list[Any]) -> int | None:
        return children[1] if children else None

    def moving(self, children: list[Any]) -> ClockWindows:
        word, size, slide, offset = children
        if slide is not None and slide.events != size.events:
            raise Misread(slide.at, "expected both sizes in events or both as durations, found one of each")
        if slide is None and offset is not None:
            raise Misread(offset[1], "expected OFFSET behind EVERY alone")
        return _clock(size, slide, offset, place(word))

    def tumbling(self, children: list[Any]) -> ClockWindows:
        word, slide, offset = children
        return _clock(None, slide, offset, place(word))

    def session(self, children: list[Any]) -> SessionWindows:
        return SessionWindows(children[1], place(children[0]))

    def every(self, children: list[Any]) -> WindowSize | None:
        return children[1] if children else None

    def offset(self, children: list[Any]) -> tuple[int, int] | None:
        return (children[1], place(children[0])) if children else None

    def size(self, children: list[Token]) -> WindowSize:
        number, *unit = children
        events = bool(unit) and unit[0].type == "EVENTS"
        amount = _whole(number, "events") if events else self.length(children)
        if amount == 0:
            raise Misread(place(number), "expected a size of at least 1, found 0")
        return WindowSize(amount, events, place(number))

    def length(self, children: list[Token]) -> int:
        return length_of(children)

    def marked(self, children: list[Any]) -> MarkedWindows:
        word, first, _, last, _, formula = children
        if first == last:
            raise Misread(place(last), f"expected another variable for END than for START, found {quoted(last)}")
        for node in nodes(formula):
            if isinstance(node, _WHOLE):
                _only_events(node)
        return MarkedWindows(name_of(first), name_of(last), formula, place(word))

    def keep(self, children: list[Token]) -> tuple[Keep, int] | None:
        if not children:
            return None
        for mode in KEEPS:
            if mode == children[1].lower():
                return mode, place(children[1])
        found = f"{quoted(children[1])}{suggestion(children[1].lower(), KEEPS)}"
        raise Misread(place(children[1]), f"expected {', '.join(KEEPS[:-1])} or {KEEPS[-1]}, found {found}")

    # --- regular expressions ------------------------------------------------------------------------------------

    def alternation(self, children: list[Any]) -> RegexExpression:
        return children[0] if len(children) == 1 else Alternation(tuple(children), children[0].at)

    def intersection(self, children: list[Any]) -> RegexExpression:
        return children[0] if len(children) == 1 else Intersection(tuple(children), children[0].at)

    def concatenation(self, children: list[Any]) -> RegexExpression:
        return children[0] if len(children) == 1 else Concatenation(tuple(children), children[0].at)

    def repetition(self, children: list[Any]) -> Quantified:
        part, token = children
        short = _SHORT.get(token[0])
        least, most = _bounds(token) if short is None else short
        return Quantified(part, least, most, len(token) > 1 and token.endswith("?"), part.at)

    def predicate(self, children: list[Any]) -> EventPredicate:
        _only_events(children[0])
        return EventPredicate(children[0], children[0].at)

    def any_event(self, children: list[Token]) -> AnyEvent:
        return AnyEvent(place(children[0]))

    def complement(self, children: list[Any]) -> Complement:
        return Complement(children[0], children[0].at)

    # --- aggregates ---------------------------------------------------------------------------------------------

    def aggregates(self, children: list[Any]) -> tuple[AggregateExpression, ...]:
        found = tuple(children[1:])
        if len(found) > ITEMS_MAX:
            raise Misread(found[ITEMS_MAX].at, f"expected at most {ITEMS_MAX} aggregates, found more")
        names: set[str] = set()
        for aggregate in found:
            if aggregate.name in names:
                raise Misread(aggregate.named_at, f"expected each name once, found {aggregate.name!r} twice")
            names.add(aggregate.name)
        return found

    def aggregate(self, children: list[Any]) -> AggregateExpression:
        function, *arguments, _, alias = children
        name = function.lower()
        if name not in AGGREGATES:
            near = suggestion(name, AGGREGATES) or f"; expected one of {', '.join(AGGREGATES)}"
            raise Misread(place(function), f"unknown aggregate {quoted(function)}{near}")
        wanted = AGGREGATES[name]
        starred = name == "count" and not arguments
        if len(arguments) != wanted and not starred:
            plural = "argument" if wanted == 1 else "arguments"
            raise Misread(place(function), f"expected {wanted} {plural} of {name}, found {len(arguments)}")
        distinct = any(given for given, _ in arguments)
        if distinct and name not in ("count", "sum", "avg"):
            raise Misread(place(function), f"expected DISTINCT in count, sum or avg alone, found it in {name}")
        values = tuple(value for _, value in arguments)
        for value in values:
            _only_events(value)
        return AggregateExpression(name, values, distinct, name_of(alias), place(function), place(alias))

    def argument(self, children: list[Any]) -> tuple[bool, Expression]:
        return len(children) > 1, children[-1]

    # --- what expressions have more -----------------------------------------------------------------------------

    def comparison(self, children: list[Any]) -> Any:
        return ExpressionReader().comparison(children)

    def negation(self, children: list[Any]) -> Any:
        return ExpressionReader().negation(children)

    def previous(self, children: list[Token]) -> MemberAccess:
        word, variable, _, attribute = children
        back = name_of(Token.new_borrow_pos(word.type, word.lower().rstrip("( \t\r\n\f"), word))
        return MemberAccess(f"{back}({name_of(variable)})", None, name_of(attribute), None, place(word))

    def membership(self, children: list[Any]) -> Membership:
        element, word, collection = children
        if not isinstance(element, Name) or element.qualifier is not None:
            raise Misread(place(word), "expected a variable before IN and the name of a set, or values in parentheses")
        return Membership(element.attribute, name_of(collection), element.at)

    def implication(self, children: list[Any]) -> Implication:
        return Implication(children[0], children[2], place(children[1]))

    def equivalence(self, children: list[Any]) -> Equivalence:
        return Equivalence(children[0], children[2], place(children[1]))

    def quantified(self, children: list[Any]) -> QuantifiedFormula:
        word, *variables, between, formula = children
        names = tuple(name_of(variable) for variable in variables)
        return QuantifiedFormula(word.upper() == "ALL", False, names, between, formula, place(word))

    def quantified_sets(self, children: list[Any]) -> QuantifiedFormula:
        word, _, *variables, formula = children
        names = tuple(name_of(variable) for variable in variables)
        return QuantifiedFormula(word.upper() == "ALL", True, names, None, formula, place(word))

    def between(self, children: list[Token]) -> tuple[str, str] | None:
        return (name_of(children[1]), name_of(children[3])) if children else None


def _clock(size: WindowSize | None, slide: WindowSize | None, offset: tuple[int, int] | None, at: int) -> ClockWindows:
    if offset is not None and slide is not None and slide.events:
        raise Misread(offset[1], "expected OFFSET beside durations alone")
    return ClockWindows(size, slide, 0 if offset is None else offset[0], at)


def _by_events(windows: ClockWindows) -> bool:
    extent = windows.slide or windows.size
    return extent is not None and extent.events


def _whole(token: Token, what: str) -> int:
    number = _number(token) if token.isdigit() else REPETITIONS_MAX + 1
    if number > REPETITIONS_MAX:
        message = f"expected a whole number of {what}, at most {REPETITIONS_MAX}, found {quoted(token)}"
        raise Misread(place(token), message)
    return number


def _number(digits: str) -> int:
    """The number, or one that is too great: Python makes none of thousands of digits."""
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) <= len(str(REPETITIONS_MAX)) else REPETITIONS_MAX + 1


def _bounds(token: Token) -> tuple[int, int | None]:
    found = _BOUNDS.match(token)
    if found is None:
        raise Misread(place(token), f"expected {{n}}, {{n,}} or {{n,m}}, found {quoted(token)}")
    least = _number(found.group(1))
    most = least if found.group(2) is None else _number(found.group(3)) if found.group(3) else None
    if max(least, most or 0) > REPETITIONS_MAX:
        raise Misread(place(token), f"expected at most {REPETITIONS_MAX} repetitions, found {quoted(token)}")
    if most is not None and most < least:
        raise Misread(place(token), f"expected the smaller number first, found {quoted(token)}")
    return least, most


def _only_events(root: Expression) -> None:
    """Refuse what only a formula may have, as a part of a value or a condition on events. Raises Misread."""
    for node in nodes(root):
        if isinstance(node, FORMULA_NODES):
            message = "expected a condition on one event; quantifiers and IN join these in START x, END y WHERE"
            raise Misread(node.at, message)
