"""Law: from publishing to the notification, over loopback: a publisher (this process), a broker, a subscriber.

    python -m benchmarks.broker_latency < job.json

The job says how many events a message has (`batch`) and how many messages (`messages`). First they are sent as fast as
receipts allow, which is the capacity; then as many at `load` times that rate, at fixed moments. The wait of a message
is from its moment, whether or not it could be sent then, to when its one notification has been read: a broker that
falls behind is not spared the messages that wait for it. Not timed: starting the processes, and the first `warm`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from time import perf_counter, sleep
from typing import Any, Final

from client import Client
from client.publisher import Publisher

from .broker_trial import READY, SECONDS_MAX, child, served

STREAM: Final = "S"
ATTRIBUTES: Final = {"name": "string", "number": "int", "last": "int"}
QUERY: Final = f"SELECT * FROM FILTER{{last = 1}}({STREAM})"
WINDOW: Final = 64
NAME: Final = "measured"


def message(number: int, batch: int) -> tuple[list[int], list[tuple[str, int, int]]]:
    """Times and rows; the last row is the one that is notified of."""
    return [number] * batch, [(f"N{at % 50}", number, int(at == batch - 1)) for at in range(batch)]


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """The publisher's part, and the others' beginnings and ends."""
    batch, count, warm = job["batch"], job["messages"], job["warm"]
    with served() as address, Client(address, timeout=SECONDS_MAX) as client:
        client.add_stream(STREAM, ATTRIBUTES)
        with child("benchmarks.broker_latency", "subscriber") as subscriber:
            order = {"address": address, "parts": [warm, count, count]}
            assert subscriber.stdin is not None
            subscriber.stdin.write(json.dumps(order) + "\n")
            subscriber.stdin.flush()
            if _told(subscriber) != READY:
                raise SystemExit("the subscriber did not begin")
            with client.publisher(STREAM, window=WINDOW) as publisher:
                _send(publisher, range(warm), batch, 0.0)
                _told(subscriber)
                begun = perf_counter()
                _send(publisher, range(warm, warm + count), batch, 0.0)
                capacity = count / (_told(subscriber)[-1] - begun)
                moments = _send(publisher, range(warm + count, warm + 2 * count), batch, 1 / (capacity * job["load"]))
                read = _told(subscriber)
    waits = sorted(end - moment for moment, end in zip(moments, read, strict=True))
    return {
        "capacity": capacity * batch,
        "messages": count,
        "p50": 1_000 * waits[len(waits) // 2],
        "p99": 1_000 * waits[len(waits) * 99 // 100],
        "longest": 1_000 * waits[-1],
    }


def _send(publisher: Publisher, numbers: range, batch: int, apart: float) -> list[float]:
    """The messages of these numbers, so many seconds apart; their moments."""
    made = [message(number, batch) for number in numbers]
    moments: list[float] = []
    begun = perf_counter()
    for at, (times, rows) in enumerate(made):
        moments.append(begun + at * apart)
        rest = moments[-1] - perf_counter()
        if rest > 0:
            sleep(rest)
        publisher.publish_batch(times, rows)
    return moments


def _told(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def subscribe(order: dict[str, Any]) -> None:
    """Read every notification; after each part, say when each of it had been read."""
    with Client(order["address"]) as client, client.subscribe(NAME, query=QUERY) as subscription:
        print(json.dumps(READY), flush=True)
        number = 0
        for count in order["parts"]:
            read: list[float] = []
            for _ in range(count):
                notification = subscription.next(SECONDS_MAX)
                read.append(perf_counter())
                if notification is None or (notification.data or {}).get("number") != number:
                    raise SystemExit(f"message {number}: found {notification}")
                number += 1
            print(json.dumps(read), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["subscriber"]:
        subscribe(json.loads(sys.stdin.readline()))
    else:
        print(json.dumps(measure(json.load(sys.stdin))))
