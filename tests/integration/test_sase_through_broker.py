"""SASE+ through a broker process: compressed results expand at the subscriber's; what explodes harms nobody else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from doubles.broker_process import BrokerProcess, broker_process
from doubles.process_gauges import peak_kilobytes

from broker.engine import Engine
from client import Client, Notification

PATIENCE = 60.0
SCHEMA = {"x": "int", "y": "float"}
LETTERS = "a[1].x = 1 AND a[i].x = 1 AND b.x = 2"
SUBSETS = f"PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match(a[], b) {{ {LETTERS} }} WITHIN 1000"
EXPLOSIVE = SUBSETS.replace("a[i].x = 1", "a[i].x = 1 AND a[i].y >= avg(a[..i-1].y)") + " OUTPUT compressed"
RUNS_MAX = 100_000
EVENTS = 17  # 2 to the power of that are beyond the limit
GROWTH_KILOBYTES_MAX = 1_000_000


@pytest.fixture
def broker() -> Iterator[BrokerProcess]:
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("S", SCHEMA)
        yield broker


def taken(notification: Notification | None) -> Notification:
    assert notification is not None
    return notification


def test_a_subscriber_expands_compressed_results(broker: BrokerProcess) -> None:
    rows = [(1, 1.0), (1, 2.0), (3, 0.0), (1, 3.0), (2, 0.0), (1, 4.0), (2, 0.0)]
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    engine.subscribe("q", language="sase", query=SUBSETS)
    expected = [match.bindings for match in engine.publish("S", list(range(1, 8)), rows)]
    with Client(broker.address) as client:
        subscription = client.subscribe("q", language="sase", query=f"{SUBSETS} OUTPUT compressed")
        client.publish_batch("S", range(1, 8), rows)
        told = [taken(subscription.next(PATIENCE)) for _ in range(2)]
        assert [notification.tuples for notification in told] == [7, 15]
        found = [match.bindings for notification in told for match in notification.expanded()]
        assert sorted(map(repr, found)) == sorted(map(repr, expected))


def test_what_explodes_is_limited_and_told_and_harms_nobody_else(broker: BrokerProcess) -> None:
    """Averages need a run for each subset. Every event is told to the other subscription before the next one comes."""
    with Client(broker.address, timeout=PATIENCE) as client, Client(broker.address, timeout=PATIENCE) as other:
        explosive = client.subscribe("explosive", language="sase", query=EXPLOSIVE)
        calm = other.subscribe("calm", query="SELECT * FROM S")
        before = peak_kilobytes(broker.process.pid)
        for time in range(1, EVENTS + 1):
            other.publish("S", {"x": 1, "y": float(time)}, time=time)
            assert taken(calm.next(PATIENCE)).end == time
        word = taken(explosive.next(PATIENCE))
        assert (word.kind, word.limit) == ("incomplete", "runs_max, run_bytes_max, matches_max or negated_max")
        other.publish("S", {"x": 2, "y": 0.0}, time=EVENTS + 1)
        assert taken(calm.next(PATIENCE)).end == EVENTS + 1
        result = taken(explosive.next(PATIENCE))
        while result.kind == "incomplete":
            result = taken(explosive.next(PATIENCE))
        assert result.tuples is not None
        assert 0 < result.tuples <= RUNS_MAX
        assert peak_kilobytes(broker.process.pid) - before < GROWTH_KILOBYTES_MAX
