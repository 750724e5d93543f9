"""A stream that related ones wait for is named in all places of a running broker, with how long they have waited."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Iterator, Sequence

import pytest
from doubles.running_broker import running

from broker.command.doctor import findings
from broker.engine import Engine
from broker.language.subscription import SubscriptionDefinition
from broker.server.logs import LOG, open_log
from broker.server.loop import Broker
from client import Client, Receipt, Subscription, aio

PAIR = "PATTERN SEQ(T a, S b) WITHIN 2 s"
WAITS = r"3 events of related streams wait for stream 'T' since \d s, because an earlier event may still come on it"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a broker logs that ticks fast and has little patience."""
    monkeypatch.setattr("broker.server.loop.TICK_SECONDS", 0.02)
    monkeypatch.setattr("broker.kernel.held_back.TOLD_AFTER", 50_000)
    before, level, propagate = LOG.handlers[:], LOG.level, LOG.propagate
    stream = io.StringIO()
    open_log("info", "json", stream)
    yield stream
    LOG.handlers[:], LOG.propagate = before, propagate
    LOG.setLevel(level)


def waiting(client: Client) -> list[Receipt]:
    """Receipts of T and S, and of batches of no events of S until one says that S waits."""
    client.add_stream("T", {"n": "int"}, disorder="buffer")
    client.add_stream("S", {"n": "int"})
    client.subscribe("pair", "sase", PAIR)
    receipts = [client.publish("T", {"n": 1}, time=5), client.publish_batch("S", [6, 7, 8], [(1,), (2,), (3,)])]
    while receipts[-1].held_back is None:
        receipts.append(client.publish_batch("S", [], []))
    return receipts


def logged(log: io.StringIO, event: str) -> list[dict[str, object]]:
    return [line for line in map(json.loads, log.getvalue().splitlines()) if line["event"] == event]


def test_log_receipts_statistics_and_doctor_name_the_stream(log: io.StringIO) -> None:
    with running(Broker(Engine(), "tcp://127.0.0.1:0")) as broker, Client(broker.endpoint) as client:
        receipts = waiting(client)
        assert [each.held_back for each in receipts[:2]] == [None, None]
        [said] = client.statistics()["engine"]["held_back"]
        [found] = [each for each in findings(None, broker.endpoint) if each.check == "broker"]
        for text in (receipts[-1].held_back, said, found.found):
            assert text is not None
            assert re.search(WAITS, text)
        assert found.verdict == "note"
        [warned] = logged(log, "related streams wait")
        assert (warned["level"], warned["stream"], warned["events"]) == ("warning", "T", 3)
        client.punctuate(9, "T")
        while not logged(log, "related streams wait no more"):
            client.ping()
        assert client.publish_batch("S", [], []).held_back is None
        assert "held_back" not in client.statistics()["engine"]


def timeless(warnings: Sequence[str]) -> list[str]:
    return [re.sub(r"since \d+ s", "since", each) for each in warnings]


def test_subscribe_many_warns_as_subscribe_does(log: io.StringIO) -> None:
    definitions = [
        SubscriptionDefinition("one", "sase", PAIR),
        SubscriptionDefinition("two", "sase", "PATTERN SEQ(T a, ~(S b)) WITHIN 7"),
        SubscriptionDefinition("three", "window", "FROM S WINDOW EVERY 5 s"),
    ]

    async def asked(address: str) -> list[list[str]]:
        async with aio.Client(address) as client:
            found = await client.subscribe_many(definitions)
            return [timeless(each.warnings) for each in found if isinstance(each, aio.Subscription)]

    with running(Broker(Engine(), "tcp://127.0.0.1:0")) as broker, Client(broker.endpoint) as client:
        waiting(client)
        found = client.subscribe_many(definitions)
        many = [timeless(each.warnings) for each in found if isinstance(each, Subscription)]
        with Client(broker.endpoint) as other:
            alone = [
                timeless(other.subscribe(each.name, "window" if each.name == "three" else "sase", each.query).warnings)
                for each in definitions
            ]
        assert many == alone == asyncio.run(asked(broker.endpoint))
        assert [len(each) for each in alone] == [1, 3, 2]
        assert "absence is not told" in alone[1][1]
        assert "the end of a window is not told" in alone[2][1]
