"""The meaning of window subscriptions on small streams: the examples of the documentation, one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from broker.algebra.window.lowering import lower
from broker.algebra.window.semantics import TimedEvent, WindowResult, results
from broker.events.errors import QueryError
from broker.events.schema import Schema
from broker.language.subscription_file import read_subscription_file
from broker.language.window import parse

SCHEMA = Schema.declare({"ty": "string", "v": "int"})


def found(query: str, *events: tuple[str | None, int | None, int]) -> list[WindowResult]:
    expression = lower(parse(query), query, lambda name: SCHEMA if name == "S" else None, lambda: ["S"])
    return results(expression, [TimedEvent(n, time, (ty, v)) for n, (ty, v, time) in enumerate(events, start=1)])


def spans(query: str, *events: tuple[str | None, int | None, int]) -> list[tuple[int, int]]:
    return [(one.lineage[0], one.lineage[-1]) for one in found(query, *events)]


def typed(word: str) -> list[tuple[str | None, int | None, int]]:
    return [(ty, at, at) for at, ty in enumerate(word.split(), start=1)]


def valued(*values: int | None) -> list[tuple[str | None, int | None, int]]:
    return [("A", v, at) for at, v in enumerate(values, start=1)]


def timed(*times: int) -> list[tuple[str | None, int | None, int]]:
    return [("A", at, time) for at, time in enumerate(times, start=1)]


def test_windows_that_slide_and_their_sums() -> None:
    rows = found("FROM S WINDOW AFTER (any{2})* MATCHING any{4} AGGREGATE sum(v) AS s", *valued(1, 2, 3, 4, 5, 6))
    assert [(one.lineage, one.values) for one in rows] == [((1, 2, 3, 4), (10,)), ((3, 4, 5, 6), (18,))]


@pytest.mark.parametrize(
    ("query", "word", "wanted"),
    [
        ("AFTER any* MATCHING [ty = 'A'] (any & !([ty = 'B']))* [ty = 'B']", "A C A B B", [(1, 4), (3, 4)]),
        ("AFTER any* MATCHING [ty = 'A'] any* [ty = 'B'] & any{1,3}", "A A B C B", [(1, 3), (2, 3)]),
        ("AFTER any* MATCHING [ty = 'A'] any* [ty = 'B'] KEEP LATEST", "A A B C B", [(2, 3), (2, 5)]),
        ("AFTER any* MATCHING [ty = 'A'] any* [ty = 'B'] KEEP EARLIEST", "A A B C B", [(1, 3), (1, 5)]),
        ("AFTER any* MATCHING [ty = 'A'] any* [ty = 'B'] KEEP SHORTEST", "A A B C B", [(1, 3), (2, 3)]),
        ("AFTER any* MATCHING [ty = 'A'] any* [ty = 'B'] KEEP LONGEST", "A A B C B", [(1, 5), (2, 5)]),
        ("AFTER any* MATCHING !(any* [ty = 'A'] [ty = 'B'] any*) & any{3}", "A C A B A C", [(1, 3), (4, 6)]),
        (
            "START x, END y WHERE x.ty = 'A' AND y.ty = 'B' AND NOT EXISTS z BETWEEN x AND y: z.ty = 'C'",
            "A A B C B A B",
            [(1, 3), (2, 3), (6, 7)],
        ),
        (
            "START x, END y WHERE x.ty = 'A' AND y.ty = 'B' AND EXISTS SET P: x IN P AND NOT y IN P AND "
            "ALL z, u: z >= x AND u = z + 1 IMPLIES NOT (z IN P IFF u IN P)",
            "A C B B A B",
            [(1, 4), (1, 6), (5, 6)],
        ),
        ("EVERY 2 EVENTS", "A A A A A", [(1, 2), (3, 4)]),
        ("LAST 3 EVENTS EVERY 2 EVENTS", "A A A A A", [(1, 3), (3, 5)]),
        ("LAST 2 EVENTS", "A A A", [(1, 1), (1, 2), (2, 3)]),
    ],
)
def test_windows_by_what_events_are(query: str, word: str, wanted: list[tuple[int, int]]) -> None:
    assert spans(f"FROM S WINDOW {query}", *typed(word)) == wanted


def test_rising_runs_once_each() -> None:
    query = (
        "FROM S WINDOW AFTER any* MATCHING (any & !([v > prev.v])) [v > prev.v]* KEEP LONGEST AGGREGATE count(*) AS n"
    )
    rows = found(query, *valued(5, 6, 7, 3, 4, 2))
    assert [(one.lineage[0], one.lineage[-1], one.values) for one in rows] == [(1, 3, (3,)), (4, 5, (2,)), (6, 6, (1,))]


def test_sessions_end_where_nothing_follows_within_the_gap() -> None:
    assert spans("FROM S WINDOW SESSION 3 us", *timed(1, 3, 6, 10, 20)) == [(1, 3), (4, 4), (5, 5)]


def test_the_last_events_by_time() -> None:
    rows = found(
        "FROM S WINDOW LAST 4 us AGGREGATE sum(v) AS s", ("", 1, 1), ("", 2, 3), ("", 3, 5), ("", 4, 6), ("", 5, 20)
    )
    assert [one.values for one in rows] == [(1,), (3,), (6,), (9,), (5,)]


def test_windows_of_the_clock_have_bounds_and_may_hold_the_same_events() -> None:
    query = "FROM S WINDOW LAST 10 min EVERY 5 min AGGREGATE from() AS f, until() AS u"
    minute = 60_000_000
    rows = found(query, ("", 1, 7 * minute))
    assert [one.values for one in rows] == [(0, 10 * minute), (5 * minute, 15 * minute)]
    assert [one.values[0] for one in found(query, ("", 1, -1))] == [-10 * minute, -5 * minute]


def test_aggregates_of_one_window_with_nulls() -> None:
    query = (
        "FROM S WINDOW AFTER any{0} MATCHING any{4} AGGREGATE count(*) AS a, count(v) AS b, count(DISTINCT v) AS c,"
        " sum(DISTINCT v) AS d, min(v) AS e, first(v) AS f, last(v) AS g, median(v) AS h, quantile(v, 1) AS i,"
        " argmax(v, ty) AS j, stdev(v) AS k, avg(v * 2) AS l, max(time) AS m"
    )
    (row,) = found(query, ("x", None, 1), ("y", 4, 2), ("z", 4, 3), ("w", 1, 9))
    assert row.values == (4, 3, 2, 5, 1, None, 1, 4, 4, "y", 3**0.5, 6.0, 9)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("FROM T WINDOW EVERY 5", "column 6: unknown stream 'T'"),
        ("FROM S WINDOW LAST 1 hour EVERY 1 us", "column 20: expected at most 10000 windows over one event, found 36"),
        (f"FROM S WINDOW AFTER any MATCHING {'any? ' * 200}", "column 34: expected a regular expression of at"),
        ("FROM S WINDOW AFTER any MATCHING any{0}", "column 34: expected events after MATCHING"),
        ("FROM S WINDOW AFTER any MATCHING [x = 1]", "column 35: unknown attribute 'x'"),
        ("FROM S WINDOW AFTER any MATCHING [prev17.v = 1]", "expected prev, prev2 up to prev16, found prev17"),
        ("FROM S WINDOW AFTER any MATCHING [last.v = 1]", "expected prev.x, prev2.x, ..., found 'last.v'"),
        ("FROM S WINDOW AFTER any MATCHING [v]", "expected a condition, found a value of type int"),
        ("FROM S WINDOW EVERY 5 AGGREGATE sum(ty) AS s", "expected a number in sum, found a value of type string"),
        ("FROM S WINDOW EVERY 5 AGGREGATE sum(prev.v) AS s", "expected an attribute of the event by its bare name"),
        ("FROM S WINDOW EVERY 5 AGGREGATE quantile(v, 2) AS s", "expected a number from 0 to 1"),
        ("FROM S WINDOW START x, END y WHERE x.v < y.v", "expected a condition on one event, found 'x' and 'y'"),
        ("FROM S WINDOW START x, END y WHERE x < z", "unknown variable 'z'"),
        ("FROM S WINDOW START x, END y WHERE EXISTS x: x.v = 1", "expected a new variable, found 'x'"),
        ("FROM S WINDOW START x, END y WHERE x IN y", "expected the variable of a set, found 'y', that of an event"),
        ("FROM S WINDOW START x, END y WHERE v + 1 > 1", "expected an attribute with its variable, such as x.v"),
        ("FROM S WINDOW START x, END y WHERE y = x + 2", "expected the next position, such as z + 1"),
    ],
)
def test_what_has_no_meaning_is_refused_with_its_place(query: str, message: str) -> None:
    with pytest.raises(QueryError) as error:
        found(query)
    assert message in str(error.value)


CASES = Path(__file__).parents[2] / "conformance" / "cases.jsonl"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case["id"])
        for case in map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
        if case["language"] == "window"
    ],
)
def test_the_meaning_agrees_with_the_fixed_cases(case: dict[str, Any]) -> None:
    file = read_subscription_file(case["subscriptions"], case["id"])
    schemas = {stream.name: stream.schema for stream in file.streams}
    (definition,) = file.subscriptions
    expression = lower(parse(definition.query), definition.query, schemas.get, list)
    names = expression.source.schema.names
    events = [
        TimedEvent(event["id"], event["time"], tuple(event["data"][name] for name in names)) for event in case["events"]
    ]
    told = results(expression, events)
    assert sorted([one.lineage[0], one.lineage[-1]] for one in told) == sorted(case["expect"]["spans"])
    if "data" in case["expect"]:
        data = [dict(zip(expression.schema.names, one.values)) for one in told]
        assert sorted(data, key=repr) == sorted(case["expect"]["data"], key=repr)
