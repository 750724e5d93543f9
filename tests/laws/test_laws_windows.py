"""Windows: what the engine finds is the meaning, whatever the batches, with snapshots, with other subscriptions."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from strategies.windows import SCHEMA, Event, marked, queries, streams

from broker.algebra.window.lowering import lower
from broker.algebra.window.semantics import TimedEvent, results
from broker.engine import Engine
from broker.engine.executors.windows.clock import ClockMachine
from broker.engine.executors.windows.machine import WindowMachine
from broker.language.window import print_query
from broker.language.window.syntax import WindowQuery

Found = tuple[tuple[int, ...], int, int, tuple[object, ...]]


def meant(query: WindowQuery, events: list[Event]) -> list[Found]:
    text = print_query(query)
    expression = lower(query, text, lambda name: SCHEMA, lambda: ["S"])
    timed = [TimedEvent(n, time, row) for n, (time, row) in enumerate(events, start=1)]
    return sorted([(one.lineage, one.start, one.end, one.values) for one in results(expression, timed)], key=repr)


def play(texts: list[str], events: list[Event], cuts: list[int], at_once: bool, saved: int) -> list[list[Found]]:
    """What each subscription gets. `cuts`: lengths of batches; `saved`: the batch after which the engine is
    restored."""
    engine = Engine()
    engine.add_stream("S", {name: f"{kind}?" for name, kind in (("ty", "string"), ("v", "int"), ("x", "float"))})
    for number, text in enumerate(texts):
        engine.subscribe(f"q{number}", language="window", query=text, lineage=True)
    found: list[Any] = []
    at, batch = 0, 0
    while at < len(events):
        upto = at + (cuts[batch % len(cuts)] if cuts else len(events))
        part = events[at:upto]
        trim(engine, at_once)
        found += engine.publish("S", [time for time, _ in part], [row for _, row in part])
        engine.check_invariants()
        if batch == saved:
            engine = Engine.restore(engine.snapshot())
            engine.check_invariants()
        at, batch = upto, batch + 1
    found += engine.finish()
    assert len({match.id for match in found}) == len(found)
    told: list[list[Found]] = [[] for _ in texts]
    for match in found:
        assert match.kind == "match"
        told[int(match.subscription[1:])].append(
            (tuple(match.lineage), match.start, match.end, tuple(match.data.values()))
        )
    return [sorted(each, key=repr) for each in told]


def trim(engine: Engine, at_once: bool) -> None:
    for lane in engine.program.machines.lanes.values():
        for matcher in lane.matchers:
            machine = matcher.machine
            if isinstance(machine, WindowMachine):
                machine.stepper.trims_at_once = at_once
            elif isinstance(machine, ClockMachine):
                machine.trims_at_once = at_once


BATCHES = st.lists(st.integers(1, 4), max_size=3)


@given(st.lists(queries(), min_size=1, max_size=3), streams(14), BATCHES, st.booleans(), st.integers(-1, 4))
def test_the_engine_finds_what_is_meant(
    several: list[WindowQuery], events: list[Event], cuts: list[int], at_once: bool, saved: int
) -> None:
    texts = [print_query(query) for query in several]
    assert play(texts, events, cuts, at_once, saved) == [meant(query, events) for query in several]


@given(queries(marked()), streams(6), BATCHES, st.booleans(), st.integers(-1, 4))
def test_formulas_too(query: WindowQuery, events: list[Event], cuts: list[int], at_once: bool, saved: int) -> None:
    assert play([print_query(query)], events, cuts, at_once, saved) == [meant(query, events)]
