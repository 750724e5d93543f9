"""Prints expressions in every language: one line that parses to the same tree.

That holds for trees that the grammar can produce: names that it accepts in their position, numbers of at least 0,
chains of at least two operands. Keywords are in upper case, so two texts that differ only in layout, letter case of
keywords and unnecessary parentheses print alike. The `printer` of each language prints queries.
"""

from __future__ import annotations

from typing import Final

from .syntax import (
    And,
    ArithmeticExpression,
    Boolean,
    Call,
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
    TextTest,
)

# Binding strengths: an expression inside one that binds tighter needs parentheses.
_LOOSEST: Final = 0
_DISJUNCTION, _CONJUNCTION, _NEGATION, _COMPARISON, _SUM, _PRODUCT, _POWER, _SIGNED, _OPERAND = range(1, 10)
_ARITHMETIC: Final = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "^": _POWER, "%": _POWER}


def print_expression(expression: Expression) -> str:
    """Return the text of an expression. Linear in its size times its depth; recursion as deep as the tree."""
    return _expression(expression, _LOOSEST)


def _expression(expression: Expression, place: int) -> str:
    text, binding = _expression_text(expression)
    return text if binding >= place else f"({text})"


def _expression_text(expression: Expression) -> tuple[str, int]:
    match expression:
        case Number(value):
            # Only programs make negative numbers; the parser makes a sign and a number.
            return repr(value), _SIGNED if value < 0 else _OPERAND
        case String(value):
            return "'" + value.replace("'", "''") + "'", _OPERAND
        case Boolean(value):
            return "TRUE" if value else "FALSE", _OPERAND
        case DurationExpression():
            return "DUR", _OPERAND
        case Name(None, attribute):
            return attribute, _OPERAND
        case Name(qualifier, attribute):
            return f"${qualifier}.{attribute}", _OPERAND
        case MemberAccess(variable, subscript, attribute, aggregate):
            index = "" if subscript is None else f"[{variable}.LEN]" if subscript == "LEN" else f"[{subscript}]"
            member = f"{variable}{index}.{attribute}"
            return member if aggregate is None else f"{aggregate}({member})", _OPERAND
        case Call(function, arguments):
            return f"{function}({', '.join(map(print_expression, arguments))})", _OPERAND
        case Negative(operand):
            # Two minus signs in a row would start a comment.
            text = _expression(operand, _SIGNED)
            return f"-({text})" if text.startswith("-") else f"-{text}", _SIGNED
        case ArithmeticExpression(operator, left, right):
            binding = _ARITHMETIC[operator]
            return f"{_expression(left, binding)} {operator} {_expression(right, binding + 1)}", binding
        case ComparisonExpression(operator, left, right):
            return f"{_expression(left, _SUM)} {operator} {_expression(right, _SUM)}", _COMPARISON
        case OneOf(operand, values, negated):
            listed = ", ".join(map(print_expression, values))
            return f"{_expression(operand, _SUM)} {'NOT ' if negated else ''}IN ({listed})", _COMPARISON
        case InRange(operand, low, high, negated):
            bounds = f"{_expression(low, _SUM)} AND {_expression(high, _SUM)}"
            return f"{_expression(operand, _SUM)} {'NOT ' if negated else ''}BETWEEN {bounds}", _COMPARISON
        case TextTest(operator, operand, patterns, negated):
            listed = ", ".join(map(print_expression, patterns))
            listed = listed if len(patterns) == 1 else f"({listed})"
            word = f"{'NOT ' if negated else ''}{operator.upper()}"
            return f"{_expression(operand, _SUM)} {word} {listed}", _COMPARISON
        case IsNull(operand, negated):
            return f"{_expression(operand, _SUM)} IS {'NOT ' if negated else ''}NULL", _COMPARISON
        case CaseExpression(branches, otherwise):
            parts = [f"WHEN {print_expression(b.condition)} THEN {_branch_value(b.value)}" for b in branches]
            rest = [] if otherwise is None else [f"ELSE {print_expression(otherwise)}"]
            return " ".join(("CASE", *parts, *rest, "END")), _OPERAND
        case Not(operand):
            return f"NOT {_expression(operand, _NEGATION)}", _NEGATION
        case And(operands):
            return " AND ".join(_expression(operand, _NEGATION) for operand in operands), _CONJUNCTION
        case Or(operands):
            return " OR ".join(_expression(operand, _CONJUNCTION) for operand in operands), _DISJUNCTION


def _branch_value(value: Expression) -> str:
    """The value of a branch. An attribute called `case` at its end would begin another CASE with the next WHEN."""
    text = print_expression(value)
    return f"({text})" if text.lower().endswith("case") else text
