"""Groups of patterns that skip till the next match, where a step waits for more than one constant of the event."""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine, Options

SCHEMA = {"ty": "string", "w": "float?", "p": "float?"}
SKIP = "PATTERN SEQ({parts}) WHERE skip_till_next_match({names}) {{ [ty] AND {asked} }}{within}"


def text(*conditions: str, within: int | None = 100) -> str:
    names = "abcd"[: len(conditions)]
    asked = " AND ".join(condition for condition in conditions if condition)
    return SKIP.format(
        parts=", ".join(f"S {name}" for name in names),
        names=", ".join(names),
        asked=asked,
        within="" if within is None else f" WITHIN {within}",
    )


def engine_with(*texts: str, options: Options | None = None) -> Engine:
    engine = Engine(options or Options())
    engine.add_stream("S", SCHEMA)
    for number, each in enumerate(texts):
        engine.subscribe(f"s{number}", language="sase", query=each, lineage=True)
    return engine


def found(engine: Engine, first: int, *rows: tuple[str, float | None, float | None]) -> list[Any]:
    results = engine.publish("S", list(range(first, first + len(rows))), list(rows))
    engine.check_invariants()
    return [(match.subscription, match.lineage) for match in results]


def test_each_member_waits_for_its_own_rise() -> None:
    engine = engine_with(*(text("", f"b.p > {factor} * a.p") for factor in (1.5, 2.0, 4.0)))
    assert "s0: how runs are kept: a skip till for 3 members, 3 constants each" in engine.explain()
    assert found(engine, 1, ("A", 0.0, 1.0), ("B", 0.0, 9.0), ("A", 0.0, 1.5), ("A", 0.0, 2.5)) == [
        ("s0", [1, 4]), ("s1", [1, 4]), ("s0", [3, 4])
    ]  # fmt: skip
    assert found(engine, 5, ("A", 0.0, None), ("A", 0.0, 2.5), ("A", 0.0, 4.5)) == [
        ("s2", [1, 7]), ("s1", [3, 7]), ("s0", [4, 7]), ("s0", [6, 7])
    ]  # fmt: skip


def test_what_falls_is_found_whatever_the_sign_of_what_it_fell_from() -> None:
    engine = engine_with(*(text("", f"b.p < {factor} * a.p") for factor in (0.5, 2.0)))
    assert found(engine, 1, ("A", 0.0, 4.0), ("A", 0.0, -1.0), ("A", 0.0, -1.5), ("A", 0.0, -3.0)) == [
        ("s0", [1, 2]), ("s1", [1, 2]), ("s0", [2, 3]), ("s1", [2, 4]), ("s0", [3, 4])
    ]  # fmt: skip


def test_a_step_may_wait_for_several_constants_or_for_one_of_them() -> None:
    several = [text("a.p > 5", f"b.p < {low} AND b.w > {volume}") for low, volume in ((3, 1), (4, 2))]
    either = [text("a.p > 5", f"(b.p < {low} OR b.w > {volume})") for low, volume in ((3, 7), (1, 2))]
    engine = engine_with(*several, *either)
    assert "groups: 4 subscriptions in 2 groups" in engine.explain()
    rows = [("A", 0.0, 6.0), ("A", 2.0, 2.0), ("A", 3.0, 3.5), ("A", 9.0, 0.5)]
    assert found(engine, 1, *rows) == [
        ("s0", [1, 2]), ("s2", [1, 2]), ("s1", [1, 3]), ("s3", [1, 3])
    ]  # fmt: skip


def test_matches_of_an_event_come_in_the_order_in_which_their_runs_began_to_wait() -> None:
    asked = ("a.p > 1", "b.p > 1.25 * a.p", "c.p < {}")
    engine = engine_with(*(text(*(each.format(low) for each in asked)) for low in (0, 1)))
    rows = [("A", 0.0, price) for price in (5.0, 3.0, 4.0, 7.0, -1.0)]
    expected = [[2, 3, 5], [1, 4, 5], [3, 4, 5]]
    assert found(engine, 1, *rows) == [(name, each) for each in expected for name in ("s0", "s1")]
    alone = engine_with(text("a.p > 1", "b.p > 1.25 * a.p", "c.p < 0"), options=Options(executors_off=("groups",)))
    assert found(alone, 1, *rows) == [("s0", each) for each in expected]


@pytest.mark.parametrize("second", ["b.p > {} * a.p", "b.p > {} AND b.w > {}", "(b.p > {} OR b.w > {})"])
def test_a_snapshot_has_what_waits(second: str) -> None:
    engine = engine_with(*(text("a.p < 5", second.format(more, more)) for more in (2, 3)))
    found(engine, 1, ("A", 0.0, 1.0), ("A", 0.0, 1.5), ("A", 4.0, 2.5))
    restored = Engine.restore(engine.snapshot())
    waiting = [list(each.partial_matches(name)) for each in (engine, restored) for name in ("s0", "s1")]
    assert waiting[:2] == waiting[2:]
    rows = [("A", 4.0, 3.5), ("A", 9.0, 9.0)]
    assert found(engine, 4, *rows) == found(restored, 4, *rows) != []


def test_a_newcomer_has_the_runs_that_begin_after_it() -> None:
    engine = engine_with(text("", "b.p > 2 * a.p"))
    assert found(engine, 1, ("A", 0.0, 1.0)) == []
    engine.subscribe("s1", language="sase", query=text("", "b.p > 3 * a.p"), lineage=True)
    assert found(engine, 2, ("A", 0.0, 1.1), ("A", 0.0, 9.0)) == [("s0", [1, 3]), ("s0", [2, 3]), ("s1", [2, 3])]
    engine.unsubscribe("s0")
    assert found(engine, 4, ("A", 0.0, 99.0)) == [("s1", [3, 4])]


def test_runs_that_no_member_waits_with_are_dropped() -> None:
    engine = engine_with(*(text("a.p < 2", f"b.p > {low} AND b.w > {low}", within=None) for low in (3, 4)))
    for time in range(1, 2_000, 2):
        assert len(found(engine, time, ("A", 0.0, 1.0), ("A", 9.0, 9.0))) == 2
    assert engine.statistics()["group_events"] < 500


def test_what_no_window_holds_is_dropped() -> None:
    engine = engine_with(*(text("a.p < 2", f"b.p > {low} * a.p", within=3) for low in (3, 4)))
    for time in range(1, 2_000):
        assert found(engine, time, ("A", 0.0, 1.0)) == []
    assert engine.statistics()["group_events"] < 500
