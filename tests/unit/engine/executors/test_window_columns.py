"""Windows of many partitions whose keys are numbers of a dictionary: as event by event, also where a batch is long,
where partitions are forgotten and come again in it, and at limits."""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest

from broker.engine import Engine, Options

LIMITS = {
    "none": Options(),
    "partitions": Options(bindings_max=25),
    "events": Options(nodes_max=4),
    "work": Options(work_max=60, work_earned=3),
}
WINDOWS = ("SESSION 40 us", "EVERY 100 us", "LAST 90 us EVERY 30 us", "LAST 30 us EVERY 90 us")
FORMS = ("float", "float?", "int", "int?")


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("by", ["ty", ""])
@pytest.mark.parametrize("windows", WINDOWS)
def test_long_batches_of_columns_are_as_single_events(windows: str, by: str, limit: str) -> None:
    draw = random.Random(f"{windows} {by} {limit}")
    names = [*(f"N{number}" for number in range(40)), None]
    times: list[int] = []
    time = 0
    for _ in range(1_200):
        time += draw.choice((0, 0, 1, 1, 2, 45 if draw.random() < 0.1 else 3))
        times.append(time)
    rows: list[tuple[Any, ...]] = []
    for _ in times:
        sums = draw.uniform(-9, 9), draw.choice((None, draw.uniform(0, 1e9))), draw.randrange(-(2**40), 2**40)
        rows.append((draw.choice(names), *sums, draw.choice((None, 1, 2))))
    values = "sum(a) AS a, avg(b) AS b, sum(c) AS c, sum(d) AS d, count(d) AS e, count(*) AS n, first(ty) AS t"
    query = f"FROM S {'BY ty ' if by else ''}WINDOW {windows} AGGREGATE {values}"
    told: list[list[Any]] = []
    for longest, by_columns in ((1, False), (900, False), (900, True)):
        engine = Engine(LIMITS[limit])
        engine.add_stream("S", {"ty": "string?", **dict(zip("abcd", FORMS))})
        engine.subscribe("q", language="window", query=query, lineage=True)
        found: list[Any] = []
        first = 0
        while first < len(rows):
            upto = first + (1 if longest == 1 else draw.choice((70, 300, longest)))
            part, moments = rows[first:upto], times[first:upto]
            if by_columns:
                columns: dict[str, Any] = dict(zip(("ty", *"abcd"), map(list, zip(*part))))
                columns |= {"a": array("d", columns["a"]), "c": array("q", columns["c"])}
                found += engine.publish_columns("S", columns, moments)
            else:
                found += engine.publish("S", moments, part)
            if longest > 1:
                engine.check_invariants()
                if draw.random() < 0.3:
                    engine = Engine.restore(engine.snapshot(), LIMITS[limit])
            first = upto
        found += engine.finish()
        told.append([_told(each) for each in found if each.kind == "match"])
    assert told[0] or limit == "events"
    assert told[0] == told[1] == told[2]


def _told(match: Any) -> tuple[Any, ...]:
    return match.id, match.start, match.end, match.lineage, tuple(map(repr, match.data.items()))
