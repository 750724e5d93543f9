"""P-ToPSS in its typed form: what each part of a text becomes, what is refused and where, what is remarked."""

from __future__ import annotations

import pytest
from hypothesis import given
from strategies.composite_subscriptions import lowered as generated
from strategies.composite_subscriptions import subscriptions

from broker.algebra.normal_form import ALWAYS, describe_form
from broker.algebra.partitioned_stream import PartitionedStream
from broker.algebra.ptopss.composite import Composite
from broker.algebra.ptopss.constant_conditions import remarks
from broker.algebra.ptopss.lowering import lower
from broker.algebra.structure import Both, Chain, Condition, Either, Order, Primitive, Structure, leaves, order
from broker.events.errors import QueryError
from broker.events.schema import Schema
from broker.language.ptopss import parse

SCHEMAS = {
    "Log": Schema.declare({"status": "string", "ip": "string", "port": "int?", "load": "float", "hot": "bool"}),
    "Stock": Schema.declare({"name": "string"}),
}


def lowered(text: str) -> Composite:
    return lower(parse(text), text, SCHEMAS.get, lambda: sorted(SCHEMAS))


def logged(pattern: str, predicate: str = "hot") -> Composite:
    return lowered(f"FROM Log\na, b, c, d: {predicate}\nMATCH {pattern}")


def refusal(text: str) -> str:
    with pytest.raises(QueryError) as caught:
        lowered(text)
    return str(caught.value)


def test_a_whole_subscription() -> None:
    composite = lowered(
        "FROM Log BY port, status\n"
        "last: ip = $x AND (port > 1 OR NOT hot)\n"
        "first, middle: port = $y AND $x = ip AND status = 'denied' AND ip = $x\n"
        "MATCH first; (middle AND last) @(t(last) - t(first) < 5 min) WITHIN 1 hour PUBLISH Out"
    )
    assert composite.sources == (PartitionedStream("Log", SCHEMAS["Log"], (2, 0)),)
    assert composite.names == ("first", "middle", "last")
    assert [primitive.variables for primitive in composite.primitives] == [
        ((1, 0), (2, 1)),
        ((1, 0), (2, 1)),
        ((1, 0),),
    ]
    guards = [describe_form(primitive.guard) for primitive in composite.primitives]
    assert guards == ["status = 'denied'", "status = 'denied'", "hot = FALSE OR port > 1"]
    assert composite.variables == ("x", "y")
    assert composite.structure == Chain((0, Both((1, 2))), (";",))
    assert composite.conditions == (Condition(2, 0, "<", 300_000_000),)
    assert composite.within == 3_600_000_000
    assert composite.publish == "Out"
    assert composite.result_schema == Schema.declare({"x": "string", "y": "int"})


def test_several_streams_and_their_times() -> None:
    composite = lowered("FROM Stock, Log a ON Stock: name = $x b ON Log: ip = $x AND time > 5 MATCH a; b")
    assert composite.sources == (
        PartitionedStream("Stock", SCHEMAS["Stock"], ()),
        PartitionedStream("Log", SCHEMAS["Log"], (), timed=True),
    )
    assert [(primitive.source, primitive.variables) for primitive in composite.primitives] == [
        (0, ((0, 0),)),
        (1, ((1, 0),)),
    ]


def test_predicates_that_say_the_same_are_equal_guards() -> None:
    composite = lowered("FROM Log a: port > 1 AND hot b: hot = TRUE AND 1 < port MATCH a; b")
    assert composite.primitives[0].guard == composite.primitives[1].guard
    assert lowered("FROM Log a: ip = $x MATCH a").primitives == (Primitive(ALWAYS, ((1, 0),)),)


@pytest.mark.parametrize(
    ("text", "structure"),
    [
        ("a, b; c; d", Chain((0, 1, 2, 3), (",", ";", ";"))),
        ("a; (b; (c, d))", Chain((0, Chain((1, Chain((2, 3), (",",))), (";",))), (";",))),
        ("d OR c AND b; a", Either((0, Both((1, Chain((2, 3), (";",))))))),
        ("(a AND b) AND (c OR d)", Both((Both((0, 1)), Either((2, 3))))),
    ],
)
def test_structure_and_groups_that_stay(text: str, structure: Structure) -> None:
    composite = logged(text)
    assert composite.structure == structure
    assert list(leaves(composite.structure)) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("a, b; c; d", ["ordered"] * 6),
        ("(a; b) AND (c OR d)", ["ordered", "unordered", "unordered", "unordered", "unordered", "exclusive"]),
        ("a; ((b AND c) OR d)", ["ordered", "ordered", "ordered", "unordered", "exclusive", "exclusive"]),
    ],
)
def test_order_is_what_the_first_common_ancestor_says(text: str, orders: list[Order]) -> None:
    structure = logged(text).structure
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [order(structure, one, other) for one, other in pairs] == orders
    assert [order(structure, other, one) for one, other in pairs] == orders
    with pytest.raises(ValueError, match="in one structure"):
        order(0, 0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FROM Logs a: hot MATCH a", "line 1, column 6: unknown stream 'Logs'; did you mean 'Log'?"),
        ("FROM Log BY prt a: hot MATCH a", "found 'prt', which 'Log' lacks; did you mean 'port'?"),
        ("FROM Stock, Log a ON Stock: ip = 'x' MATCH a", "line 1, column 29: unknown attribute 'ip'"),
        (
            "FROM Stock, Log\na ON Stock: name = $x\nb ON Log: port = $x\nMATCH a; b",
            "line 3, column 11: expected a string for '$x', which 'name' is, found 'port', a int",
        ),
        ("FROM Log, Stock BY ip a ON Log: hot MATCH a", "found 'ip', which 'Stock' lacks"),
        ("FROM Log a: DUR > 5 MATCH a", "expected no DUR, since P-ToPSS reads the time of an event alone, as 'time'"),
        ("FROM Log\na: statu = 'x'\nMATCH a", "line 2, column 4: unknown attribute 'statu'; did you mean 'status'?"),
        ("FROM Log\na: ipp = $x\nMATCH a", "line 2, column 4: unknown attribute 'ipp'; did you mean 'ip'?"),
        ("FROM Log\na: port\nMATCH a", "line 2, column 4: expected a condition, found a value of type int"),
        ("FROM Log\na: port = 'x'\nMATCH a", "line 2, column 11: expected a number to compare with, found a string"),
        (
            "FROM Log\na: $1.port = 1\nMATCH a",
            "line 2, column 4: expected an attribute by its bare name, found '$1.port'",
        ),
        ("FROM Log\na: $2.ip = $x\nMATCH a", "line 2, column 4: expected an attribute by its bare name, found '$2.ip'"),
        ("FROM Log\na: DUR < 5\nMATCH a", "line 2, column 4: expected no DUR"),
        (
            "FROM Log\na: 1 > 2\nMATCH a",
            "line 2, column 6: expected a predicate that can hold, found one that is always",
        ),
        ("FROM Log\na: hot\nb: hot AND FALSE\nMATCH a OR b", "line 3, column 8: expected a predicate that can hold"),
        (
            "FROM Log\na: ip = $x\nb: port = $x\nMATCH a; b",
            "line 3, column 4: expected a string for '$x', which 'ip' is, found 'port', a int",
        ),
        (
            "FROM Log\na: port = $x AND hot = $x\nMATCH a",
            "expected a number for '$x', which 'port' is, found 'hot', a bool",
        ),
    ],
)
def test_refusals(text: str, message: str) -> None:
    assert message in refusal(text)


def test_a_predicate_that_is_too_large_in_normal_form_is_not_multiplied_out() -> None:
    large = " AND ".join(f"(port = {n} OR load = {n})" for n in range(9))
    lowered(f"FROM Log\na: {large}\nMATCH a")


def test_types_of_variables() -> None:
    composite = lowered(
        "FROM Log a: port = $n AND hot = $h b: load = $n c: ip = $s d: status = $s MATCH a AND b AND c AND d"
    )
    assert composite.result_schema == Schema.declare({"n": "float", "h": "bool", "s": "string"})


@pytest.mark.parametrize(
    ("pattern", "nullable"),
    [
        ("a; b; c; d", []),
        ("a AND (b; c), d", []),
        ("a OR b; c; d", ["x", "y"]),
        ("a; (b OR c); d", ["y"]),
        ("(a OR c AND d); b", ["x"]),
        ("c; d; (a OR b)", ["x", "y"]),
    ],
)
def test_a_variable_is_null_where_a_branch_does_not_bind_it(pattern: str, nullable: list[str]) -> None:
    composite = lowered(f"FROM Log\na: ip = $x\nb: status = $y\nc, d: hot\nMATCH {pattern}")
    assert [a.name for a in composite.result_schema.attributes if a.nullable] == nullable


def test_a_variable_that_every_branch_binds_is_not_null() -> None:
    composite = lowered("FROM Log a: ip = $x AND status = $y b: ip = $x c: hot AND ip = $x MATCH a OR b; c")
    assert composite.result_schema == Schema.declare({"x": "string", "y": "string?"})


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a; b @(t(a) - t(b) > 5); c; d", "t(a) - t(b) > 5 us: a comes before b, so it is at most 0 us"),
        ("a; b @(t(a) - t(b) >= 1); c; d", "at most 0 us"),
        ("a; b @(t(a) - t(b) = 1 min); c; d", "t(a) - t(b) = 1 min"),
        ("a; b @(t(b) - t(a) < 0); c; d", "t(b) - t(a) < 0 us: a comes before b, so it is at least 0 us"),
        ("a AND b @(t(a) - t(b) < 0); c; d", "a and b have no order, which makes the difference absolute"),
        ("a; b; c; d @(t(d) - t(a) > 5) WITHIN 5", "so it is at least 0 us and at most 5 us"),
        ("a; b; c; d @(t(a) - t(d) < 0) WITHIN 0", "so it is at least 0 us and at most 0 us"),
        ("a; b; c; d @(t(d) - t(a) != 0) WITHIN 0", "t(d) - t(a) != 0 us"),
    ],
)
def test_conditions_that_never_hold_are_refused(pattern: str, reason: str) -> None:
    message = refusal(f"FROM Log\na, b, c, d: hot\nMATCH {pattern}")
    assert message.startswith(f"line 3, column {pattern.index('@') + 7}: expected a condition that can hold, found ")
    assert reason in message


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("a; b @(t(b) - t(a) < 5) @(t(b) - t(a) > 0); c; d", []),
        ("a; b @(t(a) - t(b) < 5); c; d", ["t(a) - t(b) < 5 us always holds: a comes before b, so it is at most 0 us"]),
        ("a; b @(t(a) - t(b) < 0) @(t(a) - t(b) = 0) @(t(a) - t(b) != 0); c; d", []),
        (
            "a; b @(t(b) - t(a) >= 0); c; d",
            ["t(b) - t(a) >= 0 us always holds: a comes before b, so it is at least 0 us"],
        ),
        ("a AND b @(t(b) - t(a) < 5) @(t(a) - t(b) > 5); c; d", []),
        ("a OR b @(t(b) - t(a) < 5); c; d", ["t(b) - t(a) < 5 us always holds: no match has both a and b"]),
        ("a OR b @(t(a) - t(b) > 5); c; d", ["t(a) - t(b) > 5 us always holds: no match has both a and b"]),
        (
            "a; b; c; d @(t(d) - t(a) <= 2 s) @(t(a) - t(c) < 1) WITHIN 1 s",
            [
                "t(d) - t(a) <= 2 s always holds: a comes before d, so it is at least 0 us and at most 1 s",
                "t(a) - t(c) < 1 us always holds: a comes before c, so it is at least -1 s and at most 0 us",
            ],
        ),
    ],
)
def test_conditions_that_always_hold_are_remarked(pattern: str, found: list[str]) -> None:
    assert remarks(logged(pattern)) == found


@given(subscriptions())
def test_what_is_generated_is_well_formed(text: str) -> None:
    composite = generated(text)
    assert list(leaves(composite.structure)) == list(range(len(composite.primitives)))
    assert composite.result_schema.names == composite.variables
    used = {variable for primitive in composite.primitives for _, variable in primitive.variables}
    assert used == set(range(len(composite.variables)))
    assert all(
        primitive.variables == tuple(sorted(set(primitive.variables)))
        for primitive in composite.primitives
    )
