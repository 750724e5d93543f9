"""The denotation of P-ToPSS against the conformance cases, against examples worked out by hand, and its own laws."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from strategies.composite_subscriptions import histories, lowered, subscriptions

from broker.algebra.ptopss.composite import Composite
from broker.algebra.ptopss.lowering import lower
from broker.algebra.ptopss.semantics import Assignment, Event, binding, tuples
from broker.algebra.structure import Both, Chain, Either, Structure
from broker.events.schema import Row, Schema
from broker.events.validation import row_from_mapping
from broker.language.ptopss import parse
from broker.language.subscription_file import read_subscription_file

CASES_FILE = Path(__file__).parents[2] / "conformance" / "cases.jsonl"
CASES = [
    case
    for case in map(json.loads, CASES_FILE.read_text().splitlines())
    if case["language"] == "ptopss" and "error" not in case["expect"]
]
SCHEMA = Schema.declare({"ty": "string", "k": "string?", "n": "int?", "w": "float?"})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_conformance_case(case: dict[str, Any]) -> None:
    file = read_subscription_file(case["subscriptions"], case["id"])
    streams = {stream.name: stream for stream in file.streams}
    expect = dict(case["expect"])
    name = expect.pop("subscription", file.subscriptions[0].name)
    text = next(subscription.query for subscription in file.subscriptions if subscription.name == name)
    composite = lower(parse(text), text, lambda s: streams[s].schema if s in streams else None, lambda: list(streams))
    events = [(e["stream"], e["time"], row_from_mapping(streams[e["stream"]], e["data"])) for e in case["events"]]
    found = tuples(composite, events)
    lineages = sorted([case["events"][i]["id"] for i in match if i is not None] for match in found)
    ends = sorted({max(events[i][1] for i in match if i is not None) for match in found})
    names = composite.result_schema.names
    data = sorted([dict(zip(names, binding(composite, match, events), strict=True)) for match in found], key=str)
    answers = {"data": data, "lineages": lineages, "ends": ends, "count": len(found)}
    wanted = {key: sorted(want) if key == "lineages" else want for key, want in expect.items()}
    assert {key: answers[key] for key in wanted} == wanted


def composite_of(text: str) -> Composite:
    return lower(parse(text), text, {"S": SCHEMA}.get, lambda: ["S"])


def meaning(text: str, events: list[Event]) -> set[Assignment]:
    return tuples(composite_of(text), events)


def letters(word: str, times: list[int] | None = None, key: str = "", number: int | None = None) -> list[Event]:
    """An event a letter, at 1, 2, 3 ... or at the times given; `key` has a letter an event, '-' for null."""
    rows: list[Row] = [
        (letter, None if not key or key[i] == "-" else key[i], number, None) for i, letter in enumerate(word)
    ]
    return [("S", time, row) for time, row in zip(times or range(1, len(word) + 1), rows, strict=True)]


ABCD = "FROM S a: ty = 'A' b: ty = 'B' c: ty = 'C' d: ty = 'D' MATCH "
INTRUSION = (
    "FROM S\ns1, s2, s3: k = $x AND ty = 'denied'\ns4: k = $x AND ty = 'success'\n"
    "MATCH s1; s2; s3 @(t(s3) - t(s1) < 5 min); s4"
)


def test_table_1_the_intrusion() -> None:
    kinds = ["denied", "denied", "denied", "success", "logoff", "success"]
    times = [2_290_000_000, 2_530_000_000, 2_530_000_000, 2_608_000_000, 2_636_000_000, 2_728_000_000]
    hosts = ["15", "15", "15", "15", "15", "10"]
    happened = zip(times, kinds, hosts, strict=True)
    events: list[Event] = [("S", t, (kind, host, None, None)) for t, kind, host in happened]
    composite = composite_of(INTRUSION)
    assert tuples(composite, events) == {(0, 1, 2, 3)}
    assert binding(composite, (0, 1, 2, 3), events) == ("15",)
    late = [*events[:2], ("S", 2_590_000_000, events[2][2]), *events[3:]]
    assert tuples(composite, late) == set()  # exactly five minutes are not less than five


FIGURE_7 = (
    "FROM S s1: ty = '1' s2: ty = '2' s3: ty = '3' "
    "MATCH s1; s2 @(t(s2) - t(s1) < 3); s3 @(t(s3) - t(s1) < 6) @(t(s3) - t(s2) > 3)"
)


def test_figure_7_three_conditions_in_a_triangle() -> None:
    assert meaning(FIGURE_7, letters("11122233")) == {(2, 3, 7)}


FIGURE_5 = (
    "FROM S s1: ty = '1' s2: ty = '2' s3: ty = '3' s4: ty = '4' s5: ty = '5' s6: ty = '6' s7: ty = '7' s8: ty = '8' "
    "MATCH s1; ((s2, s3) AND (s4, s5)); s6; (s7 OR s8)"
)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("1234568", {(0, 1, 2, 3, 4, 5, None, 6)}),
        ("1452367", {(0, 3, 4, 1, 2, 5, 6, None)}),
        ("1243567", set()),  # 2 and 3 are not adjacent any more
        ("12364567", {(0, 1, 2, 4, 5, 6, 7, None)}),
        (
            "123456678",
            {(0, 1, 2, 3, 4, s6, 7, None) for s6 in (5, 6)} | {(0, 1, 2, 3, 4, s6, None, 8) for s6 in (5, 6)},
        ),
        ("1234523676", {(0, 1, 2, 3, 4, 7, 8, None), (0, 5, 6, 3, 4, 7, 8, None)}),
        ("2314567", set()),  # the children begin after s1
    ],
)
def test_figure_5_boolean_machines(word: str, found: set[Assignment]) -> None:
    assert meaning(FIGURE_5, letters(word)) == found


def test_order_is_order_of_arrival_also_between_equal_times() -> None:
    assert meaning("FROM S a: ty = 'A' b: ty = 'B' MATCH a; b @(t(b) - t(a) = 0)", letters("ABA", [5, 5, 5])) == {
        (0, 1)
    }
    assert meaning("FROM S a: ty = 'A' b: ty = 'B' MATCH a; b @(t(b) - t(a) > 0)", letters("ABB", [5, 5, 6])) == {
        (0, 2)
    }


def test_one_event_serves_one_operand() -> None:
    assert meaning("FROM S a, b: ty = 'A' MATCH a; b", letters("A")) == set()
    assert meaning("FROM S a, b: ty = 'A' MATCH a AND b", letters("A")) == set()
    assert meaning("FROM S a, b: ty = 'A' MATCH a AND b", letters("AA")) == {(0, 1), (1, 0)}
    nested = "FROM S a, b, c: ty = 'A' MATCH (a; b) AND c"
    assert meaning(nested, letters("AAA")) == {(0, 1, 2), (0, 2, 1), (1, 2, 0)}


def test_an_event_that_fits_two_branches_makes_two_matches() -> None:
    assert meaning("FROM S a, b: ty = 'A' MATCH a OR b", letters("A")) == {(0, None), (None, 0)}


def test_a_composite_before_a_comma_is_followed_by_the_very_next_event() -> None:
    assert meaning(ABCD + "(a AND b), c; d", letters("BACD")) == {(1, 0, 2, 3)}
    assert meaning(ABCD + "(a AND b), c; d", letters("ABDCD")) == set()
    assert meaning(ABCD + "(a; b), c; d", letters("ADBCD")) == {(0, 2, 3, 4)}


def test_a_composite_after_a_comma_begins_with_the_very_next_event() -> None:
    assert meaning(ABCD + "a, (b AND c); d", letters("ACDBD")) == {(0, 3, 1, 4)}
    assert meaning(ABCD + "a, (b AND c); d", letters("ADCBD")) == set()
    assert meaning(ABCD + "a, (b; c); d", letters("ABDCD")) == {(0, 1, 3, 4)}
    assert meaning(ABCD + "a, (b OR c), d", letters("ACDABD")) == {(0, None, 1, 2), (3, 4, None, 5)}


def test_adjacency_is_of_the_whole_stream_and_within_by_of_the_partition() -> None:
    pattern = "a: ty = 'A' AND k = $x b: ty = 'B' AND k = $x MATCH a, b"
    events = letters("AABB", key="xyxy")
    assert meaning(f"FROM S {pattern}", events) == set()
    assert meaning(f"FROM S BY k {pattern}", events) == {(0, 2), (1, 3)}


def test_events_without_a_partition_are_as_if_they_were_not_there() -> None:
    pattern = "a: ty = 'A' b: ty = 'B' MATCH a, b"
    assert meaning(f"FROM S BY k {pattern}", letters("ACB", key="x-x")) == {(0, 2)}
    assert meaning(f"FROM S BY k {pattern}", letters("AAB", key="-xx")) == {(1, 2)}
    assert meaning(f"FROM S BY k, n {pattern}", letters("AB", key="xx")) == set()


def test_a_null_satisfies_neither_join_nor_guard() -> None:
    joined = "FROM S a: ty = 'A' AND k = $x b: ty = 'B' AND k = $x MATCH a; b"
    assert meaning(joined, letters("AABB", key="-x-x")) == {(1, 3)}
    assert meaning("FROM S a: NOT k = 'x' MATCH a", letters("AAA", key="-xy")) == {(2,)}


def test_an_int_and_a_float_join_as_numbers_and_are_a_float_then() -> None:
    composite = composite_of("FROM S a: n = $x b: w = $x MATCH a; b")
    events: list[Event] = [
        ("S", 1, ("A", None, 2, None)),
        ("S", 2, ("B", None, None, 2.0)),
        ("S", 3, ("B", None, None, 2.5)),
    ]
    assert tuples(composite, events) == {(0, 1)}
    (value,) = binding(composite, (0, 1), events)
    assert (type(value), value) == (float, 2.0)


def test_one_variable_on_two_attributes_and_two_on_one() -> None:
    both = "FROM S a: n = $x AND w = $x MATCH a"
    assert meaning(both, [("S", 1, ("A", None, 1, 1.0)), ("S", 2, ("A", None, 1, 2.0))]) == {(0,)}
    composite = composite_of("FROM S a: n = $x AND n = $y b: n = $y MATCH a; b")
    events: list[Event] = [("S", 1, ("A", None, 1, None)), ("S", 2, ("A", None, 1, None))]
    assert tuples(composite, events) == {(0, 1)}
    assert binding(composite, (0, 1), events) == (1, 1)


def test_a_branch_that_is_not_taken_binds_nothing_and_breaks_no_condition() -> None:
    text = "FROM S a: ty = 'A' AND k = $x b: ty = 'B' AND k = $y c: ty = 'C' MATCH (a OR b); c @(t(c) - t(a) < 2)"
    composite = composite_of(text)
    events = letters("ABCC", key="pqrs")
    assert tuples(composite, events) == {(None, 1, 2), (None, 1, 3)}
    assert binding(composite, (None, 1, 2), events) == (None, "q")


def test_a_condition_between_branches_never_applies() -> None:
    text = "FROM S a: ty = 'A' b: ty = 'B' MATCH a OR b @(t(b) - t(a) > 1 hour)"
    assert meaning(text, letters("AB")) == {(0, None), (None, 1)}


@pytest.mark.parametrize("difference", ["t(a) - t(b)", "t(b) - t(a)"])
def test_between_the_parts_of_an_and_the_difference_is_absolute(difference: str) -> None:
    expected: dict[str, set[Assignment]] = {"<": {(0, 1)}, "=": {(2, 1)}, ">": set(), "!=": {(0, 1)}, ">=": {(2, 1)}}
    for operator, found in expected.items():
        text = f"FROM S a: ty = 'A' b: ty = 'B' MATCH a AND b @({difference} {operator} 2)"
        assert meaning(text, letters("ABA", [1, 2, 4])) == found
    deep = f"FROM S a: ty = 'A' b: ty = 'B' c: ty = 'C' MATCH (c; a) AND b @({difference} = 2)"
    assert meaning(deep, letters("CABCA", [1, 3, 5, 6, 7])) == {(0, 1, 2), (0, 4, 2), (3, 4, 2)}


def test_between_ordered_operands_the_difference_is_as_written() -> None:
    assert meaning("FROM S a: ty = 'A' b: ty = 'B' MATCH a; b @(t(a) - t(b) < 1)", letters("AB", [1, 9])) == {(0, 1)}
    assert meaning("FROM S a: ty = 'A' b: ty = 'B' MATCH a; b @(t(a) - t(b) < 0)", letters("ABB", [1, 1, 9])) == {
        (0, 2)
    }


def test_within_is_inclusive_and_spans_all_events_of_the_match() -> None:
    assert meaning(ABCD + "a; b; c; d WITHIN 3", letters("ABCDD")) == {(0, 1, 2, 3)}
    either = "FROM S a: ty = 'A' b: ty = 'B' c: ty = 'C' MATCH a AND (b OR c) WITHIN 1"
    assert meaning(either, letters("CABC", [1, 3, 4, 5])) == {(1, 2, None)}


def test_conditions_reach_across_machines() -> None:
    """Cases 2, 3 and 5 of table 3: master to child, child to master, and children of different Boolean nodes."""
    text = ABCD + "a; (b OR c @(t(c) - t(a) > 2)); d @(t(d) - t(b) < 2)"
    assert meaning(text, letters("ABCCDD", [1, 2, 3, 4, 5, 6])) == {(0, None, 3, 4), (0, None, 3, 5)}
    apart = "FROM S a, c: ty = 'A' b, d: ty = 'B' MATCH (a OR b); (c OR d) @(t(d) - t(a) > 1)"
    assert meaning(apart, letters("ABB", [1, 2, 3])) == {(0, None, None, 2), (None, 1, None, 2)}


@given(subscriptions(most=4), histories(most=7))
def test_matches_are_whole(text: str, events: list[Event]) -> None:
    composite = lowered(text)
    for match in tuples(composite, events):
        taken = [index for index in match if index is not None]
        assert len(match) == len(composite.primitives)
        assert len(set(taken)) == len(taken) > 0
        if composite.within is not None:
            assert events[max(taken)][1] - events[min(taken)][1] <= composite.within
        values = binding(composite, match, events)
        for value, attribute in zip(values, composite.result_schema.attributes, strict=True):
            assert value is not None or attribute.nullable


@given(subscriptions(most=4), histories(most=6))
def test_a_longer_stream_keeps_its_matches_and_adds_only_what_its_last_event_completes(
    text: str, events: list[Event]
) -> None:
    composite = lowered(text)
    whole, before = tuples(composite, events), tuples(composite, events[:-1])
    assert before == {match for match in whole if len(events) - 1 not in match}


def regrouped(structure: Structure) -> Structure:
    """Parts of AND and OR in the other order, a longer chain as one of two parts."""
    match structure:
        case int():
            return structure
        case Both(parts):
            return Both(tuple(regrouped(part) for part in reversed(parts)))
        case Either(parts):
            return Either(tuple(regrouped(part) for part in reversed(parts)))
        case Chain((first, *rest), (separator, *others)) if others:
            return Chain((regrouped(first), regrouped(Chain(tuple(rest), tuple(others)))), (separator,))
        case Chain(parts, separators):
            return Chain(tuple(regrouped(part) for part in parts), separators)


@given(subscriptions(), histories(most=8))
def test_and_and_or_commute_and_chains_associate(text: str, events: list[Event]) -> None:
    composite = lowered(text)
    assert tuples(composite, events) == tuples(replace(composite, structure=regrouped(composite.structure)), events)


@given(subscriptions(most=4), histories(most=7))
def test_an_or_is_the_disjoint_union_of_its_parts(text: str, events: list[Event]) -> None:
    composite = lowered(text)
    if isinstance(composite.structure, Either):
        parts = [tuples(replace(composite, structure=part), events) for part in composite.structure.parts]
        assert tuples(composite, events) == set().union(*parts)
        assert len(tuples(composite, events)) == sum(map(len, parts))
