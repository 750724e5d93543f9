"""Gaps and horizons in time against regular gaps, the Poisson distribution and simulation."""

from __future__ import annotations

import random
from itertools import pairwise
from math import exp, factorial, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.forecast.horizon import Gaps, arrivals, bucket_of, usable, within_time

DAY = 86_400_000_000
lists_of_gaps = st.lists(st.integers(0, 10**13), max_size=20)


def gaps_of(gaps: list[int]) -> Gaps:
    found = Gaps()
    for gap in gaps:
        found.add(gap)
    return found


@given(st.integers(0, 2**62), st.integers(1, 2**58))
def test_buckets_ascend_and_are_narrow(gap: int, more: int) -> None:
    assert bucket_of(gap) <= bucket_of(gap + more)
    if bucket_of(gap) == bucket_of(gap + more):
        assert more <= gap / 8


def test_buckets_follow_one_another_without_holes() -> None:
    assert [bucket_of(gap) for gap in range(34)] == [*range(16), *(16 + n // 2 for n in range(16)), 24, 24]
    with pytest.raises(ValueError, match="not negative"):
        bucket_of(-1)


@given(lists_of_gaps, lists_of_gaps, lists_of_gaps)
def test_histograms_add_up_in_any_order(a: list[int], b: list[int], c: list[int]) -> None:
    left, tail = gaps_of(a), gaps_of(c)
    left.merge(gaps_of(b))
    left.merge(gaps_of(c))
    tail.merge(gaps_of(b))
    tail.merge(gaps_of(a))
    assert left == tail == gaps_of(c + a + b)
    assert left.count == len(a + b + c)


def test_regular_gaps_are_exact() -> None:
    atoms = gaps_of([DAY] * 5).atoms()
    assert arrivals(atoms, 5 * DAY) == [1.0] * 6
    assert arrivals(atoms, 5 * DAY - 1) == [1.0] * 5
    assert arrivals(atoms, DAY - 1) == [1.0]
    assert arrivals(atoms, 0) == [1.0]
    assert arrivals([], DAY) == [1.0]


def test_what_cannot_finish_gets_exactly_nothing() -> None:
    atoms = gaps_of([DAY, 2 * DAY]).atoms()
    curve = [0.0, 0.0, 0.5, 0.9]  # two events are needed at least
    assert within_time(curve, arrivals(atoms, 2 * DAY - 1)) == 0.0
    assert within_time(curve, arrivals(atoms, 2 * DAY)) == pytest.approx(0.5 * 0.25)
    assert usable(None, None, 7) is None
    assert usable(5 * DAY, DAY, 0) == DAY
    assert usable(5, None, 10**9) == 5
    over = usable(5 * DAY, DAY, 2 * DAY)
    assert over == -DAY
    assert arrivals(atoms, over) == [0.0]
    assert within_time([0.0, 1.0], arrivals(atoms, over)) == 0.0
    assert within_time([1.0, 1.0], arrivals(atoms, over)) == 0.0


@pytest.mark.parametrize("mean", [1.0, 4.0, 20.0])
def test_memoryless_gaps_make_poisson_counts(mean: float) -> None:
    chance = random.Random(7)
    gaps = gaps_of([round(chance.expovariate(1.0) * DAY) for _ in range(20_000)])
    fits = arrivals(gaps.atoms(), round(mean * DAY))
    for n in range(int(mean + 3 * sqrt(mean))):
        expected = 1.0 - sum(exp(-mean) * mean**k / factorial(k) for k in range(n))
        assert fits[n] == pytest.approx(expected, abs=0.025)


def test_two_kinds_of_gaps_are_those_of_simulation() -> None:
    chance = random.Random(11)
    kinds = [1_000_000, 90_000_000]  # bursts and breaks: no single mean describes them
    gaps = gaps_of([chance.choice(kinds) for _ in range(2000)])
    fits = arrivals(gaps.atoms(), 200_000_000)
    atoms = gaps.atoms()
    for n in (1, 3, 6):
        runs = [sum(chance.choices([a for a, _ in atoms], [p for _, p in atoms], k=n)) for _ in range(4000)]
        assert fits[n] == pytest.approx(sum(run <= 200_000_000 for run in runs) / 4000, abs=0.03)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=10), st.integers(0, 10**9))
def test_arrivals_are_falling_probabilities(gaps: list[int], remaining: int) -> None:
    fits = arrivals(gaps_of(gaps).atoms(), remaining, events_max=30)
    assert fits[0] == 1.0
    assert all(1.0 >= a >= b > 0.0 for a, b in pairwise(fits))
    least = min(gaps)
    assert all(n * least <= remaining * (1 + 1e-9) for n in range(len(fits)))
    later = arrivals(gaps_of(gaps).atoms(), remaining, events_max=10)
    assert later == fits[:11]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9).map(sorted), st.integers(0, 12))
def test_time_enough_for_all_steps_is_the_curve_itself(curve: list[float], extra: int) -> None:
    assert within_time(curve, [1.0] * (len(curve) + extra)) == pytest.approx(curve[-1])
    assert within_time(curve, [1.0]) == curve[0]


def test_a_key_without_gaps_borrows_those_of_the_pool() -> None:
    pool = gaps_of([DAY] * 100)
    assert Gaps().atoms(pool) == [(DAY, 1.0)]
    assert Gaps().atoms() == []
    own = gaps_of([2 * DAY] * 20)
    assert own.atoms(pool, strength=20.0) == [(DAY, 0.5), (2 * DAY, 0.5)]
