"""Families of windows: subscriptions that differ in a constant are told what each would be told alone.

They come and go between events, and the engine is restored in between.
"""

from __future__ import annotations

from typing import Any

from doubles.coming_and_going import told
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


@thorough
@given(
    queries(pairs(FAMILY_PREDICATES, 1)),
    st.lists(CONSTANTS, min_size=2, max_size=6),
    streams(16),
    CUTS,
    STEPS,
    st.builds(
        dict, batches=st.booleans(), dormancy=st.booleans(), templates=st.booleans(), window_keys=st.booleans()
    ),
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
    texts = [text.replace(str(OWN.value), str(constant)) for constant in constants]
    together = told(texts, events, cuts, steps, Options(**switches))
    alone = Options(executors_off=ALONE, **switches | {"templates": False})
    assert together == told(texts, events, cuts, steps, alone)


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
