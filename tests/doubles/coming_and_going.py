"""Subscriptions to windows that come and go between events, while the engine is restored now and then."""

from __future__ import annotations

import json

from doubles.read_columns import in_columns
from strategies.windows import SCHEMA, Event

from broker.engine import Engine, Options


def told(
    texts: list[str], events: list[Event], cuts: list[int], steps: list[str], options: Options, columns: bool = False
) -> dict[str, list[str]]:
    """What each subscription is told, in order. Half of them are there from the beginning; steps come between batches:
    the next one joins, the oldest one leaves, the engine is restored. With `columns`, batches come as these."""
    engine = Engine(options)
    engine.add_stream("S", SCHEMA.declared())
    names = [f"q{number}" for number in range(len(texts))]
    waiting = list(zip(names, texts))
    present: list[str] = []
    found: dict[str, list[str]] = {name: [] for name in names}

    def join() -> None:
        if waiting:
            name, text = waiting.pop(0)
            engine.subscribe(name, language="window", query=text, lineage=True)
            present.append(name)

    for _ in range((len(texts) + 1) // 2):
        join()
    at, batch = 0, 0
    while at < len(events):
        upto = at + cuts[batch % len(cuts)]
        part = events[at:upto]
        times, rows = [time for time, _ in part], [row for _, row in part]
        if columns:
            results = engine.publish_columns("S", dict(zip(SCHEMA.names, map(list, zip(*rows)))), times)
        else:
            results = engine.publish("S", times, rows)
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
