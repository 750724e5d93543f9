"""Groups of patterns that ask for adjacent events: their partitions are counted as long as a run waits in one."""

from __future__ import annotations

import pytest

from broker.engine import Engine
from broker.engine.dispatch import lanes

TEXT = """PATTERN SEQ(S a, S b) WHERE partition_contiguity(a, b)
{ [k] AND a.k = 'K' AND a.p > 1.5 AND b.p < 2.5 } WITHIN 1000000"""
KEYS = 1_000


@pytest.mark.skipif(not lanes.__file__.endswith(".py"), reason="a compiled module has its constants inside")
def test_a_run_goes_on_however_many_events_of_other_partitions_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "SWEEP_MIN", 64)
    engine = Engine()
    engine.add_stream("S", {"k": "string", "p": "float"})
    query = engine.prepare(TEXT, "sase")
    for number in range(KEYS):
        engine.subscribe(f"s{number}", query=query.with_literals(f"k{number}", 1.5, 2.5, query.literals[-1]))
    times = iter(range(1, 100_000))

    def publish(keys: range, price: float) -> int:
        return len(engine.publish("S", [next(times) for _ in keys], [(f"k{key}", price) for key in keys]))

    assert publish(range(10), 2.0) == 0
    publish(range(10, KEYS), 1.0)
    for _ in range(60):
        publish(range(10, 60), 1.0)
    assert publish(range(10), 2.0) == 10
    (lane,) = engine.program.machines.lanes.values()
    assert len(lane.places) < KEYS
