"""SASE+ texts that are none: where the error is, what was expected and what was found."""

from __future__ import annotations

import pytest

from broker.events.errors import QueryError
from broker.language.sase import parse

SEQUENCE = "PATTERN SEQ(S+ a[], ~(T n), S b)\nWHERE skip_till_next_match(a[], b)\n"


def refusal(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected PATTERN, found the end of the query"),
        ("PATERN SEQ(S a)", "line 1, column 1: expected PATTERN, found 'PATERN'; did you mean 'PATTERN'?"),
        ("PATTERN SQE(S a)", "line 1, column 9: expected SEQ, found 'SQE'; did you mean 'SEQ'?"),
        ("PATTERN SEQ()", "line 1, column 13: expected a stream, '~' or '(', found ')'"),
        ("PATTERN SEQ(S)", "line 1, column 14: expected '?', '+', '*', a variable or '{', found ')'"),
        ("PATTERN SEQ(S+ a)", "line 1, column 17: expected '[', found ')'"),
        ("PATTERN SEQ(S* a)", "line 1, column 17: expected '[', found ')'"),
        ("PATTERN SEQ((S a), S b)", "line 1, column 17: expected '|', found ')'"),
        ("PATTERN SEQ((S a | ~(S b)))", "line 1, column 20: expected a stream, found '~'"),
        ("PATTERN SEQ((S a | S* b[]))", "column 20: expected an element that cannot be absent among alternatives; (A"),
        ("PATTERN SEQ((S a | S a))", "line 1, column 22: expected each variable once, found a second 'a'"),
        (f"{SEQUENCE}{{ b.x = 1 | b.x = 2 }}", "line 3, column 11: expected a unit of time, an arithmetic operator"),
        (f"{SEQUENCE}{{ b.x = 1 | b.x = 2 }}", "did you mean 'OR'?"),
        ("PATTERN SEQ(S? a[])", "line 1, column 17: expected ',' or ')', found '['"),
        ("PATTERN SEQ(S{} a[])", "line 1, column 15: expected a number, found '}'"),
        ("PATTERN SEQ(S{3,2} a[])", "line 1, column 17: expected at least 3 as the greatest number of events, found 2"),
        ("PATTERN SEQ(S{0} a[])", "line 1, column 15: expected at least 1 as the greatest number of events, found 0"),
        ("PATTERN SEQ(S{1.5} a[])", "line 1, column 15: expected a whole number of at most 1,000,000, found '1.5'"),
        ("PATTERN SEQ(S{2,1000001} a[])", "column 17: expected a whole number of at most 1,000,000, found '1000001'"),
        ("PATTERN SEQ(~S a)", "line 1, column 14: expected '(', found 'S'"),
        ("PATTERN SEQ(~(S+ a[]))", "line 1, column 16: expected a variable, found '+'"),
        ("PATTERN SEQ(S a) WERE s(a)", "line 1, column 18: expected WHERE, WITHIN, RETURN, OUTPUT, PUBLISH or the end"),
        ("PATTERN SEQ(S a) WERE s(a)", "found 'WERE'; did you mean 'WHERE'?"),
        ("PATTERN SEQ(S a) WHERE { a.x = 1 }", "line 1, column 24: expected a strategy, found '{'"),
        ("PATTERN SEQ(S a) WITHIN 5 mni", "found 'mni'; did you mean 'min'?"),
        ("PATTERN SEQ(S a) WITHIN 2.5", "line 1, column 25: expected a duration exact in microseconds"),
        ("PATTERN SEQ(S a) RETURN a.x AS", "line 1, column 31: expected a name, found the end of the query"),
        ("PATTERN SEQ(S a) PUBLISH", "line 1, column 25: expected a name, found the end of the query"),
        (f"{SEQUENCE}{{ b.x = 1, b.y = 2 }}", "line 3, column 10: expected '}', found ','"),
        (f"{SEQUENCE}{{ b. = 2 }}", "line 3, column 6: expected an attribute, found '='"),
        (f"{SEQUENCE}{{ a[i+1].x = 2 }}", "line 3, column 6: expected ']', '.' or '-', found '+'"),
        (f"{SEQUENCE}{{ b.x == 2 }}", "line 3, column 7: expected a comparison, found '=='; did you mean '='?"),
    ],
)
def test_what_the_grammar_refuses(text: str, message: str) -> None:
    assert message in str(refusal(text))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("PATTERN SEQ(S a, S a)", 20, "expected each variable once, found a second 'a'"),
        (f"PATTERN SEQ(S {'a' * 129})", 15, "expected a name of at most 128 characters, found 129"),
        ("PATTERN SEQ(S a) WHERE strict(a)", 24, "unknown strategy 'strict'; expected one of strict_contiguity, part"),
        ("PATTERN SEQ(S a) WHERE skip_til_next_match(a)", 24, "did you mean 'skip_till_next_match'?"),
        ("PATTERN SEQ(S a) WHERE strict_contiguity(b)", 42, "unknown variable 'b'; expected one of a"),
        ("PATTERN SEQ(S a) WHERE strict_contiguity(a[])", 42, "expected 'a' without '[]', since it stands for one"),
        ("PATTERN SEQ(S a, S b) WHERE strict_contiguity(a, a)", 50, "expected one strategy for each variable"),
        ("PATTERN SEQ(S a) OUTPUT nonoverlp", 25, "found 'nonoverlp'; did you mean 'nonoverlap'?"),
        ("PATTERN SEQ(S a) RETURN [k]", 26, "expected '[…]' only as a condition of its own"),
        ("PATTERN SEQ(S a) RETURN b.k", 25, "unknown variable 'b'"),
    ],
)
def test_names(text: str, column: int, message: str) -> None:
    error = refusal(text)
    assert message in str(error)
    assert (error.line, error.column) == (1, column)


@pytest.mark.parametrize(
    ("condition", "column", "message"),
    [
        (
            "a.x = 1",
            3,
            "expected a subscript, since 'a' is a Kleene variable: a[1].x, a[i].x, a[a.LEN].x or avg(a[].x)",
        ),
        ("a[2].x = 1", 5, "expected one of a[1], a[i], a[i-1], a[a.LEN], a[], a[..i-1], found 'a[2]'"),
        ("a[i-2].x = 1", 5, "found 'a[i-2]'"),
        ("a[j].x = 1", 5, "found 'a[j]'"),
        ("a[b.LEN].x = 1", 5, "found 'a[b.LEN]'"),
        ("a[..i-2].x = 1", 5, "found 'a[..i-2]'"),
        ("b[1].x = 1", 3, "expected 'b.x' without a subscript, since 'b' stands for one event"),
        ("n[i].x = 1", 3, "expected 'n.x' without a subscript, since 'n' is negated"),
        ("a[].x = 1", 3, "expected an aggregate of several events, such as avg(a[].x), found none"),
        ("1 < a[..i-1].x", 7, "such as avg(a[..i-1].x), found none"),
        ("max(a[].x, 1) > 1", 7, "expected an aggregate of several events"),
        ("agv(a[].x) = 1", 3, "unknown aggregate 'agv'; did you mean 'avg'?"),
        ("abs(a[].x) = 1", 3, "unknown aggregate 'abs'; expected one of avg"),
        ("zz(a[].x) = 1", 3, "unknown aggregate 'zz'; expected one of avg, sum, min, max, count, first, last"),
        ("avg(a[1].x) = 1", 7, "expected 'a[]' or 'a[..i-1]' in avg, found one event"),
        ("avg(b.x) = 1", 3, "expected avg of a Kleene variable's events, such as avg(a[].x), found others"),
        ("cc.x = 1", 3, "unknown variable 'cc'; expected one of a, n, b"),
        ("NOT [k]", 8, "expected '[…]' only as a condition of its own, joined to the others by AND"),
        ("[k] OR b.x = 1", 4, "expected '[…]' only as a condition of its own"),
        ("[k] AND [l, k]", 15, "expected each equivalence attribute once, found 'k' twice"),
        ("[b.k = c.l]", 10, "unknown variable 'c'; expected one of a, n, b"),
        ("[a.k = b.l = a.m]", 16, "expected each variable once in an equivalence test, found 'a' twice"),
        ("[a[].k = b[].l]", 12, "expected 'b.l' without '[]', since it stands for one event"),
        ("[a.k < b.l]", 8, "expected '=' in an equivalence test, found '<'"),
        ("[a.k = b.l, a[].k = b.l]", 15, "expected each equivalence attribute once, found a test of several twice"),
        ("[a.k]", 4, "expected an attribute that all events share, such as [k], found one of 'a'"),
    ],
)
def test_conditions(condition: str, column: int, message: str) -> None:
    error = refusal(f"{SEQUENCE}{{ {condition} }}")
    assert message in str(error)
    assert (error.line, error.column) == (3, column)


def test_limits() -> None:
    many = ", ".join(f"S v{number}" for number in range(61))
    assert "expected at most 60 components in SEQ, found more" in str(refusal(f"PATTERN SEQ({many})"))
    items = ", ".join(f"a.x AS x{number}" for number in range(1001))
    assert "expected at most 1000 values after RETURN, found more" in str(refusal(f"PATTERN SEQ(S a) RETURN {items}"))
    conditions = " AND ".join(f"b.x = {number}" for number in range(1001))
    assert "expected at most 1000 conditions, found more" in str(refusal(f"{SEQUENCE}{{ {conditions} }}"))
    deep = "(" * 101 + "b.x" + ")" * 101
    assert "expected at most 100 levels of nesting" in str(refusal(f"{SEQUENCE}{{ {deep} = 1 }}"))
    flat = " - ".join(["b.x"] * 120)
    assert "expected at most 100 levels of nesting" in str(refusal(f"{SEQUENCE}{{ {flat} = 1 }}"))


def test_an_error_shows_the_line_and_underlines_the_word() -> None:
    error = refusal(f"{SEQUENCE}{{ missing.x = 1 }}")
    assert error.excerpt == "{ missing.x = 1 }\n  ^~~~~~~~~"
