"""What a partition keeps of the events of its windows is bounded by those that are open, whatever has passed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from broker.engine import Engine, Match, Options
from broker.engine.executors.windows.pane_machine import PaneMachine
from broker.engine.executors.windows.pane_table import OVER, SPARE

EVENTS, KEYS = 12_000, 3
TEXTS = {
    "tumbling": ("FROM S BY k WINDOW EVERY 100 EVENTS AGGREGATE sum(p) AS s, median(p) AS m", 100),
    "sliding": ("FROM S BY k WINDOW LAST 100 EVENTS EVERY 1 EVENT AGGREGATE sum(p) AS s", 100),
    "until": ("FROM S BY k WINDOW AFTER any* MATCHING [p = 0] any* [p = 50] & any{1,60} AGGREGATE sum(p) AS s", 60),
    "clock": ("FROM S BY k WINDOW EVERY 300 AGGREGATE median(p) AS m", 100),
}


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("text", list(TEXTS))
def test_events_of_windows_that_are_over_are_dropped(text: str, columns: bool) -> None:
    query, most = TEXTS[text]
    engine = Engine(Options())
    engine.add_stream("S", {"k": "string", "p": "float"})
    engine.subscribe("w", language="window", query=query)
    found = kept = 0
    for first in range(0, EVENTS, 300):
        numbers = range(first, first + 300)
        names, prices = [f"key {at % KEYS}" for at in numbers], [float(at % 97) for at in numbers]
        if columns:
            found += len(engine.publish_columns("S", {"k": names, "p": prices}, list(numbers)))
        else:
            found += len(engine.publish("S", list(numbers), list(zip(names, prices))))
        engine.check_invariants()
        kept = max(kept, engine.statistics()["window_events"])
    assert found > 100
    assert kept <= KEYS * (2 * most + 64)  # half of a log may be over, and a few events more


@pytest.mark.parametrize(
    "windows", ["LAST 50 EVENTS EVERY 20 EVENTS", "LAST 20 EVENTS EVERY 50 EVENTS", "LAST 3 EVENTS EVERY 9 EVENTS"]
)
@pytest.mark.parametrize("rare", [False, True], ids=["all keys come", "a key does not come again"])
def test_one_log_of_all_partitions_is_bounded_and_says_the_same(rare: bool, windows: str) -> None:
    """Its beginning is dropped where all partitions go on, and it is copied where one keeps its first event open."""
    told: list[list[Match]] = []
    for packed in (False, True):
        engine = Engine(Options(window_columns=packed))
        engine.add_stream("S", {"k": "string", "p": "float"})
        query = f"FROM S BY k WINDOW {windows} AGGREGATE sum(p) AS s, median(p) AS m"
        engine.subscribe("w", language="window", query=query)
        (machine,) = [each.machine for lane in engine.program.machines.lanes.values() for each in lane.matchers]
        assert isinstance(machine, PaneMachine) is packed
        found: list[Match] = []
        longest = 0
        if rare:
            engine.publish("S", [0], [("rare", 0.5)])
        for first, upto in pairwise([0, *range(30_000, 60_001, 500)]):
            numbers = range(first, upto)
            rows = [(f"key {at * at % 131}", at % 97 / 7) for at in numbers]
            found += engine.publish("S", list(numbers), rows)
            if isinstance(machine, PaneMachine):
                longest = max(longest, int(machine.table.log.count - machine.table.log.base))
        engine.check_invariants()
        told.append(found)
        if isinstance(machine, PaneMachine):
            assert longest <= SPARE + (OVER + 1) * machine.table.live + 500
    assert len(told[0]) > 500
    assert [(m.id, m.lineage, m.data) for m in told[0]] == [(m.id, m.lineage, m.data) for m in told[1]]
