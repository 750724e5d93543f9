"""Parses SASE+ texts: turns what the grammar (grammar.lark) finds into the nodes of syntax.py.

One text in, one SaseQuery or QueryError out.

The parser decides what the grammar leaves open: which subscripts exist, where `[attr]` is allowed; the checks of names
and kinds are beside this file (checks). It does not look up streams and attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, final

from lark import Token

from ...events.nearest import suggestion
from ..clauses import ClauseReader, length_of, nodes
from ..diagnostics import Misread, quoted
from ..expression import LABELS, member_of, name_of, place
from ..grammar import Words, parser_of, read
from ..limits import ITEMS_MAX
from ..syntax import And, Call, Expression, MemberAccess, Name
from .checks import Covered, check_member, check_names, checked_bounds, checked_test, count
from .syntax import (
    OUTPUTS,
    STRATEGIES,
    ComponentExpression,
    ElementAlternatives,
    EqualAttributes,
    EquivalenceTest,
    Kind,
    Output,
    ReturnItem,
    SaseQuery,
    Strategy,
    StrategyClause,
    components_of,
)

_WORDS: Final = Words(
    MappingProxyType(
        {
            "PATTERN": "PATTERN",
            "SEQ": "SEQ",
            "STREAM": "a stream",
            "OPTION": "'?'",
            "PLUS": "'+'",
            "STAR": "'*'",
            "NEGATION": "'~'",
            "VBAR": "'|'",
            "VARIABLE": "a variable",
            "STRATEGY": "a strategy",
            "ATTRIBUTE": "an attribute",
            "ALIAS": "a name",
            "MODE": "all, nonoverlap or compressed",
            "PUBLISHED": "a name",
            **LABELS,
            "NAME": "a name",
            "LSQB": "'['",
            "RSQB": "']'",
            "DOT": "'.'",
            "DOTS": "'..'",
            "DIFFERENCE": "'-'",
            "AS": "AS",
            "WHERE": "WHERE",
            "WITHIN": "WITHIN",
            "RETURN": "RETURN",
            "OUTPUT": "OUTPUT",
            "PUBLISH": "PUBLISH",
            "$END": "the end of the query",
        }
    ),
)
AGGREGATES: Final = ("avg", "sum", "min", "max", "count", "first", "last")
_OF_SEVERAL: Final = ("avg", "sum", "count", "first", "last")  # min and max are also functions of several arguments


def parse(text: str) -> SaseQuery:
    """Return the syntax of a SASE+ query. Linear in the text. Raises QueryError at a mistake.

    The first call builds the parser, which takes some tens of milliseconds.
    """
    query: SaseQuery = read(parser_of("sase/grammar.lark", _SaseReader), _WORDS, text)
    return query


@final
@dataclass(frozen=True, slots=True)
class _Equivalence:
    """Equivalence tests as an operand of an expression, while the query is parsed; no returned tree contains one."""

    tests: tuple[EquivalenceTest, ...]
    at: int


@final
class _SaseReader(ClauseReader):
    """Methods are named after the grammar's alternatives; children are in the order of the text, keywords included."""

    def query(self, children: list[Any]) -> SaseQuery:
        pattern, _, *elements, (selections, predicate), within, items, output, publish = children
        components = components_of(elements)
        check_names(components, selections)
        kinds = {component.variable: component.kind for component in components}
        equivalence, conditions = _split(predicate, kinds)
        query = SaseQuery(
            elements=tuple(elements),
            selections=tuple(StrategyClause(s, tuple(c.name for c in covered), at) for s, covered, at in selections),
            equivalence=equivalence,
            conditions=conditions,
            within=None if within is None else within[0],
            items=items,
            output=output,
            publish=publish,
            at=place(pattern) if within is None else within[1],
        )
        for node in nodes((query.conditions, query.items)):
            if isinstance(node, _Equivalence):
                raise Misread(node.at, "expected '[…]' only as a condition of its own, joined to the others by AND")
            if isinstance(node, MemberAccess):
                check_member(node, kinds)
            if isinstance(node, Call) and node.function.lower() in _OF_SEVERAL:
                example = f"such as {node.function}(a[].x)"
                raise Misread(
                    node.at, f"expected {node.function} of a Kleene variable's events, {example}, found others"
                )
        return query

    def single(self, children: list[Token]) -> ComponentExpression:
        return _component("single", *children)

    def optional(self, children: list[Token]) -> ComponentExpression:
        return replace(_component("single", children[0], children[2]), least=0)

    def kleene(self, children: list[Token]) -> ComponentExpression:
        return _component("kleene", children[0], children[2])

    def any_number(self, children: list[Token]) -> ComponentExpression:
        return replace(self.kleene(children), least=0)

    def exactly(self, children: list[Token]) -> ComponentExpression:
        stream, number, variable = children
        return self.bounded([stream, number, number, variable])

    def at_least(self, children: list[Token]) -> ComponentExpression:
        stream, least, variable = children
        return replace(_component("kleene", stream, variable), least=count(least))

    def bounded(self, children: list[Token]) -> ComponentExpression:
        stream, least, most, variable = children
        component = replace(_component("kleene", stream, variable), least=count(least), most=count(most))
        return checked_bounds(component, place(most))

    def negated(self, children: list[Token]) -> ComponentExpression:
        return _component("negated", *children[1:])

    def alternatives(self, children: list[Any]) -> ElementAlternatives:
        options = tuple(child for child in children if isinstance(child, ComponentExpression))
        for option in options:
            if not option.least:
                message = "expected an element that cannot be absent among alternatives; (A a | B b)? is one or none"
                raise Misread(option.at, message)
        return ElementAlternatives(options, 1 if len(options) == len(children) else 0, options[0].at)

    def where(self, children: list[Any]) -> tuple[list[Any], Any]:
        selections = [child for child in children if isinstance(child, tuple)]
        last = children[-1] if children else None
        return selections, None if isinstance(last, tuple | Token) else last

    def strategy(self, children: list[Any]) -> tuple[Strategy, list[Covered], int]:
        token, *covered = children
        for strategy in STRATEGIES:
            if strategy == token.lower():
                return strategy, covered, place(token)
        near = suggestion(token, STRATEGIES) or f"; expected one of {', '.join(STRATEGIES)}"
        raise Misread(place(token), f"unknown strategy {quoted(token)}{near}")

    def covered(self, children: list[Token]) -> Covered:
        return Covered(name_of(children[0]), False, place(children[0]))

    def covered_kleene(self, children: list[Token]) -> Covered:
        return Covered(name_of(children[0]), True, place(children[0]))

    def within(self, children: list[Token]) -> tuple[int, int] | None:
        if not children:
            return None
        return length_of(children[1:]), place(children[1])

    def returned(self, children: list[Any]) -> tuple[ReturnItem, ...]:
        if len(children) > ITEMS_MAX + 1:
            raise Misread(place(children[0]), f"expected at most {ITEMS_MAX} values after RETURN, found more")
        return tuple(children[1:])

    def item(self, children: list[Any]) -> ReturnItem:
        expression, *alias = children
        return ReturnItem(expression, name_of(alias[1]) if alias else None, place(alias[1]) if alias else expression.at)

    def output(self, children: list[Token]) -> Output:
        if not children:
            return "all"
        token = children[1]
        for mode in OUTPUTS:
            if mode == token.lower():
                return mode
        found = f"{quoted(token)}{suggestion(token, OUTPUTS)}"
        raise Misread(place(token), f"expected all, nonoverlap or compressed, found {found}")

    def subscripted(self, children: list[Any]) -> MemberAccess:
        variable, subscript, _, attribute = children
        member = MemberAccess(
            name_of(variable), _subscript(variable, subscript), name_of(attribute), None, place(variable)
        )
        if member.subscript in ("", "..i-1"):
            example = f"avg({variable}[{member.subscript}].{attribute})"
            raise Misread(member.at, f"expected an aggregate of several events, such as {example}, found none")
        return member

    def applied(self, children: list[Any]) -> MemberAccess | Call:
        """Return an aggregate, or a function whose only argument is one event's attribute."""
        function, variable, subscript, _, attribute = children
        written, name = _subscript(variable, subscript), name_of(function).lower()
        member = MemberAccess(name_of(variable), written, name_of(attribute), None, place(variable))
        if written in ("", "..i-1"):
            if name in AGGREGATES:
                return MemberAccess(member.variable, written, member.attribute, name, place(function))
            near = suggestion(name, AGGREGATES) or f"; expected one of {', '.join(AGGREGATES)}"
            raise Misread(place(function), f"unknown aggregate {quoted(function)}{near}")
        if name in AGGREGATES:
            several = f"'{variable}[]' or '{variable}[..i-1]'"
            raise Misread(member.at, f"expected {several} in {name}, found one event")
        return Call(name_of(function), (member,), place(function))

    def equivalence(self, children: list[EquivalenceTest]) -> _Equivalence:
        return _Equivalence(tuple(children), children[0].at)

    def shared(self, children: list[Token]) -> Name:
        return Name(None, name_of(children[0]), place(children[0]))

    def equal(self, children: list[Any]) -> EqualAttributes:
        for sign in children[1::2]:
            if sign != "=":
                raise Misread(place(sign), f"expected '=' in an equivalence test, found {quoted(sign)}")
        return EqualAttributes(tuple(children[::2]), children[0].at)

    def equated(self, children: list[Token]) -> MemberAccess:
        return member_of(children)

    def equated_kleene(self, children: list[Token]) -> MemberAccess:
        return replace(self.equated(children), subscript="")

    def subscript(self, children: list[Token]) -> list[Token]:
        return children


def _component(kind: Kind, stream: Token, variable: Token) -> ComponentExpression:
    return ComponentExpression(name_of(stream), name_of(variable), kind, at=place(stream), named_at=place(variable))


def _subscript(variable: Token, tokens: list[Token]) -> str:
    """Return the subscript in the brackets after `variable`, in the form of Member."""
    match [str(token).lower() for token in tokens]:
        case []:
            return ""
        case ["1"]:
            return "1"
        case ["i"]:
            return "i"
        case ["i", "-", "1"]:
            return "i-1"
        case ["..", "i", "-", "1"]:
            return "..i-1"
        case [_, ".", "len"] if tokens[0] == variable:
            return "LEN"
    known = ", ".join(f"{variable}[{s}]" for s in ("1", "i", "i-1", f"{variable}.LEN", "", "..i-1"))
    found = quoted(f"{variable}[{''.join(tokens)}]")
    raise Misread(place(tokens[0]), f"expected one of {known}, found {found}")


def _split(
    predicate: Any, kinds: Mapping[str, Kind]
) -> tuple[tuple[EquivalenceTest, ...], tuple[Expression, ...]]:
    """Return the equivalence tests among the conjuncts of the conditions, and the other conjuncts."""
    tests: dict[EquivalenceTest, None] = {}
    rest: list[Expression] = []
    for conjunct in () if predicate is None else _conjuncts(predicate):
        if not isinstance(conjunct, _Equivalence):
            rest.append(conjunct)
            if len(rest) > ITEMS_MAX:
                raise Misread(conjunct.at, f"expected at most {ITEMS_MAX} conditions, found more")
            continue
        for written in conjunct.tests:
            if isinstance(written, Name):
                variable, dot, attribute = written.attribute.partition(".")
                if dot and variable in kinds:
                    wanted = f"expected an attribute that all events share, such as [{attribute}]"
                    raise Misread(written.at, f"{wanted}, found one of {variable!r}")
            test = written if isinstance(written, Name) else checked_test(written, kinds)
            if test in tests:
                found = repr(test.attribute) if isinstance(test, Name) else "a test of several"
                raise Misread(test.at, f"expected each equivalence attribute once, found {found} twice")
            tests[test] = None
    return tuple(tests), tuple(rest)


def _conjuncts(predicate: Any) -> Iterator[Any]:
    """Yield the conjuncts without recursion, because the depth of the tree is not checked yet."""
    waiting = [predicate]
    while waiting:
        node = waiting.pop()
        if isinstance(node, And):
            waiting.extend(reversed(node.operands))
        else:
            yield node
