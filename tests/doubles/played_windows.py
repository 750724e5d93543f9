"""Window subscriptions that are played in the engine, in batches and with snapshots, and what they mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from doubles.read_columns import in_columns
from strategies.windows import SCHEMA, Event

from broker.algebra.window.lowering import lower
from broker.algebra.window.semantics import TimedEvent, results
from broker.engine import Engine, Options
from broker.engine.executors.windows.machine import WindowMachine
from broker.engine.executors.windows.pane_machine import PaneMachine
from broker.language.window import print_query
from broker.language.window.syntax import WindowQuery

Found = tuple[tuple[int, ...], int, int, tuple[object, ...]]


def meant(query: WindowQuery, events: list[Event]) -> list[Found]:
    text = print_query(query)
    expression = lower(query, text, lambda name: SCHEMA, lambda: ["S"])
    timed = [TimedEvent(n, time, row) for n, (time, row) in enumerate(events, start=1)]
    return sorted([(one.lineage, one.start, one.end, one.values) for one in results(expression, timed)], key=repr)


def play(
    texts: list[str],
    events: list[Event],
    cuts: list[int],
    at_once: bool,
    saved: int,
    promises: bool = False,
    options: Options | None = None,
    again: Options | None = None,
) -> list[list[Found]]:
    """What each subscription gets. `cuts`: lengths of batches; `saved`: the batch after which the engine is restored,
    with the options `again`, but the switch that decides what machines keep of windows by numbers of events;
    `promises`: a punctuation comes before each batch."""
    engine = Engine(options)
    again = replace(again or Options(), window_columns=options is None or options.window_columns)
    engine.add_stream("S", {name: f"{kind}?" for name, kind in (("ty", "string"), ("v", "int"), ("x", "float"))})
    for number, text in enumerate(texts):
        engine.subscribe(f"q{number}", language="window", query=text, lineage=True)
    found: list[Any] = []
    at, batch = 0, 0
    while at < len(events):
        upto = at + (cuts[batch % len(cuts)] if cuts else len(events))
        part = events[at:upto]
        trim(engine, at_once)
        if promises:
            found += engine.punctuate(part[0][0])
        found += in_columns(engine.publish("S", [time for time, _ in part], [row for _, row in part]))
        engine.check_invariants()
        if batch == saved:
            engine = Engine.restore(engine.snapshot(), again)
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
            elif isinstance(machine, PaneMachine):
                machine.trims_at_once = at_once
