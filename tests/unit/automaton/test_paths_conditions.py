"""Time conditions as allowed distances; which of them the others imply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.composite_subscriptions import histories, lowered, subscriptions

from broker.algebra.functions import compare
from broker.algebra.ptopss import semantics as meaning
from broker.algebra.ptopss.composite import Composite
from broker.automaton.constructions.composite.conditions import (
    FINISH,
    START,
    Requirement,
    requirements,
)
from broker.automaton.constructions.composite.decomposition import decompose
from broker.automaton.distances import ANY, FOREVER, Distances, distances


def asked(match: str) -> dict[tuple[int, int], Distances]:
    composite = lowered(f"FROM S\na, b, c, d: TRUE\nMATCH {match}")
    return {requirement.pair: requirement.allowed for requirement in requirements(decompose(composite))}


@given(st.sampled_from(["<", "<=", "=", "!=", ">", ">="]), st.integers(-3, 5), st.integers(0, 9))
def test_distances_are_those_that_compare_so(operator: str, duration: int, distance: int) -> None:
    allowed = any(low <= distance <= high for low, high in distances(operator, duration))
    assert allowed == compare(operator, distance, duration)


def test_ranges_that_touch_are_one() -> None:
    assert distances("!=", -3) == ANY
    assert distances("!=", 0) == ((1, FOREVER),)
    assert distances("<", 0) == ()


@pytest.mark.parametrize(
    "match",
    [
        "a; b; c; d @(t(a) - t(b) < 5)",  # the earlier minus the later is never positive
        "a; b; c; d @(t(b) - t(a) >= 0)",
        "a; b; c; d @(t(a) - t(c) <= 0)",
        "(a AND b); c; d @(t(a) - t(b) >= 0)",  # absolute
        "(a OR b); c; d @(t(b) - t(a) < 5)",  # no match has both
    ],
)
def test_what_always_holds_is_dropped(match: str) -> None:
    assert asked(match) == {}


def test_order_gives_no_strict_difference_since_events_tie() -> None:
    assert asked("a; b; c; d @(t(b) - t(a) > 0)") == {(0, 1): ((1, FOREVER),)}


def test_conditions_that_others_imply_are_dropped() -> None:
    assert asked("a; b @(t(b) - t(a) < 5); c @(t(c) - t(b) < 5) @(t(c) - t(a) < 10); d") == {
        (0, 1): ((0, 4),),
        (1, 2): ((0, 4),),
    }
    assert asked("a; b @(t(b) - t(a) < 20); c @(t(c) - t(a) < 10); d") == {(0, 2): ((0, 9),)}
    assert asked("a; b @(t(b) - t(a) < 8); c; d WITHIN 7") == {(0, 3): ((0, 7),)}
    assert asked("(a AND b) @(t(b) - t(a) < 8); (c OR d) WITHIN 7") == {(START, FINISH): ((0, 7),)}


def test_two_that_imply_each_other_are_not_both_dropped() -> None:
    assert asked("a; b @(t(b) - t(a) < 5) @(t(b) - t(a) <= 4); c; d") == {(0, 1): ((0, 4),)}


def test_a_branch_that_may_not_be_taken_implies_nothing() -> None:
    through = "a; (b OR c); d @(t(d) - t(a) < 10) @(t(b) - t(a) < 5) @(t(d) - t(b) < 5)"
    assert (0, 3) in asked(through)


def test_several_conditions_on_a_pair_are_one() -> None:
    assert asked("a; b @(t(b) - t(a) > 2) @(t(b) - t(a) < 9) @(t(b) - t(a) != 5); c; d") == {(0, 1): ((3, 4), (6, 8))}


@pytest.mark.parametrize(
    ("match", "pair"),
    [
        ("a; b; c; d WITHIN 5", (0, 3)),
        ("a; (b OR c OR d) WITHIN 5", (0, FINISH)),
        ("(a AND b); c; d WITHIN 5", (START, 3)),
        ("(a OR b); (c OR d) WITHIN 5", (START, FINISH)),
    ],
)
def test_within_is_a_condition_on_the_first_and_the_last_event(match: str, pair: tuple[int, int]) -> None:
    assert asked(match) == {pair: ((0, 5),)}


def accepted(composite: Composite, requirement: Requirement, times: dict[int, int]) -> bool:
    ends = {START: min(times.values()), FINISH: max(times.values()), **times}
    one, other = requirement.pair
    if one not in ends or other not in ends:
        return True
    return any(low <= abs(ends[other] - ends[one]) <= high for low, high in requirement.allowed)


@given(subscriptions(), histories(most=8))
def test_what_is_kept_accepts_the_same_tuples(text: str, history: list[meaning.Event]) -> None:
    composite = lowered(text)
    kept = requirements(decompose(composite))
    for placed in meaning.arrangements(composite, composite.structure, history)[:2000]:
        times = {operand: history[at][1] for operand, at in placed.items()}
        within = composite.within is None or max(times.values()) - min(times.values()) <= composite.within
        timely = within and all(meaning.satisfied(composite, condition, times) for condition in composite.conditions)
        assert timely == all(accepted(composite, requirement, times) for requirement in kept)
