"""Wrong use of a client is a named error in one line: another thread, another loop, arguments of another type."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from doubles.broker_process import broker_process

from client import Client, DefinitionError, EventError, ForetellError, WrongThread, aio


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with broker_process() as broker:
        yield broker.address


def test_another_thread_is_refused_by_name(address: str) -> None:
    found: list[BaseException] = []
    with Client(address, timeout=60) as client:
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("t", query="S")

        def use() -> None:
            for call in (client.ping, lambda: client.publish("S", {"x": 1}), lambda: subscription.next(0)):
                try:
                    call()
                except ForetellError as error:
                    found.append(error)

        thread = threading.Thread(target=use, name="worker")
        thread.start()
        thread.join()
        client.ping()
    assert [type(error) for error in found] == [WrongThread] * 3
    assert str(found[0]) == "this client belongs to the thread 'MainThread', found 'worker': open one there"


def test_another_loop_is_refused_by_name(address: str) -> None:
    client = aio.Client(address, timeout=60)
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(client.open())
        with pytest.raises(WrongThread, match="another event loop"):
            asyncio.run(client.ping())
        loop.run_until_complete(client.close())
    finally:
        loop.close()


WRONG: list[tuple[str, Callable[[Any], object], type[ForetellError]]] = [
    ("stream", lambda client: client.publish(5, {"x": 1}), ForetellError),
    ("data", lambda client: client.publish("S", 5), EventError),
    ("time", lambda client: client.publish("S", {"x": 1}, time=[1]), EventError),
    ("id", lambda client: client.publish("S", {"x": 1}, time=1, id="a"), EventError),
    ("times", lambda client: client.publish_batch("S", 5, [(1,)]), EventError),
    ("rows", lambda client: client.publish_batch("S", [1], 5), EventError),
    ("row", lambda client: client.publish_batch("S", [1], [5]), EventError),
    ("ids", lambda client: client.publish_batch("S", [1], [(1,)], 5), EventError),
    ("starts", lambda client: client.publish_batch("S", [1], [(1,)], None, 5), EventError),
    ("name of a stream", lambda client: client.add_stream(5, {}), DefinitionError),
    ("attributes", lambda client: client.add_stream("T", 5), DefinitionError),
    ("name", lambda client: client.subscribe(5, query="S"), DefinitionError),
    ("query", lambda client: client.subscribe("q", query=5), DefinitionError),
    ("language", lambda client: client.subscribe("q", 5, "S"), DefinitionError),
    ("forecast", lambda client: client.subscribe("q", query="S", forecast=5), DefinitionError),
    ("window", lambda client: client.subscribe("q", query="S", window="5"), DefinitionError),
    ("durable", lambda client: client.subscribe("q", query="S", durable=5), DefinitionError),
    ("when_slow", lambda client: client.subscribe("q", query="S", when_slow=5), DefinitionError),
    ("unsubscribe", lambda client: client.unsubscribe(5), ForetellError),
    ("cursor", lambda client: client.forget(5), DefinitionError),
    ("unit", lambda client: client.set_time_unit("S", "sec"), DefinitionError),
]


@pytest.mark.parametrize(("what", "call", "kind"), WRONG, ids=[what for what, _, _ in WRONG])
def test_an_argument_of_another_type_is_a_named_error(
    address: str, what: str, call: Callable[[Any], object], kind: type[ForetellError]
) -> None:
    with Client(address, timeout=60) as client:
        client.add_stream("S", {"x": "int"})
        with pytest.raises(kind) as caught:
            call(client)
        assert "\n" not in str(caught.value)
        client.ping()


def test_arguments_of_a_client() -> None:
    for arguments in ({"address": 5}, {"timeout": "10"}, {"timeout": -1}):
        with pytest.raises(DefinitionError):
            Client(**arguments)


FORGOTTEN = """
from client import aio

async def main(client: aio.Client) -> None:
    subscription = await client.subscribe("q", query="S")
    notification = await subscription.next()
    assert notification is not None
    {line}
"""


@pytest.mark.verify
@pytest.mark.parametrize("line", ["client.ping()", "notification.acknowledge()", "subscription.acknowledge()"])
def test_a_forgotten_await_is_seen_by_a_type_checker(tmp_path: Path, line: str) -> None:
    (tmp_path / "program.py").write_text(FORGOTTEN.format(line=line))
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(tmp_path / "program.py")]
    found = subprocess.run(command, check=False, cwd=root, capture_output=True, text=True, timeout=600)
    assert "must be used" in found.stdout, found.stdout + found.stderr
