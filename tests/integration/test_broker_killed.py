"""A real broker, killed under load again and again: no event that was answered is lost or taken twice, and the matches
are those of an engine that was never killed, with the same ids.
"""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from doubles.broker_process import BrokerProcess, broker_process

from broker.engine import Engine
from client import Busy, Client, ConnectionLost, Receipt, Reconnect, RequestTimeout, Subscription

PATIENCE = 60
QUICK = Reconnect(first=0.05, greatest=0.3)
PAIRS = "SELECT * FROM S NEXT{$1.k = $2.k} S"
KILLS = 3
BATCHES = 120
ROWS = 5


def free_port() -> int:
    """One that stays free while there is no broker: below those that the system gives away."""
    port = 20_000 + os.getpid() % 10_000
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                port += 1
                continue
            return port


@contextmanager
def killed_now_and_then(text: str, progress: threading.Semaphore) -> Iterator[str]:
    """A broker that is killed after each release of the semaphore and started again; its address."""
    address = ""
    started, ended = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def run() -> None:
        nonlocal address
        try:
            while not ended.is_set():
                with broker_process(text) as broker:
                    address = broker.address
                    started.set()
                    progress.acquire()
        except BaseException as error:  # told in the test's own thread
            failures.append(error)
            started.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert started.wait(PATIENCE)
        assert failures == []
        yield address
    finally:
        ended.set()
        progress.release()
        thread.join(PATIENCE)
    assert failures == []


def batch(number: int, chance: random.Random) -> tuple[list[int], list[tuple[str, int]]]:
    times = [number * ROWS + index for index in range(ROWS)]
    return times, [(chance.choice("abcdefgh"), time) for time in times]


@pytest.mark.parametrize("fsync", ["always", "os"])
def test_killed_under_load_nothing_is_lost_and_nothing_taken_twice(tmp_path: Path, fsync: str) -> None:
    text = (
        f'address = "tcp://127.0.0.1:{free_port()}"\nsubscriptions = "{tmp_path}/subs.toml"\n[journal]\n'
        f'path = "{tmp_path}/data"\nfsync = "{fsync}"\ncheckpoint_bytes = 2_000\nsegment_bytes = 10_000\n'
    )
    query = f'[subscriptions.pairs]\nlanguage = "cayuga"\nquery = "{PAIRS}"\n'
    (tmp_path / "subs.toml").write_text(f'[streams.S]\nattributes = {{ k = "string", x = "int" }}\n{query}')
    chance = random.Random(1)
    batches = [batch(number, chance) for number in range(BATCHES)]
    receipts: list[Receipt] = []
    progress = threading.Semaphore(0)

    def note(number: int, receipt: Receipt) -> None:
        assert number == len(receipts)
        receipts.append(receipt)
        if number in range(BATCHES // (KILLS + 1), BATCHES, BATCHES // (KILLS + 1)):
            progress.release()

    with (
        killed_now_and_then(text, progress) as address,
        Client(address, timeout=PATIENCE, reconnect=QUICK) as client,
    ):
        with client.publisher("S", window=8, on_receipt=note) as publisher:
            for times, rows in batches:
                publisher.publish_batch(times, rows)
        assert [receipt.first_id for receipt in receipts] == [1 + ROWS * number for number in range(BATCHES)]
        assert {receipt.count for receipt in receipts} == {ROWS}
        assert client.statistics()["engine"]["events"] == BATCHES * ROWS
        subscription = client.subscribe("pairs")
        last = BATCHES * ROWS
        for key in "abcdefgh":  # what waits in each key began before, perhaps before a crash
            client.publish("S", {"k": key, "x": last}, time=last)
        found = [subscription.next(PATIENCE) for _ in "abcdefgh"]
    assert [each and each.id for each in found] == expected(batches)


def expected(batches: list[tuple[list[int], list[tuple[str, int]]]]) -> list[str]:
    """The ids of what the last eight events find in an engine that was never killed."""
    engine = Engine()
    engine.add_stream("S", {"k": "string", "x": "int"})
    engine.subscribe("pairs", query=PAIRS)
    for times, rows in batches:
        engine.publish("S", times, rows)
    last = BATCHES * ROWS
    return [result.line()["id"] for key in "abcdefgh" for result in engine.publish("S", [last], [(key, last)])]


def test_a_durable_subscriber_gets_all_of_it_under_the_same_ids_and_positions(tmp_path: Path) -> None:
    text = f'address = "tcp://127.0.0.1:{free_port()}"\n[journal]\npath = "{tmp_path}/data"\ncheckpoint_bytes = 2_000\n'
    engine = Engine()
    engine.add_stream("S", {"k": "string", "x": "int"})
    engine.subscribe("pairs", query=PAIRS)
    ids: list[str] = []
    read: dict[int, str] = {}
    again = 0
    chance = random.Random(2)
    progress = threading.Semaphore(0)
    with (
        killed_now_and_then(text, progress) as address,
        Client(address, timeout=PATIENCE, reconnect=QUICK) as writer,
        Client(address, timeout=PATIENCE, reconnect=QUICK) as reader,
    ):
        writer.add_stream("S", {"k": "string", "x": "int"})
        subscription = attached(reader)
        assert subscription.durability == "always"
        for number in range(BATCHES // 2):
            times, rows = batch(number, chance)
            writer.publish_batch("S", times, rows)
            ids += [result.line()["id"] for result in engine.publish("S", times, rows)]
            if number % 20 == 10:
                progress.release()
            if number % 3 == 0:
                continue
            while max(read, default=0) < len(ids):
                notification = subscription.next(PATIENCE)
                assert notification is not None
                assert (notification.kind, notification.position is None) == ("match", False)
                assert notification.position is not None
                assert read.setdefault(notification.position, str(notification.id)) == notification.id
                again += notification.redelivered
            match number % 9:
                case 1:
                    subscription.acknowledge()
                case 2 | 5:  # without an acknowledgement: some of it comes again
                    with suppress(ConnectionLost, RequestTimeout):
                        subscription.close()
                    subscription = attached(reader)
    assert read == dict(enumerate(ids, 1))
    assert again > 0


def attached(client: Client) -> Subscription:
    """The request may be under way when the broker is killed, and is not repeated by itself then."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return client.subscribe("pairs", query=PAIRS, durable="reader")
        except (Busy, ConnectionLost, RequestTimeout):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


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
