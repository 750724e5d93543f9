"""Events through broker and client: a publisher (this process), a broker, a subscriber, each a process of its own.

    python -m benchmarks.broker_trial < job.json

The job has a file of ticks, one query, the number of its matches, and how many ticks are sent in a message; with
`columns` they are sent as columns, which the publisher has before the clock runs, its texts as a list; with
`message_events` the publisher sends several such batches together, so many events in a message. Timed is from before
the first message to when the subscriber has read the last match's notification and the publisher has the last receipt.
The client's publisher has a window of messages under way. Not timed are decoding the file, starting the processes, and
the first `warm` batches of 100.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from client import Client

from .ticks import ATTRIBUTES, STREAM, Tick
from .trial import columns, joined, load

NAME: Final = "measured"
SECONDS_MAX: Final = 60.0  # without a notification
READY: Final = "ready"


def publish(job: dict[str, Any]) -> dict[str, Any]:
    """The publisher's part, and the others' beginnings and ends."""
    batches = [columns(batch) for batch in load(job["ticks"])]
    messages = joined(batches[job["warm"] :], job["batches"])
    with served() as (address, broker), Client(address) as client:
        client.add_stream(STREAM, ATTRIBUTES, key="name")
        with child("benchmarks.broker_trial", "subscriber") as subscriber:
            assert subscriber.stdin is not None
            assert subscriber.stdout is not None
            order = {"address": address, "query": job["query"], "matches": job["matches"]}
            subscriber.stdin.write(json.dumps(order) + "\n")
            subscriber.stdin.flush()
            if subscriber.stdout.readline().strip() != READY:
                raise SystemExit("the subscriber did not begin")
            for times, rows in batches[: job["warm"]]:
                client.publish_batch(STREAM, times, rows)
            prepared = [(times, by_name(rows)) for times, rows in messages] if job.get("columns") else []
            pids = {"publisher": os.getpid(), "broker": broker.pid, "subscriber": subscriber.pid}
            used = seconds_used(pids)
            begun = perf_counter()
            with client.publisher(STREAM, message_events=job.get("message_events", 0)) as publisher:
                if prepared:
                    for times, given in prepared:
                        publisher.publish_columns(given, times)
                else:
                    for times, rows in messages:
                        publisher.publish_batch(times, rows)
            published = perf_counter()
            used = {name: after - used[name] for name, after in seconds_used(pids).items()}
            told = json.loads(subscriber.stdout.readline())
        statistics = client.statistics()
    # perf_counter is the system's monotonic clock on Linux: the same in all processes.
    return {
        "events": sum(len(times) for times, _ in messages),
        "matches": told["matches"],
        "wall": max(published, told["last"]) - begun,
        "cpu": used,
        "statistics": statistics,
    }


def by_name(rows: list[Tick]) -> dict[str, Any]:
    """The columns of ticks, as a program has them."""
    names, prices, volumes = zip(*rows, strict=True)
    return {"name": list(names), "price": array("d", prices), "volume": array("q", volumes)}


def seconds_used(pids: Mapping[str, int]) -> dict[str, float]:
    """Seconds of processor time that each process has used, all its threads; Linux says it in hundredths."""
    ticks = os.sysconf("SC_CLK_TCK")
    fields = {
        name: Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        for name, pid in pids.items()
    }
    return {name: (int(field[11]) + int(field[12])) / ticks for name, field in fields.items()}


def subscribe(order: dict[str, Any]) -> dict[str, Any]:
    """Read every notification; the values of each are there, and not looked at."""
    last = found = 0.0
    with Client(order["address"]) as client, client.subscribe(NAME, query=order["query"]) as subscription:
        print(READY, flush=True)
        while found < order["matches"]:
            notification = subscription.next(SECONDS_MAX)
            if notification is None or notification.kind != "match":
                break
            found += 1
        last = perf_counter()
    return {"matches": int(found), "last": last}


@contextmanager
def served(*options: str, under: Sequence[str] = ()) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A broker that listens on a port of the system's choice: its address and its process."""
    with child("broker.command", "serve", "--address", "tcp://127.0.0.1:0", *options, under=under) as broker:
        assert broker.stdout is not None
        yield broker.stdout.readline().split()[-1], broker


@contextmanager
def child(*arguments: str, under: Sequence[str] = ()) -> Iterator[subprocess.Popen[str]]:
    """A Python module as a process, which is ended with the block; `under` is a command that runs it."""
    command = [*under, sys.executable, "-m", *arguments]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.terminate()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["subscriber"]:
        print(json.dumps(subscribe(json.loads(sys.stdin.readline()))), flush=True)
    else:
        print(json.dumps(publish(json.load(sys.stdin))))
