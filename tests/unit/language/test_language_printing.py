"""What is printed reads back as the same tree, and has no parentheses to spare."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from strategies.cayuga_queries import expressions, queries

from broker.language.cayuga import parse
from broker.language.cayuga.printer import print_query
from broker.language.cayuga.syntax import CelQuery, Filter, StreamReference
from broker.language.printing import print_expression
from broker.language.syntax import ArithmeticExpression, Expression, Name, Negative, Number


def read_back(expression: Expression) -> Expression:
    source = parse(f"FILTER{{{print_expression(expression)}}} S").source
    assert isinstance(source, Filter)
    return source.condition


@given(queries)
def test_a_printed_query_reads_back_as_itself(query: CelQuery) -> None:
    text = print_query(query)
    again = parse(text)
    assert again == query
    # repr tells 1 from 1.0 and from TRUE, which are equal to Python
    assert repr(again) == repr(query)
    assert print_query(again) == text


@settings(max_examples=2 * settings().max_examples)
@given(expressions)
def test_a_printed_expression_reads_back_as_itself(expression: Expression) -> None:
    assert repr(read_back(expression)) == repr(expression)


@pytest.mark.parametrize(
    "text",
    [
        "S",
        "SELECT * FROM S PUBLISH Out",
        "SELECT a, b + 1 AS c, * FROM FILTER{a = 1 AND (b > 2 OR NOT c = 'it''s')} S",
        "A NEXT{} B NEXT{$2.x = $1.x} (C NEXT{} D)",
        "A UNION B NEXT{} C UNION (D UNION E)",
        "FILTER{DUR >= 5} FILTER{TRUE}(A NEXT{} B)",
        "A FOLD{} B FOLD{a = 1} C FOLD{, b = 2} D FOLD{, , $.n + 1 AS n, 2 AS m} E FOLD{a = 1, b = 2, 1 AS n} F",
        "(SELECT a FROM S) NEXT{} (SELECT * FROM (SELECT b FROM T))",
        "FILTER{a - (b - c) - d / e / (f / g) ^ 2 % 3 < -(a + b)} S",
        "FILTER{(a AND b) AND c AND (d OR e OR f)} S",
        "FILTER{(NOT a) = b AND NOT NOT a = b} S",
        "FILTER{(a = b) = (c < d)} S",
        "FILTER{-(-a) = -1 AND min() > coalesce(a, f(b), 'x')} S",
        "FILTER{a + 1 IN (1, b = c) AND NOT a NOT IN ('x') OR (a IN (1)) IS NULL} S",
        "FILTER{a BETWEEN b + 1 AND c AND a NOT BETWEEN 1 AND (b = 2)} S",
        "FILTER{a IS NULL OR NOT -a IS NOT NULL} S",
        "SELECT CASE WHEN a OR b THEN c = 1 WHEN b IS NULL THEN 2 ELSE CASE WHEN a THEN 1 END + 1 END AS d FROM S",
        "FILTER{CASE WHEN when THEN (case) WHEN then THEN 1 ELSE else END = end AND in IN (is, between)} S",
    ],
)
def test_texts_without_needless_parentheses_stay_as_they_are(text: str) -> None:
    assert print_query(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("select * From ( S ) publish Out", "SELECT * FROM S PUBLISH Out"),
        ("FILTER{((a) + ((b * c))) > (1)}((S))", "FILTER{a + b * c > 1} S"),
        ("((A NEXT{} B) NEXT{} C)", "A NEXT{} B NEXT{} C"),
        ("A FOLD{x = 1,,} B FOLD{y = 1, 1 AS n} C", "A FOLD{x = 1} B FOLD{y = 1, , 1 AS n} C"),
        ("FILTER{a in(1)and a not  between 1 and 2 and a is\nnot null} S",
         "FILTER{a IN (1) AND a NOT BETWEEN 1 AND 2 AND a IS NOT NULL} S"),
        ("SELECT case -- once\n when a then 1 end FROM S", "SELECT CASE WHEN a THEN 1 END FROM S"),
        ("FILTER{t < 5 min AND p > 80%} S", "FILTER{t < 300000000 AND p > 0.8} S"),
        ("FILTER{- - a = 1} S -- the rest\n", "FILTER{-(-a) = 1} S"),
    ],
)
def test_layout_case_and_needless_parentheses_go(text: str, printed: str) -> None:
    assert print_query(parse(text)) == printed


def test_a_negative_number_that_was_made_prints_as_a_sign_and_a_number() -> None:
    made = ArithmeticExpression("^", Number(-5), Negative(Number(-2)))
    assert print_expression(made) == "-5 ^ -(-2)"
    assert read_back(made) == ArithmeticExpression("^", Negative(Number(5)), Negative(Negative(Number(2))))


def test_printing_a_whole_query_and_its_name() -> None:
    query = CelQuery(Filter(Name(None, "a"), StreamReference("S")), "Out")
    assert print_query(query) == "FILTER{a} S PUBLISH Out"
