"""Groups in which the second of two events satisfies several constants, or one while events take time."""

from __future__ import annotations

from typing import Any

from broker.engine import Engine

SCHEMA = {"ty": "string", "w": "float", "p": "float"}
TEXT = (
    "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ [ty] AND a.ty = 'A' AND a.p > {begins} AND b.p < {price}"
    " AND b.w < {size} }}"
)
WAITING = "FILTER{{ty = 'A' AND p > {begins}}}(S) NEXT{{$2.ty = $1.ty AND $2.p < {price}}} S"


def engine_with(text: str, constants: list[dict[str, Any]], language: str) -> Engine:
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    for number, each in enumerate(constants):
        engine.subscribe(f"s{number}", language=language, query=text.format(**each), lineage=True)
    return engine


def found(engine: Engine, rows: list[tuple[str, float, float]], times: list[int], **more: Any) -> list[Any]:
    return [(match.subscription, match.lineage) for match in engine.publish("S", times, rows, **more)]


def test_an_event_ends_the_runs_of_the_members_whose_condition_it_satisfies() -> None:
    constants = [{"begins": 5, "price": 3, "size": 9}, {"begins": 5, "price": 3, "size": 4}]
    engine = engine_with(TEXT, constants, "sase")
    assert "s0: how runs are kept: a next match for 2 members, 3 constants each" in engine.explain()
    rows = [("A", 0.0, 6.0), ("A", 8.0, 2.0), ("A", 0.0, 7.0), ("B", 1.0, 1.0), ("A", 3.0, 2.0), ("A", 3.0, 2.0)]
    assert found(engine, rows, [1, 2, 3, 4, 5, 6]) == [("s0", [1, 2]), ("s0", [3, 5]), ("s1", [1, 5]), ("s1", [3, 5])]
    engine.check_invariants()


def test_runs_of_no_member_are_dropped() -> None:
    """Without a window a start is kept until every member that it may begin a match of has met its condition."""
    engine = engine_with(TEXT, [{"begins": 5, "price": 3, "size": 9}, {"begins": 5, "price": 2, "size": 9}], "sase")
    for round in range(100):
        rows = [("A", 0.0, 6.0 + number) for number in range(10)]
        assert found(engine, rows, [round] * 10) == []
        assert len(found(engine, [("A", 0.0, 1.0)], [round])) == 20
    assert engine.statistics()["group_events"] < 800
    engine.check_invariants()


def test_an_event_sees_the_runs_that_began_before_it_has() -> None:
    constants = [{"begins": 5, "price": 3}, {"begins": 6, "price": 2}]
    engine = engine_with(WAITING, constants, "cayuga")
    assert "s0: how runs are kept: a next match for 2 members, 2 constants each" in engine.explain()
    rows = [("A", 0.0, 7.0), ("A", 0.0, 8.0), ("A", 0.0, 2.5), ("A", 0.0, 1.0)]
    # The third event begins before the second ends, and does not see its run.
    assert found(engine, rows, [10, 20, 21, 30], starts=[10, 20, 15, 30]) == [
        ("s0", [1, 3]), ("s0", [2, 4]), ("s1", [1, 4]), ("s1", [2, 4])
    ]  # fmt: skip


def test_all_events_of_a_time_end_the_runs_that_they_see() -> None:
    engine = engine_with(WAITING, [{"begins": 5, "price": 3}, {"begins": 5, "price": 1.5}], "cayuga")
    rows = [("A", 0.0, 7.0), ("A", 0.0, 2.0), ("A", 0.0, 1.0), ("A", 0.0, 1.0)]
    assert found(engine, rows, [1, 2, 2, 3]) == [("s0", [1, 2]), ("s0", [1, 3]), ("s1", [1, 3])]


def test_the_first_event_that_takes_time_sees_what_the_epoch_before_it_has_left() -> None:
    engine = engine_with(
        WAITING, [{"begins": 5, "price": 3}, {"begins": 5, "price": 1.5}, {"begins": 8, "price": 3}], "cayuga"
    )
    assert found(engine, [("A", 0.0, 6.0), ("A", 0.0, 2.0), ("A", 0.0, 9.0)], [1, 2, 4]) == [("s0", [1, 2])]
    # Two events end at one time: the second one takes time, and sees what the first one ends, but for the start at 4.
    rows = [("A", 0.0, 1.0), ("A", 0.0, 1.0), ("A", 0.0, 1.0)]
    assert sorted(found(engine, rows, [6, 6, 7], starts=[6, 3, 7])) == [
        ("s0", [3, 4]), ("s1", [1, 4]), ("s1", [1, 5]), ("s1", [3, 4]), ("s2", [3, 4])
    ]  # fmt: skip
    engine.check_invariants()


def test_a_member_that_comes_has_nothing_of_the_one_that_left() -> None:
    engine = engine_with(TEXT, [{"begins": 5, "price": 3, "size": 9}, {"begins": 5, "price": 2, "size": 9}], "sase")
    assert found(engine, [("A", 0.0, 6.0), ("A", 0.0, 1.0), ("A", 0.0, 8.0)], [1, 2, 3]) == [
        ("s0", [1, 2]),
        ("s1", [1, 2]),
    ]
    engine.unsubscribe("s1")
    engine.subscribe("s2", language="sase", query=TEXT.format(begins=5, price=2, size=9), lineage=True)
    assert found(engine, [("A", 0.0, 9.0), ("A", 0.0, 1.0)], [4, 5]) == [("s0", [3, 5]), ("s0", [4, 5]), ("s2", [4, 5])]
