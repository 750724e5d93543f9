"""SASE+ in its typed form: what each part of a text becomes, on which edge; what is refused and where."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from strategies.sase import lowered as generated
from strategies.sase import queries

from broker.algebra.guard import Guard, Join
from broker.algebra.normal_form import ALWAYS, describe_form
from broker.algebra.partitioned_stream import PartitionedStream
from broker.algebra.sase.lowering import lower
from broker.algebra.sase.pattern import Aggregate, Bound, Component, Pattern
from broker.algebra.terms import Register, Side, walk
from broker.events.errors import QueryError
from broker.events.schema import Schema
from broker.language.sase import parse

SCHEMAS = {
    "Stock": Schema.declare({"name": "string", "price": "float", "volume": "int", "note": "float?"}),
    "News": Schema.declare({"name": "string", "text": "string", "hot": "bool"}),
    "Codes": Schema.declare({"name": "int"}),
}
SEQUENCE = "PATTERN SEQ(Stock+ a[], ~(News n), Stock b)\nWHERE skip_till_next_match(a[], b)\n"


def lowered(text: str) -> Pattern:
    return lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))[0]


def placed(conditions: str, rest: str = "WITHIN 5") -> Pattern:
    return lowered(f"{SEQUENCE}{{ {conditions} }} {rest}")


def refusal(text: str) -> str:
    with pytest.raises(QueryError) as caught:
        lowered(text)
    return str(caught.value)


def shown(guard: Guard | None) -> tuple[str, list[tuple[int, str]], str]:
    """The static part, the joins as (position, register), the rest."""
    assert guard is not None
    joins = [(join.position, join.register.name) for join in guard.joins]
    return describe_form(guard.static), joins, describe_form(guard.residual)


def test_a_whole_pattern() -> None:
    pattern = placed(
        "[name] AND a[1].volume > 1000 AND a[i].price > avg(a[..i-1].price) AND b.volume < 80% * a[a.LEN].volume",
        "WITHIN 1 hour RETURN a[1].name, a.LEN AS n, max(a[].price) OUTPUT nonoverlap PUBLISH Out",
    )
    assert pattern.sources == (
        PartitionedStream("Stock", SCHEMAS["Stock"], (0,)),
        PartitionedStream("News", SCHEMAS["News"], (0,)),
    )
    assert pattern.slots == (
        Aggregate(0, "avg", 1, "float"),
        Bound(0, last=True),
        Bound(0, last=False),
        Aggregate(0, "len", -1, "int"),
        Aggregate(0, "max", 1, "float"),
    )
    a, b = pattern.components
    assert (a.name, a.source, a.strategy, a.kleene) == ("a", 0, "skip_till_next_match", True)
    assert shown(a.begin) == ("a[1].volume > 1000", [], "TRUE")
    assert shown(a.take) == ("TRUE", [], "a[i].price > $.avg(a[..i-1].price)")
    assert a.proceed == Guard((), ALWAYS, (), ALWAYS)
    assert shown(b.begin) == ("TRUE", [], "b.volume < (0.8 * $.a[a.LEN].volume)")
    assert (b.take, b.proceed, b.kleene) == (None, None, False)
    assert [a.take and a.take.reads, b.begin.reads] == [(0,), (1,)]
    (negated,) = pattern.negated
    assert (negated.name, negated.source, negated.place, negated.guard.conjuncts) == ("n", 1, 1, ())
    assert (pattern.within, pattern.output, pattern.publish) == (3_600_000_000, "nonoverlap", "Out")
    assert pattern.result_schema == Schema.declare({"name": "string", "n": "int", "column_3": "float"})
    assert not pattern.trailing


@pytest.mark.parametrize(
    ("condition", "edge", "parts"),
    [
        ("a[1].volume > 5", "begin a", ("a[1].volume > 5", [], "TRUE")),
        ("a[i].volume > 5", "take a", ("a[i].volume > 5", [], "TRUE")),
        ("a[i].name = a[i-1].name", "take a", ("TRUE", [(0, "a[i-1].name")], "TRUE")),
        ("a[i].name = a[1].name", "take a", ("TRUE", [(0, "a[1].name")], "TRUE")),
        ("a[i-1].volume > 5", "take a", ("TRUE", [], "$.a[i-1].volume > 5")),
        ("a[i].volume = max(a[..i-1].volume)", "take a", ("TRUE", [], "a[i].volume = $.max(a[..i-1].volume)")),
        ("a.LEN >= 3", "proceed a", ("TRUE", [], "$.a.LEN >= 3")),
        ("a[a.LEN].volume > a[1].volume", "proceed a", ("TRUE", [], "$.a[1].volume < $.a[a.LEN].volume")),
        ("avg(a[].price) > 2", "proceed a", ("TRUE", [], "$.avg(a[].price) > 2")),
        ("b.volume > 5", "begin b", ("b.volume > 5", [], "TRUE")),
        ("a[1].name = b.name", "begin b", ("TRUE", [(0, "a[1].name")], "TRUE")),
        ("b.price < sum(a[].price)", "begin b", ("TRUE", [], "b.price < $.sum(a[].price)")),
        ("a.LEN > 2 OR b.volume > 5", "begin b", ("TRUE", [], "b.volume > 5 OR $.a.LEN > 2")),
        ("n.hot", "negated", ("n.hot = TRUE", [], "TRUE")),
        ("n.name = a[1].name", "negated", ("TRUE", [(0, "a[1].name")], "TRUE")),
        ("b.name = n.name", "negated", ("TRUE", [(0, "b.name")], "TRUE")),
    ],
)
def test_a_condition_is_on_the_edge_of_its_last_identifier(
    condition: str, edge: str, parts: tuple[str, list[tuple[int, str]], str]
) -> None:
    pattern = placed(condition)
    a, b = pattern.components
    edges = {
        "begin a": a.begin,
        "take a": a.take,
        "proceed a": a.proceed,
        "begin b": b.begin,
        "negated": pattern.negated[0].guard,
    }
    assert shown(edges.pop(edge)) == parts
    assert all(guard is not None and guard.conjuncts == () for guard in edges.values())


def test_a_conjunction_inside_or_and_not_is_split_before_it_is_placed() -> None:
    pattern = placed("NOT (a[1].volume > 5 OR b.volume > 5) AND ((a[1].price > 1 AND b.price > 2) OR a[1].name = 'x')")
    a, b = pattern.components
    assert describe_form(a.begin.static) == (
        "a[1].volume <= 5 AND a[1].name = 'x' OR a[1].volume <= 5 AND a[1].price > 1"
    )
    assert shown(b.begin) == ("b.volume <= 5", [], "$.a[1].name = 'x' OR b.price > 2")
    assert len(a.begin.conjuncts) == len(b.begin.conjuncts) == 2


def test_conditions_that_say_the_same_are_equal_guards() -> None:
    one, other = (placed(text).components[0].begin for text in ("a[1].price > 1.5", "1.5 < a[1].price AND TRUE"))
    assert one.static == other.static
    pattern = lowered("PATTERN SEQ(Stock a, Stock b) WHERE strict_contiguity(a, b) { a.name = 'x' AND b.name = 'x' }")
    assert pattern.components[0].begin == pattern.components[1].begin


def test_what_is_read_twice_is_one_slot() -> None:
    pattern = placed(
        "a[i].price > first(a[..i-1].price) AND a[i].volume > a[1].volume AND b.price > first(a[].price)"
        " AND b.volume > last(a[].volume) AND a[i].name = a[i-1].name AND count(a[].price) < 3 AND a.LEN > 1"
        " AND count(a[].note) > 0"
    )
    assert pattern.slots == (
        Bound(0, last=False),
        Bound(0, last=True),
        Aggregate(0, "len", -1, "int"),
        Aggregate(0, "count", 3, "int"),
    )


def test_strategies_windows_and_trailing_negations() -> None:
    pattern = lowered("PATTERN SEQ(~(News m), Stock a, Stock b, ~(News n)) WITHIN 5")
    assert [component.strategy for component in pattern.components] == ["skip_till_next_match"] * 2
    assert [negated.place for negated in pattern.negated] == [0, 2]
    assert pattern.trailing
    mixed = lowered("PATTERN SEQ(Stock a, Stock b) WHERE strict_contiguity(a) AND skip_till_next_match(b)")
    assert [component.strategy for component in mixed.components] == ["strict_contiguity", "skip_till_next_match"]
    assert mixed.within is None


def test_result_schema() -> None:
    pattern = placed(
        "a[1].volume > 0",
        "WITHIN 5 RETURN b.volume, b.note, a[a.LEN].name AS last, sum(a[].volume) AS s, avg(a[].note) AS m,"
        " count(a[].note) AS c, min(a[].volume) AS low, b.price * 2, 'x' AS x, a.LEN",
    )
    assert pattern.result_schema == Schema.declare(
        {
            "volume": "int",
            "note": "float?",
            "last": "string",
            "s": "int?",
            "m": "float?",
            "c": "int",
            "low": "int",
            "column_8": "float?",
            "x": "string",
            "LEN": "int",
        }
    )
    assert placed("a[1].volume > 0").result_schema == Schema(())


def test_a_test_across_names_partitions_streams_or_is_a_condition() -> None:
    across = "PATTERN SEQ(Stock a, ~(News n), News+ b[]) WHERE skip_till_next_match(a, b[]) {{ [{}] }} WITHIN 5"
    partitioned = lowered(across.format("a.name = b.text = n.text"))
    assert [source.key for source in partitioned.sources] == [(0,), (1,)]
    assert not any(c.begin.conjuncts for c in partitioned.components)
    for test, joined in {
        "b.text = a.name": [("b", "begin"), ("b", "take")],
        "n.text = a.name": [("n", "begin")],
        "n.text = b.text": [("b", "take"), ("n", "begin")],
        "a.name = b.text = n.name": [("b", "begin"), ("b", "take"), ("n", "begin")],
    }.items():
        pattern = lowered(across.format(test))
        assert [source.key for source in pattern.sources] == [(), ()]
        b, (n,) = pattern.components[1], pattern.negated
        assert b.take is not None
        guards = {("b", "begin"): b.begin, ("b", "take"): b.take, ("n", "begin"): n.guard}
        assert [place for place, guard in guards.items() if guard.joins] == joined, test
    several = "PATTERN SEQ(Stock a, News b, News c) WHERE strict_contiguity(a, b, c)"
    chain = lowered(f"{several} {{ [a.name = b.text = c.name] }}")
    assert [len(component.begin.joins) for component in chain.components] == [0, 1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "PATTERN SEQ(Stock a, News b, News c) WHERE partition_contiguity(a, b, c) { [a.name = b.text] }",
            "line 1, column 44: expected an equivalence test such as [name], which partition_contiguity needs, found",
        ),
        (
            "PATTERN SEQ(Stock a, News b) WHERE partition_contiguity(a, b) { [a.price = b.text] }",
            "line 1, column 76: expected a number as in 'Stock', found 'text' of 'News', a string",
        ),
        (
            "PATTERN SEQ(Stock a, News b) WHERE strict_contiguity(a, b) { [a.name = b.txt] }",
            "line 1, column 72: unknown attribute 'txt'; did you mean 'text'?",
        ),
        (
            "PATTERN SEQ(Stock a, Stock b) WHERE strict_contiguity(a, b) { [a.name = b.price] }",
            "expected a number to compare with, found a string",
        ),
        (
            "PATTERN SEQ(Stock a, ~(News m), ~(News n), Stock b) WHERE strict_contiguity(a, b) { [m.text = n.name] }",
            "expected a variable that is not negated in an equivalence test, found none",
        ),
        ("PATTERN SEQ(Stocks a)", "line 1, column 13: unknown stream 'Stocks'; did you mean 'Stock'?"),
        ("PATTERN SEQ(~(Stock n))", "line 1, column 15: expected a component that is not negated, found none"),
        (
            "PATTERN SEQ(Stock a, Stock b) WHERE strict_contiguity(a)",
            "line 1, column 28: expected a strategy for every variable in WHERE, found none for 'b'",
        ),
        (
            "PATTERN SEQ(Stock a) WHERE partition_contiguity(a)",
            "line 1, column 28: expected an equivalence test such as [name], which partition_contiguity needs, found",
        ),
        (
            "PATTERN SEQ(Stock a, News b) WHERE strict_contiguity(a, b) { [price] }",
            "line 1, column 63: expected an attribute that every stream has, found 'price', which 'News' lacks",
        ),
        (
            "PATTERN SEQ(Stock a, Codes b) WHERE strict_contiguity(a, b) { [name] }",
            "line 1, column 64: expected a string as in 'Stock', found 'name' of 'Codes', a int",
        ),
        (
            "PATTERN SEQ(Stock a) WHERE skip_till_any_match(a)",
            "line 1, column 19: expected WITHIN, which skip_till_any_match needs ('a'), found none",
        ),
        (
            "PATTERN SEQ(Stock a, Stock+ b[])",
            "line 1, column 29: expected WITHIN, which a Kleene component under skip_till_next_match needs ('b'),",
        ),
        (
            "PATTERN SEQ(~(News n), Stock a)",
            "line 1, column 20: expected WITHIN, which a negation at the beginning or the end needs ('n'), found none",
        ),
        (
            "PATTERN SEQ(Stock a, ~(News n), ~(News m))",
            "line 1, column 29: expected WITHIN, which a negation at the beginning or the end needs ('n'), found none",
        ),
    ],
)
def test_refusals(text: str, message: str) -> None:
    assert message in refusal(text)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("b.pric > 1", "line 3, column 3: unknown attribute 'pric'; did you mean 'price'?"),
        ("b.LEN > 1", "line 3, column 3: unknown attribute 'LEN'"),
        ("a[a.LEN].LEN > 1", "line 3, column 3: unknown attribute 'LEN'"),
        ("price > 1", "line 3, column 3: expected an attribute of a variable, such as a.price, found 'price'"),
        ("$1.price > 1", "line 3, column 3: expected an attribute of a variable, such as a.price, found '$1.price'"),
        ("b.price > 'x'", "line 3, column 13: expected a number to compare with, found a string"),
        ("b.price", "line 3, column 3: expected a condition, found a value of type float"),
        ("NOT b.price", "line 3, column 7: expected a condition, found a value of type float"),
        ("b.name = max(a[].name)", "line 3, column 12: expected a number in max, found a string"),
        ("DUR > 5", "line 3, column 3: expected no DUR, since SASE+ bounds the time of a match by WITHIN"),
        ("1 > 2", "line 3, column 5: expected a condition that can hold, found one that is always false"),
        ("b.volume > 1 AND FALSE", "line 3, column 20: expected a condition that can hold"),
        (
            "a[i].price < b.price",
            "line 3, column 3: expected 'a[i].price' only beside what comes before it; of all events together:"
            " a[1].price, a[a.LEN].price or an aggregate such as max(a[].price)",
        ),
        ("b.price > avg(a[..i-1].price)", "line 3, column 13: expected 'a[..i-1].price' only beside what comes before"),
        ("a[i].price < a[a.LEN].price", "line 3, column 3: expected 'a[i].price' only beside what comes before it"),
        ("n.name = a[i].name", "line 3, column 12: expected 'a[i].name' only beside what comes before it"),
    ],
)
def test_conditions_that_are_refused(condition: str, message: str) -> None:
    assert message in refusal(f"{SEQUENCE}{{ {condition} }} WITHIN 5")


def test_two_negated_variables_have_no_condition_in_common() -> None:
    text = "PATTERN SEQ(Stock a, ~(News m), ~(News n), Stock b) WHERE strict_contiguity(a, b) { m.name = n.name }"
    assert "expected one negated variable in a condition, found 'n' too" in refusal(text)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("a[i].price", "line 3, column 21: expected 'a[i].price' only beside what comes before it"),
        ("n.name", "line 3, column 21: expected a variable that has an event, found 'n', which is negated"),
        ("b.name, a[1].name", "line 3, column 29: expected each name once, found 'name' twice; rename one with AS"),
        ("b.nme", "line 3, column 21: unknown attribute 'nme'; did you mean 'name'?"),
    ],
)
def test_items_that_are_refused(items: str, message: str) -> None:
    assert message in refusal(f"{SEQUENCE}{{ }} WITHIN 5 RETURN {items}")


def test_conditions_that_are_too_large_are_not_multiplied_out() -> None:
    alternatives = " OR ".join(f"(b.volume = {n} AND b.price = {n})" for n in range(9))
    placed(alternatives)
    conjunction = " AND ".join(f"(b.volume = {n} OR b.price = {n})" for n in range(9))
    placed(conjunction)


@pytest.mark.parametrize("joint", [" AND ", " OR "])
def test_long_conditions_are_lowered_quickly(joint: str) -> None:
    conditions = joint.join(f"b.volume != {n} + a[1].volume" for n in range(900))
    begin = time.process_time()
    guard = placed(conditions).components[1].begin
    assert time.process_time() - begin < 60.0
    assert [len(clause) for clause in guard.residual] == ([900] if joint == " AND " else [1] * 900)


@given(queries())
def test_what_is_generated_is_well_formed(text: str) -> None:
    pattern = generated(text)
    for number, component in enumerate(pattern.components):
        for guard in guards(component):
            assert set(guard.reads) <= set(range(len(pattern.slots)))
            assert all(pattern.slots[slot].component <= number for slot in guard.reads)
            assert all(isinstance(pattern.slots[join.register.slot], Bound) for join in guard.joins)
        assert not any(reads_the_event(guard) for guard in guards(component) if guard is component.proceed)
        assert all(pattern.slots[slot].component < number for slot in component.begin.reads)
    for _, term in pattern.items:
        assert not any(getattr(part, "side", None) is Side.EVENT for part in walk(term))
    for slot in pattern.slots:
        if isinstance(slot, Aggregate) or slot.last:
            assert pattern.components[slot.component].kleene


def guards(component: Component) -> list[Guard]:
    return [guard for guard in (component.begin, component.take, component.proceed) if guard is not None]


def reads_the_event(guard: Guard) -> bool:
    return any(getattr(part, "side", None) is Side.EVENT for term in guard.conjuncts for part in walk(term))


def test_a_join_is_of_an_event_attribute_and_an_attribute_of_a_bound_event() -> None:
    (join,) = placed("b.name = a[1].name AND a[1].name = b.name").components[1].begin.joins
    assert join == Join(0, Register(0, 0, "string"))
