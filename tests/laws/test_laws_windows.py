"""Windows: what the engine finds is the meaning, whatever the batches, with snapshots, with other subscriptions."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from doubles.played_windows import meant, play
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.windows import SCHEMA, Event, marked, pairs, queries, streams

from broker.algebra.window.lowering import lower
from broker.automaton.analyses.agreement import crossing
from broker.automaton.analyses.window import remembers, window_of
from broker.automaton.constructions.windows import automaton_of_windows
from broker.engine import Engine, Options
from broker.language.window import print_query
from broker.language.window.syntax import WindowQuery

BATCHES = st.lists(st.integers(1, 4), max_size=3)
SWITCHES = st.builds(
    Options,
    batches=st.booleans(),
    window_columns=st.booleans(),
)
# Alone and beside others; test_laws_window_variety counts how many different expressions there are.
many = settings(max_examples=3 * settings().max_examples)


@many
@given(
    st.lists(queries(), min_size=2, max_size=4),
    st.lists(streams(14), min_size=3, max_size=3),
    BATCHES,
    st.booleans(),
    st.integers(-1, 4),
    st.booleans(),
    SWITCHES,
    SWITCHES,
)
def test_the_engine_finds_what_is_meant(
    several: list[WindowQuery],
    inputs: list[list[Event]],
    cuts: list[int],
    at_once: bool,
    saved: int,
    promises: bool,
    options: Options,
    again: Options,
) -> None:
    texts = [print_query(query) for query in several]
    together, *apart = inputs
    wanted = [meant(query, together) for query in several]
    assert play(texts, together, cuts, at_once, saved, promises, options, again) == wanted
    for query, text in zip(several, texts):
        for events in apart:
            assert play([text], events, cuts, at_once, saved, promises, options, again) == [meant(query, events)]


@given(queries(marked()), streams(6), BATCHES, st.booleans(), st.integers(-1, 4))
def test_formulas_too(query: WindowQuery, events: list[Event], cuts: list[int], at_once: bool, saved: int) -> None:
    assert play([print_query(query)], events, cuts, at_once, saved) == [meant(query, events)]


def lines(text: str, numbered: list[tuple[int, Event]]) -> set[str]:
    """The results over events with these ids, with their own ids."""
    engine = Engine()
    engine.add_stream("S", SCHEMA.declared())
    engine.subscribe("q", language="window", query=text, lineage=True)
    times, rows = [time for _, (time, _) in numbered], [row for _, (_, row) in numbered]
    found = [*engine.publish("S", times, rows, [number for number, _ in numbered]), *engine.finish()]
    return {json.dumps(match.line()) for match in found}


@given(queries(), streams(14))
def test_partitions_may_be_worked_on_apart(query: WindowQuery, events: list[Event]) -> None:
    """What facts about automata promise to Spark: the key of BY divides the work."""
    text = print_query(query)
    numbered = list(enumerate(events, start=1))
    automaton = automaton_of_windows(lower(query, text, lambda name: SCHEMA, lambda: ["S"]), text)
    if crossing(automaton, {"S": 0}) is not None:
        assert not query.partition
        return
    apart = [lines(text, [one for one in numbered if one[1][1][0] == ty]) for ty in ("A", "B", "C", None)]
    assert lines(text, numbered) == set().union(*apart)


@given(queries(), streams(14), st.integers(0, 14))
def test_what_remembers_nothing_may_begin_anywhere(query: WindowQuery, events: list[Event], cut: int) -> None:
    """So it does to time slices: those who own matches by their first event need no event before."""
    text = print_query(query)
    automaton = automaton_of_windows(lower(query, text, lambda name: SCHEMA, lambda: ["S"]), text)
    if remembers(automaton):
        return
    numbered = list(enumerate(events, start=1))
    within = window_of(automaton)
    upto = len(events)
    if within is not None and cut < len(events):
        upto = max(at for at, (time, _) in numbered if time <= events[cut][0] + within)
    whole = {line for line in lines(text, numbered) if json.loads(line)["lineage"][0] > cut}
    if upto == len(events):
        assert lines(text, numbered[cut:]) == whole
    else:
        owned = {line for line in whole if json.loads(line)["lineage"][0] == cut + 1}
        slice_ = {line for line in lines(text, numbered[cut:upto]) if json.loads(line)["lineage"][0] == cut + 1}
        assert slice_ == owned


ANY_ORDER = st.sampled_from(("buffer", "speculate", "speculate"))


@given(
    queries(), streams(14), st.randoms(use_true_random=False), ANY_ORDER, st.booleans(), st.integers(0, 3), BATCHES,
    st.sampled_from((1, 2, 32)),
)  # fmt: skip
def test_events_may_come_in_any_order(
    query: WindowQuery,
    events: list[Event],
    chance: random.Random,
    disorder: Any,
    saved: bool,
    withdrawn: int,
    cuts: list[int],
    spacing: int,
) -> None:
    """In the end each result has been told once; what was told before and was wrong is withdrawn, while it may be."""
    text = print_query(query)
    numbered = list(enumerate(events, start=1))
    arriving = sorted(numbered, key=lambda _: chance.random())
    engine = Engine()
    engine.add_stream("S", SCHEMA.declared(), None, disorder)
    engine.subscribe("q", language="window", query=text, lineage=True)
    live: dict[str, dict[str, Any]] = {}
    final: list[int] = [-1]

    def told(results: Any) -> None:
        for match in results:
            line = match.line()
            kind = line.pop("kind")
            if kind == "punctuation":
                final[0] = max(final[0], line["time"])
                continue
            assert line["end"] >= final[0], "what is final changes no more"
            if kind == "retraction":
                assert live.pop(line["id"]) == line
            else:
                assert line["id"] not in live
                live[line["id"]] = line

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("broker.engine.executors.windows.reviser.MARKED_MIN", spacing)
        at, batch = 0, 0
        while at < len(arriving):
            part = arriving[at : at + (cuts[batch % len(cuts)] if cuts else 1)]
            told(engine.publish("S", [t for _, (t, _) in part], [r for _, (_, r) in part], [n for n, _ in part]))
            at, batch = at + len(part), batch + 1
            if saved:
                engine = Engine.restore(engine.snapshot())
            if chance.random() < 0.3:
                coming = [time for _, (time, _) in arriving[at:]]
                gone = [n for n, (time, _) in arriving[:at] if n <= withdrawn and time < min(coming, default=0)]
                if coming and not gone:
                    told(engine.punctuate(min(coming)))
            engine.check_invariants()
        for number in range(1, min(withdrawn, len(events)) + 1):
            told(engine.retract(number))
        told(engine.finish())
    assert {json.dumps({"kind": "match", **line}) for line in live.values()} == lines(text, numbered[withdrawn:])


@given(queries(pairs()), streams(14))
def test_windows_that_an_event_ends_are_told_at_once(query: WindowQuery, events: list[Event]) -> None:
    """What comes in order is told as on a stream that is in order, each result with its event."""
    text = print_query(query)
    if query.keep == "longest":
        return
    first, second = Engine(), Engine()
    first.add_stream("S", SCHEMA.declared())
    second.add_stream("S", SCHEMA.declared(), None, "speculate")
    for engine in (first, second):
        engine.subscribe("q", language="window", query=text, lineage=True)
    for number, (time, row) in enumerate(events, start=1):
        wanted = {json.dumps(match.line()) for match in first.publish("S", [time], [row], [number])}
        assert {json.dumps(match.line()) for match in second.publish("S", [time], [row], [number])} == wanted
