"""Over a socket: what the broker comes to after its deadline is not done, and told as what it is."""

from __future__ import annotations

import asyncio

import pytest
from doubles.broker_process import PATIENCE_SECONDS, broker_process

from client import Client, Expired, Publisher, aio
from client.session import Session

HOUR_MICROSECONDS = 3_600 * 1_000_000


def lose_patience(session: Session) -> None:
    """From now on it is as if each request had been under way for an hour; the answer is waited for all the same."""
    session._deadlines._patience = -HOUR_MICROSECONDS


def publish_all(publisher: Publisher) -> None:
    """More than fit its window, so that it waits for the first."""
    for number in range(5):
        publisher.publish_batch(None, [(number,)])


def test_what_a_broker_comes_to_too_late_is_not_done() -> None:
    with broker_process() as broker, Client(broker.address, timeout=PATIENCE_SECONDS) as client:
        client.add_stream("S", {"x": "int"})
        client.publish("S", {"x": 1})
        with Client(broker.address, timeout=PATIENCE_SECONDS) as hasty:
            publisher = hasty.publisher("S", window=4)
            lose_patience(hasty._connection.session)
            with pytest.raises(Expired, match=r"the deadline was 3,\d+\.\d{3} s ago"):
                hasty.publish_batch("S", None, [(2,)])
            with pytest.raises(Expired):
                hasty.subscribe("all", query="S")
            hasty.ping()
            hasty._connection.session._deadlines._patience = -6 * HOUR_MICROSECONDS
            with pytest.raises(Expired, match="batch 0: the deadline was"):
                publish_all(publisher)

        async def in_a_loop() -> None:
            async with aio.Client(broker.address, timeout=PATIENCE_SECONDS) as hasty:
                await hasty.publish("S", {"x": 5})
                lose_patience(hasty._connection.session)
                with pytest.raises(Expired):
                    await hasty.publish("S", {"x": 6})

        asyncio.run(in_a_loop())
        counted = client.statistics()["broker"]
        assert counted["batches_expired"] >= 3
        assert (counted["batches"], counted["events"]) == (2, 2)
        assert client.subscriptions() == []
