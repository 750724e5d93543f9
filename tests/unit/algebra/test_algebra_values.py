"""Arithmetic, functions and comparisons: total, with null for what has no value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.algebra.functions import FUNCTIONS, INTEGER_MAX, INTEGER_MIN, NEGATED, calculate, call, compare
from broker.events.schema import Value, ValueType

values = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([INTEGER_MIN, INTEGER_MAX]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-3, 3),
)


@pytest.mark.parametrize(
    ("operator", "left", "right", "result"),
    [
        ("+", 1, 2, 3),
        ("-", 1, 0.5, 0.5),
        ("+", INTEGER_MAX, 1, None),
        ("-", -INTEGER_MAX, 2, None),
        ("-", -INTEGER_MAX, 1, INTEGER_MIN),
        ("*", INTEGER_MAX, 2, None),
        ("*", 1e308, 10.0, None),
        ("/", 1, 2, 0.5),
        ("/", 4, 2, 2.0),
        ("/", 1, 0, None),
        ("%", 7, 3, 1),
        ("%", 7.5, 2, 1.5),
        ("%", 1, 0, None),
        ("^", 2, 3, 8.0),
        ("^", 9, 9**9, None),
        ("^", -1, 0.5, None),
        ("^", 0, -1, None),
        ("+", None, 1, None),
        ("+", 1, None, None),
    ],
)
def test_calculate(operator: str, left: Value, right: Value, result: Value) -> None:
    found = calculate(operator, left, right)
    assert found == result
    assert type(found) is type(result)


@settings(max_examples=max(400, 4 * settings().max_examples))
@given(st.sampled_from("+-*/%^"), values, values)
def test_arithmetic_is_total_and_stays_in_bounds(operator: str, left: Value, right: Value) -> None:
    found = calculate(operator, left, right)
    if isinstance(found, int):
        assert -(2**63) <= found < 2**63
    elif isinstance(found, float):
        assert found - found == 0.0


@given(st.sampled_from(sorted(NEGATED)), values, values)
def test_a_comparison_and_its_negation_are_both_false_for_null_and_opposite_otherwise(
    operator: str, left: Value, right: Value
) -> None:
    both = compare(operator, left, right), compare(NEGATED[operator], left, right)
    if left is None or right is None:
        assert both == (False, False)
    else:
        assert both[0] is not both[1]


FUNCTION_CASES: list[tuple[str, list[Value], ValueType, Value]] = [
    ("contains", ["abc", "b"], "bool", True),
    ("contains", [None, "b"], "bool", None),
    ("starts_with", ["abc", "ab"], "bool", True),
    ("ends_with", ["abc", "bc"], "bool", True),
    ("lower", ["ABC"], "string", "abc"),
    ("upper", ["abc"], "string", "ABC"),
    ("length", ["abc"], "int", 3),
    ("abs", [-2], "int", 2),
    ("abs", [-(2**63)], "int", None),
    ("min", [3, 1, 2], "int", 1),
    ("max", [3, 2.5], "float", 3.0),
    ("max", [3], "int", 3),
    ("mod", [7, 3], "int", 1),
    ("floor", [1.9], "int", 1),
    ("ceil", [1.1], "int", 2),
    ("floor", [1e300], "int", None),
    ("round", [2.5], "int", 2),
    ("sqrt", [9.0], "float", 3.0),
    ("sqrt", [-1.0], "float", None),
    ("float", [1], "float", 1.0),
    ("coalesce", [None, 2, 3], "int", 2),
    ("coalesce", [None, None], "int", None),
]


@pytest.mark.parametrize(("name", "arguments", "type_", "result"), FUNCTION_CASES)
def test_functions(name: str, arguments: list[Value], type_: ValueType, result: Value) -> None:
    found = call(name, arguments, type_)
    assert found == result
    assert type(found) is type(result)


def test_every_function_is_tested() -> None:
    assert {case[0] for case in FUNCTION_CASES} == set(FUNCTIONS)


def test_every_function_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "cayuga.md").read_text(encoding="utf-8")
    table = page.partition("| function | gives |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)\(", table)) == set(FUNCTIONS)
