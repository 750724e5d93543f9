"""Families of windows: subscriptions that differ in a constant are told what each would be told alone.

They come and go between events, and the engine is restored in between.
"""

from __future__ import annotations

import json
from typing import Any

from doubles.read_columns import in_columns
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.windows import FAMILY_PREDICATES, OWN, SCHEMA, Event, pairs, queries, streams

from broker.engine import Engine, Options
from broker.language.window import print_query
from broker.language.window.syntax import WindowQuery

ALONE = ("window_families",)
CONSTANTS = st.integers(-1, 5)
STEPS = st.lists(st.sampled_from(("join", "leave", "restore")), max_size=6)
CUTS = st.lists(st.integers(1, 4), min_size=1, max_size=3)
thorough = settings(max_examples=3 * settings().max_examples)


def told(
    text: str, constants: list[int], events: list[Event], cuts: list[int], steps: list[str], options: Options
) -> dict[str, list[str]]:
    """What each subscription is told, in order. Half of them are there from the beginning; steps come between batches:
    the next one joins, the oldest one leaves, the engine is restored."""
    engine = Engine(options)
    engine.add_stream("S", SCHEMA.declared())
    names = [f"q{number}" for number in range(len(constants))]
    waiting = list(zip(names, constants))
    present: list[str] = []
    found: dict[str, list[str]] = {name: [] for name in names}

    def join() -> None:
        if waiting:
            name, constant = waiting.pop(0)
            own = text.replace(str(OWN.value), str(constant))
            engine.subscribe(name, language="window", query=own, lineage=True)
            present.append(name)

    for _ in range((len(constants) + 1) // 2):
        join()
    at, batch = 0, 0
    while at < len(events):
        upto = at + cuts[batch % len(cuts)]
        part = events[at:upto]
        results = engine.publish("S", [time for time, _ in part], [row for _, row in part])
        assert len(results) == len(list(in_columns(results)))
        for match in results:
            found[match.subscription].append(json.dumps(match.line()))
        engine.check_invariants()
        step = steps[batch] if batch < len(steps) else ""
        if step == "join":
            join()
        elif step == "leave" and present:
            engine.unsubscribe(present.pop(0))
        elif step == "restore":
            engine = Engine.restore(engine.snapshot())
        engine.check_invariants()
        at, batch = upto, batch + 1
    for match in engine.finish():
        found[match.subscription].append(json.dumps(match.line()))
    return found


@thorough
@given(
    queries(pairs(FAMILY_PREDICATES, 1)),
    st.lists(CONSTANTS, min_size=2, max_size=6),
    streams(16),
    CUTS,
    STEPS,
    st.builds(dict, batches=st.booleans(), dormancy=st.booleans(), templates=st.booleans()),
)
def test_members_of_families_are_told_what_each_would_be_told_alone(
    query: WindowQuery,
    constants: list[int],
    events: list[Event],
    cuts: list[int],
    steps: list[str],
    switches: dict[str, Any],
) -> None:
    text = print_query(query)
    together = told(text, constants, events, cuts, steps, Options(**switches))
    alone = Options(executors_off=ALONE, **switches | {"templates": False})
    assert together == told(text, constants, events, cuts, steps, alone)


def test_subscriptions_that_differ_in_a_constant_are_one_machine() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA.declared())
    for number in range(50):
        query = f"FROM S WINDOW AFTER any* MATCHING [v > {number}] any{{2}}"
        engine.subscribe(f"q{number}", language="window", query=query)
    assert engine.statistics()["windows"] == 0
    assert engine.statistics()["family_members"] == 50
    found = engine.publish("S", [1, 2, 3], [(None, 30, None), (None, None, None), (None, None, None)])
    assert len(found) == 30
    assert engine.statistics()["family_rectangles"] == 0
    for number in range(50):
        engine.unsubscribe(f"q{number}")
    assert engine.statistics()["window_families"] == 0
