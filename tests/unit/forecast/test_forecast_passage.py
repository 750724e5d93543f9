"""Chains and first passages against matrix powers, enumeration, the figures of the definitions and real counts."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.forecast_chains import Numbers, chains, count_tables, matrix_of, power

from broker.forecast.chain import (
    MarkovChain,
    Shape,
    TransitionRow,
    chain_of,
    counted_chain,
    distance,
    known_row,
    mean_row,
    normalised,
    pooled_row,
    shape,
    shrunk_row,
)
from broker.forecast.counts import Counts, CountTable
from broker.forecast.passage import HORIZON_MAX, NEAR, first_passage, reached
from broker.forecast.uncertainty import interval, standard_error

HOT = ((17127, 2079529), (9168, 17123), (5817, 9168), (4086, 5817), (3087, 4086))
HOT_BEFORE_2007 = ((10340, 1303810), (5460, 10340), (3413, 5460), (2407, 3413), (1825, 2407))
WITHIN_TEN = (0.0088021, 0.1854677, 0.3409926, 0.5338824, 0.7573024)
WITHIN_TEN_BEFORE_2007 = (0.008302, 0.181430, 0.338314, 0.537709, 0.759880)


def table_of(counts: dict[tuple[int, int], int]) -> CountTable:
    table = Counts().table("v1")
    for (state, following), times in counts.items():
        table.add(state, following, times)
    return table


def distances(chain: MarkovChain) -> list[int | None]:
    """The least number of steps from each state to a final one; None where there is no way. O(states + edges)."""
    before: list[list[int]] = [[] for _ in chain.rows]
    for state, row in enumerate(chain.rows):
        for target, chance in zip(row.targets, row.chances):
            if chance > 0.0:
                before[target].append(state)
    found: list[int | None] = [None] * len(chain.rows)
    level = sorted(chain.finals)
    reached = 0
    while level:
        fresh = [state for state in level if found[state] is None]
        for state in fresh:
            found[state] = reached
        level = sorted({source for state in fresh for source in before[state] if found[source] is None})
        reached += 1
    return found


def two_in_a_row() -> MarkovChain:
    """a, b contiguous: 5 departures from N0, two of them to N1; 2 from N1, one of them a match."""
    return counted_chain(table_of({(0, 0): 3, (0, 1): 2, (1, 0): 1, (1, 2): 1}), shape(3, {2}), smoothing=0.0)


@pytest.mark.parametrize(
    ("hot", "within", "digits"), [(HOT, WITHIN_TEN, 7), (HOT_BEFORE_2007, WITHIN_TEN_BEFORE_2007, 6)]
)
def test_five_hot_days_in_a_row(hot: tuple[tuple[int, int], ...], within: tuple[float, ...], digits: int) -> None:
    counts: dict[tuple[int, int], int] = {}
    for days, (hotter, all_days) in enumerate(hot):
        counts[days, days + 1] = hotter
        counts[days, 0] = all_days - hotter
    chain = counted_chain(table_of(counts), shape(6, {5}), smoothing=0.0)
    for days, (hotter, all_days) in enumerate(hot):
        assert Fraction(chain.rows[days].chance(days + 1)) == Fraction(hotter / all_days)
        assert chain.rows[days].weight == all_days
    passage = first_passage(chain, 10)
    assert [round(passage.within(days, 10), digits) for days in range(5)] == list(within)
    assert [passage.within(days, 4 - days) for days in range(5)] == [0.0] * 5


def test_p13_within_n_steps_of_a_contiguous_pair() -> None:
    passage = first_passage(two_in_a_row(), 3)
    assert [passage.within(0, n) for n in (1, 2, 3)] == pytest.approx([0, 1 / 5, 8 / 25], abs=1e-15)
    assert [passage.within(1, n) for n in (1, 2, 3)] == pytest.approx([1 / 2, 1 / 2, 3 / 5], abs=1e-15)


def test_p14_the_printed_sum_of_powers_is_no_probability() -> None:
    certain = chain_of(shape(2, {1}), [TransitionRow((1,), (1.0,)), TransitionRow((0,), (1.0,))])
    matrix = matrix_of(certain)
    assert sum(power(matrix, k)[0][1] for k in (1, 2)) == 2.0  # as printed: beta = alpha(1) + alpha(2)
    assert first_passage(certain, 2).within(0, 2) == 1.0


def test_p15_departures_sum_to_one_where_arrivals_do_not() -> None:
    departures = {0: 3 + 2, 1: 1 + 1}
    arrivals_at_start = 3 + 1
    assert Fraction(departures[0], arrivals_at_start) == Fraction(5, 4)  # as printed: the row of N0
    for row in two_in_a_row().rows:
        assert sum(row.chances) == 1.0


def test_after_a_match_the_question_is_the_next_one() -> None:
    overlapping = {(0, 0): 1, (0, 1): 1, (1, 0): 1, (1, 2): 1, (2, 2): 3, (2, 0): 1}
    passage = first_passage(counted_chain(table_of(overlapping), shape(3, {2}), 0.0), 3)
    assert passage.within(2, 0) == passage.within(2, 3) == 1.0
    assert passage.curve(2) == [passage.next(2, n) for n in range(4)]
    assert passage.next(2, 0) == 0.0
    assert passage.next(2, 1) == 3 / 4
    assert passage.next(2, 3) == 3 / 4 + 1 / 4 * passage.within(0, 2)
    assert passage.next(1, 3) == passage.within(1, 3)


@given(count_tables(), st.sampled_from([0.0, 0.5, 3.0]), st.booleans())
def test_rows_sum_to_one_and_final_states_absorb(drawn: tuple[int, Numbers], smoothing: float, known: bool) -> None:
    states, counts = drawn
    table = table_of({(i, j): n for i, row in enumerate(counts) for j, n in enumerate(row) if n})
    successors = [[0, (state + 1) % states] for state in range(states)] if known else None
    form = shape(states, {states - 1}, waiting={1}, successors=successors)
    chain = counted_chain(table, form, smoothing)
    for state, row in enumerate(chain.rows):
        assert sum(row.chances) == pytest.approx(1.0, abs=4e-16 * states)
        assert list(row.targets) == sorted(set(row.targets))
        assert min(row.chances) > 0.0
        if state == states - 1:
            assert (row.targets, row.chances) == ((state,), (1.0,))
        elif not any(counts[state]):
            assert (row.targets, row.weight) == ((1 if state == 1 else 0,), 0.0)
        else:
            assert row.weight == sum(counts[state])
            total = sum(counts[state])
            bound = 0.0 if smoothing == 0.0 else smoothing * states / (total + smoothing)
            assert all(abs(row.chance(j) - counts[state][j] / total) <= bound + 1e-12 for j in range(states))
    assert sum(chain.continuations[states - 1].chances) == pytest.approx(1.0)


def test_smoothing_reaches_what_is_known_to_be_possible() -> None:
    form = shape(3, {2}, successors=[[0, 1], [0, 1, 2], [0]])
    assert pooled_row({1: 4.0}, form, 1, 0.5) == TransitionRow((0, 1, 2), (0.5 / 5.5, 4.5 / 5.5, 0.5 / 5.5), 4.0)
    assert pooled_row({1: 4.0}, shape(3, {2}), 1, 0.5) == TransitionRow((0, 1), (0.5 / 5.0, 4.5 / 5.0), 4.0)
    with pytest.raises(ValueError, match="expected states from 0 to 1"):
        shape(2, {2})
    with pytest.raises(ValueError, match="an entry for each of 2 states"):
        Shape(2, frozenset((1,)), (0,))


masses = st.dictionaries(st.integers(0, 4), st.sampled_from([1.0, 2.0, 7.0, 100.0]), max_size=5)


@given(masses, masses.filter(bool), st.sampled_from([1.0, 10.0, 20.0]))
def test_shrinkage_lies_between_its_own_counts_and_the_pool(
    own: dict[int, float], pool: dict[int, float], strength: float
) -> None:
    parent = normalised(pool, sum(pool.values()))
    row = shrunk_row(own, parent, strength)
    assert sum(row.chances) == pytest.approx(1.0)
    assert row.weight == sum(own.values()) + min(strength, parent.weight)
    if not own:
        assert (row.targets, row.chances) == (parent.targets, parent.chances)
        return
    alone = normalised(own, sum(own.values()))
    share = strength / (strength + sum(own.values()))
    for target in range(5):
        expected = (1 - share) * alone.chance(target) + share * parent.chance(target)
        assert row.chance(target) == pytest.approx(expected, abs=1e-12)
    assert distance(row, parent) == pytest.approx((1 - share) * distance(alone, parent), abs=1e-12)
    assert distance(row, mean_row([row, row])) <= 1e-15


@given(chains(), st.integers(0, 12))
def test_passages_are_the_powers_of_the_absorbing_matrix(chain: MarkovChain, horizon: int) -> None:
    passage = first_passage(chain, horizon)
    matrix = matrix_of(chain)
    for steps in range(horizon + 1):
        powers = power(matrix, steps)
        for state in range(len(chain.rows)):
            expected = sum(powers[state][final] for final in chain.finals)
            assert passage.within(state, steps) == pytest.approx(expected, abs=1e-12)


@given(chains(4), st.integers(0, 5))
def test_passages_are_the_sum_over_all_paths(chain: MarkovChain, horizon: int) -> None:
    def reached(state: int, left: int) -> float:
        if state in chain.finals:
            return 1.0
        row = chain.rows[state]
        return sum(p * reached(t, left - 1) for t, p in zip(row.targets, row.chances)) if left else 0.0

    passage = first_passage(chain, horizon)
    for state in range(len(chain.rows)):
        assert passage.within(state, horizon) == pytest.approx(reached(state, horizon), abs=1e-12)


@given(chains(), st.integers(1, 30))
def test_laws_of_passages(chain: MarkovChain, horizon: int) -> None:
    passage = first_passage(chain, horizon)
    shortest = distances(chain)
    for state in range(len(chain.rows)):
        values = [passage.within(state, n) for n in range(horizon + 1)]
        curve = passage.curve(state)
        for each in (values, curve):
            assert all(0.0 <= p <= 1.0 for p in each)
            assert all(a <= b for a, b in pairwise(each))
        steps = shortest[state]
        for n in range(horizon + 1):
            assert (values[n] == 0.0) == (steps is None or n < steps)
    with pytest.raises(ValueError, match="expected a horizon"):
        first_passage(chain, HORIZON_MAX + 1)


def simulated(chain: MarkovChain, state: int, horizon: int, runs: int, seed: int) -> float:
    chance = random.Random(seed)
    hits = 0
    for _ in range(runs):
        here = state
        for _ in range(horizon):
            row = chain.rows[here]
            here = chance.choices(row.targets, row.chances)[0]
            if here in chain.finals:
                hits += 1
                break
    return hits / runs


def test_passages_are_the_shares_of_simulated_runs() -> None:
    rows = [
        TransitionRow((0, 1), (0.7, 0.3)),
        TransitionRow((0, 1, 2), (0.2, 0.5, 0.3)),
        TransitionRow((0, 3), (0.4, 0.6)),
        TransitionRow((0,), (1.0,)),
    ]
    chain = chain_of(shape(4, {3}), rows)
    passage = first_passage(chain, 8)
    for state in range(3):
        p = passage.within(state, 8)
        assert abs(simulated(chain, state, 8, 4000, seed=state) - p) < 4 * sqrt(p * (1 - p) / 4000)


@given(chains(5), st.integers(1, 6))
def test_standard_errors_are_those_of_derivatives(chain: MarkovChain, steps: int) -> None:
    passage = first_passage(chain, steps)
    step = 1e-6
    for state in range(len(chain.rows)):
        if state in chain.finals:
            continue
        variance = 0.0
        for place, row in enumerate(chain.rows):
            if place in chain.finals or len(row.targets) < 2:
                continue
            slopes = []
            for edge in range(len(row.targets)):
                moved = [p + step * ((edge == e) - p) for e, p in enumerate(row.chances)]
                rows = list(chain.rows)
                rows[place] = TransitionRow(row.targets, tuple(moved), row.weight)
                changed = first_passage(MarkovChain(tuple(rows), chain.finals, chain.continuations), steps)
                slopes.append((changed.within(state, steps) - passage.within(state, steps)) / step)
            # The slope towards an edge, p staying a distribution, is g_e - sum p g.
            variance += sum(p * g * g for p, g in zip(row.chances, slopes)) / (row.weight + 1)
        assert standard_error(chain, passage, state, steps) == pytest.approx(sqrt(variance), abs=1e-4)


def test_an_interval_holds_its_probability_and_stays_a_probability() -> None:
    assert interval(0.5, 0.0) == (0.5, 0.5)
    low, high = interval(0.9, 0.1)
    assert low == pytest.approx(0.7355, abs=1e-4)
    assert high == 1.0


def test_more_counts_make_smaller_errors() -> None:
    errors = []
    for scale in (1, 100):
        counts = {(0, 0): 3 * scale, (0, 1): 2 * scale, (1, 0): scale, (1, 2): scale}
        chain = counted_chain(table_of(counts), shape(3, {2}), 0.0)
        errors.append(standard_error(chain, first_passage(chain, 5), 0, 5))
    assert 0.0 < errors[1] < errors[0] / 6


@given(count_tables(), st.sampled_from([0, 1, 2, 7, 12, 13, 100, 1023, 1024]))
def test_one_horizon_alone_is_that_of_the_passage(table: tuple[int, Numbers], horizon: int) -> None:
    states, counts = table
    form = shape(states, {states - 1}, waiting=range(states), successors=[range(states)] * states)
    rows = []
    for state, row in enumerate(counts):
        counted = {target: float(count) for target, count in enumerate(row) if count}
        rows.append(pooled_row(counted, form, state, 0.5))
    passage = first_passage(chain_of(form, rows), horizon)
    found, wanted = reached(rows, horizon), [passage.within(state, horizon) for state in range(states - 1)]
    if horizon <= NEAR or states > 4:
        assert found == wanted
    assert found == pytest.approx(wanted, rel=1e-12, abs=0.0)
    assert all(0.0 <= each <= 1.0 for each in found)


def test_what_cannot_be_reached_stays_impossible() -> None:
    rows = [TransitionRow((0, 1), (0.3, 0.7), 9.0), TransitionRow((0, 1), (0.9, 0.1), 9.0), TransitionRow((2,), (1.0,))]
    assert reached(rows, 100) == [0.0, 0.0]


@given(count_tables())
def test_a_row_of_known_successors_is_that_of_any(table: tuple[int, Numbers]) -> None:
    states, counts = table
    for state, row in enumerate(counts):
        counted = {target: count for target, count in enumerate(row) if count}
        weighed = {target: float(count) for target, count in counted.items()}
        known = sorted({*counted, 0})
        form = shape(states, {states - 1}, successors=[known] * states)
        if counted:
            assert known_row(counted, tuple(known), 0.5) == pooled_row(weighed, form, state, 0.5)
            assert known_row(counted, tuple(known[:-1]), 0.5) is None
        else:
            assert known_row(counted, tuple(known), 0.5) is None
