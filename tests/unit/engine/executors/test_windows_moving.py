"""Windows that move on: an aggregate costs the events that came in and went out, and is what all events give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from broker.algebra.window_aggregates import aggregate
from broker.engine import Engine, Options
from broker.engine.executors.windows import sliding

EVENTS = 1_500
ALL = (
    "count(DISTINCT v) AS a, median(v) AS b, quantile(v, 90%) AS c, stdev(v) AS d, sum(DISTINCT v) AS e,"
    " avg(DISTINCT v) AS f, argmin(v, k) AS g, argmax(v, k) AS h, first(v) AS i, last(v) AS j, sum(v) AS s"
)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many events are read for each value that is computed from all of them."""
    found: list[int] = []

    def computed(function: str, distinct: bool, share: str, columns: Any) -> Any:
        found.append(len(columns[0]))
        return aggregate(function, distinct, share, columns)

    monkeypatch.setattr(sliding, "aggregate", computed)
    return found


def read(window: str, values: str, numbers: Sequence[float | None], options: Options | None = None) -> list[Any]:
    engine = Engine(options)
    engine.add_stream("S", {"k": "string", "v": "float?"})
    engine.subscribe("q", "window", f"FROM S {window} AGGREGATE {values}", lineage=True)
    found: list[Any] = []
    for first in range(0, len(numbers), 10):
        part = numbers[first : first + 10]
        found += engine.publish("S", list(range(first, first + len(part))), [("k", number) for number in part])
    return [*found, *engine.finish()]


@pytest.mark.parametrize("by", ["", "BY k "])
@pytest.mark.parametrize(
    "window", ["LAST 100 EVENTS", "LAST 99 us", "LAST 200 us EVERY 10 us", "LAST 200 EVENTS EVERY 10 EVENTS"]
)
@pytest.mark.parametrize("in_columns", [True, False])
def test_only_what_comes_in_and_goes_out_is_read(by: str, window: str, in_columns: bool, counted: list[int]) -> None:
    options = Options(window_columns=in_columns)
    numbers = [float(number * 7919 % 101) for number in range(EVENTS)]
    found = read(f"{by}WINDOW {window}", ALL, numbers, options)
    assert len(found) > EVENTS // 12
    assert sum(counted) <= 8 * 4 * EVENTS, "short windows, and the first ones that are long"
    for match in found[::50]:
        inside = [numbers[number - 1] for number in match.lineage]
        assert match.data["b"] == sorted(inside)[(len(inside) + 1) // 2 - 1]
        assert match.data["d"] == aggregate("stdev", False, "", [inside])
        assert match.data["a"] == len(set(inside))


def test_many_windows_of_one_event_are_read_along_each_other(counted: list[int]) -> None:
    numbers = [*map(float, range(300)), -1.0]
    found = read("WINDOW AFTER any* MATCHING any* [v < 0]", "median(v) AS m, count(DISTINCT v) AS n", numbers)
    assert [match.data["n"] for match in found] == list(range(301, 0, -1))
    assert sum(counted) <= 2 * (301 + 32 * 33)


def test_a_few_starts_far_apart_are_moved_on_each_by_itself(counted: list[int]) -> None:
    numbers: list[float | None] = [1.0 if at in (0, 100, 200) else 2.0 for at in range(600)]
    query = "WINDOW AFTER any* MATCHING [v = 1] any* [v = 2] WITHIN 1 s"
    found = read(query, "median(v) AS m, sum(DISTINCT v) AS s", numbers)
    assert len(found) > 1_300
    assert {(match.data["m"], match.data["s"]) for match in found[-9:]} == {(2.0, 3.0)}
    assert sum(counted) <= 2 * 3 * 40 * 40


def test_equal_values_keep_their_order_and_nulls_are_none() -> None:
    numbers = [(0.0, None, -0.0)[at % 3] for at in range(200)]
    for match in read("WINDOW LAST 50 EVENTS", "median(v) AS m, argmin(v, v) AS a, avg(DISTINCT v) AS d", numbers):
        inside = [numbers[number - 1] for number in match.lineage]
        wanted = aggregate("quantile", False, "0.5", [inside]), aggregate("argmin", False, "", [inside, inside])
        assert list(map(repr, match.data.values())) == [*map(repr, wanted), "0.0"]
    found = read("WINDOW LAST 50 EVENTS", "median(v) AS m, count(DISTINCT v) AS n", [None] * 60)
    assert found[-1].data == {"m": None, "n": 0}


def test_sums_that_no_float_holds_on_the_way_are_as_of_all_events() -> None:
    numbers = [(1e308, 1e308, -1e308, 0.1)[at % 4] if at < 100 else 0.1 for at in range(200)]
    for match in read("WINDOW LAST 50 EVENTS", "avg(DISTINCT v) AS d, stdev(v) AS e, sum(v) AS s", numbers):
        inside = [numbers[number - 1] for number in match.lineage]
        wanted = [aggregate(*each, "", [inside]) for each in (("avg", True), ("stdev", False), ("sum", False))]
        assert list(match.data.values()) == wanted
