"""Groups of CEL chains whose steps have a text each: members with any texts are one group."""

from __future__ import annotations

from typing import Any

from broker.engine import Engine, Options

SCHEMA = {"ty": "string?", "p": "float?"}
PAIR = "FILTER{{p < {b}}}(FILTER{{ty = '{x}' AND p > {a}}}(S) NEXT{{$2.ty = '{y}'}} S)"
TRIPLE = "FILTER{{p > {c}}}(" + PAIR + " NEXT{{$2.ty = '{z}'}} S)"


def engine_with(*queries: str, options: Options | None = None) -> Engine:
    engine = Engine(options or Options())
    engine.add_stream("S", SCHEMA)
    for number, query in enumerate(queries):
        engine.subscribe(f"s{number}", query=f"SELECT * FROM {query}", lineage=True)
    return engine


def pair(x: str = "A", y: str = "B", a: float = 5, b: float = 3) -> str:
    return PAIR.format(x=x, y=y, a=a, b=b)


def triple(x: str = "A", y: str = "B", z: str = "B", a: float = 5, b: float = 3, c: float = 5) -> str:
    return TRIPLE.format(x=x, y=y, z=z, a=a, b=b, c=c)


def found(
    engine: Engine, times: list[int], *rows: tuple[str | None, float | None], starts: list[int] | None = None
) -> list[Any]:
    return [(match.subscription, match.lineage) for match in engine.publish("S", times, list(rows), starts=starts)]


def test_members_with_any_texts_are_one_group() -> None:
    engine = engine_with(pair(), pair(y="C"), pair("C", "A", 0, 9))
    assert "groups: 3 subscriptions in 1 group" in engine.explain()
    assert "s0: how runs are kept: a text chain for 3 members, 2 constants each" in engine.explain()
    rows = [("A", 6.0), ("A", 7.0), (None, 1.0), ("B", 2.0), ("C", 1.0), ("A", 8.0)]
    assert found(engine, [1, 2, 3, 4, 5, 6], *rows) == [
        ("s0", [1, 4]), ("s0", [2, 4]), ("s1", [1, 5]), ("s1", [2, 5]), ("s2", [5, 6])
    ]  # fmt: skip
    engine.check_invariants()


def test_an_event_with_the_text_ends_what_waits_also_where_it_does_not_fit() -> None:
    engine = engine_with(pair())
    assert found(engine, [1, 2, 3], ("A", 6.0), ("B", 4.0), ("B", 2.0)) == []
    assert found(engine, [4, 5, 6], ("A", 6.0), ("B", None), ("B", 2.0)) == []
    assert engine.waiting_runs("s0").runs == []
    assert found(engine, [7, 8], ("A", 6.0), ("B", 2.0)) == [("s0", [7, 8])]


def test_simultaneous_events_see_the_same() -> None:
    engine = engine_with(pair())
    assert found(engine, [1, 2, 2, 2], ("A", 6.0), ("B", 2.0), ("B", 9.0), ("B", 1.0)) == [
        ("s0", [1, 2]), ("s0", [1, 4])
    ]  # fmt: skip
    assert found(engine, [3, 3, 4], ("A", 6.0), ("B", 2.0), ("B", 2.0)) == [("s0", [5, 7])]


def test_an_event_that_takes_time_sees_what_has_ended_before() -> None:
    engine = engine_with(pair())
    rows = [("A", 6.0), ("A", 7.0), ("B", 2.0), ("B", 2.0)]
    assert found(engine, [1, 3, 4, 9], *rows, starts=[1, 3, 2, 6]) == [("s0", [1, 3]), ("s0", [2, 4])]


def test_further_steps() -> None:
    engine = engine_with(triple(), triple(z="C", c=0), triple("B", "B", "B", 0, 9, 0))
    assert "s0: how runs are kept: a text chain for 2 members, 3 constants each" in engine.explain()
    rows = [("A", 6.0), ("B", 2.0), ("B", 6.0), ("C", 1.0), ("B", 9.0), ("B", 7.0)]
    assert found(engine, [1, 2, 3, 4, 5, 6], *rows) == [
        ("s0", [1, 2, 3]), ("s1", [1, 2, 4]), ("s2", [2, 3, 5])
    ]  # fmt: skip
    assert len(engine.waiting_runs("s2").runs) == 3  # of one text, which is a key
    engine.check_invariants()


def test_a_member_that_leaves_takes_its_runs_along() -> None:
    engine = engine_with(triple(), triple())
    assert found(engine, [1, 2], ("A", 6.0), ("B", 2.0)) == []
    engine.unsubscribe("s0")
    engine.subscribe("s2", query=f"SELECT * FROM {triple()}", lineage=True)
    assert found(engine, [3, 4], ("B", 6.0), ("B", 7.0)) == [("s1", [1, 2, 3])]
    engine.check_invariants()


def test_a_snapshot_has_what_waits() -> None:
    engine = engine_with(pair("C"), triple())
    assert found(engine, [1, 2, 3, 4], ("A", 6.0), ("B", 2.0), ("C", 6.0), ("A", 7.0)) == []
    restored = Engine.restore(engine.snapshot())
    assert [len(restored.waiting_runs(name).runs) for name in ("s0", "s1")] == [1, 2]
    assert found(restored, [5, 6], ("B", 6.0), ("B", 2.0)) == [("s1", [1, 2, 5])]
    assert found(engine, [5, 6], ("B", 6.0), ("B", 2.0)) == [("s1", [1, 2, 5])]
    restored.check_invariants()


def test_starts_that_every_text_has_ended_are_dropped() -> None:
    engine = engine_with(pair(), pair(y="C"))
    for time in range(0, 10_000, 10):
        found(engine, [time, time + 1, time + 2], ("A", 6.0), ("B", 9.0), ("C", 9.0))
    assert engine.statistics()["group_events"] < 500
    engine.check_invariants()


def test_runs_beyond_the_limit_are_dropped_and_told() -> None:
    engine = engine_with(pair(), options=Options(runs_max=100))
    results = engine.publish("S", list(range(1_000)), [("A", 6.0)] * 1_000)
    assert any(getattr(each, "kind", "") == "incomplete" or "Incomplete" in type(each).__name__ for each in results)
    engine.check_invariants()
