"""Families of windows: subscriptions that differ in a constant are told what each would be told alone.

They come and go between events, and the engine is restored in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doubles.coming_and_going import told
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.windows import FAMILY_PREDICATES, OWN, OWN_TOO, SCHEMA, SEVERAL_OWN, Event, pairs, queries, streams

from broker.engine import Engine, Options
from broker.language.window import print_query
from broker.language.window.syntax import WindowQuery

ALONE = ("window_families",)
CONSTANTS = st.integers(-1, 5)
STEPS = st.lists(st.sampled_from(("join", "leave", "restore")), max_size=6)
CUTS = st.lists(st.integers(1, 4), min_size=1, max_size=3)
thorough = settings(max_examples=3 * settings().max_examples)


def with_constants(query: WindowQuery, constants: Sequence[tuple[int, float]]) -> list[str]:
    """The texts of the query with these constants instead of its two."""
    text = print_query(query)
    return [text.replace(str(OWN.value), str(one)).replace(str(OWN_TOO.value), str(other)) for one, other in constants]


@thorough
@given(
    queries(pairs(FAMILY_PREDICATES, 1)),
    st.lists(CONSTANTS, min_size=2, max_size=6),
    streams(16),
    CUTS,
    STEPS,
    st.builds(dict, batches=st.booleans(), templates=st.booleans()),
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


@thorough
@given(
    queries(pairs(SEVERAL_OWN, 1)),
    st.lists(st.tuples(CONSTANTS, CONSTANTS | st.floats(-1, 5, width=16) | st.just(2**60)), min_size=2, max_size=8),
    streams(16),
    CUTS,
    STEPS,
    st.builds(dict, batches=st.booleans(), templates=st.booleans()),
)
def test_so_are_those_that_differ_in_several(
    query: WindowQuery,
    constants: list[tuple[int, float]],
    events: list[Event],
    cuts: list[int],
    steps: list[str],
    switches: dict[str, Any],
) -> None:
    texts = with_constants(query, constants)
    together = told(texts, events, cuts, steps, Options(**switches))
    alone = Options(executors_off=ALONE, **switches | {"templates": False})
    assert together == told(texts, events, cuts, steps, alone)


@thorough
@given(
    queries(pairs(SEVERAL_OWN, 2)),
    st.lists(st.tuples(CONSTANTS, CONSTANTS), min_size=2, max_size=6),
    streams(16),
    CUTS,
    STEPS,
    st.builds(dict, batches=st.booleans()),
)
def test_machines_of_one_template_are_told_what_each_would_be_told_with_tables_of_its_own(
    query: WindowQuery,
    constants: list[tuple[int, int]],
    events: list[Event],
    cuts: list[int],
    steps: list[str],
    switches: dict[str, Any],
) -> None:
    texts = with_constants(query, constants)
    shared, apart = (Options(executors_off=ALONE, templates=each, **switches) for each in (True, False))
    assert told(texts, events, cuts, steps, shared) == told(texts, events, cuts, steps, apart)


def test_subscriptions_that_differ_in_two_constants_are_one_machine_while_starts_are_brief() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA.declared())
    for number in range(50):
        brief = f"FROM S BY ty WINDOW AFTER any* MATCHING [ty = 'A' AND v > {number}] [v < {number - number % 7 - 1}]"
        engine.subscribe(f"q{number}", language="window", query=brief)
    assert engine.statistics()["windows"] == 0
    assert engine.statistics()["window_families"] == 1
    found = engine.publish("S", [1, 2, 3], [("A", 30, None), ("B", 0, None), ("A", 12, None)])
    assert sorted(int(match.subscription[1:]) for match in found) == list(range(14, 30))
    long = [brief.replace("[v <", "any* [v <").replace("v > 49", f"v > {40 + at}") for at in range(3)]
    for at, query in enumerate(long):
        engine.subscribe(f"long{at}", language="window", query=query)
    assert engine.statistics()["window_families"] == 2
    assert engine.statistics()["family_members"] == 53


def test_a_constant_that_is_part_of_the_value_makes_no_family() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA.declared())
    for number in range(2, 5):
        value = f"CASE WHEN v IS NULL THEN {number} ELSE v END"
        engine.subscribe(f"q{number}", "window", f"FROM S WINDOW AFTER any* MATCHING [{value} > {number}] any")
    assert engine.statistics()["window_families"] == 0
    assert [match.subscription for match in engine.publish("S", [1, 2], [("A", 3, None)] * 2)] == ["q2"]


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
