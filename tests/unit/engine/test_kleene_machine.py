"""Machines of SASE+ patterns on known cases: the papers' examples, keys, negations, and how runs are kept."""

from __future__ import annotations

import pytest
from doubles.kleene_player import Player, Result

from broker.algebra.sase.lowering import lower
from broker.algebra.sase.semantics import Assignment, Event
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.engine.executors.kleene.kleene_plan import KleenePlan, compile_kleene
from broker.engine.executors.kleene.machine import KleeneMachine
from broker.events.errors import LimitExceeded
from broker.events.schema import Schema
from broker.language.sase import parse

SCHEMAS = {
    "X": Schema.declare({"name": "string", "price": "float", "volume": "int"}),
    "S": Schema.declare({"ty": "string"}),
    "G": Schema.declare({"ty": "string", "g": "int"}),
    "Shelf": Schema.declare({"tag": "int"}),
    "Register": Schema.declare({"tag": "int"}),
    "Exit": Schema.declare({"tag": "int", "door": "string"}),
}
FIGURE = (
    (100.0, 1010),
    (120.0, 990),
    (120.0, 1005),
    (121.0, 999),
    (120.0, 999),
    (125.0, 750),
    (120.0, 950),
    (120.0, 700),
)
TICKS: list[Event] = [("X", time, ("A", *values)) for time, values in enumerate(FIGURE, 1)]
LETTERS: list[Event] = [("S", time, (letter,)) for time, letter in enumerate("ACBABCBC", 1)]
ALL = (True, False)


def query3(strategy: str, aggregate: str = "avg") -> str:
    block = (
        f"[name] AND a[1].volume > 1000 AND a[i].price > {aggregate}(a[..i-1].price)"
        " AND b.volume < 80% * a[a.LEN].volume"
    )
    return f"PATTERN SEQ(X+ a[], X b) WHERE {strategy}(a[], b) {{ {block} }} WITHIN 60"


def planned(text: str) -> KleenePlan:
    return compile_kleene(automaton_of_pattern(lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))[0]))


def results(text: str, events: list[Event], columns: bool = True) -> list[Result]:
    plan = planned(text)
    player = Player(plan, KleeneMachine(plan, None, columns))
    found = [result for event in events for result in player.pass_time(event[1]) + player.take(event)]
    return found + player.pass_time()


def assigned(text: str, events: list[Event], columns: bool = True) -> list[Assignment]:
    """Events by component, counted from 1."""
    return [tuple(tuple(i + 1 for i in part) for part in found[0]) for found in results(text, events, columns)]


@pytest.mark.parametrize("columns", ALL)
def test_query_3_skipping_till_the_next_match_has_three_results(columns: bool) -> None:
    found = assigned(query3("skip_till_next_match"), TICKS, columns)
    assert found == [((1, 2, 3, 4, 5), (6,)), ((3, 4), (6,)), ((1, 2, 3, 4, 5, 6, 7), (8,))]


def test_query_3_contiguous_has_two_results() -> None:
    assert assigned(query3("strict_contiguity"), TICKS) == [((1, 2, 3, 4, 5), (6,)), ((1, 2, 3, 4, 5, 6, 7), (8,))]


def test_query_3_skipping_any_has_68_results() -> None:
    assert len(assigned(query3("skip_till_any_match"), TICKS)) == 68


@pytest.mark.parametrize("columns", ALL)
def test_the_highest_price_merges_runs_and_keeps_their_results(columns: bool) -> None:
    found = assigned(query3("skip_till_next_match", "max"), TICKS, columns)
    assert found[:2] == [((1, 2, 4), (6,)), ((3, 4), (6,))]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("strict_contiguity", [((4,), (5,), (6,))]),
        (
            "skip_till_next_match",
            [((1,), (3, 5), (6,)), ((4,), (5,), (6,)), ((1,), (3, 5, 7), (8,)), ((4,), (5, 7), (8,))],
        ),
    ],
)
def test_a_kleene_component_in_the_middle(strategy: str, expected: list[Assignment]) -> None:
    block = "a.ty = 'A' AND b[1].ty = 'B' AND b[i].ty = 'B' AND c.ty = 'C'"
    text = f"PATTERN SEQ(S a, S+ b[], S c) WHERE {strategy}(a, b[], c) {{ {block} }} WITHIN 100"
    assert sorted(assigned(text, LETTERS)) == sorted(expected)


@pytest.mark.parametrize("columns", ALL)
@pytest.mark.parametrize("output", ["", " OUTPUT compressed"])
def test_a_kleene_component_that_may_skip_anything_has_14(columns: bool, output: str) -> None:
    block = "a.ty = 'A' AND b[1].ty = 'B' AND b[i].ty = 'B' AND c.ty = 'C'"
    text = f"PATTERN SEQ(S a, S+ b[], S c) WHERE skip_till_any_match(a, b[], c) {{ {block} }} WITHIN 100{output}"
    found = assigned(text, LETTERS, columns)
    assert len(found) == len(set(found)) == 14


def test_adjacency_within_a_partition() -> None:
    events: list[Event] = [
        ("G", t, row) for t, row in enumerate([("A", 1), ("C", 2), ("B", 1), ("A", 1), ("C", 1), ("B", 1)])
    ]
    text = "PATTERN SEQ(G a, G b) WHERE partition_contiguity(a, b) { [g] AND a.ty = 'A' AND b.ty = 'B' }"
    assert assigned(text, events) == [((1,), (3,))]


def test_joins_make_a_key_and_a_negation_in_the_middle_is_a_mark() -> None:
    text = (
        "PATTERN SEQ(Shelf a, ~(Register b), Exit c) WHERE skip_till_next_match(a, b, c)"
        " { a.tag = b.tag AND a.tag = c.tag } WITHIN 12 hours"
    ).replace("a, b, c)", "a, c)", 1)
    plan = planned(text)
    assert [part.positions for part in plan.key] == [(0, 0)]
    assert plan.negations[0].rest == ((),)
    events: list[Event] = [
        ("Shelf", 1, (1,)), ("Shelf", 2, (2,)), ("Register", 3, (1,)), ("Exit", 4, (1, "w")), ("Exit", 5, (2, "w"))
    ]  # fmt: skip
    assert assigned(text, events) == [((2,), (5,))]


def test_a_trailing_negation_is_told_when_time_has_passed() -> None:
    text = "PATTERN SEQ(S a, ~(S n)) WHERE skip_till_next_match(a) { a.ty = 'A' AND n.ty = 'B' } WITHIN 2"
    plan = planned(text)
    player = Player(plan, KleeneMachine(plan))
    told = [player.take(event) for event in LETTERS[:6]]
    assert told == [[]] * 6
    found = player.pass_time(7)
    assert found == []  # the B at 5 is within 2 of the A at 4
    assert [f[1:3] for f in results(text, [("S", 4, ("A",)), ("S", 7, ("C",))])] == [(4, 4)]


def test_results_that_do_not_overlap() -> None:
    events: list[Event] = [("S", time, (letter,)) for time, letter in enumerate("AABAB", 1)]
    text = "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { a.ty = 'A' AND b.ty = 'B' } OUTPUT nonoverlap"
    assert assigned(text, events) == [((1,), (3,)), ((4,), (5,))]


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (query3("skip_till_next_match"), "columns of numbers"),
        (query3("skip_till_next_match", "max"), "stacks of equal runs"),
        (query3("skip_till_any_match"), "runs one by one"),
        (query3("skip_till_any_match", "max"), "groups that share their pasts"),
        (query3("strict_contiguity"), "runs one by one"),
    ],
)
def test_conditions_decide_how_runs_are_kept(text: str, method: str) -> None:
    assert KleeneMachine(planned(text)).method == method


def test_what_numbers_cannot_stand_for_turns_a_key_into_plain_runs() -> None:
    events: list[Event] = [
        ("X", 1, ("A", 1.0, 2000)),
        ("X", 2, ("A", 2.0, 1 << 60)),
        ("X", 3, ("A", 3.0, (1 << 60) - 1)),
    ]
    text = query3("skip_till_next_match").replace("80% * a[a.LEN].volume", "a[a.LEN].volume")
    expected = assigned(text, events, False)
    assert assigned(text, events) == expected == [((1, 2), (3,)), ((2,), (3,))]


def test_a_pattern_has_a_limit_on_its_conditions() -> None:
    names = [f"v{n}" for n in range(32)]
    parts = ", ".join(f"S+ {name}[]" for name in names)
    block = " AND ".join(f"{name}[1].ty = '{name}' AND {name}[i].ty != '{name}'" for name in names)
    listed = ", ".join(f"{name}[]" for name in names)
    with pytest.raises(LimitExceeded, match="at most 62"):
        planned(f"PATTERN SEQ({parts}) WHERE strict_contiguity({listed}) {{ {block} }}")
