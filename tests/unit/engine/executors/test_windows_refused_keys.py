"""Keys that there is no room for (`bindings_max`): when one gets room later, none of its windows is told without the
events that were refused."""

from __future__ import annotations

import random
from typing import Any

import pytest

from broker.algebra.window.lowering import lower
from broker.algebra.window.semantics import TimedEvent, results
from broker.engine import Engine, Options
from broker.engine.dispatch import lanes
from broker.events.schema import Schema
from broker.language.window import parse

SCHEMA = Schema.declare({"k": "string", "v": "int"})
WINDOWS = (
    "LAST 10",
    "LAST 10 EVERY 5",
    "LAST 12 EVERY 3",
    "EVERY 10",
    "SESSION 5",
    "EVERY 3 EVENTS",
    "LAST 3 EVENTS",
    "LAST 4 EVENTS EVERY 2 EVENTS",
    "AFTER any* MATCHING [v = 1] any* [v = 2] WITHIN 10",
    "AFTER any* MATCHING [v = 1] any* [v = 2] WITHIN 10 KEEP EARLIEST",
    "AFTER any* MATCHING any* [v = 2] WITHIN 10 KEEP LONGEST",
    "AFTER any* MATCHING [v = 1] [v > prev.v] WITHIN 10",
)


@pytest.mark.parametrize("cut", [1, 5])
@pytest.mark.parametrize("in_columns", [True, False])
@pytest.mark.parametrize("window", WINDOWS)
def test_a_window_is_told_whole_or_not_at_all(
    window: str, in_columns: bool, cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "SWEEP_MIN", 0)  # keys are forgotten as soon as they may be
    text = f"FROM S BY k WINDOW {window}"
    expression = lower(parse(text), text, lambda name: SCHEMA, lambda: ["S"])
    told = 0
    for seed in range(9):
        draw, time, events = random.Random(seed), 0, []
        for number in range(1, 30):
            time += draw.choice((0, 1, 1, 2, 7))
            events.append(TimedEvent(number, time, (draw.choice("AABBC"), draw.choice((1, 2)))))
        meant = {one.lineage for one in results(expression, events)}
        options = Options(bindings_max=1, clock_columns=in_columns, count_columns=in_columns)
        engine = Engine(options)
        engine.add_stream("S", SCHEMA.declared())
        engine.subscribe("q", "window", text, lineage=True)
        found: list[Any] = []
        for at in range(0, len(events), cut):
            part = events[at : at + cut]
            found += engine.publish("S", [each.time for each in part], [each.row for each in part])
            engine.check_invariants()
            if seed % 3 == 0:
                engine = Engine.restore(engine.snapshot(), options)
        found += engine.finish()
        wrong = [match.lineage for match in found if match.kind == "match" and tuple(match.lineage) not in meant]
        assert wrong == [], f"seed {seed}"
        told += sum(match.kind == "match" for match in found)
        assert any(match.kind == "incomplete" for match in found)
    assert told > 9
