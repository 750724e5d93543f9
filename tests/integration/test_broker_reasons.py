"""Reasons of a running broker, from its journal: the same as those of an engine on the same events."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doubles.broker_process import BrokerProcess, broker_process

from broker.engine import Engine
from broker.events import Event
from client import Client, DefinitionError, Notification, UnknownSubscription, Unsupported, aio

PATIENCE = 60
PAIRS = "FILTER{x > x_1}(SELECT * FROM S NEXT{$1.k = $2.k} S)"
RISES = "FROM T START a FINAL c one: a -> b WHEN x < 3 two: b -> c WHEN x > 5"
ROWS = [("a", 1), ("b", 5), ("a", 0), ("a", 4)]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    with broker_process(f'address = "tcp://127.0.0.1:0"\n[journal]\npath = "{tmp_path / "data"}"\n') as process:
        yield process


def engine() -> Engine:
    made = Engine()
    made.add_stream("S", {"k": "string", "x": "int"})
    made.subscribe("pairs", query=PAIRS, lineage=True)
    return made


def identified(notification: Notification) -> str:
    """The id of a match."""
    assert notification.id is not None
    return notification.id


def bare(reasons: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in reasons.items() if name != "events"}


def test_they_are_those_of_an_engine(broker: BrokerProcess) -> None:
    with Client(broker.address, PATIENCE) as client:
        client.add_stream("S", {"k": "string", "x": "int"})
        pairs = client.subscribe("pairs", query=PAIRS, lineage=True)
        ids = [client.publish("S", {"k": k, "x": x}, time=at).first_id for at, (k, x) in enumerate(ROWS, 1)]
        match = identified(next(iter(pairs)))
        events = [Event("S", at, at, number, row) for (at, row), number in zip(enumerate(ROWS, 1), ids)]
        told = client.why(match)
        assert told["events"] == {"number": 4, "from": 1, "until": 4}
        assert bare(told) == engine().why(match, events).line()
        assert bare(client.why(match, "pairs")) == bare(told)
        for asked in ({}, {"key": "b"}, {"time": 3}, {"events": ids[1:2]}):
            found = bare(client.why_not("pairs", **asked))
            wanted = asked.get("events", ())
            expected = engine().why_not("pairs", events, asked.get("key"), wanted, asked.get("time"))  # type: ignore[arg-type]
            assert found == expected.line()
        with pytest.raises(DefinitionError, match="expected the id of a match of the events in the journal, found 'x'"):
            client.why("x")
        with pytest.raises(UnknownSubscription, match="'pears' is not known; did you mean 'pairs'"):
            client.why_not("pears")

        async def the_same() -> None:
            async with aio.Client(broker.address, PATIENCE) as other:
                assert await other.why(match, "pairs") == told
                assert bare(await other.why_not("pairs", time=3)) == engine().why_not("pairs", events, time=3).line()

        asyncio.run(the_same())


def test_late_events_updates_and_a_subscription_that_began_anew(broker: BrokerProcess) -> None:
    with Client(broker.address, PATIENCE) as client:
        client.add_stream("T", {"x": "int"}, disorder="speculate")
        rises = client.subscribe("rises", "afa", RISES)
        first, last = (client.publish("T", {"x": x}, time=at).first_id for x, at in ((2, 10), (7, 12)))
        match = identified(next(iter(rises)))
        late = client.publish("T", {"x": 3}, time=11).first_id
        told = client.why(match)
        assert told["events"] == {"number": 3, "from": 10, "until": 12}
        assert [step["events"] for step in told["steps"]] == [[first], [last]]
        assert [(each["kind"], each["by"], each["events"]) for each in told["told"]] == [
            ("match", "event", [last]),
            ("retraction", "late event", [late]),
        ]
        client.update("rises", ["three: b -> b WHEN x = 3"], start=0)
        assert first is not None
        found = client.why_not("rises", events=[first])
        assert not found.get("withdrawn")  # the arc has brought it back


def test_a_broker_without_a_journal_has_none() -> None:
    with broker_process() as broker, Client(broker.address, PATIENCE) as client:
        client.add_stream("S", {"k": "string", "x": "int"})
        client.subscribe("pairs", query=PAIRS)
        with pytest.raises(Unsupported, match="reasons are found in the journal, and this broker has none"):
            client.why_not("pairs")
