"""Intervals in columns: found exactly."""

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


@given(st.booleans(), st.lists(bounds, max_size=60), levels, levels)
def test_found_are_those_that_hold(two: bool, entries: list[Bounds], x: float, z: float) -> None:
    intervals: Intervals[int] = Intervals([(b, number) for number, b in enumerate(entries)], two)
    found: list[int] = []
    intervals.find(x, z, found)
    assert sorted(found) == [
        number
        for number, b in enumerate(entries)
        if b.low <= x <= b.high and (not two or b.low2 <= z <= b.high2)
    ]
    assert len(intervals) == len(entries)


def test_of_many_only_those_around_a_number_are_found() -> None:
    entries = [(Bounds(float(number), number + 0.5), number) for number in range(10 * MANY)]
    intervals: Intervals[int] = Intervals(entries, False)
    for number in range(10 * MANY):
        found: list[int] = []
        intervals.find(number + 0.5, 0.0, found)
        assert found == [number]
