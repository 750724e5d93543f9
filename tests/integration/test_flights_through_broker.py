"""Acceptance: a year of real flights through a broker, published and subscribed to by processes that use the SDK."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Final

import pytest
from integration.flights_by_schedule import ATTRIBUTES, MATCHES, QUERY, counted, departures

from broker.command.demo.command import broker_process

SUBSCRIBER: Final = """
import json, sys
from client import Client

address, query, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Client(address) as client:
    with client.subscribe("three-late", query=query, lineage=True) as subscription:
        print("subscribed", flush=True)
        for _ in range(count):
            notification = subscription.next(30)
            print(json.dumps(None if notification is None else notification.line()))
        print(json.dumps(subscription.next(0.5)))
"""

PUBLISHER: Final = """
import sys
from integration.flights_by_schedule import departures
from client import Client

with Client(sys.argv[1]) as client:
    rows = departures()
    for begin in range(0, len(rows), 1000):
        batch = rows[begin : begin + 1000]
        receipt = client.publish_batch("Departures", list(range(begin + 1, begin + 1 + len(batch))), batch)
        assert receipt.count == len(batch) and not receipt.refused
"""

STREAM: Final = """
import json, sys
from client import Client

with Client(sys.argv[1]) as client:
    client.add_stream("Departures", json.loads(sys.argv[2]), key="tail")
"""


@pytest.mark.slow
def test_three_late_departures_in_a_row_through_the_broker() -> None:
    expected = counted(departures())
    assert len(expected) == MATCHES

    def program(text: str, *arguments: str) -> list[str]:
        return [sys.executable, "-c", text, *arguments]

    with broker_process() as address:
        subprocess.run(program(STREAM, address, json.dumps(ATTRIBUTES)), check=True, timeout=30)
        with subprocess.Popen(
            program(SUBSCRIBER, address, QUERY, str(MATCHES)), stdout=subprocess.PIPE, text=True
        ) as subscriber:
            assert subscriber.stdout is not None
            assert subscriber.stdout.readline() == "subscribed\n"
            subprocess.run(program(PUBLISHER, address), check=True, timeout=60)
            notifications = [json.loads(line) for line in subscriber.stdout]
        assert subscriber.returncode == 0

    *matches, after_the_last = notifications
    assert after_the_last is None
    assert [match["lineage"] for match in matches] == expected
    assert len({match["id"] for match in matches}) == MATCHES
