"""Absence on a quiet broker: it is told within 100 ms of its moment, by the clock, and the same after a crash."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from doubles.broker_process import broker_process

from client import Client, Durable, Subscription

UNPAID = "PATTERN SEQ(Order a, ~(Payment b)) WHERE skip_till_next_match(a, b) { [number] } WITHIN 300 ms"
QUICKLY_SECONDS = 0.1
SOON_SECONDS = 3.0  # on a machine with other work
PATIENCE_SECONDS = 20.0
WAIT_SECONDS = 0.3
SCHEMA = {"number": "int"}


def clock() -> int:
    return time.time_ns() // 1_000


def declare(client: Client, idle: int | None = None) -> None:
    for stream in ("Order", "Payment"):
        client.add_stream(stream, SCHEMA, idle=idle)


def waited(subscription: Subscription, begun: float) -> float:
    """Seconds from a time to the next notification, which is a match."""
    notification = subscription.next(PATIENCE_SECONDS)
    assert notification is not None
    assert notification.kind == "match"
    return time.monotonic() - begun


def test_an_order_without_a_payment_is_told_without_any_event() -> None:
    with broker_process() as broker, Client(broker.address) as client:
        declare(client)
        with client.subscribe("unpaid", "sase", UNPAID) as subscription:
            late = []
            for number in range(5):
                begun = time.monotonic()
                client.publish("Order", {"number": number})
                client.publish("Order", {"number": -number - 1})
                client.publish("Payment", {"number": -number - 1})
                late.append(waited(subscription, begun) - WAIT_SECONDS)
            assert min(late) >= 0
            assert sorted(late)[2] < QUICKLY_SECONDS, late
            assert client.statistics()["broker"]["clock_punctuations"] >= 5


def test_a_session_is_told_when_it_is_over_without_any_event() -> None:
    with broker_process() as broker, Client(broker.address) as client:
        declare(client)
        query = "FROM Order WINDOW SESSION 300 ms AGGREGATE count(*) AS n"
        with client.subscribe("visits", "window", query) as subscription:
            client.publish("Order", {"number": 1})
            begun = time.monotonic()
            client.publish("Order", {"number": 2})
            notification = subscription.next(PATIENCE_SECONDS)
            assert notification is not None
            assert notification.data == {"n": 2}
            assert WAIT_SECONDS <= time.monotonic() - begun < WAIT_SECONDS + SOON_SECONDS


def test_streams_whose_publishers_give_times_wait_until_they_are_idle() -> None:
    with broker_process() as broker, Client(broker.address) as client:
        declare(client, idle=500_000)
        with client.subscribe("unpaid", "sase", UNPAID) as subscription:
            begun = time.monotonic()
            client.publish("Order", {"number": 1}, time=clock())
            assert 0.5 <= waited(subscription, begun) < 0.5 + SOON_SECONDS


def test_events_that_wait_for_late_ones_go_on_when_nothing_follows() -> None:
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("Reading", SCHEMA, disorder="buffer", lateness=200_000, idle=100_000)
        with client.subscribe("all", query="Reading") as subscription:
            now, begun = clock(), time.monotonic()
            client.publish_batch("Reading", [now, now - 100_000], [(1,), (2,)])
            late = [waited(subscription, begun) for _ in range(2)]
            assert late[0] >= 0.1
            assert 0.2 <= late[1] < 0.2 + SOON_SECONDS
            assert client.statistics()["engine"]["finality_behind"] == 0


def test_a_stream_that_is_never_idle_keeps_the_clock_from_promising() -> None:
    with broker_process() as broker, Client(broker.address) as client:
        declare(client)
        with client.subscribe("unpaid", "sase", UNPAID) as subscription:
            now = clock()
            client.publish("Order", {"number": 1}, time=now)
            assert subscription.next(2 * WAIT_SECONDS) is None
            assert client.statistics()["broker"]["unclocked_streams"] == 1
            client.punctuate(now + 300_002)
            assert waited(subscription, time.monotonic()) < PATIENCE_SECONDS


@pytest.mark.parametrize("fsync", ["os", "always"])
def test_it_is_told_after_a_crash_too_and_once(fsync: str, tmp_path: Path) -> None:
    configuration = f'[journal]\npath = "{tmp_path / "data"}"\nfsync = "{fsync}"\n'
    told: list[str | None] = []
    cursor = Durable("desk")
    with broker_process(configuration) as broker, Client(broker.address) as client:
        declare(client)
        subscription = client.subscribe("unpaid", "sase", UNPAID, durable=cursor)
        client.publish("Order", {"number": 1})
        first = subscription.next(PATIENCE_SECONDS)
        assert first is not None
        told.append(first.id)
        client.publish("Order", {"number": 2})
        broker.process.kill()
    with (
        broker_process(configuration) as broker,
        Client(broker.address) as client,
        client.subscribe("unpaid", "sase", UNPAID, durable=cursor) as subscription,
    ):
        again, second = subscription.next(PATIENCE_SECONDS), subscription.next(PATIENCE_SECONDS)
        assert again is not None
        assert second is not None
        assert again.id == told[0]
        assert again.redelivered
        assert second.id != again.id
        assert second.lineage == [2]
        assert subscription.next(WAIT_SECONDS) is None
