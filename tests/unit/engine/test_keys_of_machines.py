"""Machines that get the events of one key only, beside equal subscriptions that need all."""

from __future__ import annotations

import pytest

from broker.engine import Engine, Options

SCHEMA = {"ty": "string", "p": "float"}
TEXTS = {
    "window": "FROM S BY ty WINDOW AFTER any* MATCHING [ty = 'A' AND p > 1] [p < 5] AGGREGATE count(*) AS n",
    "ptopss": "FROM S BY ty a: ty = 'A' AND p > 1 b: p < 5 MATCH a AND b WITHIN 100",
}
FORECAST = {"threshold": 0.1, "within": 10}


def told(engine: Engine, first: int, upto: int) -> int:
    return sum(
        each.kind == "match"
        for time in range(first, upto)
        for each in engine.publish("S", [time], [("AB"[time % 3 == 0], float(time % 7))])
    )


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("leaving", ["all", "plain"])
@pytest.mark.parametrize("order", [("all", "plain"), ("plain", "all")])
def test_who_needs_all_keys_has_them(language: str, leaving: str, order: tuple[str, str]) -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    for name in order:
        forecast = {"forecast": FORECAST} if name == "all" else {}
        engine.subscribe(name, language=language, query=TEXTS[language], **forecast)  # type: ignore[arg-type]
    matches = told(engine, 1, 30)
    engine.unsubscribe(leaving)
    assert told(engine, 30, 60) > matches / 4
    engine.check_invariants()
    engine.unsubscribe("plain" if leaving == "all" else "all")
    assert told(engine, 60, 90) == 0


def test_an_event_wakes_only_the_composites_of_its_key() -> None:
    engine = Engine(Options(executors_off=("groups",), rules_off=("partitions",)))
    engine.add_stream("S", SCHEMA)
    engine.subscribe("q", language="ptopss", query=TEXTS["ptopss"])
    engine.publish("S", list(range(26)), [(chr(65 + number), 2.0) for number in range(26)])
    assert engine.statistics()["bindings"] == 1
