"""How many runs an automaton may have, from its states, whatever its language."""

from __future__ import annotations

import pytest

from broker.automaton.analyses.growth import Growth, growth_of
from broker.engine import Engine

HOUR = 3_600_000_000


def growth(language: str, query: str) -> Growth | None:
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "p": "float"})
    engine.subscribe("q", language=language, query=query)
    return growth_of(engine.catalog.subscriptions["q"].automata()[0])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("FILTER{p > 1}(S)", Growth(0, False, False, None)),
        ("S NEXT{$2.ty = $1.ty} S", Growth(0, False, False, None)),
        ("(S NEXT{$2.ty = $1.ty} S) NEXT{$2.ty = $1.ty} S", Growth(0, False, False, None)),
        ("S NEXT{$2.ty = $1.ty AND $2.p > $1.p} S", Growth(1, False, True, None)),
        ("S FOLD{$2.ty = $.ty, $2.p > $.p} S", Growth(1, False, False, None)),
    ],
)
def test_cel(query: str, expected: Growth) -> None:
    assert growth("cayuga", query) == expected


@pytest.mark.parametrize(
    ("pattern", "strategy", "expected"),
    [
        ("S a, S b", "strict_contiguity(a, b)", Growth(0, False, False, HOUR)),
        ("S a, S b", "skip_till_next_match(a, b)", Growth(1, False, True, HOUR)),
        ("S a, S b, S c", "skip_till_next_match(a, b, c)", Growth(1, False, True, HOUR)),
        ("S a, S b", "skip_till_any_match(a, b)", Growth(1, False, True, HOUR)),
        ("S a, S b, S c", "skip_till_any_match(a, b, c)", Growth(2, False, True, HOUR)),
        ("S a, S+ b[], S c", "skip_till_any_match(a, b[], c)", Growth(2, True, True, HOUR)),
    ],
)
def test_sase(pattern: str, strategy: str, expected: Growth) -> None:
    assert growth("sase", f"PATTERN SEQ({pattern}) WHERE {strategy} {{ a.p > 1 }} WITHIN 1 hour") == expected


def test_a_composite_of_three_has_pairs_of_events() -> None:
    found = growth("ptopss", "FROM S a: p > 1 b: p > 2 c: p > 3 MATCH a; b; c WITHIN 1 hour")
    assert found == Growth(2, False, True, HOUR)


def test_automata_with_other_times_have_analyses_of_their_own() -> None:
    assert growth("afa", "FROM S START a FINAL b a -> b WHEN p > 1 WITHIN 5 us") is None


def test_a_growth_says_how_many_runs_there_may_be() -> None:
    assert str(Growth(0, False, False, None)) == "a key has one run a step"
    found = Growth(2, False, True, HOUR)
    assert str(found) == "a key may have as many runs as events of WITHIN 1 hour, to the power of 2"
    assert Growth(1, False, True, None).for_ever
    assert not Growth(0, False, False, None).for_ever
    assert not Growth(1, True, True, HOUR).for_ever
