"""Intervals in columns: found exactly, whatever came and went, at once or collected first."""

from __future__ import annotations

import math
import random

from hypothesis import given
from hypothesis import strategies as st

from broker.engine.index.columns import column
from broker.engine.index.covers import LISTED_MAX, Covers
from broker.engine.index.intervals import OFTEN, Bounds, Intervals

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


many_numbers = st.one_of(numbers, st.integers(-40, 40).map(float))


@given(
    st.booleans(), st.booleans(), st.integers(MANY, MANY + 60), st.randoms(use_true_random=False),
    st.lists(st.tuples(many_numbers, many_numbers), min_size=1, max_size=20),
)  # fmt: skip
def test_asked_often_the_same_are_found_in_the_same_order(
    two: bool, open_above: bool, count: int, chance: random.Random, asked: list[tuple[float, float]]
) -> None:
    """Lists of the parts that intervals cover, against a scan; then a change, after which they are made again."""
    intervals: Intervals[int] = Intervals(two, many=MANY)
    entries: dict[Bounds, int] = {}
    for number in range(count):
        b = Bounds(*(chance.choice([*NUMBERS, *map(float, range(-40, 41))]) for _ in range(4 if two else 2)))
        entries[b._replace(high2=math.inf) if open_above else b] = number
    intervals.fill(list(entries.items()))
    for round in range(2):
        scanned = [searched(intervals, x, z) for x, z in asked]
        assert intervals.covered() is None
        for _ in range(2 * OFTEN + 1):
            intervals.search(0.0, 0.0, 0.0)
        assert [searched(intervals, x, z) for x, z in asked] == scanned
        covers = intervals.covers
        assert (covers is not None) is (len(entries) >= MANY)
        if covers is not None:
            assert [covers.count(x, z) for x, z in asked] == [len(found) for found in scanned]
            members = intervals.members()
            assert [[members[at] for at in covers.found(x, z)] for x, z in asked] == scanned
        for (x, z), found in zip(asked, scanned, strict=False):
            assert sorted(found) == expected(entries, two, x, x, z)
        if round == 0:
            lent = intervals.lent()
            before = list(lent)
            gone = chance.choice(list(entries))
            intervals.remove(gone)
            del entries[gone]
            assert lent == before
    intervals.check_invariants()


def searched(intervals: Intervals[int], x: float, z: float) -> list[int]:
    found: list[int] = []
    intervals.find(x, x, z, found)
    return found


def test_wide_intervals_do_not_fill_the_lists() -> None:
    count = 2_000
    lows, highs = column(float(-at) for at in range(count)), column(float(at) for at in range(count))
    covers = Covers(column(sorted(lows)), highs, column(), column(), False)
    listed = sum(covers.most(part) for part in range(covers.part(math.inf) + 1))
    assert listed <= (LISTED_MAX + 2) * count
    assert covers.most(covers.part(0.0)) >= count - 100


def test_an_interval_holds_the_number_at_which_it_ends() -> None:
    """Of many that do not overlap, each is found at its upper end, which no other one before it reaches."""
    intervals: Intervals[int] = Intervals(False, 1_000)
    for number in range(MANY):
        intervals.put(Bounds(float(number), number + 0.5), number)
    for number in range(MANY):
        found: list[int] = []
        intervals.find(number + 0.5, number + 0.5, 0.0, found)
        assert found == [number]
