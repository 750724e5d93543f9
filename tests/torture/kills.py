"""A broker that is killed under load, again and again: `python -m torture.kills [KILLS] [SEED] [FSYNC] [KIND]`.

Run in tests/, with the repository on PYTHONPATH. A publisher goes on by itself, with many batches under way; a durable
subscriber reads, acknowledges some of it, and leaves now and then without a word. The broker is killed at random
moments, also while it starts. In the end no batch may be lost or taken twice, and the subscriber must have had every
match, under the ids, at the positions and with the values that an engine finds which was never killed. KIND says which
subscription: pairs of events, or windows of events, sessions, or of the clock.
"""

from __future__ import annotations

import os
import random
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from doubles.broker_process import broker_process, spawn_broker

from broker.engine import Engine
from client import Busy, Client, ConnectionLost, Receipt, Reconnect, RequestTimeout, Subscription

PATIENCE: Final = 120
QUICK: Final = Reconnect(first=0.05, greatest=0.3)
PAIRS: Final = "SELECT * FROM S NEXT{$1.k = $2.k} S"
QUERIES: Final = {
    "pairs": PAIRS,
    "windows": "FROM S BY k WINDOW LAST 4 EVENTS EVERY 2 EVENTS AGGREGATE avg(x / 7) AS m, stdev(x) AS d, max(x) AS h",
    "sessions": "FROM S BY k WINDOW SESSION 9 AGGREGATE sum(x * 0.1) AS s, median(x) AS m",
    "clocks": "FROM S BY k WINDOW LAST 40 EVERY 20 AGGREGATE avg(x / 3) AS m, from() AS f",
}
LANGUAGES: Final = {kind: "cayuga" if kind == "pairs" else "window" for kind in QUERIES}
ROWS: Final = 5
WINDOW: Final = 8
JOINT_ROWS: Final = 4 * ROWS  # of batches that travel in one message
ATTRIBUTES: Final = {"k": "string", "x": "int"}
AHEAD_MAX: Final = 2_000
"""Matches that the subscriber has not read, at most: a cursor keeps a bounded number."""

STARTS_KILLED: Final = 0.1
"""The share of starts that are killed before the broker listens."""

Told = tuple[str, str]
"""The id of a result, and its values to the last digit."""
Batch = tuple[list[int], list[tuple[str, int]]]


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


@final
@dataclass
class Killed:
    """A broker that is killed and started again; `kills` so far. Its address stays the same."""

    text: str
    seed: int
    address: str = ""
    kills: int = 0
    enough: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    ended: bool = False
    failure: BaseException | None = None

    def run(self, started: Callable[[], None]) -> None:
        """Until it has ended. Each release of `enough` is a kill."""
        chance = random.Random(self.seed)
        try:
            while not self.ended:
                if self.kills and chance.random() < STARTS_KILLED:
                    starting = spawn_broker(self.text)
                    time.sleep(chance.random())
                    starting.kill()
                    starting.communicate()
                    self.kills += 1
                with broker_process(self.text) as broker:
                    self.address = broker.address
                    started()
                    self.enough.acquire()
                    time.sleep(chance.random() / 50)
                self.kills += 1
        except BaseException as error:  # told by whoever waits for it
            self.failure = error
        finally:
            started()


@contextmanager
def killed_now_and_then(text: str, seed: int) -> Iterator[Killed]:
    """The broker in a thread."""
    killed = Killed(text, seed)
    started = threading.Event()
    thread = threading.Thread(target=killed.run, args=(started.set,))
    thread.start()
    try:
        assert started.wait(PATIENCE)
        yield killed
    finally:
        killed.ended = True
        killed.enough.release()
        thread.join(PATIENCE)
    assert killed.failure is None, killed.failure


@final
class Reader:
    """A durable subscriber in a thread: what it was told, by position."""

    def __init__(self, address: str, seed: int, kind: str) -> None:
        self._address = address
        self._kind = kind
        self._chance = random.Random(seed)
        self.told: dict[int, Told] = {}
        self.redelivered = 0
        self.last: int | None = None
        self.failure: BaseException | None = None
        self._connected = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        """Comes back when it has its session: a client reconnects after a loss, but its first connection must hold."""
        self._thread.start()
        assert self._connected.wait(PATIENCE)

    def finish(self, last: int) -> None:
        """Comes back when everything up to this position was told."""
        self.last = last
        self._thread.join(PATIENCE)
        assert self.failure is None, self.failure
        assert not self._thread.is_alive(), f"{len(self.told):,} of {last:,} came"

    def _run(self) -> None:
        try:
            with Client(self._address, timeout=PATIENCE, reconnect=QUICK) as client:
                self._connected.set()
                while self.last is None or len(self.told) < self.last:
                    self._read(attached(client, self._kind))
        except BaseException as error:  # told by whoever waits for it
            self.failure = error
        finally:
            self._connected.set()

    def _read(self, subscription: Subscription) -> None:
        for _ in range(self._chance.randrange(1, 1_000)):
            found = subscription.next(0.5)
            if found is None:
                if self.last is not None and len(self.told) >= self.last:
                    return
                continue
            if found.kind == "incomplete":
                assert found.limit == "connection", found  # that some may have come before is no loss
                continue
            assert found.position is not None
            told = str(found.id), repr(found.data)
            assert self.told.setdefault(found.position, told) == told, found
            self.redelivered += found.redelivered
            if self._chance.random() < 0.05:
                with suppress(ConnectionLost, RequestTimeout):
                    subscription.acknowledge()
        with suppress(ConnectionLost, RequestTimeout):
            subscription.close()


def attached(client: Client, kind: str) -> Subscription:
    """The request may be under way when the broker is killed, and is not repeated by itself then."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return client.subscribe("told", query=QUERIES[kind], language=LANGUAGES[kind], durable="reader")
        except (Busy, ConnectionLost, RequestTimeout):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def kills(count: int, seed: int, fsync: str, folder: Path, kind: str = "pairs") -> str:
    """Kill it so often, with such a subscription. What was met, in words; raises AssertionError for what must not be.
    """
    text = (
        f'address = "tcp://127.0.0.1:{free_port()}"\n[log]\nlevel = "error"\n[journal]\npath = "{folder}/data"\n'
        f'fsync = "{fsync}"\ncheckpoint_bytes = 20_000\nsegment_bytes = 100_000\n'
    )
    engine = Engine()
    engine.add_stream("S", ATTRIBUTES)
    engine.subscribe("told", query=QUERIES[kind], language=LANGUAGES[kind])
    wanted: list[Told] = []
    receipts: list[int | None] = []
    chance = random.Random(seed)
    with killed_now_and_then(text, seed) as killed:
        due = chance.randrange(1, 60)

        def note(number: int, receipt: Receipt) -> None:
            nonlocal due
            assert number == len(receipts)
            assert receipt.count == ROWS
            receipts.append(receipt.first_id)
            if len(receipts) >= due:
                due = len(receipts) + chance.randrange(1, 60)
                killed.enough.release()

        with Client(killed.address, timeout=PATIENCE, reconnect=QUICK) as client:
            client.add_stream("S", ATTRIBUTES)
            reader = Reader(killed.address, seed, kind)
            attached(client, kind).close()  # from here on every match is kept
            reader.start()
            together = chance.choice((0, JOINT_ROWS))
            made = 0
            with client.publisher("S", window=WINDOW, on_receipt=note, message_events=together) as publisher:
                while killed.kills < count:
                    while len(wanted) - len(reader.told) > AHEAD_MAX and reader.failure is None:
                        time.sleep(0.01)
                    assert reader.failure is None, reader.failure
                    times, rows = batch(made, chance)
                    made += 1
                    wanted += [(str(result.id), repr(result.data)) for result in engine.publish("S", times, rows)]
                    publisher.publish_batch(times, rows)
            assert receipts == [1 + ROWS * number for number in range(len(receipts))]
            reader.finish(len(wanted))
    assert reader.told == dict(enumerate(wanted, 1))
    return (
        f"killed {killed.kills:,} times with fsync {fsync}: {len(receipts) * ROWS:,} events, {len(wanted):,} {kind}, "
        f"{reader.redelivered:,} of them told more than once"
    )


def batch(number: int, chance: random.Random) -> Batch:
    times = [number * ROWS + index for index in range(ROWS)]
    return times, [(chance.choice("abcdefgh"), time) for time in times]


def main(count: str = "1000", seed: str = "0", fsync: str = "always", kind: str = "pairs") -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{kills(int(count), int(seed), fsync, Path(folder), kind)}; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
