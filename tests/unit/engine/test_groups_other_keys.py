"""Groups of pairs whose events have a text each: members with any texts are one group."""

from __future__ import annotations

from typing import Any

from broker.engine import Engine

SCHEMA = {"ty": "string", "w": "float", "p": "float?"}
TEXT = (
    "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ a.ty = '{first}' AND b.ty = '{second}'"
    " AND a.p > {begins} AND b.p < {ends} }} WITHIN {within}"
)


def subscribed(engine: Engine, name: str, **constants: Any) -> None:
    constants = {"first": "A", "second": "B", "begins": 5, "ends": 3, "within": 10} | constants
    engine.subscribe(name, language="sase", query=TEXT.format(**constants), lineage=True)


def engine_with(*constants: dict[str, Any]) -> Engine:
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    for number, each in enumerate(constants):
        subscribed(engine, f"s{number}", **each)
    return engine


def found(engine: Engine, times: list[int], *rows: tuple[str, float | None]) -> list[Any]:
    results = engine.publish("S", times, [(ty, 0.0, p) for ty, p in rows])
    return [(match.subscription, match.lineage) for match in results]


def test_members_with_any_texts_are_one_group() -> None:
    engine = engine_with({}, {"second": "C"}, {"first": "C", "second": "A", "begins": 0, "ends": 9})
    assert "groups: 3 subscriptions in 1 groups" in engine.explain()
    assert "s0: how runs are kept: a next match for 3 members, 3 constants each" in engine.explain()
    assert found(engine, [1, 2, 3, 4], ("A", 6.0), ("B", 2.0), ("C", 1.0), ("A", 7.0)) == [
        ("s0", [1, 2]), ("s1", [1, 3]), ("s2", [3, 4])
    ]  # fmt: skip
    assert found(engine, [5, 6, 7], ("B", None), ("B", 2.0), ("B", 2.0)) == [("s0", [4, 6])]
    engine.check_invariants()


def test_each_member_has_its_own_window_and_its_own_last_match() -> None:
    engine = engine_with({"within": 2}, {"within": 20}, {"within": 20, "ends": 1})
    rows = [("A", 6.0), ("A", 8.0), ("B", 2.0), ("A", 9.0), ("B", 0.0)]
    assert found(engine, [1, 4, 5, 6, 9], *rows) == [
        ("s0", [2, 3]), ("s1", [1, 3]), ("s1", [2, 3]), ("s1", [4, 5]), ("s2", [1, 5]), ("s2", [2, 5]), ("s2", [4, 5])
    ]  # fmt: skip


def test_starts_of_a_text_go_with_its_last_member() -> None:
    engine = engine_with({}, {"first": "C"})
    assert found(engine, [1, 2], ("A", 6.0), ("C", 6.0)) == []
    engine.unsubscribe("s1")
    subscribed(engine, "s2", first="C")
    assert found(engine, [3, 4, 5], ("B", 2.0), ("C", 7.0), ("B", 2.0)) == [("s0", [1, 3]), ("s2", [4, 5])]
    engine.check_invariants()


def test_a_snapshot_has_what_waits() -> None:
    engine = engine_with({}, {"first": "C"})
    assert found(engine, [1, 2, 3], ("A", 6.0), ("B", 2.0), ("C", 6.0)) == [("s0", [1, 2])]
    restored = Engine.restore(engine.snapshot())
    assert len(list(restored.partial_matches("s1"))) == 1
    assert list(restored.partial_matches("s0")) == []
    assert found(restored, [4, 5], ("A", 9.0), ("B", 1.0)) == [("s0", [4, 5]), ("s1", [3, 5])]
    restored.check_invariants()


def test_what_no_window_holds_is_dropped() -> None:
    engine = engine_with({}, {"first": "C"})
    for time in range(0, 10_000, 10):
        assert found(engine, [time, time + 5], ("A", 6.0), ("C", 7.0)) == []
    assert engine.statistics()["group_events"] < 500
    engine.check_invariants()
