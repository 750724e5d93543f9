"""Turns parsed expressions (expression.lark) into the nodes of syntax.py, the same for every language.

A language's grammar imports the rules, and its reader is merged with this one (see grammar.py). The methods have the
names of the grammar's alternatives. Their children are in the order of the text and include signs, which carry the
positions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, cast, final

from lark import Token, Transformer

from ..events.errors import EventError
from ..events.instant import parse_duration
from .diagnostics import Misread, quoted
from .limits import INTEGER_BITS_MAX, NAME_CHARACTERS_MAX, NUMBER_DIGITS_MAX, STRING_BYTES_MAX, byte_length
from .shapes import fraction
from .syntax import (
    And,
    ArithmeticExpression,
    Boolean,
    Call,
    CaseBranch,
    CaseExpression,
    ComparisonExpression,
    DurationExpression,
    Expression,
    InRange,
    IsNull,
    MemberAccess,
    Name,
    Negative,
    Not,
    Number,
    OneOf,
    Or,
    String,
    TextOperator,
    TextTest,
)
from .text_patterns import check_pattern

LABELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "NAME": "an attribute",
        "QUALIFIED": "an attribute",
        "NUMBER": "a number",
        "PERCENTAGE": "a number",
        "STRING": "a string",
        "LPAR": "'('",
        "UNIT": "a unit of time",
        "ADDITIVE": "an arithmetic operator",
        "MULTIPLICATIVE": "an arithmetic operator",
        "POWER": "an arithmetic operator",
        "COMPARISON": "a comparison",
        "IN": "IN",
        "BETWEEN": "BETWEEN",
        "LIKE": "LIKE",
        "MATCHES": "MATCHES",
        "CIDR": "CIDR",
        "IS": "IS",
        "NULL": "NULL",
        "WHEN": "WHEN",
        "THEN": "THEN",
        "ELSE": "ELSE",
        "END": "END",
        "AND": "AND",
        "OR": "OR",
        "COMMA": "','",
        "LBRACE": "'{'",
        "RPAR": "')'",
        "RBRACE": "'}'",
    }
)
"""The name of each terminal in errors, in the order of lists. Words that may start an operand (NOT, TRUE, FALSE, DUR)
and its minus are left out, because they would make every list too long."""

KEYWORDS: Final = frozenset(
    {
        *("AND", "OR", "NOT", "TRUE", "FALSE", "DUR"),
        *("IN", "BETWEEN", "LIKE", "MATCHES", "CIDR", "IS", "NULL", "CASE", "WHEN", "THEN", "ELSE", "END"),
    }
)
"""The words of expressions, which every language has among its own."""

_ELSEWHERE: Final[Mapping[str, str]] = MappingProxyType({"==": "=", "<>": "!="})


def place(token: Token) -> int:
    """Return the offset of a token; a token from the lexer always has one."""
    return token.start_pos or 0


def name_of(token: Token) -> str:
    """Return the text of a name and check its length. Raises Misread."""
    if len(token) > NAME_CHARACTERS_MAX:
        raise Misread(place(token), f"expected a name of at most {NAME_CHARACTERS_MAX} characters, found {len(token)}")
    return str(token)


def member_of(children: Sequence[Token]) -> MemberAccess:
    """The attribute of a variable, written as one token or as a name, a dot and a name. Raises Misread."""
    first = children[0]
    variable, _, attribute = first.partition(".")
    name = children[-1] if len(children) > 1 else Token.new_borrow_pos(first.type, attribute, first)
    return MemberAccess(
        name_of(Token.new_borrow_pos(first.type, variable, first)), None, name_of(name), None, place(first)
    )


@final
class ExpressionReader(Transformer[Token, Expression]):
    """Makes the nodes of an expression. Every method raises Misread if a literal or a name exceeds a limit."""

    def any_of(self, children: list[Any]) -> Or:
        return Or(tuple(children[::2]), place(children[1]))

    def all_of(self, children: list[Any]) -> And:
        return And(tuple(children[::2]), place(children[1]))

    def negation(self, children: list[Any]) -> Not:
        return Not(children[1], place(children[0]))

    def comparison(self, children: list[Any]) -> ComparisonExpression:
        left, sign, right = children
        if sign in _ELSEWHERE:
            meant = _ELSEWHERE[sign]
            raise Misread(place(sign), f"expected a comparison, found {quoted(sign)}; did you mean {quoted(meant)}?")
        return ComparisonExpression(sign.value, left, right, place(sign))

    def one_of(self, children: list[Any]) -> OneOf:
        operand, *negation, word = children[: 1 + _words(children)]
        values = tuple(children[1 + _words(children) :])
        if not values:
            raise Misread(place(word), "expected at least one value in parentheses after IN, found none")
        return OneOf(operand, values, bool(negation), place(word))

    def in_range(self, children: list[Any]) -> InRange:
        operand, *negation, word, low, _, high = children
        return InRange(operand, low, high, bool(negation), place(word))

    def text_test(self, children: list[Any]) -> TextTest:
        operand, *negation, word = children[: 1 + _words(children)]
        operator = cast("TextOperator", word.lower())
        patterns = tuple(map(self.string, zip(children[1 + _words(children) :])))
        for pattern in patterns:
            check_pattern(operator, pattern)
        return TextTest(operator, operand, patterns, bool(negation), place(word))

    def is_null(self, children: list[Any]) -> IsNull:
        return IsNull(children[0], len(children) > 3, place(children[1]))

    def case(self, children: list[Any]) -> CaseExpression:
        word, *branches, otherwise, _ = children
        return CaseExpression(tuple(branches), otherwise, place(word))

    def case_branch(self, children: list[Any]) -> CaseBranch:
        return CaseBranch(children[1], children[3], place(children[0]))

    def case_rest(self, children: list[Any]) -> Expression | None:
        return children[1] if children else None

    def arithmetic(self, children: list[Any]) -> ArithmeticExpression:
        left, sign, right = children
        return ArithmeticExpression(sign.value, left, right, place(sign))

    def negative(self, children: list[Any]) -> Negative:
        return Negative(children[1], place(children[0]))

    def number(self, children: list[Token]) -> Number:
        return Number(_value(children[0], str(children[0])), place(children[0]))

    def percentage(self, children: list[Token]) -> Number:
        _check_digits(children[0])
        return Number(_value(children[0], fraction(children[0])), place(children[0]))

    def duration(self, children: list[Token]) -> Number:
        number, unit = children
        _check_digits(number)
        try:
            return Number(parse_duration(f"{number} {unit}"), place(number))
        except EventError as error:
            raise Misread(place(number), str(error)) from None

    def string(self, children: Sequence[Token]) -> String:
        token = children[0]
        value = token[1:-1].replace("''", "'")
        size = byte_length(value)
        if size > STRING_BYTES_MAX:
            raise Misread(place(token), f"expected a string of at most {STRING_BYTES_MAX} bytes, found {size}")
        return String(value, place(token))

    def true(self, children: list[Token]) -> Boolean:
        return Boolean(True, place(children[0]))

    def false(self, children: list[Token]) -> Boolean:
        return Boolean(False, place(children[0]))

    def dur(self, children: list[Token]) -> DurationExpression:
        return DurationExpression(place(children[0]))

    def name(self, children: list[Token]) -> Name:
        return Name(None, name_of(children[0]), place(children[0]))

    def qualified(self, children: list[Token]) -> Name:
        token = children[0]
        qualifier, _, attribute = token[1:].partition(".")
        return Name(qualifier, name_of(Token.new_borrow_pos(token.type, attribute, token)), place(token))

    def call(self, children: list[Any]) -> Call:
        return Call(name_of(children[0]), tuple(children[1:]), place(children[0]))


def _words(children: list[Any]) -> int:
    """How many words stand behind the first child: IN, or NOT and IN; so with LIKE, MATCHES and CIDR."""
    return 2 if children[1].type == "NOT" else 1


def _check_digits(token: Token) -> None:
    digits = sum(map(str.isdigit, token))
    if digits > NUMBER_DIGITS_MAX:
        raise Misread(place(token), f"expected a number of at most {NUMBER_DIGITS_MAX} digits, found {digits}")


def _value(token: Token, written: str) -> int | float:
    if len(token) > NUMBER_DIGITS_MAX:
        _check_digits(token)
    value: int | float
    kind: Literal["an integer", "a finite number"]
    if written.isdigit():
        value = int(written)
        fits, kind = value.bit_length() <= INTEGER_BITS_MAX, "an integer"
    else:
        value = float(written)
        fits, kind = math.isfinite(value), "a finite number"
    if not fits:
        below = f" below 2**{INTEGER_BITS_MAX}" if kind == "an integer" else ""
        raise Misread(place(token), f"expected {kind}{below}, found {quoted(token)}")
    return value
