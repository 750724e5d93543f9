"""A real broker that is killed while its clients wait: what they ask then is repeated. Many kills: tests/torture."""

from __future__ import annotations

from pathlib import Path

from doubles.broker_process import BrokerProcess, broker_process
from torture.kills import PATIENCE, QUICK, free_port

from client import Client


def test_a_call_that_was_under_way_is_repeated(tmp_path: Path) -> None:
    text = f'address = "tcp://127.0.0.1:{free_port()}"\n[journal]\npath = "{tmp_path}/data"\n'
    with broker_process(text) as broker:
        client = Client(broker.address, timeout=PATIENCE, reconnect=QUICK)
        client.add_stream("S", {"x": "int"})
        assert client.publish("S", {"x": 1}, time=1).first_id == 1
        kill(broker)
    with broker_process(text):
        assert client.publish("S", {"x": 2}, time=2).first_id == 2
        assert client.statistics()["broker"]["events"] == 2
        client.close()


def kill(broker: BrokerProcess) -> None:
    broker.process.kill()
    broker.process.wait()
