"""SASE+ texts as trees: every clause, every kind of reference, what may be left out, what letter case means."""

from __future__ import annotations

import pytest

from broker.language.sase import parse, print_query
from broker.language.sase.syntax import ComponentExpression, EqualAttributes, ReturnItem, SaseQuery, StrategyClause
from broker.language.syntax import (
    ArithmeticExpression,
    Call,
    ComparisonExpression,
    Expression,
    MemberAccess,
    Name,
    Not,
    Number,
    Or,
    String,
)

SEQUENCE = "PATTERN SEQ(S+ a[], ~(T n), S b) WHERE skip_till_next_match(a[], b)"


def one(condition: str) -> Expression:
    (found,) = parse(f"{SEQUENCE} {{ {condition} }}").conditions
    return found


def test_a_whole_query() -> None:
    query = parse(
        "PATTERN SEQ(Stock+ a[], ~(News n), Stock b)\n"
        "WHERE skip_till_next_match(a[]) AND strict_contiguity(n, b) {\n"
        "  [name] AND a[1].volume > 1000 AND b.volume < 80% * a[a.LEN].volume }\n"
        "WITHIN 1 hour RETURN b.name, avg(a[].price) AS mean OUTPUT nonoverlap PUBLISH Out"
    )
    assert query == SaseQuery(
        elements=(
            ComponentExpression("Stock", "a", "kleene"),
            ComponentExpression("News", "n", "negated"),
            ComponentExpression("Stock", "b", "single"),
        ),
        selections=(StrategyClause("skip_till_next_match", ("a",)), StrategyClause("strict_contiguity", ("n", "b"))),
        equivalence=(Name(None, "name"),),
        conditions=(
            ComparisonExpression(">", MemberAccess("a", "1", "volume"), Number(1000)),
            ComparisonExpression(
                "<",
                MemberAccess("b", None, "volume"),
                ArithmeticExpression("*", Number(0.8), MemberAccess("a", "LEN", "volume")),
            ),
        ),
        within=3_600_000_000,
        items=(
            ReturnItem(MemberAccess("b", None, "name"), None),
            ReturnItem(MemberAccess("a", "", "price", "avg"), "mean"),
        ),
        output="nonoverlap",
        publish="Out",
    )


def test_what_may_be_left_out() -> None:
    query = parse("PATTERN SEQ(S a)")
    assert query == SaseQuery((ComponentExpression("S", "a", "single"),), (), (), (), None, (), "all", None)
    assert parse("PATTERN SEQ(S a) WHERE strict_contiguity(a)") == parse(
        "PATTERN SEQ(S a) WHERE strict_contiguity(a) { } OUTPUT all"
    )


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("b.x", MemberAccess("b", None, "x")),
        ("n.x", MemberAccess("n", None, "x")),
        ("a[1].x", MemberAccess("a", "1", "x")),
        ("a[i].x", MemberAccess("a", "i", "x")),
        ("a[i-1].x", MemberAccess("a", "i-1", "x")),
        ("a[a.LEN].x", MemberAccess("a", "LEN", "x")),
        ("a.LEN", MemberAccess("a", None, "LEN")),
        ("sum(a[].x)", MemberAccess("a", "", "x", "sum")),
        ("max(a[..i-1].x)", MemberAccess("a", "..i-1", "x", "max")),
        ("AVG ( a [ .. I - 1 ] . x )", MemberAccess("a", "..i-1", "x", "avg")),
        ("a[ a.len ] -- the last one\n .x", MemberAccess("a", "LEN", "x")),
    ],
)
def test_references(text: str, member: MemberAccess) -> None:
    assert one(f"{text} = 1") == ComparisonExpression("=", member, Number(1))


def test_functions_of_one_event_are_no_aggregates() -> None:
    assert one("abs(a[1].x) = 1") == ComparisonExpression("=", Call("abs", (MemberAccess("a", "1", "x"),)), Number(1))
    assert one("max(a[i].x, b.x) = 1") == ComparisonExpression(
        "=", Call("max", (MemberAccess("a", "i", "x"), MemberAccess("b", None, "x"))), Number(1)
    )


def test_equivalence_tests_across_names() -> None:
    query = parse("PATTERN SEQ(S a, T+ b[]) WHERE skip_till_next_match(a, b) { [k, a.x = b[].y] AND [b.z = a.z] }")
    first = EqualAttributes((MemberAccess("a", None, "x"), MemberAccess("b", None, "y")))
    second = EqualAttributes((MemberAccess("b", None, "z"), MemberAccess("a", None, "z")))
    assert query.equivalence == (Name(None, "k"), first, second)
    assert "{ [k, a.x = b[].y, b[].z = a.z] }" in print_query(query)


def test_equivalence_tests_are_gathered_and_conjunctions_are_flat() -> None:
    query = parse(f"{SEQUENCE} {{ b.x = 1 AND [k, l] AND (b.y = 2 AND ([m] AND NOT b.z = 3)) }}")
    assert query.equivalence == (Name(None, "k"), Name(None, "l"), Name(None, "m"))
    assert query.conditions == (
        ComparisonExpression("=", MemberAccess("b", None, "x"), Number(1)),
        ComparisonExpression("=", MemberAccess("b", None, "y"), Number(2)),
        Not(ComparisonExpression("=", MemberAccess("b", None, "z"), Number(3))),
    )


def test_a_disjunction_is_one_condition() -> None:
    first, second = ComparisonExpression("=", MemberAccess("b", None, "x"), String("u")), MemberAccess("b", None, "hot")
    assert one("b.x = 'u' OR b.hot") == Or((first, second))


def test_keywords_and_names_of_strategies_and_modes_in_any_case() -> None:
    text = (
        "pattern seq(S+ a[], S b) where Skip_Till_Next_Match(a, b) { a[I].x = 1 } within 5 S return b.x as y output ALL"
    )
    query = parse(text)
    assert query.selections == (StrategyClause("skip_till_next_match", ("a", "b")),)
    assert query.within == 5_000_000
    assert query.items == (ReturnItem(MemberAccess("b", None, "x"), "y"),)


def test_words_are_reserved_only_where_the_grammar_expects_them() -> None:
    query = parse(
        "PATTERN SEQ(where seq, pattern+ i[], S within) WHERE strict_contiguity(seq, i[], within)\n"
        "{ [output] AND seq.return = within.from AND i[i].type = i[i-1].first AND i[i.LEN].last = i.len }\n"
        "RETURN seq.as AS as, within.publish PUBLISH publish"
    )
    assert [component.stream for component in query.components] == ["where", "pattern", "S"]
    assert query.conditions[1] == ComparisonExpression(
        "=", MemberAccess("i", "i", "type"), MemberAccess("i", "i-1", "first")
    )
    assert query.items == (
        ReturnItem(MemberAccess("seq", None, "as"), "as"),
        ReturnItem(MemberAccess("within", None, "publish"), None),
    )
    assert query.publish == "publish"


def test_places_are_those_of_the_words() -> None:
    query = parse("PATTERN SEQ(S a,\n  S b) WHERE strict_contiguity(a, b) { a.x = 1 } WITHIN 5")
    assert [(c.at, c.named_at) for c in query.components] == [(12, 14), (19, 21)]
    assert query.selections[0].at == 30
    assert query.at == len("PATTERN SEQ(S a,\n  S b) WHERE strict_contiguity(a, b) { a.x = 1 } WITHIN ")
