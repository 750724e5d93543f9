"""A broker, two subscribers and a publisher, each in a process of its own: every notification once and in order."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time

import pytest
from doubles.broker_process import PATIENCE_SECONDS, broker_process, python_process

from client import Client, ConnectionLost

RISES = "SELECT * FROM FILTER{x > x_1}(S NEXT{$2.name = $1.name} S)"

SUBSCRIBER = """
    import json, sys, time
    from client import Client
    address, query, expected, pause_at = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    found = []
    with Client(address) as client, client.subscribe("rises", query=query, lineage=True) as subscription:
        print("ready", flush=True)
        while len(found) < expected:
            if len(found) == pause_at:
                time.sleep(2)
            found.append(subscription.next().line())
        rest = subscription.next(0.3)
    print(json.dumps([found, rest and rest.line()]), flush=True)
"""

PUBLISHER = """
    import json, sys
    from client import Client
    rows = json.loads(sys.stdin.readline())
    with Client(sys.argv[1]) as client:
        for first in range(0, len(rows), 1_000):
            part = [tuple(row) for row in rows[first:first + 1_000]]
            receipt = client.publish_batch("S", range(first, first + len(part)), part)
            assert receipt.count == len(part) and receipt.first_id == first + 1, receipt
"""


def ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == "ready\n", process.communicate(timeout=PATIENCE_SECONDS)


def test_two_subscribers_get_every_notification_once_and_in_order_also_after_a_pause() -> None:
    chance = random.Random(7)
    rows = [(f"name{chance.randrange(50)}", chance.randrange(1_000)) for _ in range(12_000)]
    before: dict[str, int] = {}
    expected = []
    for time_, (name, x) in enumerate(rows):
        if name in before and x > rows[before[name]][1]:
            expected.append((before[name], time_))
        before[name] = time_
    assert len(expected) > 5_000, "more than the credits of both readers"

    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("S", {"name": "string", "x": "int"})
        arguments = (broker.address, RISES, str(len(expected)))
        with (
            python_process(SUBSCRIBER, *arguments, "100") as slow,
            python_process(SUBSCRIBER, *arguments, "-1") as fast,
        ):
            ready(slow)
            ready(fast)
            with python_process(PUBLISHER, broker.address) as publisher:
                _, complaint = publisher.communicate(json.dumps(rows) + "\n", timeout=PATIENCE_SECONDS)
                assert publisher.returncode == 0, complaint
            assert client.statistics()["broker"]["notifications_queued"] > 1_000, (
                "the slow one leaves them in the broker"
            )
            heard = []
            for reader in (slow, fast):
                out, complaint = reader.communicate(timeout=PATIENCE_SECONDS)
                assert reader.returncode == 0, complaint
                heard.append(json.loads(out))
        assert heard[0] == heard[1]
        found, rest = heard[0]
        assert rest is None
        assert [(line["start"], line["end"]) for line in found] == expected
        assert [line["lineage"] for line in found] == [[start + 1, end + 1] for start, end in expected]
        assert len({line["id"] for line in found}) == len(found)
        assert client.subscriptions() == [], "the last one to leave has taken it along"


def test_a_client_that_is_busy_with_something_else_loses_nothing() -> None:
    with broker_process("[limits]\nsilence_seconds = 1\n") as broker, Client(broker.address) as publisher:
        publisher.add_stream("S", {"x": "int"})
        with Client(broker.address) as reader, reader.subscribe("all", query="SELECT * FROM S") as subscription:
            time.sleep(3.5)
            publisher.publish("S", {"x": 1}, time=1)
            match = subscription.next(60)
            assert match is not None
            assert match.data == {"x": 1}


def test_a_subscriber_that_was_killed_is_noticed_and_released() -> None:
    with broker_process("[limits]\nsilence_seconds = 1\n") as broker, Client(broker.address) as client:
        client.add_stream("S", {"name": "string", "x": "int"})
        with python_process(SUBSCRIBER, broker.address, RISES, "1", "0") as reader:
            ready(reader)
            assert [each.name for each in client.subscriptions()] == ["rises"]
            reader.kill()
        deadline = time.monotonic() + 60
        while client.subscriptions() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert client.subscriptions() == []
        assert client.statistics()["broker"]["sessions"] == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_in_order_and_tells_the_clients(number: signal.Signals) -> None:
    with broker_process("drain = '100 ms'") as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("all", query="SELECT * FROM S", window=2)
        client.publish_batch("S", range(5), [(n,) for n in range(5)])
        broker.process.send_signal(number)
        assert broker.process.wait(60) == 0
        assert [each and each.end for each in (subscription.next(60), subscription.next(60))] == [0, 1]
        gap = subscription.next(60)
        assert gap is not None
        assert (gap.kind, gap.limit, gap.since, gap.missed) == ("incomplete", "closing", 2, 3)
        with pytest.raises(ConnectionLost, match="the broker has ended the session: the broker is stopping"):
            subscription.next(60)
        with pytest.raises(ConnectionLost):
            client.ping()
        _, complaint = broker.process.communicate()
        assert complaint == ""


def test_a_subscription_that_others_read_lives_as_long_as_they_do() -> None:
    with broker_process() as broker, Client(broker.address) as reader, Client(broker.address) as writer:
        writer.add_stream("S", {"a": "int"})
        large = writer.subscribe("large", query="FILTER{a > 10} S PUBLISH Large")
        odd = reader.subscribe("odd", query="FILTER{a % 2 = 1} Large")
        large.close()
        writer.publish("S", {"a": 13}, time=1)
        found = odd.next(60)
        assert found is not None
        assert found.data == {"a": 13}
        assert {entry.name for entry in reader.subscriptions()} == {"large", "odd"}
        odd.close()
        assert not reader.subscriptions()
