"""A client that ends without a word gives its places to the next one at once: the session, the quota, the cursor."""

from __future__ import annotations

import time

import pytest
from doubles.running_broker import running

from broker.engine import Engine
from broker.kernel import Limits
from broker.server.loop import Broker
from client import Client, ForetellError, LimitExceeded, Reconnect

PATIENCE = 10.0
"""Far below `silence_seconds`, after which a silent client is looked for."""


def vanish(client: Client) -> None:
    """What a kill leaves: a closed connection, and no goodbye."""
    client._connection._transport.close()


def connected(address: str, reconnect: Reconnect | None) -> Client:
    """A client, which is refused as long as the broker has not seen that the one before is gone."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return Client(address, timeout=60, reconnect=reconnect)
        except LimitExceeded:
            if time.monotonic() > end:
                raise


@pytest.mark.parametrize("reconnect", [None, Reconnect()], ids=["ends", "may come back"])
def test_a_place_is_free_when_a_client_has_vanished(reconnect: Reconnect | None) -> None:
    began = time.monotonic()
    with running(Broker(Engine(), "tcp://127.0.0.1:0", Limits(sessions=2))) as broker:
        address = broker.endpoint
        with Client(address, timeout=60) as stays:
            stays.add_stream("S", {"x": "int"})
            for number in range(10):
                client = connected(address, reconnect)
                client.publish_batch("S", [number] * 3, [(number,)] * 3)
                vanish(client)
            with connected(address, None), pytest.raises(LimitExceeded, match="at most 2 clients"):
                Client(address, timeout=60)
            assert stays.statistics()["broker"]["events"] == 30
    assert time.monotonic() - began < PATIENCE


def test_what_a_vanished_client_has_sent_is_taken() -> None:
    with running(Broker(Engine(), "tcp://127.0.0.1:0")) as broker, Client(broker.endpoint, timeout=60) as stays:
        stays.add_stream("S", {"x": "int"})
        for first in range(0, 500, 50):
            client = Client(broker.endpoint, timeout=60)
            publisher = client.publisher("S", window=100)
            for number in range(first, first + 50):
                publisher.publish_batch([1], [(number,)])
            client.ping()  # so that all is there, and the answers to it are not read
            vanish(client)
        assert stays.statistics()["broker"]["events"] == 500


def test_its_cursor_is_free_too() -> None:
    began = time.monotonic()
    with running(Broker(Engine(), "tcp://127.0.0.1:0")) as broker:
        for number in range(5):
            client = Client(broker.endpoint, timeout=60)
            client.add_stream("S", {"x": "int"})
            try:
                subscription = client.subscribe("q", query="SELECT * FROM S", durable="mine")
            except ForetellError as error:
                pytest.fail(str(error))
            client.publish("S", {"x": number}, time=number)
            assert subscription.next(60) is not None
            vanish(client)
    assert time.monotonic() - began < PATIENCE
