"""Intervals in columns: found exactly, whatever came and went, at once or collected first."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from broker.engine.index.intervals import Bounds, Intervals

MANY = 64
NUMBERS = [-math.inf, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, math.inf]
numbers = st.sampled_from(NUMBERS)
bounds = st.builds(Bounds, numbers, numbers, numbers, numbers)
levels = st.sampled_from([*NUMBERS[1:-1], 0.25, math.nan])


def expected(known: dict[Bounds, int], two: bool, x: float, y: float, z: float) -> list[int]:
    return sorted(
        member
        for b, member in known.items()
        if b.low <= x and b.high >= y and (not two or (b.low2 <= z and b.high2 >= z))
    )


@given(st.booleans(), st.sampled_from([0, 2, 1_000]), st.lists(st.tuples(bounds, levels, levels, levels), max_size=80))
def test_found_are_those_that_hold(two: bool, at_once: int, steps: list[tuple[Bounds, float, float, float]]) -> None:
    intervals: Intervals[int] = Intervals(two, at_once)
    known: dict[Bounds, int] = {}
    for number, (full, x, y, z) in enumerate(steps):
        b = full if two else Bounds(full.low, full.high)
        if b not in known:
            intervals.put(b, number)
            known[b] = number
        elif number % 3:
            intervals.remove(b)
            del known[b]
        else:
            intervals.replace(b, number)
            known[b] = number
        assert intervals.get(b) == known.get(b)
        assert len(intervals) == len(known)
        if number % 2:
            found: list[int] = []
            intervals.find(x, y, z, found)
            assert sorted(found) == expected(known, two, x, y, z)
            assert intervals.any_below(x) is any(b.low <= x for b in known)
    intervals.check_invariants()
    assert sorted(intervals.members()) == sorted(known.values())


@given(st.lists(bounds, max_size=60), levels, levels, levels)
def test_filled_at_once_with_equal_ones_too(entries: list[Bounds], x: float, y: float, z: float) -> None:
    intervals: Intervals[int] = Intervals(True)
    intervals.fill([(b, number) for number, b in enumerate(entries)])
    found: list[int] = []
    intervals.find(x, y, z, found)
    wanted = [n for n, b in enumerate(entries) if expected({b: n}, True, x, y, z)]
    assert sorted(found) == wanted
    intervals.check_invariants()


def test_members_that_are_lent_stay_as_they_are() -> None:
    intervals: Intervals[int] = Intervals(False)
    for number in range(3):
        intervals.put(Bounds(float(number), math.inf), number)
    lent = intervals.lent()
    intervals.remove(Bounds(1.0, math.inf))
    assert lent == [0, 1, 2]
    assert intervals.members() == [0, 2]


def test_an_interval_holds_the_number_at_which_it_ends() -> None:
    """Of many that do not overlap, each is found at its upper end, which no other one before it reaches."""
    intervals: Intervals[int] = Intervals(False, 1_000)
    for number in range(MANY):
        intervals.put(Bounds(float(number), number + 0.5), number)
    for number in range(MANY):
        found: list[int] = []
        intervals.find(number + 0.5, number + 0.5, 0.0, found)
        assert found == [number]
