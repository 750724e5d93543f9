"""The limits of a family's members: a search finds those that a look at each finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker.engine.executors.packed import floats_of, integers_of
from broker.engine.executors.speculative.limit_table import LimitTable, above

NUMBERS = st.sampled_from((-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, float("inf")))


@given(st.data(), st.integers(1, 4), st.integers(1, 70))
def test_search_finds_what_a_look_at_each_member_finds(data: st.DataObject, width: int, count: int) -> None:
    rows = data.draw(st.lists(st.tuples(*[NUMBERS] * width), min_size=count, max_size=count))
    table = LimitTable([floats_of(column) for column in zip(*rows)], integers_of(range(count)))
    for values in data.draw(st.lists(st.tuples(*[NUMBERS] * width), max_size=8)):
        expected = [at for at, row in enumerate(rows) if all(one <= other for one, other in zip(row, values))]
        found = table.reached(floats_of(values))
        assert sorted(found) == expected
        assert [rows[at][0] for at in found] == sorted(rows[at][0] for at in expected)


def test_no_value_that_is_no_number_reaches_a_limit() -> None:
    table = LimitTable([floats_of([-1.0]), floats_of([0.0])], integers_of([0]))
    assert table.reached(floats_of([float("nan"), 1.0])) == []


def test_strict_limit_is_reached_by_the_next_float() -> None:
    assert above(1.0, False) == 1.0
    assert 1.0 < above(1.0, True) < 1.0000001
