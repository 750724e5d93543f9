"""Windows of one key each: subscriptions that get events of their key only are told what all events would tell them.

They differ in their keys and in numbers. They come and go between events, and the engine is restored in between.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from doubles.coming_and_going import told
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.windows import (
    AT_HOME,
    HOME_PREDICATES,
    OWN,
    OWN_NAME,
    OWN_TOO,
    SCHEMA,
    TYPE,
    VALUE,
    Event,
    compared,
    pairs,
    queries,
    streams,
)

from broker.engine import Engine, Options
from broker.language.syntax import And, Number
from broker.language.window import print_query
from broker.language.window.regex import AnyEvent, Concatenation, EventPredicate, Quantified
from broker.language.window.syntax import PairExpression, Pairs, WindowQuery

NOBODY: Final = "nobody"  # as another name that is asked for, so that a subscription has no key, but equal windows
CONSTANTS: Final = st.integers(-1, 5) | st.sampled_from((2.5, 2**60))
TOGETHER: Final = And((AT_HOME, compared("=", VALUE, Number(3))))
PARTITIONS: Final = ((TYPE,), (TYPE,), (TYPE,), (VALUE, TYPE))
thorough = settings(max_examples=3 * settings().max_examples)


def beginning_at_home(windows: Pairs) -> st.SearchStrategy[Pairs]:
    """The same windows, behind an event of a key of its own that begins them anywhere."""
    anywhere = Quantified(AnyEvent(), 0, None)
    first = st.sampled_from((AT_HOME, *HOME_PREDICATES[1:3])).map(EventPredicate)

    def made(firsts: list[EventPredicate]) -> Pairs:
        bodies = [
            PairExpression(anywhere, Concatenation((one, pair.body)), pair.within)
            for one, pair in zip(firsts, windows.pairs)
        ]
        return Pairs(tuple(bodies))

    return st.lists(first, min_size=2, max_size=2).map(made)


@st.composite
def at_home(draw: st.DrawFn) -> list[str]:
    """Subscriptions that differ in their names, and in two numbers."""
    partition = draw(st.sampled_from(PARTITIONS))
    predicates = (TOGETHER, TOGETHER, *HOME_PREDICATES[1:3]) if len(partition) > 1 else HOME_PREDICATES
    query: WindowQuery = draw(queries(pairs(predicates, 2).flatmap(beginning_at_home)))
    text = print_query(replace(query, partition=partition))
    own = st.tuples(st.sampled_from("ABC"), CONSTANTS, CONSTANTS)
    return [
        text.replace(OWN_NAME.value, name).replace(str(OWN.value), str(one)).replace(str(OWN_TOO.value), str(other))
        for name, one, other in draw(st.lists(own, min_size=2, max_size=8))
    ]


@thorough
@given(
    at_home(),
    streams(20),
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
    st.lists(st.sampled_from(("join", "leave", "restore")), max_size=6),
    st.builds(dict, batches=st.booleans(), templates=st.booleans(), window_columns=st.booleans()),
    st.fixed_dictionaries({}, optional={"runs_max": st.integers(1, 3), "nodes_max": st.integers(1, 4)}),
    st.booleans(),
)
def test_who_gets_events_of_one_key_is_told_what_all_events_would_tell(
    texts: list[str],
    events: list[Event],
    cuts: list[int],
    steps: list[str],
    switches: dict[str, Any],
    limits: dict[str, Any],
    columns: bool,
) -> None:
    options = Options(**switches, **limits, executors_off=("window_families",))
    asked = [re.sub(r"ty = '([ABC])'", rf"ty IN ('\1', '{NOBODY}')", text) for text in texts]
    assert asked != texts
    own, all_events = (told(each, events, cuts, steps, options, columns) for each in (texts, asked))
    assert without_ids(own) == without_ids(all_events)


def without_ids(lines: dict[str, list[str]]) -> dict[str, list[str]]:
    """The same lines without what depends on the texts of subscriptions."""
    return {name: [re.sub(r'"id": "\w+"', "", line) for line in each] for name, each in lines.items()}


def engine_of(names: str, windows: str, **options: Any) -> Engine:
    engine = Engine(Options(**options))
    engine.add_stream("S", SCHEMA.declared())
    for at, name in enumerate(names):
        text = windows.replace("NAME", name).replace("NUMBER", str(at))
        engine.subscribe(name, language="window", query=f"FROM S BY ty WINDOW {text}")
    return engine


LONG: Final = "AFTER any* MATCHING [ty = 'NAME' AND v > NUMBER] any* [v < NUMBER]"


def test_an_event_finds_the_subscriptions_to_its_key() -> None:
    engine = engine_of("ABCDEFGH", LONG)
    (lane,) = engine.program.machines.lanes.values()
    (index,) = lane.indexes
    assert sorted(map(str, index.readers)) == list("ABCDEFGH")
    assert not any(lane.readers)
    rows = [("A", 3, None), ("B", 9, None), (None, 3, None), ("Z", 3, None), ("B", 0, None), ("B", -1, None)]
    assert [match.subscription for match in engine.publish("S", range(6), rows)] == ["B", "B"]
    assert engine.statistics()["window_keys"] == 2
    for name in "ABCDEFGH":
        engine.unsubscribe(name)
    assert engine.statistics()["windows"] == 0


def test_those_of_one_key_that_differ_in_a_number_are_a_family_nevertheless() -> None:
    engine = engine_of("AB", "AFTER any* MATCHING [ty = 'NAME' AND v > NUMBER] any")
    for number in range(9):
        engine.subscribe(
            f"q{number}", "window", f"FROM S BY ty WINDOW AFTER any* MATCHING [ty = 'C' AND v > {number}] any"
        )
    figures = engine.statistics()
    assert (figures["windows"], figures["family_members"]) == (2, 9)


def test_who_has_no_budget_left_is_suspended_and_not_its_neighbours() -> None:
    windows = "AFTER any* MATCHING [ty = 'NAME' AND v >= NUMBER] any*"
    engine = engine_of("ABC", windows, work_max=20, work_earned=1)
    told: list[tuple[str, Any]] = []
    for time in range(12):
        found = engine.publish("S", [time], [("A" if time % 6 else "B", 3, None)])
        told += [(match.subscription, match.limit) for match in found]
    suspended = [name for name, limit in told if limit is not None]
    assert suspended == ["A"]
    assert engine.statistics()["suspended"] == 1
    assert told[-1][0] == "A"
    restored = Engine.restore(engine.snapshot())
    assert restored.statistics()["suspended"] == 1
    assert restored.snapshot() == engine.snapshot()
    later = restored.publish("S", [20, 21], [("B", 3, None), ("A", 3, None)])
    assert {match.subscription for match in later} == {"B"}


def test_a_key_of_several_attributes_is_in_the_order_of_by() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA.declared())
    for name, number, level in (("A", 1, 0.5), ("B", 2, 1.5), ("C", 3, 2.5)):
        windows = f"AFTER any* MATCHING [ty = '{name}' AND v = {number} AND x > {level}] any* [x < {level}]"
        engine.subscribe(name, language="window", query=f"FROM S BY v, ty WINDOW {windows}")
    assert engine.statistics()["windows"] == 3
    rows = [("A", 1, 0.75), ("B", 2, 2.0), ("B", 1, 0.0), ("A", 1, 0.0), ("B", 2, 1.0)]
    assert [match.subscription for match in engine.publish("S", range(5), rows)] == ["A", "B"]


def test_a_key_of_some_attributes_of_by_has_partitions_of_its_own() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA.declared())
    windows = "AFTER any* MATCHING [ty = 'A' AND x > 1.5] any* [x < 1.5]"
    engine.subscribe("A", language="window", query=f"FROM S BY v, ty WINDOW {windows}", lineage=True)
    rows = [("A", 1, 2.0), ("A", 2, 2.0), ("B", 1, 0.0), ("A", 1, 1.0), ("A", 2, 1.0)]
    assert [match.lineage for match in engine.publish("S", range(5), rows)] == [[1, 4], [2, 5]]
