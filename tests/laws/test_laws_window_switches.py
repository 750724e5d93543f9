"""Windows: each way to be faster tells the same as without it, in the same order, whatever the limits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.windows import AGGREGATES, SCHEMA, Event, queries, streams

from broker.engine import Engine, Options
from broker.language.window import parse, print_query
from broker.language.window.syntax import WindowQuery

OFF: Final[tuple[tuple[str, ...], ...]] = (
    (),
    ("batches",),
    ("window_columns",),
    ("window_columns", "batches"),
)
LONG: Final = (
    "EVERY 9 EVENTS",
    "LAST 20 EVENTS EVERY 7 EVENTS",
    "LAST 3 EVENTS EVERY 5 EVENTS",
    "LAST 6 EVENTS EVERY 1 EVENT",
    "SESSION 1",
    "SESSION 2",
    "EVERY 9",
    "LAST 12 EVERY 4 OFFSET 1",
    "LAST 5 EVERY 7",
    "LAST 7 EVERY 5",
    "AFTER any* MATCHING [ty = 'A'] [ty != 'B']* [ty = 'B']",
    "AFTER any* MATCHING [v = 4] any* [ty IS NULL]",
    "AFTER any* MATCHING [v = 4] any* [ty IS NULL] & any{3,12}",
    "AFTER any* MATCHING [v = 4] any* [ty IS NULL] WITHIN 6",
    "AFTER any* MATCHING [v = 4] any{5,} KEEP SHORTEST",
    "AFTER any* [ty IS NULL] MATCHING [v < 4]* [v = 4] KEEP EARLIEST",
    "AFTER any{3} MATCHING any{20,30}",
)
BATCHES: Final = st.lists(st.integers(1, 30), max_size=3)
LIMITS: Final = st.fixed_dictionaries(
    {},
    optional={
        "runs_max": st.integers(1, 3),
        "nodes_max": st.integers(1, 4),
        "bindings_max": st.integers(1, 2),
        "work_max": st.integers(4, 40),
        "work_earned": st.integers(1, 6),
    },
)


@given(queries(), streams(30), BATCHES, LIMITS)
def test_switches_change_no_result_and_no_order_whatever_the_limits(
    query: WindowQuery, events: list[Event], cuts: list[int], limits: dict[str, Any]
) -> None:
    alike(print_query(query), events, cuts, limits)


@settings(max_examples=3 * settings().max_examples)
@given(
    st.sampled_from(LONG),
    st.booleans(),
    st.booleans(),
    st.lists(st.sampled_from(AGGREGATES), max_size=3, unique_by=lambda one: one.name),
    streams(80, 30),
    BATCHES,
    LIMITS,
)
def test_nor_where_windows_are_long(
    windows: str, by: bool, whole: bool, values: list[Any], events: list[Event], cuts: list[int], limits: dict[str, Any]
) -> None:
    query = parse(f"FROM S{' BY ty' if by else ''} WINDOW {windows}")
    if whole:  # columns of ints have no nulls
        events = [(time, (ty, v or 0, x)) for time, (ty, v, x) in events]
    alike(print_query(replace(query, aggregates=tuple(values))), events, cuts, limits)


def alike(text: str, events: list[Event], cuts: list[int], limits: dict[str, Any]) -> None:
    told = [in_order(text, events, cuts, switched(off, limits)) for off in OFF]
    told.append(in_order(text, events, cuts, switched((), limits), True))
    assert all(one == told[0] for one in told[1:])


def switched(off: tuple[str, ...], limits: dict[str, Any]) -> Options:
    chosen: dict[str, Any] = {**limits, **dict.fromkeys(off, False)}
    return Options(**chosen)


def in_order(text: str, events: list[Event], cuts: list[int], options: Options, by_columns: bool = False) -> list[str]:
    """All that a subscription is told, in order; also which limits it hits, and when it is suspended. Then what another
    one is, whose sessions of another stream end between; of those that end together, no order is promised."""
    engine = Engine(options)
    engine.add_stream("S", SCHEMA.declared())
    engine.subscribe("q", language="window", query=text, lineage=True)
    engine.add_stream("T", {"n": "int"})
    engine.subscribe("other", "window", "FROM T WINDOW SESSION 1", lineage=True)
    found: list[str] = []
    at, batch = 0, 0
    while at < len(events):
        upto = at + (cuts[batch % len(cuts)] if cuts else len(events))
        part = events[at:upto]
        found += [json.dumps(match.line()) for match in engine.publish("T", [part[0][0]], [(batch,)])]
        times, rows = [time for time, _ in part], [row for _, row in part]
        if by_columns:
            results = engine.publish_columns("S", dict(zip(SCHEMA.names, map(list, zip(*rows)))), times)
        else:
            results = engine.publish("S", times, rows)
        assert len(results) == len(list(results))
        found += [json.dumps(match.line()) for match in results]
        engine.check_invariants()
        at, batch = upto, batch + 1
    found += [json.dumps(match.line()) for match in engine.finish()]
    return sorted(found, key=lambda line: '"subscription": "q"' not in line)
