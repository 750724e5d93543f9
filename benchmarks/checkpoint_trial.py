"""One broker with a large state at its checkpoint: how long clients wait, and how much memory it takes meanwhile.

    python -m benchmarks.checkpoint_trial < job.json

A job names a `folder` and how many `subscriptions` there are and how many runs `each` of them has: then a journal with
that state is made there. Or it names the folder and the `way` (fork, loop): then a broker is started on that journal,
and a client publishes single events into a stream that nobody reads, one after the other, each with its receipt. Told
are the longest wait before the checkpoint and during it, how long the loop stood still for it, and what memory the
system says the broker and its copy hold together, looked at every SAMPLE_SECONDS. What is compared is
benchmarks.checkpoints'.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

from broker.kernel import Record
from broker.kernel.records import StreamDeclared, SubscriptionAdded
from broker.server.replicated_state import ReplicatedState
from broker.storage import Durability, Folder, Store
from client import Client

from .broker_trial import served

SAMPLE_SECONDS: Final = 0.05
CHECKPOINT_BYTES: Final = 20_000
QUIET: Final = 50
"""Events before, which are no reason for a checkpoint yet."""
APART_SECONDS: Final = 0.002
PATIENCE_SECONDS: Final = 600
ATTRIBUTES: Final = {"k": "string", "x": "int"}
SHAPE: Final = "SELECT * FROM FILTER{{x = {0}}}(S) NEXT{{$1.k = $2.k AND $2.x = {1}}} S"


def prepare(folder: Path, subscriptions: int, each: int) -> int:
    """A journal whose checkpoint holds that state: its bytes."""
    store = Store(Folder.made(folder), bytes(16), Durability(), 0)
    history = ReplicatedState()
    store.recover(history)
    records: list[Record] = [
        StreamDeclared(name, ATTRIBUTES, "k" if name == "S" else None, "arrival", None, None) for name in "ST"
    ]
    records += [
        SubscriptionAdded(f"q{at}", "cayuga", SHAPE.format(at, -1 - at), None, None, None, {})
        for at in range(subscriptions)
    ]
    for record in records:
        store.reserve()
        history.replay(store.append(record, 0), 0, record)
    order = list(range(subscriptions)) * each
    Random(7).shuffle(order)
    size = 1_000
    for first in range(0, len(order), size):  # not in the journal: it is the state that is measured
        rows = [(f"key {at % 97}", value) for at, value in enumerate(order[first : first + size])]
        history.engine.publish("S", [first] * len(rows), rows)
    made = store.checkpoint(history, 0)
    store.close()
    assert made is not None
    return len(made.body)


def measure(job: dict[str, Any]) -> dict[str, float]:
    """Of one broker, on a copy of the journal; both are gone afterwards."""
    with tempfile.TemporaryDirectory(dir=job["folder"]) as folder:
        shutil.copytree(Path(job["folder"]) / "data", Path(folder) / "data")
        return _measured(Path(folder), job["way"])


def _measured(folder: Path, way: str) -> dict[str, float]:
    config = folder / "broker.toml"
    config.write_text(
        f'[limits]\nresume_seconds = 3_600\n[journal]\npath = "data"\nfsync = "os"\ncheckpoint = "{way}"\n'
        f"checkpoint_bytes = {CHECKPOINT_BYTES}\n",
        encoding="utf-8",
    )
    with served("--config", str(config)) as (address, broker), Client(address, timeout=PATIENCE_SECONDS) as client:
        before = max(_wait(client, number) for number in range(QUIET))
        there = _checkpoints(folder)
        memory = [_held(broker.pid)]
        ended = threading.Event()
        sampling = threading.Thread(target=_sample, args=(broker.pid, ended, memory))
        sampling.start()
        waits = []
        number = QUIET
        begun = time.monotonic()
        while _checkpoints(folder) == there:
            number += 1
            waits.append(_wait(client, number))
            time.sleep(APART_SECONDS)
        took = time.monotonic() - begun
        ended.set()
        sampling.join()
        held = client.statistics()["journal"]["checkpoint_held_microseconds"]
        broker.kill()  # in good order it would save once more
    return {
        "longest_before_ms": 1e3 * before,
        "longest_ms": 1e3 * max(waits),
        "held_ms": held / 1e3,
        "took_s": took,
        "memory_before_mb": memory[0] / 1e3,
        "memory_most_mb": max(memory) / 1e3,
    }


def _wait(client: Client, number: int) -> float:
    before = time.perf_counter()
    client.publish("T", {"k": "some text", "x": number})
    return time.perf_counter() - before


def _checkpoints(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "data").glob("*.checkpoint"))


def _sample(process: int, ended: threading.Event, memory: list[int]) -> None:
    while not ended.wait(SAMPLE_SECONDS):
        memory.append(_held(process))


def _held(process: int) -> int:
    """Kilobytes of a process and those that it has begun; what they share is in it once, by parts."""
    total = _proportional(process)
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            _, _, rest = Path(f"/proc/{name}/stat").read_text(encoding="utf-8").rpartition(")")
            if int(rest.split()[1]) == process:
                total += _proportional(int(name))
    return total


def _proportional(process: int) -> int:
    with suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    return 0


if __name__ == "__main__":
    given = json.load(sys.stdin)
    prepared = "subscriptions" in given
    where = Path(given["folder"])
    found = {"bytes": prepare(where / "data", given["subscriptions"], given["each"])} if prepared else measure(given)
    print(json.dumps(found))
