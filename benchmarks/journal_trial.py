"""One process that commits batches of events to one store for a while; what is compared is benchmarks.journal's.

    python -m benchmarks.journal_trial < job.json

A job names a `design`, a `mode`, how many `batches` are committed together, `seconds`, and a `folder` on the disk to be
measured. Timed is encoding, appending and committing, as a broker does it between two answers; then reading all of it
back, decoded. `sync` is what the same disk takes to make 6 KB durable in a plain file, measured just before.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from random import Random
from time import perf_counter, time_ns
from typing import Any, Final, Protocol

import msgpack

from broker.kernel.records import BatchTaken
from broker.storage import Durability, Folder, Journal, Sync
from broker.storage.records import decode, encode
from broker.storage.settings import Fsync

BATCH_EVENTS: Final = 100
DIFFERENT: Final = 50
INTERVAL: Final = 50_000
SYNCS: Final = 30


def batches() -> list[BatchTaken]:
    """Ticks of the stock workload's form with a company's name, about 60 bytes each once encoded."""
    random = Random(7)
    found = []
    for number in range(DIFFERENT):
        first = number * BATCH_EVENTS
        rows = [
            (
                f"Company {random.randrange(100):03d} Incorporated, New York",
                random.uniform(20, 200),
                random.randrange(5_000),
            )
            for _ in range(BATCH_EVENTS)
        ]
        found.append(BatchTaken("Stock", list(range(first, first + BATCH_EVENTS)), rows, range(first + 1, first + 101)))
    return found


class Design(Protocol):
    """What is measured. Records are appended, then committed together."""

    def append(self, batch: BatchTaken) -> None: ...

    def commit(self) -> None: ...

    def end(self) -> int:
        """Wait for what is under way; the bytes that all of it takes."""

    def read(self) -> Iterator[BatchTaken]: ...


class Segments:
    """broker.storage, which waits for each sync where it commits."""

    def __init__(self, folder: Path, mode: Fsync) -> None:
        self.journal = Journal(Folder(folder), b"benchmark.......", Durability(mode, INTERVAL), now())

    def append(self, batch: BatchTaken) -> None:
        self.journal.reserve()
        self.journal.append(*encode(batch), now())

    def commit(self) -> None:
        self.journal.commit(now())

    def end(self) -> int:
        return self.journal.statistics()["bytes"]

    def read(self) -> Iterator[BatchTaken]:
        for entry in self.journal.read():
            record = decode(entry.kind, entry.payload)
            assert isinstance(record, BatchTaken)
            yield record


class Waiting(Segments):
    """The same with a thread that waits: what comes meanwhile is the next group. Groups may run ahead by WINDOW."""

    WINDOW = 4

    def __init__(self, folder: Path, mode: Fsync) -> None:
        super().__init__(folder, mode)
        self.pool = ThreadPoolExecutor(1)
        self.pending: tuple[Sync, Future[None]] | None = None
        self.marks: deque[int] = deque()

    def commit(self) -> None:
        self.marks.append(self.journal.position)
        self._settle(wait=False)
        while len(self.marks) > self.WINDOW:
            self._settle(wait=True)

    def end(self) -> int:
        while self.marks:
            self._settle(wait=True)
        self.pool.shutdown()
        return super().end()

    def _settle(self, wait: bool) -> None:
        if self.pending is not None and (wait or self.pending[1].done()):
            sync, future = self.pending
            future.result()
            self.journal.settle(sync)
            self.pending = None
        if self.pending is None:
            begun = self.journal.begin()
            self.pending = None if begun is None else (begun, self.pool.submit(begun.run))
        while self.marks and self.marks[0] <= self.journal.safe:
            self.marks.popleft()


class Sqlite:
    """sqlite3 in WAL mode, a row for each batch. Durable at each commit with FULL; with NORMAL at each checkpoint."""

    SCHEMA = "CREATE TABLE log (position INTEGER PRIMARY KEY, kind INTEGER, time INTEGER, payload BLOB)"

    def __init__(self, folder: Path, mode: Fsync) -> None:
        self.mode = mode
        self.database = sqlite3.connect(folder / "log.sqlite", isolation_level=None)
        self.database.execute("PRAGMA journal_mode=WAL")
        synchronous = {"always": "FULL", "interval": "NORMAL", "os": "OFF"}[mode]
        self.database.execute(f"PRAGMA synchronous={synchronous}")
        self.database.execute(self.SCHEMA)
        self.database.execute("BEGIN")
        self.checkpointed = now()

    def append(self, batch: BatchTaken) -> None:
        kind, payload = encode(batch)
        self.database.execute("INSERT INTO log (kind, time, payload) VALUES (?, ?, ?)", (kind, now(), payload))

    def commit(self) -> None:
        self.database.execute("COMMIT")
        if self.mode == "interval" and now() - self.checkpointed >= INTERVAL:
            self.database.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self.checkpointed = now()
        self.database.execute("BEGIN")

    def end(self) -> int:
        self.database.execute("COMMIT")
        self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (pages,), (size,) = (self.database.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
        return int(pages) * int(size)

    def read(self) -> Iterator[BatchTaken]:
        for kind, payload in self.database.execute("SELECT kind, payload FROM log ORDER BY position"):
            record = decode(kind, payload)
            assert isinstance(record, BatchTaken)
            yield record


class SqliteEvents(Sqlite):
    """The same with a row for each event, which can be asked for by SQL."""

    SCHEMA = "CREATE TABLE log (id INTEGER PRIMARY KEY, stream TEXT, time INTEGER, row BLOB)"
    pack: Callable[[Any], bytes] = staticmethod(msgpack.packb)

    def append(self, batch: BatchTaken) -> None:
        rows = [(batch.stream, time, self.pack(row)) for time, row in zip(batch.times, batch.rows)]
        self.database.executemany("INSERT INTO log (stream, time, row) VALUES (?, ?, ?)", rows)

    def read(self) -> Iterator[BatchTaken]:
        cursor = self.database.execute("SELECT stream, time, row, id FROM log ORDER BY id")
        while rows := cursor.fetchmany(BATCH_EVENTS):
            values = [tuple(msgpack.unpackb(row[2])) for row in rows]
            yield BatchTaken(rows[0][0], [row[1] for row in rows], values, [row[3] for row in rows])


DESIGNS: Final[Mapping[str, Callable[[Path, Fsync], Design]]] = {
    "segments": Segments,
    "segments, a thread waits": Waiting,
    "sqlite, a batch a row": Sqlite,
    "sqlite, an event a row": SqliteEvents,
}


def now() -> int:
    return time_ns() // 1_000


def measure(job: dict[str, Any]) -> dict[str, float]:
    folder = Path(job["folder"]) / f"journal-{os.getpid()}"
    folder.mkdir()
    try:
        syncs = sorted(_plain_syncs(folder / "plain"))
        store = DESIGNS[job["design"]](folder, job["mode"])
        work, group = batches(), job["batches"]
        commits: list[float] = []
        count = 0
        begun = last = perf_counter()
        while last - begun < job["seconds"]:
            for _ in range(group):
                store.append(work[count % DIFFERENT])
                count += 1
            before = perf_counter()
            store.commit()
            last = perf_counter()
            commits.append(last - before)
        size = store.end()
        last = max(last, perf_counter() if isinstance(store, Waiting) else last)
        read_from = perf_counter()
        read = sum(len(batch.rows) for batch in store.read())
        took = perf_counter() - read_from
        if read != count * BATCH_EVENTS:
            raise SystemExit(f"read {read} events of {count * BATCH_EVENTS}")
        commits.sort()
        return {
            "events_per_second": count * BATCH_EVENTS / (last - begun),
            "commit_p50_ms": commits[len(commits) // 2] * 1e3,
            "commit_p99_ms": commits[len(commits) * 99 // 100] * 1e3,
            "read_events_per_second": read / took,
            "bytes_per_event": size / (count * BATCH_EVENTS),
            "plain_sync_p50_ms": syncs[len(syncs) // 2] * 1e3,
        }
    finally:
        shutil.rmtree(folder)


def _plain_syncs(path: Path) -> Iterator[float]:
    data = bytes(6_000)
    with path.open("wb", buffering=0) as file:
        for _ in range(SYNCS):
            file.write(data)
            before = perf_counter()
            os.fsync(file.fileno())
            yield perf_counter() - before


if __name__ == "__main__":
    json.dump(measure(json.load(sys.stdin)), sys.stdout)
