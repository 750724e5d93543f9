"""AND, OR and sequences against the product automaton, that is, against chains of pairs of states."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.forecast_chains import chains, density, in_sequence

from broker.forecast.chain import MarkovChain, Shape, TransitionRow, chain_of
from broker.forecast.combining import both, both_bounds, either, either_bounds
from broker.forecast.passage import first_passage

N = 8


def product_chain(one: MarkovChain, other: MarkovChain, wanted: str) -> MarkovChain:
    """Both chains step at once and stay where they have matched; final when both, or one of them, has."""
    width = len(other.rows)
    rows, finals = [], set()
    for a, left in enumerate(one.rows):
        for b, right in enumerate(other.rows):
            pairs = [
                (x * width + y, p * q)
                for x, p in zip(left.targets, left.chances)
                for y, q in zip(right.targets, right.chances)
            ]
            rows.append(TransitionRow(tuple(target for target, _ in pairs), tuple(chance for _, chance in pairs)))
            reached = (a in one.finals, b in other.finals)
            if all(reached) if wanted == "both" else any(reached):
                finals.add(a * width + b)
    return chain_of(Shape(len(rows), frozenset(finals), tuple(range(len(rows)))), rows)


def chain_after_chain(one: MarkovChain, other: MarkovChain) -> MarkovChain:
    """Where the first would be final, the other begins in its state 0."""
    offset = len(one.rows)
    rows = [
        TransitionRow(tuple(offset if t in one.finals else t for t in row.targets), row.chances) for row in one.rows
    ]
    rows += [TransitionRow(tuple(offset + t for t in row.targets), row.chances) for row in other.rows]
    finals = frozenset(offset + final for final in other.finals)
    return chain_of(Shape(len(rows), finals, tuple(range(len(rows)))), rows)


@given(chains(4), chains(4))
def test_and_or_are_those_of_the_product_automaton(one: MarkovChain, other: MarkovChain) -> None:
    first, second = first_passage(one, N), first_passage(other, N)
    joint = {wanted: first_passage(product_chain(one, other, wanted), N) for wanted in ("both", "either")}
    for a in range(len(one.rows)):
        for b in range(len(other.rows)):
            curves = [[first.within(a, n) for n in range(N + 1)], [second.within(b, n) for n in range(N + 1)]]
            place = a * len(other.rows) + b
            for wanted, found in (("both", both(curves)), ("either", either(curves))):
                expected = [joint[wanted].within(place, n) for n in range(N + 1)]
                assert found == pytest.approx(expected, abs=1e-12)


@given(chains(4), chains(4))
def test_a_sequence_is_that_of_the_chains_end_to_end(one: MarkovChain, other: MarkovChain) -> None:
    if 0 in one.finals or 0 in other.finals:
        return
    curves = [[first_passage(each, N).within(0, n) for n in range(N + 1)] for each in (one, other)]
    expected = first_passage(chain_after_chain(one, other), N)
    assert in_sequence(curves) == pytest.approx([expected.within(0, n) for n in range(N + 1)], abs=1e-12)


curves_of_one_length = st.lists(st.lists(st.floats(0, 1), min_size=5, max_size=5).map(sorted), min_size=1, max_size=4)


@given(curves_of_one_length)
def test_independence_lies_within_the_bounds(curves: list[list[float]]) -> None:
    for found, (lowest, highest) in ((both(curves), both_bounds(curves)), (either(curves), either_bounds(curves))):
        for low, p, high in zip(lowest, found, highest):
            assert 0.0 <= low <= p + 1e-12
            assert p <= high + 1e-12 <= 1.0 + 1e-9
        assert all(a <= b + 1e-15 for a, b in pairwise(found))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9).map(sorted))
def test_what_is_sure_and_what_never_comes_change_nothing(curve: list[float]) -> None:
    assert in_sequence([curve]) == pytest.approx(curve)
    assert both([curve, [1.0] * len(curve)]) == curve
    assert either([curve, [0.0] * len(curve)]) == pytest.approx(curve)


def test_p16_or_is_not_a_sum_and_and_is_not_simultaneous() -> None:
    one, other = [0.0, 0.5, 0.8], [0.0, 0.6, 0.6]
    assert one[2] + other[2] > 1.0  # as printed
    assert either([one, other]) == pytest.approx([0.0, 0.8, 0.92])
    # As printed, both at exactly the same step; one now and the other later is missed.
    assert sum(a * b for a, b in zip(density(one), density(other))) == pytest.approx(0.3)
    assert both([one, other]) == pytest.approx([0.0, 0.3, 0.48])


def test_a_child_that_is_complete_starts_the_next_at_once() -> None:
    assert in_sequence([[1.0] * 4, [0.0, 0.5, 0.5, 1.0]]) == [0.0, 0.5, 0.5, 1.0]
