"""Windows of one key: subscriptions that need no events of other keys are told what is meant.

Most of them ask for a key of their own. The engine is restored in between.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from doubles.played_windows import meant, play
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.windows import KEY_PREDICATES, SCHEMA, TYPE, Event, pairs, queries, streams

from broker.algebra.terms import Constant
from broker.algebra.window.lowering import lower
from broker.algebra.window.semantics import TimedEvent, results
from broker.automaton.analyses.window_key import window_key
from broker.automaton.constructions.windows import automaton_of_windows
from broker.engine import Engine, Options
from broker.language.window import print_query
from broker.language.window.syntax import WindowQuery

KEYED: Final = queries(pairs(KEY_PREDICATES, 2)).map(lambda query: replace(query, partition=(TYPE,)))
thorough = settings(max_examples=3 * settings().max_examples)


@thorough
@given(
    st.lists(KEYED, min_size=2, max_size=8),
    streams(16),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.integers(-1, 3),
    st.builds(Options, batches=st.booleans(), templates=st.booleans()),
)
def test_who_needs_no_other_keys_is_told_what_is_meant(
    several: list[WindowQuery], events: list[Event], cuts: list[int], saved: int, options: Options
) -> None:
    texts = [print_query(query) for query in several]
    wanted = [meant(query, events) for query in several]
    assert play(texts, events, cuts, False, saved, False, options, options) == wanted


@thorough
@given(KEYED, streams(12))
def test_windows_with_a_key_are_of_its_events(query: WindowQuery, events: list[Event]) -> None:
    text = print_query(query)
    expression = lower(query, text, lambda name: SCHEMA, lambda: ["S"])
    windows = automaton_of_windows(expression, text).windows
    assert windows is not None
    for atom in window_key(windows, expression.source.key, windows.atoms):
        assert isinstance(atom.right, Constant)
        timed = [TimedEvent(n, time, row) for n, (time, row) in enumerate(events, start=1)]
        for one in results(expression, timed):
            assert all(events[number - 1][1][0] == atom.right.value for number in one.lineage)


def test_an_event_wakes_only_the_families_of_its_key() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA.declared())
    names = [f"{key}{number}" for key in "ABCDEFGHIJ" for number in (3, 4)]
    for name in names:
        windows = f"AFTER any* MATCHING [ty = '{name[0]}' AND v > {name[1]}] any* [v < 2] AGGREGATE count(*) AS n"
        engine.subscribe(name, language="window", query=f"FROM S BY ty WINDOW {windows}", lineage=True)
    assert engine.statistics()["window_families"] == 10
    (lane,) = engine.program.machines.lanes.values()
    found = list(engine.publish("S", range(4), [("A", 4, None), ("B", 1, None), ("B", 5, None), ("A", 4, None)]))
    assert found == []
    (index,) = lane.attending
    assert sorted(index.readers) == ["A", "B"]
    assert [match.data for match in engine.publish("S", [4], [("A", 1, None)])] == [{"n": 3}, {"n": 2}]
    for name in names:
        engine.unsubscribe(name)
    assert not lane.attending
