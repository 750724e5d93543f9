"""The executor of windows at its limits, beside other subscriptions, and with sums of floats that are hard to add."""

from __future__ import annotations

import math
import random
from array import array
from typing import Any, cast

import pytest

from broker.algebra.window.lowering import lower
from broker.algebra.window.semantics import TimedEvent, results
from broker.engine import Engine, Options
from broker.engine.executors.windows.machine import WindowMachine
from broker.engine.executors.windows.pane_groups import Group, joined, without
from broker.events.errors import Unsupported
from broker.events.schema import Schema
from broker.language.window import parse


def engine_of(*queries: str, options: Options | None = None, lineage: bool = True) -> Engine:
    engine = Engine(options)
    engine.add_stream("S", {"ty": "string?", "v": "float?"})
    for number, query in enumerate(queries):
        engine.subscribe(f"q{number}", language="window", query=query, lineage=lineage)
    return engine


def spans(found: Any) -> list[tuple[int, int]]:
    return [(match.lineage[0], match.lineage[-1]) for match in found if match.kind == "match"]


def publish(engine: Engine, *rows: tuple[str | None, float | None], first: int = 1) -> Any:
    found = list(engine.publish("S", [first + at for at in range(len(rows))], list(rows)))
    engine.check_invariants()
    return found


A, B = ("A", 1.0), ("B", 2.0)
PAIRS = "FROM S WINDOW AFTER any* MATCHING [ty = 'A'] any* [ty = 'B']"


def test_a_window_has_no_bindings_and_lineage_only_if_asked() -> None:
    (match,) = publish(engine_of(PAIRS, lineage=False), A, B)
    assert match.line().keys() == {"kind", "subscription", "id", "start", "end", "data"}
    engine = engine_of(PAIRS)
    (told,) = publish(engine, A, B)
    assert told.id == match.id
    assert told.line()["lineage"] == [1, 2]
    assert "bindings" not in told.line()


def test_the_oldest_starts_are_given_up_beyond_the_most_and_that_is_told() -> None:
    engine = engine_of(PAIRS, options=Options(runs_max=2))
    found = publish(engine, A, A, A, B)
    assert spans(found) == [(2, 4), (3, 4)]
    assert [match.limit for match in found if match.kind == "incomplete"] == ["runs_max, bindings_max or nodes_max"]


def test_no_more_events_are_kept_than_allowed() -> None:
    engine = engine_of(PAIRS, options=Options(nodes_max=3))
    assert spans(publish(engine, A, A, B, B)) == [(1, 3), (2, 3), (2, 4)]
    assert engine.statistics()["window_events"] <= 3


def test_partitions_beyond_the_most_are_not_followed() -> None:
    engine = engine_of("FROM S BY ty WINDOW EVERY 2 EVENTS", options=Options(bindings_max=1))
    found = publish(engine, A, B, A, B)
    assert spans(found) == [(1, 3)]
    assert any(match.kind == "incomplete" for match in found)


def test_a_subscription_that_completes_too_many_windows_is_suspended() -> None:
    engine = engine_of(PAIRS, options=Options(work_max=300, work_earned=10))
    found = publish(engine, *[A] * 50, *[B] * 50)
    assert found[-1].suspends
    assert publish(engine, A, B, first=200) == []


def test_windows_are_events_of_the_stream_that_they_publish() -> None:
    engine = engine_of("FROM S WINDOW EVERY 2 EVENTS AGGREGATE sum(v) AS s PUBLISH Sums")
    engine.subscribe("above", query="FILTER{s > 2}(Sums)", lineage=True)
    engine.subscribe(
        "again", language="window", query="FROM Sums WINDOW EVERY 2 EVENTS AGGREGATE sum(s) AS t", lineage=True
    )
    engine.subscribe("hours", language="window", query="FROM Sums WINDOW EVERY 3 AGGREGATE count(*) AS n", lineage=True)
    found = publish(engine, A, A, A, B, A, B, A, B) + list(engine.finish())
    told = {name: [match for match in found if match.subscription == name] for name in ("above", "again", "hours")}
    assert [match.data for match in told["above"]] == [{"s": 3.0}] * 3
    assert [(match.lineage, match.data) for match in told["again"]] == [
        ([1, 2, 3, 4], {"t": 5.0}),
        ([5, 6, 7, 8], {"t": 6.0}),
    ]
    assert [(match.lineage, match.data["n"]) for match in told["hours"]] == [
        ([1, 2], 1),
        ([3, 4], 1),
        ([5, 6, 7, 8], 2),
    ]


def test_a_subscription_that_comes_later_counts_from_there() -> None:
    engine = engine_of("FROM S WINDOW EVERY 2 EVENTS")
    publish(engine, A)
    engine.subscribe("late", language="window", query="FROM S WINDOW EVERY 2 EVENTS", lineage=True)
    found = publish(engine, A, A, first=2)
    assert [(match.subscription, match.lineage) for match in found] == [("q0", [1, 2]), ("late", [2, 3])]
    engine.unsubscribe("late")
    assert spans(publish(engine, A, first=4)) == [(3, 4)]


def test_equal_windows_share_a_machine() -> None:
    other = "FROM S WINDOW AFTER (any any | any)* MATCHING [ty = 'A'] any{0,} [ty = 'B']"
    engine = engine_of(PAIRS, other, options=Options(executors_off=("window_families",)))
    assert engine.statistics()["windows"] == 1
    assert [match.subscription for match in publish(engine, A, B)] == ["q0", "q1"]


@pytest.mark.parametrize("columns", [True, False])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e12])
def test_sums_are_the_nearest_floats_wherever_the_stream_began(scale: float, columns: bool) -> None:
    options = Options(window_columns=columns)
    draw = random.Random(7)
    values = [draw.choice((0.1, -0.1, 1e-9, 3.3)) * 10 ** draw.randint(0, 6) * scale for _ in range(400)]
    query = "FROM S WINDOW LAST 50 EVENTS EVERY 1 EVENT AGGREGATE sum(v) AS s, avg(v) AS a"
    whole = publish(engine_of(query, options=options), *[("A", value) for value in values])
    assert len(whole) == 351
    for match in whole:
        exact = math.fsum(values[match.lineage[0] - 1 : match.lineage[-1]])
        assert match.data == {"s": exact, "a": exact / 50}
    later = publish(engine_of(query, options=options), *[("A", value) for value in values[150:]])
    assert [match.data for match in later] == [match.data for match in whole][150:]


def test_sums_survive_what_no_float_can_hold() -> None:
    query = "FROM S WINDOW LAST 2 EVENTS EVERY 1 EVENT AGGREGATE sum(v) AS s, avg(v) AS a"
    rows = [("A", value) for value in (1e308, 1e308, -1e308, 1.5, 1e-300, 0.25, None)]
    sums = [match.data["s"] for match in publish(engine_of(query), *rows)]
    assert sums == [None, 0.0, -1e308, 1.5, 0.25, 0.25]


@pytest.mark.parametrize("columns", [True, False])
def test_windows_of_the_clock_are_told_by_events_of_any_key_and_by_punctuation(columns: bool) -> None:
    options = Options(window_columns=columns)
    engine = engine_of("FROM S BY ty WINDOW EVERY 10 AGGREGATE count(*) AS n, from() AS f", options=options)
    assert publish(engine, A, B, A, first=1) == []
    told = list(engine.publish("S", [10], [B]))
    assert [(match.lineage, match.data) for match in told] == [([1, 3], {"n": 2, "f": 0}), ([2], {"n": 1, "f": 0})]
    assert [match.lineage for match in engine.punctuate(20)] == [[4]]
    assert engine.statistics()["window_keys"] == 0


def test_a_session_is_over_when_time_says_so() -> None:
    engine = engine_of("FROM S BY ty WINDOW SESSION 5")
    assert publish(engine, A, B, A, first=1) == []
    assert list(engine.punctuate(7)) == []
    assert [match.lineage for match in engine.punctuate(8)] == [[2]]
    assert [match.lineage for match in engine.finish()] == [[1, 3]]


def test_users_are_told_before_that_windows_may_become_many() -> None:
    engine = engine_of(PAIRS, "FROM S WINDOW SESSION 5", "FROM S WINDOW EVERY 5")
    plans = [subscriber.machine for subscriber in engine.catalog.subscriptions.values()]
    assert [[] if plan is None else plan.advice() for plan in plans] == [
        [
            "open starts: unbounded, one more each time these events come: [ty = 'A']; beyond runs_max in a partition,"
            " the oldest are given up"
        ],
        [],
        [],
    ]
    explained = [line for line in engine.explain() if ": open starts: " in line]
    assert [line.endswith("the oldest are given up") for line in explained] == [True, False]


def test_what_cannot_be_asked_says_so() -> None:
    engine = engine_of(PAIRS)
    with pytest.raises(Unsupported, match="cannot list partial matches"):
        engine.partial_matches("q0")


def test_intervals() -> None:
    assert joined([[1, 2, 7, 9], [3, 3], [5, 7]]) == [1, 3, 5, 9]
    assert without([1, 9, 12, 12], [2, 3, 9, 12]) == [1, 1, 4, 8]
    group = Group(0, [1, 2])
    group.merge(Group(0, [5, 6]))
    group.merge(Group(0, [3, 3]))
    assert group.intervals == [1, 3, 5, 6]
    assert group.cut(2)
    assert group.intervals == [2, 3, 5, 6]
    assert group.cut(6)
    assert group.intervals == [6, 6]
    assert not group.cut(7)


@pytest.mark.parametrize("windows", ["SESSION 40 us", "EVERY 100 us", "LAST 90 us EVERY 30 us"])
def test_many_partitions_come_and_go(windows: str) -> None:
    chance = random.Random(1)
    rows: list[tuple[str, int | None]] = [
        (f"{chance.choice('AB')}{chance.randrange(100)}", chance.choice((None, 1, 2, 3))) for _ in range(1_200)
    ]
    text = f"FROM S BY ty WINDOW {windows} AGGREGATE sum(v) AS s"
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "v": "int?"})
    engine.subscribe("q", "window", text, lineage=True)
    found: list[Any] = []
    for first in range(0, len(rows), 70):
        part = rows[first : first + 70]
        found += engine.publish("S", range(first, first + len(part)), part)
        engine.check_invariants()
        if first == 420:
            engine = Engine.restore(engine.snapshot())
    found += engine.finish()
    schema = Schema.declare({"ty": "string", "v": "int?"})
    expression = lower(parse(text), text, lambda name: schema, lambda: ["S"])
    meant = results(expression, [TimedEvent(at + 1, at, row) for at, row in enumerate(rows)])
    assert len(found) > 700
    told = [(tuple(match.lineage), match.start, match.end, tuple(match.data.values())) for match in found]
    assert sorted(told, key=repr) == sorted([(w.lineage, w.start, w.end, w.values) for w in meant], key=repr)


@pytest.mark.parametrize("windows", ["EVERY 50 EVENTS", "AFTER any* MATCHING [v > 96] any* [v < 4]"])
def test_a_log_of_columns_is_saved_and_read_as_one_of_rows(windows: str) -> None:
    draw = random.Random(3)
    rows = [(draw.choice("AB"), draw.uniform(0, 100)) for _ in range(1_000)]
    query = f"FROM S WINDOW {windows} AGGREGATE median(v) AS m, sum(v) AS s, first(ty) AS f, max(v) AS h"
    told: list[list[Any]] = []
    for by_columns in (False, True):
        engine = engine_of(query)
        found: list[Any] = []
        for at in range(0, len(rows), 70):
            part = rows[at : at + 70]
            times = list(range(at, at + len(part)))
            if by_columns:
                columns = {"ty": [ty for ty, _ in part], "v": array("d", [v for _, v in part])}
                found += engine.publish_columns("S", columns, times)
            else:
                found += engine.publish("S", times, part)
            engine.check_invariants()
            if at in (210, 490):
                engine = Engine.restore(engine.snapshot())
        told.append([(match.lineage, match.data) for match in found])
    assert len(told[0]) > 5
    assert told[0] == told[1]


def tables_of_all(engine: Engine) -> set[int]:
    matchers = [matcher for lane in engine.program.machines.lanes.values() for matcher in lane.matchers]
    return {id(cast(WindowMachine, matcher.machine).tables) for matcher in matchers}


def test_machines_that_differ_in_constants_of_the_event_have_the_same_tables() -> None:
    windows = "AFTER any* MATCHING [ty = '{0}' AND v > {1}] any* [v < {1}] & any{{1,500}} AGGREGATE sum(v) AS s"
    queries = [f"FROM S BY ty WINDOW {windows.format(name, number)}" for number, name in enumerate("CABD")]
    engine = engine_of(*queries, options=Options(executors_off=("window_families",)), lineage=False)
    assert engine.statistics()["windows"] == 4
    assert len(tables_of_all(engine)) == 1
    found = publish(engine, ("A", 4.0), ("B", 3.0), ("D", 3.0), ("A", 0.5), ("B", 1.5), ("A", 2.0), ("D", 2.5))
    assert [(match.subscription, match.data["s"]) for match in found] == [("q1", 4.5), ("q2", 4.5)]


def test_conditions_that_look_back_are_in_the_tables_with_their_constants() -> None:
    rising = [f"FROM S WINDOW AFTER any* MATCHING any [v > prev.v + {number}]" for number in (1, 2, 1, 3)]
    engine = engine_of(*rising, options=Options(executors_off=("window_families",)), lineage=False)
    assert len(tables_of_all(engine)) == engine.statistics()["windows"] == 3
    found = publish(engine, ("A", 0.0), ("A", 2.5), ("A", 4.0))
    assert [match.subscription for match in found] == ["q0", "q2", "q1", "q0", "q2"]


@pytest.mark.parametrize(
    "body", ["(any{2} & any) any*", "((any{2} & any) any*){2,} & any{0,5}", "any* (any{3,} & any)"]
)
def test_what_follows_a_part_that_matches_nothing_is_in_no_window(body: str) -> None:
    """The lengths of both sides of `&` have nothing in common, so that there is no length to be taken out."""
    engine = Engine(Options())
    engine.add_stream("S", {"v": "int"})
    query = f"FROM S WINDOW AFTER any* MATCHING {body} OR AFTER any* MATCHING [v = 3] AGGREGATE count(*) AS n"
    engine.subscribe("w", language="window", query=query)
    found = engine.publish("S", list(range(9)), [(at,) for at in range(9)])
    assert [(match.start, match.end) for match in found] == [(3, 3)]
