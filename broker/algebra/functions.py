"""The scalar functions and operators of the expression language: their types and their computation.

Here: one table of functions, arithmetic, comparison. Not here: how a name in a text becomes a call (resolution).

All of them are total. A null argument makes the result null (except for `coalesce`, IS NULL and CASE), and so does an
operation without a valid result: division by zero, the root of a negative number, a result beyond a signed 64-bit
integer or a finite float.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

from ..events.schema import Value, ValueType
from ..events.text_operators import TEXT_OPERATORS, condition_of

INTEGER_MIN: Final = -(2**63)
INTEGER_MAX: Final = 2**63 - 1
IS_NULL: Final = "is null"
CASE: Final = "case"
MEMBER: Final = "any ="
"""What is written as `x IS NULL`, CASE, and `x = 'text'` of a list: functions like others, under names that no call can
have. The arguments of CASE are the condition and the value of each branch, then the value otherwise. So are
TEXT_OPERATORS, whose arguments are a text and a pattern."""
TEXT_TESTS: Final = (*TEXT_OPERATORS, "contains", "starts_with", "ends_with", MEMBER)
"""Conditions on a text. One on a list of texts holds if it holds for some text in the list, so for none of an empty
one."""
NEGATED: Final = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

Number = int | float


def bounded(value: Number) -> Number | None:
    """Return the number, or null if it does not fit; the same rule for every operator."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if INTEGER_MIN <= value <= INTEGER_MAX else None


def calculate(operator: str, left: Value, right: Value) -> Value:
    """Compute `left operator right` for numbers or nulls; see the module's docstring for nulls."""
    if left is None or right is None:
        return None
    a, b = cast("Number", left), cast("Number", right)
    try:
        if operator == "+":
            return bounded(a + b)
        if operator == "-":
            return bounded(a - b)
        if operator == "*":
            return bounded(a * b)
        if operator == "/":
            return bounded(float(a / b))
        if operator == "%":
            return bounded(a % b)
        power = math.pow(a, b)
    except (ArithmeticError, ValueError):
        return None
    return bounded(power)


def compare(operator: str, left: Value, right: Value) -> bool:
    """Compare two values; false if an operand is null."""
    if left is None or right is None:
        return False
    if operator == "=":
        return left == right
    if operator == "!=":
        return left != right
    a, b = cast("Any", left), cast("Any", right)  # two numbers, strings or bools
    if operator == "<":
        return bool(a < b)
    if operator == "<=":
        return bool(a <= b)
    if operator == ">":
        return bool(a > b)
    return bool(a >= b)


def arithmetic_type(operator: str, left: ValueType, right: ValueType) -> ValueType:
    """Return the type of an arithmetic operation. int/int and powers are floats: a type must not depend on values."""
    if operator in "/^" or "float" in (left, right):
        return "float"
    return "int"


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """`parameters`: the kinds of argument ("number", "string" or "any"), the last one repeated when `variadic`;
    `result`: its type, or "argument" for the common type of the arguments."""

    parameters: tuple[str, ...]
    result: ValueType | str
    compute: Callable[..., Value]
    variadic: bool = False


def _root(x: Number) -> float | None:
    return math.sqrt(x) if x >= 0 else None


def _floored(x: Number) -> Number | None:
    return bounded(math.floor(x))


def _ceiled(x: Number) -> Number | None:
    return bounded(math.ceil(x))


def _rounded(x: Number) -> Number | None:
    return bounded(round(x))


def _modulo(a: Number, b: Number) -> Value:
    return calculate("%", a, b)


FUNCTIONS: Final[dict[str, ScalarFunction]] = {
    "contains": ScalarFunction(("string", "string"), "bool", lambda s, part: part in s),
    "starts_with": ScalarFunction(("string", "string"), "bool", lambda s, part: s.startswith(part)),
    "ends_with": ScalarFunction(("string", "string"), "bool", lambda s, part: s.endswith(part)),
    "lower": ScalarFunction(("string",), "string", lambda s: s.lower()),
    "upper": ScalarFunction(("string",), "string", lambda s: s.upper()),
    "length": ScalarFunction(("string",), "int", len),
    "abs": ScalarFunction(("number",), "argument", lambda x: bounded(abs(x))),
    "min": ScalarFunction(("number",), "argument", lambda *values: min(values), variadic=True),
    "max": ScalarFunction(("number",), "argument", lambda *values: max(values), variadic=True),
    "mod": ScalarFunction(("number", "number"), "argument", _modulo),
    "floor": ScalarFunction(("number",), "int", _floored),
    "ceil": ScalarFunction(("number",), "int", _ceiled),
    "round": ScalarFunction(("number",), "int", _rounded),
    "sqrt": ScalarFunction(("number",), "float", _root),
    "float": ScalarFunction(("number",), "float", float),
    "coalesce": ScalarFunction(("any",), "argument", lambda *values: None, variadic=True),
}


def call(name: str, arguments: list[Value], result: ValueType) -> Value:
    """Apply a function of the table, a text operator, IS NULL or CASE.

    `result` is the type of the call: max(1, 2.5) and max(3, 2.5) are both floats.
    """
    value: Value
    function = FUNCTIONS.get(name)
    texts = arguments[0]
    if isinstance(texts, tuple) and name in TEXT_TESTS:
        return any(call(name, [text, *arguments[1:]], result) is True for text in texts)
    if function is None:
        if name == IS_NULL:
            return arguments[0] is None
        if name == MEMBER:
            return None if arguments[0] is None else arguments[0] == arguments[1]
        if name in TEXT_OPERATORS:
            text = arguments[0]
            return condition_of(name, str(arguments[1])).holds(text) if isinstance(text, str) else None
        branches = zip(arguments[:-1:2], arguments[1::2], strict=True)
        value = next((then for when, then in branches if when is True), arguments[-1])
    elif name == "coalesce":
        value = next((a for a in arguments if a is not None), None)
    elif any(a is None for a in arguments):
        return None
    else:
        value = function.compute(*arguments)
    if result == "float" and type(value) is int:
        return float(value)
    return value
