"""Groups of patterns that ask for adjacent events say in which partitions their runs wait: these stay counted."""

from __future__ import annotations

import pytest

from broker.engine import Engine
from broker.engine.executors.contract import ByPlace

PAIR = "PATTERN SEQ(S a, S b) WHERE partition_contiguity(a, b) {{ {0} AND a.p > {1} AND b.p < 2.5 }} WITHIN 100"
TEXTS = {
    "key": ("[k] AND a.k = 'K'", {("K",)}),
    "part of the key": ("[k, n] AND a.k = 'K'", {("K", 1), ("K", 2)}),
    "other part of the key": ("[k, n] AND a.n = 1", {("K", 1), ("L", 1)}),
    "more than the key": ("[k] AND a.k = 'K' AND a.n = 1 AND b.n = 1", {("K",)}),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_partitions_of_runs(name: str) -> None:
    asked, expected = TEXTS[name]
    engine = Engine()
    engine.add_stream("S", {"k": "string", "n": "int", "p": "float"})
    for least in (1.0, 1.5):
        engine.subscribe(f"above_{least}", language="sase", query=PAIR.format(asked, least))
    assert engine.statistics()["groups"] == 1
    rows = [("K", 1, 2.0), ("K", 2, 2.0), ("L", 1, 2.0), ("L", 2, 0.5), ("K", 3, 0.5)]
    if name != "part of the key":
        rows = [("K", 2, 0.5), *rows[:1], *rows[2:4]]
    engine.publish("S", range(1, len(rows) + 1), rows)
    (registration, _) = engine.program.machines.registrations.values()
    machine = registration.matcher.machine
    machine.forget(len(rows), 0, {})
    assert isinstance(machine, ByPlace)
    assert machine.partitions() == expected
    assert machine.partitions() <= registration.lane.places.keys()


def test_the_partitions_of_runs_over_several_streams() -> None:
    engine = Engine()
    engine.add_stream("S", {"k": "string", "n": "int", "p": "float"})
    engine.add_stream("T", {"p": "float", "n": "int", "k": "string"})
    text = "PATTERN SEQ(S a, T b) WHERE partition_contiguity(a, b) {{ [k, n] AND a.k = 'K' AND a.p > {} }} WITHIN 100"
    for least in (1.0, 1.5):
        engine.subscribe(f"above_{least}", language="sase", query=text.format(least))
    assert engine.statistics()["groups"] == 1
    engine.publish("S", [1, 2, 3], [("K", 1, 2.0), ("K", 2, 2.0), ("L", 1, 2.0)])
    found = engine.publish("T", [4, 5, 6], [(2.0, 1, "K"), (2.0, 3, "K"), (2.0, 1, "L")])
    assert [(match.subscription, match.lineage) for match in found] == [("above_1.0", [1, 4]), ("above_1.5", [1, 4])]
    (registration, _) = engine.program.machines.registrations.values()
    machine = registration.matcher.machine
    machine.forget(6, 0, {})
    assert isinstance(machine, ByPlace)
    assert machine.partitions() == {("K", 2)}
    assert machine.partitions() <= registration.lane.places.keys()
