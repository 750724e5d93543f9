"""Windows at limits: what is told is what is meant, or nothing; never a window with other contents."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from doubles.played_windows import meant, trim
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.windows import AGGREGATES, SCHEMA, Event, queries, streams

from broker.engine import Engine, Options
from broker.language.window import parse, print_query
from broker.language.window.syntax import WindowQuery

LIMITS: Final = st.fixed_dictionaries(
    {},
    optional={
        "runs_max": st.integers(1, 4),
        "nodes_max": st.integers(1, 9),
        "batches": st.booleans(),
        "window_columns": st.booleans(),
    },
)
MOVING: Final = (
    "LAST 5 EVENTS",
    "LAST 8 EVENTS",
    "LAST 3",
    "LAST 7",
    "LAST 12 EVENTS EVERY 1 EVENT",
    "LAST 9 EVERY 2",
    "EVERY 8",
    "SESSION 2",
    "AFTER any* MATCHING any* [v = 4] WITHIN 6 KEEP EARLIEST",
    "AFTER any* MATCHING any{2,} [v = 4] & any{1,7} OR AFTER any* MATCHING [ty = 'A'] any* [v < 4] KEEP EARLIEST",
    "AFTER any* MATCHING [v = 1] [v > 1]* [v = 4] KEEP EARLIEST",
    "AFTER any* MATCHING [v = 1] any* [v = 4] KEEP LATEST",
    "AFTER any* MATCHING [v = 1] any* [v = 4] & any{1,9} KEEP LONGEST",
    "AFTER any* MATCHING [v = 1] any* [v = 4] KEEP SHORTEST",
)
"""Windows whose starts or events limits cut off."""
AGGREGATED: Final = st.lists(st.sampled_from(AGGREGATES), max_size=2, unique_by=lambda one: one.name)
BATCHES: Final = st.lists(st.integers(1, 20), max_size=3)


@given(queries(), streams(16), BATCHES, LIMITS, st.booleans(), st.integers(-1, 3))
def test_whatever_the_query(
    query: WindowQuery, events: list[Event], cuts: list[int], limits: dict[str, Any], at_once: bool, saved: int
) -> None:
    right(query, events, cuts, limits, at_once, saved)


@settings(max_examples=3 * settings().max_examples)
@given(
    st.sampled_from(MOVING), st.booleans(), AGGREGATED,
    streams(60, 20), BATCHES, LIMITS, st.booleans(), st.integers(-1, 3),
)  # fmt: skip
def test_where_windows_are_long(
    windows: str, by: bool, values: list[Any], events: list[Event], cuts: list[int], limits: dict[str, Any],
    at_once: bool, saved: int,
) -> None:  # fmt: skip
    query = parse(f"FROM S{' BY ty' if by else ''} WINDOW {windows}")
    right(replace(query, aggregates=tuple(values)), events, cuts, limits, at_once, saved)


def right(
    query: WindowQuery, events: list[Event], cuts: list[int], limits: dict[str, Any], at_once: bool, saved: int
) -> None:
    """All that is told is meant, and told once. Where no limit was hit, it is all that is meant."""
    engine = Engine(Options(**limits))
    engine.add_stream("S", SCHEMA.declared())
    engine.subscribe("q", language="window", query=print_query(query), lineage=True)
    found: list[Any] = []
    at, batch = 0, 0
    while at < len(events):
        upto = at + (cuts[batch % len(cuts)] if cuts else len(events))
        part = events[at:upto]
        trim(engine, at_once)
        found += engine.publish("S", [time for time, _ in part], [row for _, row in part])
        engine.check_invariants()
        if batch == saved:
            engine = Engine.restore(engine.snapshot(), Options(**limits))
            engine.check_invariants()
        at, batch = upto, batch + 1
    found += engine.finish()
    told = [_line(each.lineage, each.start, each.end, each.data.values()) for each in found if each.kind == "match"]
    wanted = [_line(*one) for one in meant(query, events)]
    assert set(told) <= set(wanted)
    if all(match.kind == "match" for match in found):
        assert len(told) == len(wanted)


def _line(lineage: Any, start: int, end: int, values: Any) -> str:
    return json.dumps([list(lineage), start, end, list(values)])
