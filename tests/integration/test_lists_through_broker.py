"""Lists of texts and nested values through a broker process: published as objects, rows and columns, kept by the
journal through a restart, and told as lists."""

from __future__ import annotations

from pathlib import Path

import pytest
from doubles.broker_process import broker_process

from client import Client, EventError

ATTRIBUTES = {"host": "string", "process.name": "string", "process.args": "string[]?", "tags": "string[]"}
QUERY = "SELECT process.name, process.args AS args FROM FILTER{process.args = 'whoami' AND tags != 'test'} Process"
PAIRS = (
    "PATTERN SEQ(Process a, Process b) WHERE skip_till_next_match(a, b) "
    "{ [host] AND a.tags = 'first' AND b.tags = 'second' } WITHIN 1 h RETURN a.tags AS one, b.tags AS two"
)


def test_lists_through_a_broker_and_its_journal(tmp_path: Path) -> None:
    journal = f'[journal]\npath = "{tmp_path}/journal"\n'
    with broker_process(journal) as broker, Client(broker.address) as client:
        client.add_stream("Process", ATTRIBUTES)
        with client.subscribe("q", query=QUERY) as found, client.subscribe("p", "sase", PAIRS) as pairs:
            client.publish("Process", {"host": "h", "process": {"name": "cmd", "args": ["whoami"]}, "tags": ["x"]}, 1)
            client.publish_batch(
                "Process", [2, 3], [("h", "sh", ["a", "whoami"], []), ("h", "sh", ("whoami",), ("test",))]
            )
            columns = {"host": ["h"] * 2, "process.name": ["k", "l"], "tags": [(), ("first", "x")]}
            client.publish_columns("Process", {**columns, "process.args": [("whoami", ""), None]}, [4, 5])
            told = [each.data for each in (found.next(30) for _ in range(3)) if each is not None]
            assert told == [
                {"process.name": "cmd", "args": ["whoami"]},
                {"process.name": "sh", "args": ["a", "whoami"]},
                {"process.name": "k", "args": ["whoami", ""]},
            ]
            with pytest.raises(EventError, match=r"attribute 'tags': expected string.., found string 'x'"):
                client.publish("Process", {"host": "h", "process.name": "c", "tags": "x"}, 6)
            assert pairs.next(0.1) is None
    with (
        broker_process(journal) as broker,
        Client(broker.address) as client,
        client.subscribe("p", "sase", PAIRS) as pairs,
    ):
        for time, tags in ((7, ["first"]), (8, ["second", "second"])):
            client.publish("Process", {"host": "h", "process.name": "m", "tags": tags}, time)
        told_now = pairs.next(30)
        assert told_now is not None
        assert (told_now.lineage, told_now.data) == ([6, 7], {"one": ["first"], "two": ["second", "second"]})
