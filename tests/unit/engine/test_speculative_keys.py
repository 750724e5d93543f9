"""AFA subscriptions with a constant of the key in the first arc: which events reach them, and who runs as one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.events.instant import FOREVER

TEXT = """FROM S{by}
START a
FINAL c
x: a -> b WHEN {first}v > {least}
y: b -> c WHEN v < {most}
WITHIN 9"""


def text(key: str = "K", least: float = 1, most: float = 5, by: str = " BY k") -> str:
    return TEXT.format(by=by, first=f"k = '{key}' AND " if key else "", least=least, most=most)


def engine_of(*texts: str, options: Options | None = None, **stream: Any) -> Engine:
    engine = Engine(options)
    engine.add_stream("S", {"k": "string?", "v": "float"}, **stream)
    for number, each in enumerate(texts):
        engine.subscribe(f"s{number}", language="afa", query=each)
    return engine


def names(found: Any) -> list[str]:
    return sorted(match.subscription for match in found)


def test_only_events_of_the_key_reach_a_machine() -> None:
    engine = engine_of(text("K"), text("L"), text(""), text("K", by=""))
    engine.publish("S", [1, 2, 3, 4], [("K", 2.0), ("K", 7.0), ("M", 2.0), (None, 2.0)])
    machines: Any = engine.program.machines.registrations
    assert [machines[f"s{at}"].matcher.machine.seen for at in range(4)] == [2, -FOREVER, 4, 4]
    engine.check_invariants()
    assert names(engine.publish("S", [5, 6], [("K", 3.0), ("K", 4.0)])) == ["s0", "s0", "s2", "s2", "s3"]
    for at in range(4):
        engine.unsubscribe(f"s{at}")
    engine.check_invariants()
    assert not engine.program.machines.lanes


def test_who_comes_after_events_of_other_keys_joins() -> None:
    engine = engine_of(text("K", least=1))
    engine.publish("S", [1], [("L", 2.0)])
    engine.subscribe("later", language="afa", query=text("K", least=2))
    assert engine.statistics()["speculative"] == 1
    assert names(engine.publish("S", [2, 3], [("K", 3.0), ("K", 4.0)])) == ["later", "s0"]


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("saved", [False, True])
def test_an_arc_of_another_key_lets_all_events_in(begun: bool, saved: bool) -> None:
    engine = engine_of(text("K"), text("K", least=0), text("L"))
    if begun:
        engine.publish("S", [1], [("K", 2.0)])
    engine.update("s0", insert=["z: a -> b WHEN k = 'M'"])
    if saved:
        kept = engine.snapshot()
        engine = Engine.restore(kept)
        assert engine.snapshot() == kept
    engine.check_invariants()
    found = engine.publish("S", [2, 3, 4], [("K", 2.0), ("M", 9.0), ("M", 0.0)])
    assert names(found) == ["s0", "s0", "s1"] if begun else ["s0"]
    engine.update("s2", insert=["z: b -> c WHEN v = 9"])
    assert names(engine.publish("S", [5, 6], [("L", 2.0), ("L", 9.0)])) == ["s2"]
    for name in ("s1", "s0", "s2"):
        engine.unsubscribe(name)
        engine.check_invariants()
    assert not engine.program.machines.lanes


def test_runs_that_wait_are_those_of_now() -> None:
    """Although the machine has not seen the events of other keys."""
    engine = engine_of(text("K"))
    engine.publish("S", [1], [("K", 2.0)])
    assert len(engine.waiting_runs("s0").runs) == 1
    engine.publish("S", [20], [("L", 2.0)])
    assert engine.waiting_runs("s0").runs == []


@pytest.mark.parametrize("disorder", [None, "speculate"])
def test_two_constants_make_one_family(disorder: str | None) -> None:
    chance = random.Random(5)
    texts = [text("K", chance.choice((0, 0.5, 1, 2)), chance.choice((1, 2.5, 3, 4))) for _ in range(12)]
    stream: dict[str, Any] = {} if disorder is None else {"disorder": disorder}
    engine = engine_of(*texts, **stream)
    alone = engine_of(*texts, options=Options(together=False), **stream)
    found: list[tuple[list[str], list[str]]] = []
    for time in range(1, 60):
        event = "S", [time], [(chance.choice("KKL"), chance.choice((0.0, 0.5, 0.75, 1.0, 1.5, 2.0, 2.75, 3.5, 5.0)))]
        found.append((sorted(map(repr, engine.publish(*event))), sorted(map(repr, alone.publish(*event)))))
        if time == 20:
            for name in ("s3", "s4", "s9"):
                engine.unsubscribe(name)
                alone.unsubscribe(name)
        if time == 30:
            engine.update("s5", delete=["y"])
            alone.update("s5", delete=["y"])
        if time == 40:
            engine = Engine.restore(engine.snapshot())
        for name in ("s0", "s1", "s5"):
            runs, own = engine.waiting_runs(name), alone.waiting_runs(name)
            assert sorted(map(repr, runs.runs)) == sorted(map(repr, own.runs))
    for ours, theirs in found:
        assert ours == theirs
    assert sum(len(ours) for ours, _ in found) > 20
    assert any("differ in two constants only and share all states" in line for line in engine.explain())
    engine.check_invariants()
