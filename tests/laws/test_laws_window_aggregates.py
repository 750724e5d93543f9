"""Aggregates of windows that have many events, and move on: each value is the one that all events of the window give.

Which events a window has, other laws say; here the meaning is asked for the values of those that are told.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.windows import AGGREGATES, SCHEMA

from broker.algebra.window.lowering import lower
from broker.algebra.window.semantics import TimedEvent, result_of
from broker.engine import Engine, Options
from broker.language.window import parse, print_query

MOVING: Final = (
    "LAST 40 EVENTS",
    "LAST 90 EVENTS",
    "LAST 60",
    "LAST 70 EVENTS EVERY 1 EVENT",
    "LAST 80 EVENTS EVERY 20 EVENTS",
    "EVERY 50 EVENTS",
    "LAST 90 EVERY 4",
    "LAST 60 EVERY 50",
    "SESSION 3",
    "AFTER any* MATCHING [v = 1] any* [v = 4] & any{1,60}",
    "AFTER any* MATCHING [v = 1 AND ty = 'C'] any* [v = 4] WITHIN 90",
    "AFTER any* MATCHING [v = 1 AND ty = 'C'] any* [v = 4] & any{1,150} KEEP LATEST",
    "AFTER any* MATCHING [v = 1] any* [v = 4] & any{40,90} KEEP EARLIEST",
    "AFTER any* MATCHING [v = 1 AND ty = 'C'] any{1,90} KEEP LONGEST",
    "AFTER any* MATCHING [v = 1] any{70,} [v = 4] KEEP SHORTEST",
)
QUANTILES: Final = "quantile(x, 90%) AS q9, quantile(v, 0.1) AS q1, max(v) AS hv"
NUMBERS: Final = (None, 0.0, 0.1, 0.2, -0.3, 1e6, 1e-6, 3.0, 1e12, 2.0**53 + 2, -1e300, 1e300)
SHORT: Final = (
    *("LAST 5 EVENTS", "LAST 4", "EVERY 3 EVENTS", "EVERY 3", "SESSION 1", "LAST 9 EVERY 3"),
    "AFTER any* MATCHING any{1,4}",
)
OF_ZEROS: Final = (
    *(f"{each}(x)" for each in ("min", "max", "sum", "avg", "median", "first", "last", "stdev")),
    *("count(DISTINCT x)", "avg(DISTINCT x)", "sum(DISTINCT x)", "argmin(x, x)", "argmax(x, x)"),
    *("max(-x)", "min(x * 1.0)"),
)
HUGE: Final = (1e308, -1e308, 1.7e308, 5e-324, 2.0**-1040)


@given(
    st.sampled_from(MOVING),
    st.sampled_from(("", " BY ty")),
    st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=4, unique_by=lambda one: one.name),
    st.integers(0, 2**30),
    st.integers(-1, 5),
    st.booleans(),
    st.sampled_from(("arrival", "arrival", "speculate")),
)
def test_values_are_those_of_all_events(
    windows: str, by: str, some: list[Any], seed: int, saved: int, in_columns: bool, disorder: Any
) -> None:
    query = parse(f"FROM S{by} WINDOW {windows} AGGREGATE {QUANTILES}")
    numbers = NUMBERS if random.Random(seed).random() < 0.7 else (*NUMBERS, *HUGE)
    query = replace(query, aggregates=(*query.aggregates, *some))
    told(query, numbers, seed, saved, in_columns, disorder)


@pytest.mark.parametrize("windows", MOVING)
def test_each_kind_of_windows_is_told(windows: str) -> None:
    """Some random events have no window of a kind; most must, or the law above would say little."""
    query = parse(f"FROM S WINDOW {windows} AGGREGATE {QUANTILES}")
    assert sum(told(query, NUMBERS, seed, -1, False, "arrival") > 0 for seed in range(5)) >= 3


@given(
    st.sampled_from((*MOVING, *SHORT)),
    st.sampled_from(("", " BY ty")),
    st.lists(st.sampled_from(OF_ZEROS), min_size=1, max_size=4, unique=True),
    st.integers(0, 2**30),
    st.integers(-1, 5),
    st.booleans(),
    st.sampled_from(("arrival", "arrival", "speculate")),
)
def test_zeros_keep_their_signs(
    windows: str, by: str, some: list[str], seed: int, saved: int, in_columns: bool, disorder: Any
) -> None:
    """Of equal values the first one is told: 0.0 and -0.0 are equal."""
    named = ", ".join(f"{each} AS a{at}" for at, each in enumerate(some))
    numbers = (0.0, -0.0, -0.0, *((None, 1.0, -1.0) if seed % 2 else (None,)))
    told(parse(f"FROM S{by} WINDOW {windows} AGGREGATE {named}"), numbers, seed, saved, in_columns, disorder)


def told(query: Any, numbers: tuple[Any, ...], seed: int, saved: int, in_columns: bool, disorder: Any) -> int:
    """How many windows of events with these numbers are told, each with the values of the meaning to the last bit."""
    text = print_query(query)
    expression = lower(query, text, lambda name: SCHEMA, lambda: ["S"])
    draw = random.Random(seed)
    time, events = 0, {}
    for number in range(1, draw.choice((110, 160))):
        time += draw.choice((0, 0, 1, 1, 2))
        row = draw.choice("AAAC"), draw.choice((None, 1, 2, 3, 4)), draw.choice(numbers)
        events[number] = TimedEvent(number, time, row)
    engine = Engine(Options(window_columns=draw.random() < 0.5))
    engine.add_stream("S", SCHEMA.declared(), None, disorder)
    engine.subscribe("q", language="window", query=text, lineage=True)
    at, batch, count = 1, 0, 0
    while at <= len(events):
        part = [events[number] for number in range(at, min(at + draw.choice((1, 7, 60, 300)), len(events) + 1))]
        times, rows, ids = [each.time for each in part], [each.row for each in part], [each.id for each in part]
        if in_columns:
            found = list(engine.publish_columns("S", dict(zip(SCHEMA.names, map(list, zip(*rows)))), times, ids))
        else:
            found = list(engine.publish("S", times, rows, ids))
        at += len(part)
        if at > len(events):
            found += engine.finish()
        if draw.random() < 0.3:
            found.reverse()
        for match in found:
            if match.kind == "match":
                inside = [events[number] for number in match.lineage or ()]
                assert repr(tuple(match.data.values())) == repr(result_of(expression, inside, None).values)
                count += 1
        if batch == saved:
            engine = Engine.restore(engine.snapshot(), engine.options)
        batch += 1
    return count
