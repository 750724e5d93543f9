"""Windows on a stream whose events come in any order: told at once, withdrawn, told anew; and which of them wait."""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.engine.match import WORK_LIMIT

AFTER = "FROM S WINDOW AFTER any* MATCHING [v > {}] any{{2}} AGGREGATE sum(v) AS total"


def engine_of(*queries: str, options: Options | None = None, **more: Any) -> Engine:
    engine = Engine(options)
    engine.add_stream("S", {"v": "int"}, None, "speculate")
    for number, query in enumerate(queries):
        engine.subscribe(f"q{number}", language="window", query=query, **more)
    return engine


def told(results: Any) -> list[tuple[str, str, Any]]:
    return [(match.kind, match.subscription, match.data.get("total", match.limit)) for match in results]


def test_a_late_event_withdraws_what_it_disproves_alone() -> None:
    engine = engine_of(AFTER.format(5))
    rows = [(6,), (0,), (0,), (7,), (1,), (1,)]
    assert told(engine.publish("S", [10, 20, 30, 40, 50, 60], rows)) == [("match", "q0", 6), ("match", "q0", 9)]
    assert told(engine.publish("S", [25], [(3,)])) == [("retraction", "q0", 6), ("match", "q0", 9)]
    assert told(engine.publish("S", [70], [(0,)])) == []
    assert told(engine.retract(4)) == [("retraction", "q0", 9)]
    engine.check_invariants()


def test_a_batch_with_several_late_events_is_repaired_once() -> None:
    engine = engine_of(AFTER.format(5))
    engine.publish("S", [10, 20, 30], [(6,), (0,), (0,)])
    found = engine.publish("S", [12, 11, 40], [(1,), (2,), (3,)])
    assert told(found) == [("retraction", "q0", 6), ("match", "q0", 9)]
    assert engine.disorder is not None
    assert engine.disorder.readers.by_name["q0"].group.reviser.repairs == 1  # type: ignore[attr-defined]


def test_what_is_equal_shares_and_members_of_families_are_apart() -> None:
    engine = engine_of(AFTER.format(5), AFTER.format(5), AFTER.format(6))
    assert engine.statistics()["windows"] == 2
    assert engine.statistics()["window_families"] == 0
    found = told(engine.publish("S", [10, 20, 30], [(6,), (0,), (0,)]))
    assert sorted(found) == [("match", "q0", 6), ("match", "q1", 6)]
    engine.unsubscribe("q0")
    assert told(engine.publish("S", [15], [(1,)])) == [("retraction", "q1", 6), ("match", "q1", 7)]


@pytest.mark.parametrize(
    ("query", "more"),
    [
        ("FROM S WINDOW EVERY 10 us AGGREGATE sum(v) AS total", {}),
        ("FROM S WINDOW SESSION 5 us AGGREGATE sum(v) AS total", {}),
        (AFTER.format(0), {"forecast": {"within": 1, "threshold": 0.9}}),
    ],
)
def test_what_waits_until_events_are_final(query: str, more: dict[str, Any]) -> None:
    engine = engine_of(query, **more)
    found = [*engine.publish("S", [10, 11, 12, 90], [(1,), (2,), (3,), (0,)])]
    assert found == []
    assert ("match", "q0", 6) in told(engine.punctuate(80))


def test_forgotten_partitions_cost_nothing() -> None:
    engine = engine_of("FROM S BY v WINDOW AFTER any* MATCHING [v >= 0]")
    for time in range(0, 2_000, 10):
        engine.publish("S", [time, time + 1], [(time,), (time,)])
        engine.punctuate(time)
    assert engine.statistics()["window_keys"] <= 140


def test_a_limit_suspends_what_revises() -> None:
    engine = engine_of("FROM S WINDOW AFTER any* MATCHING any* [v < 0]", options=Options(runs_max=2))
    assert told(engine.publish("S", [1, 2, 3], [(1,), (1,), (1,)])) == [("incomplete", "q0", WORK_LIMIT)]
