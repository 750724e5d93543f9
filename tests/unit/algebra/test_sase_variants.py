"""Patterns whose elements may be absent: what they mean under each strategy, by hand and by the plain patterns that
they stand for, written as texts.

Streams are words: `A1 B2` are events of stream S whose `ty` is the letter, at these times; a result is written as the
places of its events by variable, from 1.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.algebra.sase.lowering import lower
from broker.algebra.sase.pattern import Variants, schema_of_variants
from broker.algebra.sase.semantics import Event, matches_of_variants, returned
from broker.events.errors import QueryError
from broker.events.schema import Schema
from broker.language.sase import parse

SCHEMAS = {"S": Schema.declare({"ty": "string", "n": "int", "k": "int?"}), "T": Schema.declare({"n": "int"})}
STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")


def lowered(text: str) -> Variants:
    return lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))


def word(text: str) -> list[Event]:
    return [("S", int(letter[1:]), (letter[0], place, 0)) for place, letter in enumerate(text.split(), 1)]


def found(text: str, events: list[Event]) -> list[dict[str, list[int]]]:
    return [
        {component.name: [index + 1 for index in part] for component, part in zip(pattern.components, assignment)}
        for pattern, assignment in matches_of_variants(lowered(text), events)
    ]


def values(text: str, events: list[Event]) -> list[tuple[object, ...]]:
    variants = lowered(text)
    return [tuple(returned(pattern, events, match)) for pattern, match in matches_of_variants(variants, events)]


def letters(strategy: str, pattern: str, *more: str) -> str:
    """A pattern of S whose variables are letters that their events have, such as "S a, S? b"."""
    names = [element.strip("~()?[]").split()[-1] for element in pattern.replace(" | ", ", ").split(", ")]
    covered = [name for name in names if f"~(S {name})" not in pattern]
    forms = {name: ("[1]", "[i]") if f"{name}[]" in pattern else ("",) for name in names}
    events = [f"{name}{form}.ty = '{name.upper()}'" for name in names for form in forms[name]]
    conditions = " AND ".join(("[k]", *events, *more))
    return f"PATTERN SEQ({pattern}) WHERE {strategy}({', '.join(covered)}) {{ {conditions} }} WITHIN 100"


# --- optional elements ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("strict_contiguity", [{"a": [1], "b": [2], "c": [3]}, {"a": [5], "c": [6]}]),
        ("partition_contiguity", [{"a": [1], "b": [2], "c": [3]}, {"a": [5], "c": [6]}]),
        ("skip_till_next_match", [{"a": [1], "b": [2], "c": [3]}, {"a": [5], "c": [6]}]),
        (
            "skip_till_any_match",
            [
                {"a": [1], "b": [2], "c": [3]},
                {"a": [1], "c": [3]},
                {"a": [1], "b": [2], "c": [6]},
                {"a": [1], "c": [6]},
                {"a": [5], "c": [6]},
            ],
        ),
    ],
)
def test_an_optional_element_between_two_others(strategy: str, expected: list[dict[str, list[int]]]) -> None:
    """Only skip till any match passes by an event that would fit."""
    assert found(letters(strategy, "S a, S? b, S c"), word("A1 B2 C3 X4 A5 C6")) == expected


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_optional_element_at_the_beginning_or_the_end_says_nothing_where_it_is_absent(strategy: str) -> None:
    first = found(letters(strategy, "S? a, S b"), word("A1 B2"))
    assert first == [{"a": [1], "b": [2]}, {"b": [2]}]
    last = found(letters(strategy, "S a, S? b"), word("A1 B2"))
    assert last == [{"a": [1]}, {"a": [1], "b": [2]}]


def test_a_condition_that_names_an_absent_element_is_not_demanded() -> None:
    events = word("A1 C2 A3 B4 C5")
    assert found(letters("skip_till_next_match", "S a, S? b, S c", "c.n > b.n + 1"), events) == [{"a": [1], "c": [2]}]
    either = letters("skip_till_next_match", "S a, S? b, S c", "(b.n > 100 OR c.n > 100)")
    assert found(either, events) == [{"a": [1], "c": [2]}]


def test_skip_till_next_match_demands_the_first_event_that_fits_with_what_came_before() -> None:
    """A condition on the absent element and an earlier one is part of fitting; one that a later one tests is not."""
    optional = "S a, S? b, S c"
    assert found(letters("skip_till_next_match", optional, "b.n > a.n + 1"), word("A1 B2 C3")) == [{"a": [1], "c": [3]}]
    assert found(letters("skip_till_next_match", optional, "b.n > a.n"), word("A1 B2 C3")) == [
        {"a": [1], "b": [2], "c": [3]}
    ]
    assert found(letters("skip_till_next_match", optional, "c.n > b.n + 1"), word("A1 B2 C3")) == []


def test_strategies_of_different_elements() -> None:
    def mixed(first: str, second: str) -> list[dict[str, list[int]]]:
        text = letters("X", "S a, S? b, S c").replace("X(a, b, c)", f"{first}(b) AND {second}(a, c)")
        return found(text, word("A1 B2 C3"))

    both = [{"a": [1], "b": [2], "c": [3]}, {"a": [1], "c": [3]}]
    assert mixed("skip_till_any_match", "skip_till_next_match") == both
    assert mixed("strict_contiguity", "skip_till_next_match") == both  # contiguity demands nothing of an absent one
    assert mixed("skip_till_next_match", "skip_till_any_match") == both[:1]
    assert mixed("skip_till_next_match", "strict_contiguity") == both[:1]


def test_negations_beside_optional_elements() -> None:
    text = letters("skip_till_any_match", "S a, ~(S n), S? b, S c")
    assert found(text, word("A1 B2 N3 C4")) == [{"a": [1], "b": [2], "c": [4]}]
    assert found(text, word("A1 N2 B3 C4")) == []
    led = letters("skip_till_any_match", "~(S n), S? a, S b", "n.n < a.n")
    assert found(led, word("N1 A2 B3 B4")) == []
    assert found(led.replace("n.n < a.n", "n.n > a.n"), word("N1 A2 B3")) == [{"a": [2], "b": [3]}]


def test_results_read_null_of_absent_elements_and_count_no_events() -> None:
    text = letters("skip_till_next_match", "S a, S? b") + " RETURN a.n AS a, b.n AS b, b.n + 1, b.ty AS ty"
    assert values(text, word("A1 B2")) == [(1, None, None, None), (1, 2, 3, "B")]
    nullable = {a.name: a.nullable for a in schema_of_variants(lowered(text)).attributes}
    assert nullable == {"a": False, "b": True, "column_3": True, "ty": True}


def test_nonoverlapping_results_are_chosen_among_all_variants() -> None:
    text = letters("skip_till_any_match", "S? a, S b") + " OUTPUT nonoverlap"
    assert found(text, word("A1 B2 A3 B4")) == [{"a": [1], "b": [2]}, {"a": [3], "b": [4]}]


def test_streams_of_absent_elements_count_for_contiguity() -> None:
    text = "PATTERN SEQ(S a, T? t, S b) WHERE strict_contiguity(a, t, b) { t.n > 5 }"
    a, b = ("S", 1, ("A", 1, 0)), ("S", 3, ("B", 2, 0))
    assert found(text, [a, b]) == [{"a": [1], "b": [2]}]
    assert found(text, [a, ("T", 2, (1,)), b]) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PATTERN SEQ(S? a, S? b)", "line 1, column 13: expected an element that cannot be absent, found none"),
        (
            "PATTERN SEQ(S? a, ~(S n), S b)",
            "line 1, column 13: expected an element that cannot be absent before the negation of 'n', found none",
        ),
        (
            "PATTERN SEQ(S a, ~(S n), S? b, S? c)",
            "line 1, column 26: expected an element that cannot be absent behind the negation of 'n', found none",
        ),
        (
            f"PATTERN SEQ(S z, {', '.join(f'S? a{number}' for number in range(7))})",
            "line 1, column 60: expected at most 64 combinations of elements that may be absent, found more",
        ),
        (
            "PATTERN SEQ(S a, S? b) WHERE strict_contiguity(a)",
            "line 1, column 21: expected a strategy for every variable in WHERE, found none for 'b'",
        ),
        (
            "PATTERN SEQ(S a, S? b) WHERE skip_till_any_match(a, b)",
            "line 1, column 15: expected WITHIN, which skip_till_any_match needs ('a'), found none",
        ),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        lowered(text)
    assert message in str(caught.value)


# --- numbers of events ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("strict_contiguity", [[2, 3], [3]]),
        ("partition_contiguity", [[2, 3], [3]]),
        ("skip_till_next_match", [[1, 2], [2, 3], [3]]),
        ("skip_till_any_match", [[1], [1, 2], [1, 3], [2], [2, 3], [3]]),
    ],
)
def test_bounds(strategy: str, expected: list[list[int]]) -> None:
    """A component that has its most takes no more: a further event does not fit, and skip till next match skips it."""
    told = found(letters(strategy, "S{1,2} b[], S c"), word("B1 B2 B3 C4"))
    assert sorted(match["b"] for match in told) == expected


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_bounds_are_no_more_than_conditions_on_the_length_where_events_are_adjacent(strategy: str) -> None:
    bounded, events = letters(strategy, "S a, S{2,3} b[], S c"), word("A1 B2 B3 B4 C5 A6 B7 C8 A9 B10 B11 C12")
    tested = letters(strategy, "S a, S+ b[], S c", "b.LEN >= 2", "b.LEN <= 3")
    if strategy != "skip_till_next_match":
        assert found(bounded, events) == found(tested, events)
    assert {"a": [1], "b": [2, 3, 4], "c": [5]} in found(bounded, events)
    assert not any(len(match["b"]) < 4 for match in found(bounded.replace("{2,3}", "{4,}"), events))


def test_a_last_component_reports_each_number_of_events_within_its_bounds() -> None:
    text = letters("skip_till_next_match", "S a, S{2,3} b[]")
    assert [match["b"] for match in found(text, word("A1 B2 B3 B4 B5"))] == [[2, 3], [2, 3, 4]]
    assert [match["b"] for match in found(text.replace("{2,3}", "{2}"), word("A1 B2 B3 B4 B5"))] == [[2, 3]]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("strict_contiguity", [{"a": [1], "b": [2, 3], "c": [4]}, {"a": [5], "c": [6]}]),
        ("partition_contiguity", [{"a": [1], "b": [2, 3], "c": [4]}, {"a": [5], "c": [6]}]),
        (
            "skip_till_next_match",  # behind c4, b may still take an event, as with S+ b[]
            [{"a": [1], "b": [2, 3], "c": [4]}, {"a": [1], "b": [2, 3], "c": [6]}, {"a": [5], "c": [6]}],
        ),
    ],
)
def test_any_number_of_events(strategy: str, expected: list[dict[str, list[int]]]) -> None:
    assert found(letters(strategy, "S a, S* b[], S c"), word("A1 B2 B3 C4 A5 C6")) == expected


def test_any_number_of_events_skip_till_any_match() -> None:
    told = found(letters("skip_till_any_match", "S a, S* b[], S c"), word("A1 B2 B3 C4"))
    assert [match.get("b", []) for match in told] == [[2, 3], [2], [3], []]


def test_a_component_without_events_has_the_length_0() -> None:
    text = letters("skip_till_next_match", "S a, S* b[], S c", "b.LEN > 1")
    text += " RETURN b.LEN, count(b[].k) AS known, avg(b[].n) AS mean, b[1].n AS first, sum(b[].n) AS total"
    assert values(text, word("A1 C2")) == [(0, 0, None, None, None)]
    assert values(text, word("A1 B2 B3 C4")) == [(2, 2, 2.5, 2, 5)]


# --- alternatives -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["strict_contiguity", "partition_contiguity", "skip_till_next_match"])
def test_alternatives(strategy: str) -> None:
    text = letters(strategy, "S a, (S b | S c), S d")
    expected = [{"a": [1], "b": [2], "d": [3]}, {"a": [4], "c": [5], "d": [6]}]
    assert found(text, word("A1 B2 D3 A4 C5 D6")) == expected


def test_the_first_event_that_fits_an_alternative_decides_under_skip_till_next_match() -> None:
    events = word("A1 B2 C3 D4")
    assert found(letters("skip_till_next_match", "S a, (S b | S c), S d"), events) == [{"a": [1], "b": [2], "d": [4]}]
    both = [{"a": [1], "b": [2], "d": [4]}, {"a": [1], "c": [3], "d": [4]}]
    assert found(letters("skip_till_any_match", "S a, (S b | S c), S d"), events) == both


def test_an_event_that_fits_two_alternatives_makes_two_matches() -> None:
    text = "PATTERN SEQ(S a, (S b | S c)) WHERE strict_contiguity(a, b, c) { a.ty = 'A' AND b.n > 1 AND c.k = 0 }"
    assert found(text, word("A1 B2")) == [{"a": [1], "b": [2]}, {"a": [1], "c": [2]}]


def test_alternatives_at_the_ends_may_be_kleene_components_and_optional() -> None:
    text = letters("skip_till_next_match", "(S a | S b), S c, (S+ d[] | S e)?")
    assert found(text, word("B1 C2 D3 D4")) == [
        {"b": [1], "c": [2]},
        {"b": [1], "c": [2], "d": [3]},
        {"b": [1], "c": [2], "d": [3, 4]},
    ]
    assert found(text, word("A1 C2 E3")) == [{"a": [1], "c": [2]}, {"a": [1], "c": [2], "e": [3]}]
    inside = letters("skip_till_next_match", "S a, (S b | S c)?, S d")
    assert found(inside, word("A1 D2")) == [{"a": [1], "d": [2]}]
    assert found(inside, word("A1 C2 D3")) == [{"a": [1], "c": [2], "d": [3]}]


def test_results_and_equivalence_tests_read_the_alternative_that_is_there() -> None:
    text = letters("skip_till_next_match", "S a, (S b | S c)", "[a.k = b.k = c.k]")
    text += " RETURN b.n AS b, c.n AS c, coalesce(b.ty, c.ty) AS ty"
    assert values(text, word("A1 C2")) == [(None, 2, "C")]
    assert values(text, word("A1 B2")) == [(2, None, "B")]


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ("b.n = a.n", "column 64: expected a condition on one of several alternatives, found 'b' and 'a'; write"),
        ("(a.n = 1 OR b.n = 1)", "expected a condition on one of several alternatives, found 'a' and 'b'"),
    ],
)
def test_conditions_on_two_alternatives_are_refused(conditions: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        lowered(f"PATTERN SEQ((S a | S b)) WHERE strict_contiguity(a, b) {{ {conditions} }}")
    assert message in str(caught.value)


# --- against plain patterns ---------------------------------------------------------------------------------------

NAMES = ("a", "b", "c", "d")


@given(
    st.sampled_from(STRATEGIES),
    st.lists(st.sampled_from(["", "", "?", "?"]), min_size=2, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from("<>=")), max_size=3),
    st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 3)), max_size=7),
    st.data(),
)
def test_variants_are_the_plain_patterns_that_they_stand_for(
    strategy: str,
    marks: list[str],
    joins: list[tuple[int, int, str]],
    history: list[tuple[str, int]],
    data: st.DataObject,
) -> None:
    marks[data.draw(st.integers(0, len(marks) - 1))] = ""
    pair = data.draw(st.none() | st.integers(0, len(marks) - 2))
    if pair is not None:
        marks[pair : pair + 2] = ["", ""]
    names = NAMES[: len(marks)]
    conditions: list[tuple[tuple[str, ...], str]] = []
    conditions += [((name,), f"{name}.ty = '{data.draw(st.sampled_from('ABC'))}'") for name in names]
    for one, other, sign in joins:
        if one < other < len(names) and (pair is None or (one, other) != (pair, pair + 1)):
            conditions.append(((names[one], names[other]), f"{names[other]}.n {sign} {names[one]}.n"))
    events: list[Event] = [("S", time, (ty, n, 0)) for time, (ty, n) in enumerate(history)]

    def text(elements: list[str], wanted: list[str], covered: list[str]) -> str:
        where = f"{strategy}({', '.join(covered)}) {{ {' AND '.join(['[k]', *wanted])} }}"
        return f"PATTERN SEQ({', '.join(elements)}) WHERE {where} WITHIN 50"

    meant: list[dict[str, list[int]]] = []
    paired = {} if pair is None else {names[pair]: names[pair + 1], names[pair + 1]: names[pair]}
    optional = [name for name, mark in zip(names, marks) if mark or name in paired]
    for absent in [set(some) for size in range(len(optional) + 1) for some in combinations(optional, size)]:
        there = [name for name in names if name not in absent]
        if paired and len(absent & {*paired}) != 1:
            continue
        first, last = names.index(there[0]), names.index(there[-1])
        # The absent one of a pair stands before the other.
        places = {name: min(names.index(name), names.index(paired.get(name, name))) for name in names}
        denied = {name for name in absent if first < places[name] <= last and name != paired.get(there[0])}
        denied = denied if strategy == "skip_till_next_match" else set()
        shown = sorted({*there, *denied}, key=lambda name: (places[name], name in there, name))
        elements = [f"~(S {name})" if name in denied else f"S {name}" for name in shown]
        wanted = [
            condition
            for named, condition in conditions
            if not absent & {*named} or (absent & {*named} == {named[-1]} and named[-1] in denied)
        ]
        meant += found(text(elements, wanted, there), events)
    elements = [f"S{mark} {name}" for name, mark in zip(names, marks)]
    if pair is not None:
        elements[pair : pair + 2] = [f"({elements[pair]} | {elements[pair + 1]})"]
    told = found(text(elements, [condition for _, condition in conditions], list(names)), events)
    assert Counter(map(str, told)) == Counter(map(str, meant))
    assert len(set(map(str, told))) == len(told), "no match twice"
