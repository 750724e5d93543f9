"""Which tree each construct of CEL reads as."""

from __future__ import annotations

import pytest

from broker.events.errors import QueryError
from broker.events.instant import UNITS, parse_duration
from broker.language.cayuga import parse
from broker.language.cayuga.syntax import (
    CelQuery,
    Filter,
    FoldExpression,
    Next,
    Select,
    SelectItem,
    Star,
    StreamExpression,
    StreamReference,
    UnionExpression,
)
from broker.language.syntax import (
    And,
    ArithmeticExpression,
    Boolean,
    Call,
    ComparisonExpression,
    DurationExpression,
    Expression,
    Name,
    Negative,
    Not,
    Number,
    Or,
    String,
)

A, B, C = StreamReference("A"), StreamReference("B"), StreamReference("C")
a, b, c = Name(None, "a"), Name(None, "b"), Name(None, "c")


def stream(text: str) -> StreamExpression:
    query = parse(text)
    assert query.publish is None
    return query.source


def condition(text: str) -> Expression:
    source = stream(f"FILTER{{{text}}}(S)")
    assert isinstance(source, Filter)
    return source.condition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", A),
        ("((A))", A),
        ("A NEXT{} B NEXT{a} C", Next(a, Next(None, A, B), C)),
        ("A NEXT{} (B NEXT{a} C)", Next(None, A, Next(a, B, C))),
        ("A UNION B NEXT{} C UNION A", UnionExpression(UnionExpression(A, Next(None, B, C)), A)),
        ("FILTER{a} FILTER{b} A NEXT{} FILTER{c}(B)", Next(None, Filter(a, Filter(b, A)), Filter(c, B))),
        ("SELECT * FROM A", Select((Star(),), A)),
        (
            "SELECT a, *, b AS c FROM A UNION B",
            Select((SelectItem(a, None), Star(), SelectItem(b, "c")), UnionExpression(A, B)),
        ),
        ("(SELECT a FROM A) NEXT{} B", Next(None, Select((SelectItem(a, None),), A), B)),
        (
            "next NEXT{} fold UNION from",
            UnionExpression(Next(None, StreamReference("next"), StreamReference("fold")), StreamReference("from")),
        ),
    ],
)
def test_streams(text: str, expected: StreamExpression) -> None:
    assert stream(text) == expected


N = SelectItem(ArithmeticExpression("+", Name("", "n"), Number(1)), "n")
M = SelectItem(Number(2), "m")


@pytest.mark.parametrize(
    ("parts", "stay", "rebind", "aggregates"),
    [
        ("", None, None, ()),
        (",", None, None, ()),
        (" , , ", None, None, ()),
        ("a", a, None, ()),
        ("a,", a, None, ()),
        ("a,,", a, None, ()),
        (",b", None, b, ()),
        ("a,b", a, b, ()),
        ("a,b,", a, b, ()),
        ("a, $.n + 1 AS n", a, None, (N,)),
        (", $.n + 1 AS n", None, None, (N,)),
        ("a, $.n + 1 AS n, 2 AS m", a, None, (N, M)),
        ("a,b, $.n + 1 AS n, 2 AS m", a, b, (N, M)),
        (",, $.n + 1 AS n", None, None, (N,)),
    ],
)
def test_the_parts_of_a_fold(
    parts: str, stay: Expression | None, rebind: Expression | None, aggregates: tuple[SelectItem, ...]
) -> None:
    assert stream(f"A FOLD{{{parts}}} B") == FoldExpression(stay, rebind, aggregates, A, B)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a OR b AND NOT c OR a", Or((a, And((b, Not(c))), a))),
        ("(a AND b) AND c", And((And((a, b)), c))),
        ("NOT a = b", Not(ComparisonExpression("=", a, b))),
        (
            "a + b * c ^ 2 < 3",
            ComparisonExpression(
                "<",
                ArithmeticExpression("+", a, ArithmeticExpression("*", b, ArithmeticExpression("^", c, Number(2)))),
                Number(3),
            ),
        ),
        ("a - b - c", ArithmeticExpression("-", ArithmeticExpression("-", a, b), c)),
        ("a / b / c", ArithmeticExpression("/", ArithmeticExpression("/", a, b), c)),
        ("a ^ b % c", ArithmeticExpression("%", ArithmeticExpression("^", a, b), c)),
        ("-a ^ b", ArithmeticExpression("^", Negative(a), b)),
        ("a -b", ArithmeticExpression("-", a, b)),
        ("$1.a != $2.b", ComparisonExpression("!=", Name("1", "a"), Name("2", "b"))),
        ("$.a >= DUR", ComparisonExpression(">=", Name("", "a"), DurationExpression())),
        ("$.dur", Name("", "dur")),
        ("contains(a, 'it''s -- {')", Call("contains", (a, String("it's -- {")))),
        ("f()", Call("f", ())),
        ("true or FALSE", Or((Boolean(True), Boolean(False)))),
        ("min < min(a, max)", ComparisonExpression("<", Name(None, "min"), Call("min", (a, Name(None, "max"))))),
        ("and and or or or", Or((And((Name(None, "and"), Name(None, "or"))), Name(None, "or")))),
    ],
)
def test_expressions(text: str, expected: Expression) -> None:
    assert condition(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("007", 7),
        ("7.50", 7.5),
        ("7e2", 700.0),
        ("7.5E-1", 0.75),
        (str(2**63 - 1), 2**63 - 1),
        ("80%", 0.8),
        ("7.5%", 0.075),
        ("2e2%", 2.0),
        ("100%", 1.0),
        ("5 min", 300_000_000),
        ("5MINS", 300_000_000),
        ("1.5 s", 1_500_000),
        ("12 hours", 43_200_000_000),
        ("3 us", 3),
    ],
)
def test_numbers(text: str, value: int | float) -> None:
    assert repr(condition(text)) == repr(Number(value))


@pytest.mark.parametrize("unit", sorted(UNITS))
def test_every_unit_of_a_duration_is_a_unit_here(unit: str) -> None:
    assert condition(f"2 {unit.upper()}") == Number(parse_duration(f"2 {unit}"))


def test_a_percentage_touches_its_sign_and_a_remainder_does_not() -> None:
    assert condition("5 % 2") == ArithmeticExpression("%", Number(5), Number(2))
    assert condition("a%2") == ArithmeticExpression("%", a, Number(2))
    assert condition("5% * 2") == ArithmeticExpression("*", Number(0.05), Number(2))
    with pytest.raises(QueryError, match="digits directly before % make a percentage"):
        condition("5%2")


def test_words_are_names_where_no_keyword_may_stand() -> None:
    query = parse(
        "SELECT from, to AS from, type, first, select, next, 5 min AS min, union FROM publish PUBLISH publish"
    )
    assert query.publish == "publish"
    assert isinstance(query.source, Select)
    assert query.source.source == StreamReference("publish")
    names = [item.expression for item in query.source.items if isinstance(item, SelectItem)]
    assert names[0] == Name(None, "from")
    assert names[1] == Name(None, "to")
    assert stream("SELECT from FROM S") == Select((SelectItem(Name(None, "from"), None),), StreamReference("S"))


def test_comments_and_line_breaks_are_space() -> None:
    text = "SELECT a -- no ' nor {\r\n, b\tFROM --\n S -- the end"
    assert parse(text) == parse("SELECT a, b FROM S")


def test_every_node_knows_its_place() -> None:
    text = "SELECT $1.a AS x FROM FILTER{NOT b = -3}(S FOLD{, , f('s') + DUR AS y} T) PUBLISH P"
    query = parse(text)
    assert query == CelQuery(query.source, "P")
    select = query.source
    assert isinstance(select, Select)
    item, outer = select.items[0], select.source
    assert isinstance(item, SelectItem)
    assert isinstance(outer, Filter)
    negation, fold = outer.condition, outer.source
    assert isinstance(negation, Not)
    assert isinstance(negation.operand, ComparisonExpression)
    assert isinstance(fold, FoldExpression)
    total = fold.aggregates[0].expression
    assert isinstance(total, ArithmeticExpression)
    nodes: list[tuple[Expression | StreamExpression | SelectItem, str]] = [
        (select, "SELECT"),
        (item, "$1.a"),
        (item.expression, "$1.a"),
        (outer, "FILTER"),
        (negation, "NOT"),
        (negation.operand, "= -3"),
        (negation.operand.left, "b ="),
        (negation.operand.right, "-3"),
        (fold, "FOLD"),
        (fold.left, "S FOLD"),
        (fold.right, "T)"),
        (total, "+"),
        (total.left, "f("),
        (total.right, "DUR"),
    ]
    for node, begins in nodes:
        assert text.startswith(begins, node.at), node
