"""P-ToPSS as it is read: what binds how, which words are reserved where, and what keeps a hostile text cheap."""

from __future__ import annotations

import time

import pytest

from broker.events.errors import QueryError
from broker.language import limits
from broker.language.ptopss import parse
from broker.language.ptopss.syntax import (
    BothExpression,
    ConditionExpression,
    Definition,
    EitherExpression,
    JoinExpression,
    NamedStream,
    Pattern,
    PrimitiveDeclaration,
    PtopssQuery,
    SequenceExpression,
    Timed,
    conditions,
    primitives,
)
from broker.language.syntax import And, ComparisonExpression, Name, Number, Or, String

A, B, C, D = map(PrimitiveDeclaration, "abcd")


def matched(pattern: str) -> Pattern:
    return parse(f"FROM S a, b, c, d: x MATCH {pattern}").pattern


def defined(predicate: str) -> Definition:
    return parse(f"FROM S a: {predicate} MATCH a").definitions[0]


def test_a_whole_query_with_the_places_of_its_parts() -> None:
    text = (
        "FROM Log BY host, user\n"
        "s1, s2: status = 'denied' AND ip = $x\n"
        "s3: ip = $x\n"
        "MATCH s1; s2 @(t(s2) - t(s1) < 5 min), s3 WITHIN 1 hour PUBLISH Intrusions"
    )
    query = parse(text)
    ip, denied = (
        JoinExpression(Name(None, "ip"), "x"),
        ComparisonExpression("=", Name(None, "status"), String("denied")),
    )
    time_condition = ConditionExpression(PrimitiveDeclaration("s2"), PrimitiveDeclaration("s1"), "<", 300_000_000)
    assert query == PtopssQuery(
        (NamedStream("Log"),),
        (Name(None, "host"), Name(None, "user")),
        (
            Definition((PrimitiveDeclaration("s1"), PrimitiveDeclaration("s2")), (ip,), denied),
            Definition((PrimitiveDeclaration("s3"),), (ip,), None),
        ),
        SequenceExpression(
            (
                PrimitiveDeclaration("s1"),
                Timed(PrimitiveDeclaration("s2"), (time_condition,)),
                PrimitiveDeclaration("s3"),
            ),
            (";", ","),
        ),
        3_600_000_000,
        "Intrusions",
    )
    assert text[query.at :].startswith("Log")
    assert [text[name.at :][:2] for d in query.definitions for name in d.names] == ["s1", "s2", "s3"]
    assert [text[join.at :][:2] for d in query.definitions for join in d.joins] == ["$x", "$x"]
    assert [text[name.at :][:2] for name in primitives(query.pattern)] == ["s1", "s2", "s3"]
    assert [text[condition.at] for condition in conditions(query.pattern)] == ["@"]
    (condition,) = conditions(query.pattern)
    assert (text[condition.minuend.at :][:2], text[condition.subtrahend.at :][:2]) == ("s2", "s1")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a, b; c, d", SequenceExpression((A, B, C, D), (",", ";", ","))),
        ("a; (b, c); d", SequenceExpression((A, SequenceExpression((B, C), (",",)), D), (";", ";"))),
        ("a; b AND c; d", BothExpression((SequenceExpression((A, B), (";",)), SequenceExpression((C, D), (";",))))),
        ("a AND b OR c AND d", EitherExpression((BothExpression((A, B)), BothExpression((C, D))))),
        ("a OR b OR c OR d", EitherExpression((A, B, C, D))),
        ("(a OR b) OR (c OR d)", EitherExpression((EitherExpression((A, B)), EitherExpression((C, D))))),
        ("a; (b OR c AND d)", SequenceExpression((A, EitherExpression((B, BothExpression((C, D))))), (";",))),
        ("(((a))); ((b; c; d))", SequenceExpression((A, SequenceExpression((B, C, D), (";", ";"))), (";",))),
        ("a and b Or c aNd d", EitherExpression((BothExpression((A, B)), BothExpression((C, D))))),
    ],
)
def test_comma_and_semicolon_bind_tightest_then_and_then_or(text: str, tree: Pattern) -> None:
    assert matched(text) == tree


def test_conditions_follow_an_operand_or_a_group_and_several_may_follow() -> None:
    less, more = ConditionExpression(B, A, "<", 5), ConditionExpression(C, A, ">=", 2_000)
    assert matched("a; b @(t(b) - t(a) < 5); c; d") == SequenceExpression((A, Timed(B, (less,)), C, D), (";",) * 3)
    assert matched("a; b; c @(t(b)-t(a)<5)@(T(c)-t(a)>=2 ms); d") == SequenceExpression(
        (A, B, Timed(C, (less, more)), D), (";",) * 3
    )
    group = Timed(SequenceExpression((A, B), (",",)), (less,))
    assert matched("(a, b) @(t(b) - t(a) < 5); c; d") == SequenceExpression((group, C, D), (";", ";"))
    assert matched("((a, b) @(t(b) - t(a) < 5)) @(t(c) - t(a) >= 2 ms); c; d") == SequenceExpression(
        (Timed(group, (more,)), C, D), (";", ";")
    )


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_all_six_operators(operator: str) -> None:
    (found,) = conditions(matched(f"a; b @(t(b) - t(a) {operator} 7); c; d"))
    assert (found.operator, found.duration) == (operator, 7)


def test_joins_are_taken_out_of_the_conjunction_wherever_they_stand() -> None:
    x, y = JoinExpression(Name(None, "u"), "x"), JoinExpression(Name(None, "v"), "y")
    p, q = Name(None, "p"), Name(None, "q")
    assert defined("u = $x") == Definition((A,), (x,), None)
    assert defined("$x = u") == Definition((A,), (x,), None)
    assert defined("p AND u = $x AND q AND v = $y") == Definition((A,), (x, y), And((p, q)))
    assert defined("(p AND (u = $x)) AND (v = $y AND q)") == Definition((A,), (x, y), And((p, q)))
    assert defined("u = $x AND (p OR q)") == Definition((A,), (x,), Or((p, q)))
    assert defined("(p AND q) AND p AND u = $x") == Definition((A,), (x,), And((And((p, q)), p)))


def test_definitions_name_their_streams_where_there_are_several() -> None:
    query = parse("FROM S, T BY k a, b -- of S\n on S: x ON oN -- on\n T: y MATCH a; b, ON")
    assert query.streams == (NamedStream("S"), NamedStream("T"))
    assert [definition.stream for definition in query.definitions] == list(query.streams)
    assert [[name.name for name in definition.names] for definition in query.definitions] == [["a", "b"], ["ON"]]
    assert parse("FROM S a ON S: x MATCH a") == parse("FROM S a: x MATCH a")


def test_keywords_are_reserved_only_where_the_grammar_expects_them() -> None:
    query = parse(
        "from from by by, match\n"
        "by: within = 1 s: match = 5 s and: $t = t\n"
        "or, min: not true OR x < 5 match, t: min = 1\n"
        "within: and\n"
        "match by and and or or; min @(t(min) - t(t) < 5 min), t AND match, within; s within 5 publish publish"
    )
    assert query.streams == (NamedStream("from"),)
    assert query.partition == (Name(None, "by"), Name(None, "match"))
    names = [name.name for definition in query.definitions for name in definition.names]
    assert names == ["by", "s", "and", "or", "min", "match", "t", "within"]
    assert query.definitions[1].predicate == ComparisonExpression("=", Name(None, "match"), Number(5_000_000))
    assert query.definitions[2].joins == (JoinExpression(Name(None, "t"), "t"),)
    assert [p.name for p in primitives(query.pattern)] == ["by", "and", "or", "min", "t", "match", "within", "s"]
    assert query.publish == "publish"


def test_a_definition_after_a_number_is_no_unit_of_time() -> None:
    query = parse("FROM S a: x = 5 s: x = 3 min, b: x = 1 min MATCH a; s; min; b")
    x = Name(None, "x")
    assert [([name.name for name in d.names], d.predicate) for d in query.definitions] == [
        (["a"], ComparisonExpression("=", x, Number(5))),
        (["s"], ComparisonExpression("=", x, Number(3))),
        (["min", "b"], ComparisonExpression("=", x, Number(60_000_000))),
    ]


def test_comments_and_layout_stand_anywhere_also_between_the_names_of_a_definition() -> None:
    text = "FROM S -- x: y\na -- one, b:\n , -- two\n\tb -- three\n: x -- c: z\nMATCH a -- ; c\n;b"
    query = parse(text)
    assert query.definitions == (Definition((A, B), (), Name(None, "x")),)
    assert query.pattern == SequenceExpression((A, B), (";",))
    assert [text[name.at] for name in query.definitions[0].names] == ["a", "b"]


@pytest.mark.parametrize(
    ("written", "microseconds"),
    [("0", 0), ("5", 5), ("5 us", 5), ("5min", 300_000_000), ("1.5 ms", 1_500), ("2 Weeks", 1_209_600_000_000)],
)
def test_durations(written: str, microseconds: int) -> None:
    assert parse(f"FROM S a: x MATCH a WITHIN {written}").within == microseconds


def test_as_many_operands_as_the_limit_says() -> None:
    names = [f"n{number}" for number in range(limits.OPERANDS_MAX + 1)]
    parse(f"FROM S {', '.join(names[:-1])}: x MATCH {'; '.join(names[:-1])}")
    with pytest.raises(QueryError, match="expected at most 60 operands in MATCH"):
        parse(f"FROM S {', '.join(names)}: x MATCH {' AND '.join(names)}")


@pytest.mark.parametrize(
    "text",
    [
        "FROM S a: x MATCH " + "(" * 10_000 + "a" + ")" * 10_000,
        "FROM S a: " + "(" * 10_000 + "x" + ")" * 10_000 + " MATCH a",
        "FROM S a: u = $x AND " + "NOT " * 10_000 + "x MATCH a",
        "FROM S a: u = $x AND " + "- " * 10_000 + "x MATCH a",
        "FROM S a: " + "+".join(["x"] * 10_000) + " MATCH a",
    ],
    ids=lambda text: text[:24],
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="expected at most 100 levels of nesting"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "FROM S " + "a, " * 20_000,
        "FROM S " + "a\n" * 30_000,
        "FROM S " + "a" * 60_000,
        "FROM S a: x " + "b, " * 20_000,
        "FROM S a" + " " * 60_000,
        "FROM S a" + "--\n" * 20_000,
        "FROM S " + "a: x " * 12_000 + "MATCH a",
        "FROM S a: x MATCH " + "a; " * 20_000 + "a",
        "FROM S a, b: x MATCH a; b " + "@(t(a) - t(b) < 1) " * 3_000 + "; c",
        "FROM S a: " + "u = $x AND " * 5_000 + "x OR y MATCH a",
        "FROM S a: " + "$x " * 20_000,
    ],
    ids=lambda text: text[:24],
)
def test_long_hostile_texts_are_refused_quickly(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(QueryError):
        parse(text)
    assert time.process_time() - begin < 20.0
