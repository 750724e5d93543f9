"""Members of a group = a list of them; constants as coordinates = the comparisons themselves; blocks of Kleene runs."""

from __future__ import annotations

import math
import random

from doubles import read_blocks
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.automaton.analyses.coordinates import exact, turned, turned_offset
from broker.engine.executors.groups.blocks import LARGE, MatchBlocks, combined, counted
from broker.engine.executors.groups.columns import floats_from
from broker.engine.executors.groups.coordinates import (
    greatest,
)
from broker.engine.executors.groups.members import Members

MANY = settings(max_examples=6 * settings().max_examples)
Points = dict[int, tuple[list[float], int]]


def drawn(chance: random.Random, d: int, coarse: bool) -> list[float]:
    if coarse:
        return [float(chance.randint(0, 3)) for _ in range(d)]
    near = chance.gauss(0.0, 1.0)
    return [near + chance.gauss(0.0, 0.3 if j % 2 else 2.0) for j in range(d)]


def check(members: Members, kept: Points, chance: random.Random, d: int, coarse: bool) -> None:
    """All questions, against a list."""
    x = drawn(chance, d, coarse)
    for j in range(d):
        if chance.random() < 0.2:
            x[j] = math.inf
    first, above, axis = chance.randint(0, 40), chance.gauss(0.0, 1.0), chance.randrange(d)
    column = floats_from([0.0, *x])
    dominated = {h for h, (p, _) in kept.items() if all(a <= b for a, b in zip(p, x))}
    out = MatchBlocks()
    assert members.find(column, 1, first, out) == out.members_upto
    found = [int(out.members[i]) for i in range(out.members_upto)]
    assert sorted(found) == sorted(h for h in dominated if kept[h][1] <= first)
    assert members.possible(column, 1) or not dominated
    before = int(out.members_upto)
    count = members.find(column, 1, first, out, above)
    found = [int(out.members[before + i]) for i in range(count)]
    assert sorted(found) == sorted(h for h in dominated if kept[h][0][0] > above and kept[h][1] <= first)
    before = int(out.members_upto)
    count = members.find_points(column, 1, out)
    found = [int(out.members[before + i]) for i in range(count)]
    assert sorted(found) == sorted(dominated)
    for i, handle in enumerate(found):
        assert ([out.hits[i * d + j] for j in range(d)], out.hits_since[i]) == kept[handle]
    others = [p[axis] for p, _ in kept.values() if all(p[j] <= x[j] for j in range(d) if j != axis)]
    assert members.nearest(column, 1, axis) == min(others, default=math.inf)
    assert members.top >= max((p[0] for p, _ in kept.values()), default=-math.inf)


@MANY
@given(st.integers(0, 2**32), st.integers(1, 4), st.booleans(), st.sampled_from([20, 60, 400, 1500]))
def test_members(seed: int, d: int, coarse: bool, size: int) -> None:
    chance = random.Random(seed)
    members, kept = Members(d), {}
    for handle in range(size):
        point, since = drawn(chance, d, coarse), chance.choice([0, 0, 20, 41])
        members.put(handle, point, since)
        kept[handle] = point, since
        if chance.random() < 0.3:
            gone = chance.choice(list(kept))
            members.remove(gone, kept.pop(gone)[0])
        if chance.random() < 8 / size:
            members.check_invariants()
            check(members, kept, chance, d, coarse)
    assert {h: (p, s) for h, p, s in members.each()} == kept
    for handle, (point, _) in list(kept.items()):
        members.remove(handle, point)
        del kept[handle]
        if chance.random() < 4 / size:
            members.check_invariants()
            check(members, kept, chance, d, coarse)
    assert members.count == 0


# --- coordinates ----------------------------------------------------------------------------------------------------

CONSTANTS = st.one_of(
    st.integers(-10, 10), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53) + 1, 2**53 - 1)
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.one_of(st.integers(-10, 10), FLOATS, st.integers(-(2**63), 2**63))


@MANY
@given(CONSTANTS, NUMBERS, st.sampled_from(["<", "<=", ">", ">="]))
def test_a_coordinate_says_what_the_comparison_says(constant: float, value: float, operator: str) -> None:
    point = turned(operator, constant)
    assert point is not None
    for near in (value, constant, constant + 1, constant - 1):
        says = {"<": near < constant, "<=": near <= constant, ">": near > constant, ">=": near >= constant}[operator]
        event = float(near) if operator[0] == ">" else -float(near)
        assert (point <= event) == says


@MANY
@given(st.floats(-1e9, 1e9), st.floats(1e-12, 1e12), st.integers(-3, 3), st.booleans())
def test_the_greatest_factor_is_the_boundary(value: float, register: float, steps: int, strict: bool) -> None:
    k = greatest(value, register, strict, True)
    for _ in range(abs(steps)):
        k = math.nextafter(k, math.inf if steps > 0 else -math.inf)
    holds = value > k * register if strict else value >= k * register
    assert holds == (steps <= 0)


@MANY
@given(FLOATS, st.floats(min_value=5e-324, allow_infinity=False), st.booleans())
def test_the_greatest_factor_everywhere(value: float, register: float, strict: bool) -> None:
    """From the subnormals to the greatest floats."""
    k = greatest(value, register, strict, True)
    if k > -math.inf:
        assert value > k * register if strict else value >= k * register
    if k < 1.7976931348623157e308:
        higher = math.nextafter(k, math.inf)
        assert not (value > higher * register if strict else value >= higher * register)


@MANY
@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.booleans())
def test_the_greatest_offset_is_the_boundary(value: float, register: float, strict: bool) -> None:
    c = greatest(value, register, strict, False)
    assert value > register + c if strict else value >= register + c
    higher = math.nextafter(c, math.inf)
    assert not (value > register + higher if strict else value >= register + higher)


def test_what_has_no_coordinate() -> None:
    for constant in (2**53, -(2**53), math.inf, math.nan, True, "1", None):
        assert turned(">", constant) is None
        assert exact(constant) is None
        assert turned_offset(">", constant) is None
    assert turned_offset(">", 2.0**969) is None


# --- blocks ---------------------------------------------------------------------------------------------------------


@MANY
@given(st.lists(st.lists(st.integers(0, 12), max_size=6, unique=True).map(sorted), min_size=1, max_size=4))
def test_combinations_are_counted_as_they_are_made(lists: list[list[int]]) -> None:
    assert counted(lists) == len(list(combined(lists)))


@MANY
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=6), st.sets(st.integers(0, 16)))
def test_a_repetition_takes_what_is_behind_its_first_events(pairs: list[tuple[int, int]], further: set[int]) -> None:
    """The lists of a block have the first events of one operand or of two, which are in order."""
    firsts = sorted({(min(pair), 8 + max(pair)) for pair in pairs})
    firsts.sort(key=lambda pair: pair[1])
    out = MatchBlocks()
    out.event = 99
    out.add_member(7)
    for numbers in ([pair[0] for pair in firsts], [pair[1] for pair in firsts], sorted(further)):
        out.add_number(len(numbers))
        for number in numbers:
            out.add_number(number)
    out.close_repeated(0, 0, len(firsts), 3)
    expected = [(*pair, *(number for number in sorted(further) if number > pair[1]), 99) for pair in firsts]
    assert [(match.handle, match.path) for match in read_blocks.each(out)] == [(7, path) for path in expected]
    assert read_blocks.count(out) == len(expected)
    read_blocks.check(out)


def test_a_count_beyond_62_bits_is_made_when_asked() -> None:
    out = MatchBlocks()
    out.add_member(7)
    for _ in range(40):
        out.add_number(4)
        for each in (1, 2, 3, 4):
            out.add_number(each)
    assert LARGE < 4.0**40
    out.close_combined(0, 0, 40, -1)
    assert read_blocks.count(out) == 0
    out.clear()
    out.add_member(7)
    lists = [list(range(100 * i, 100 * i + 100)) for i in range(12)]
    for numbers in lists:
        out.add_number(len(numbers))
        for number in numbers:
            out.add_number(number)
    out.close_combined(0, 0, 12, -1)
    assert read_blocks.count(out) == 100**12
