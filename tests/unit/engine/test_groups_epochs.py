"""Groups of CEL at the borders: limits, simultaneous events, streams that nobody reads, snapshots."""

from __future__ import annotations

import pytest

from broker.engine import Engine, Options
from broker.events.errors import Unsupported

STEPS = (
    "SELECT * FROM FILTER{{price < {low}}}(FILTER{{name = 'A' AND price > {high}}}(S)"
    " NEXT{{$2.name = $1.name}} S){more}"
)


def engine(options: Options | None = None) -> Engine:
    made = Engine(options)
    made.add_stream("S", {"name": "string", "price": "float", "size": "int"})
    return made


def steps(high: float, low: float, more: str = "") -> str:
    """Three constants, so that no family takes it."""
    return STEPS.format(high=f"{high} AND size > 0", low=low, more=more)


def found(to: Engine, times: list[int], prices: list[float]) -> list[tuple[str, int]]:
    results = to.publish("S", times, [("A", price, 1) for price in prices])
    counted = len(results)
    read = [(each.subscription, each.end) for each in results]
    assert counted == len(read)
    return read


def test_a_group_keeps_no_more_events_than_it_may() -> None:
    one = engine(Options(runs_max=20))
    one.subscribe("a", query=steps(10, 5))
    assert found(one, [1] * 80, [11.0] * 80)[0] == ("a", 1)  # a limit was hit
    assert ("a", 3) in found(one, [2, 3], [11.0, 4.0])


def test_a_member_does_not_see_what_began_with_it() -> None:
    one = engine()
    one.subscribe("a", query=steps(10, 5))
    assert found(one, [1], [11.0]) == []
    one.subscribe("b", query=steps(10, 5))
    assert found(one, [1, 2], [12.0, 4.0]) == [("a", 2), ("a", 2)]
    assert found(one, [3, 4], [12.0, 4.0]) == [("a", 4), ("b", 4)]


def test_a_stream_that_nobody_reads_is_read_from_the_first_reader_on() -> None:
    one = engine()
    one.subscribe("a", query=steps(10, 5, " PUBLISH P"))
    one.subscribe("b", query=steps(10, 4, " PUBLISH P"))
    assert found(one, [1, 2], [11.0, 4.5]) == [("a", 2)]
    one.subscribe("c", query="SELECT * FROM FILTER{price < 5}(P)")
    assert found(one, [3, 4], [11.0, 4.5]) == [("a", 4), ("c", 4)]
    one.unsubscribe("c")
    assert found(one, [5, 6], [11.0, 3.5]) == [("a", 6), ("b", 6)]


def test_an_engine_goes_on_from_a_snapshot_between_two_steps() -> None:
    one = engine()
    one.subscribe("a", query=steps(10, 5))
    assert found(one, [1], [11.0]) == []
    for _ in range(2):
        one = Engine.restore(one.snapshot())
        one.check_invariants()
    assert one.statistics()["group_events"] == 1
    assert found(one, [2, 3, 4], [4.0, 11.0, 4.0]) == [("a", 2), ("a", 4)]
    one.check_invariants()


def test_results_that_are_read_later_have_their_own_events() -> None:
    one = engine()
    one.subscribe("a", query=steps(10, 5), lineage=True)
    kept = [one.publish("S", [at], [("A", price, 1)]) for at, price in enumerate([11.0, 4.0, 12.0, 3.0], 1)]
    assert [[each.lineage for each in results] for results in kept] == [[], [[1, 2]], [], [[3, 4]]]
    assert [each.data["price_1"] for results in kept for each in results] == [11.0, 12.0]


def test_a_run_from_before_a_snapshot_has_the_time_of_the_first_event_after_it() -> None:
    one = engine()
    three = (
        f"SELECT * FROM FILTER{{price > 3}}({steps(0, 9).removeprefix('SELECT * FROM ')} NEXT{{$2.name = $1.name}} S)"
    )
    one.subscribe("a", query=three)
    assert found(one, [4], [1.0]) == []
    one = Engine.restore(one.snapshot())
    assert found(one, [4, 5, 6], [1.5, 2.0, 4.0]) == [("a", 6), ("a", 6)]


def test_partial_matches_of_cel_have_no_names() -> None:
    one = engine()
    one.subscribe("a", query=steps(10, 5))
    found(one, [1], [11.0])
    with pytest.raises(Unsupported, match="subscription 'a': the executor that runs it cannot list partial matches"):
        one.partial_matches("a")
