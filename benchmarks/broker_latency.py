"""From publishing to the notification, over loopback: a publisher (this process), a broker, a subscriber.

    python -m benchmarks.broker_latency < job.json

The job says how many events a message has (`batch`) and how many messages (`messages`). First they are sent as fast as
receipts allow, which is the capacity; then as many at `load` times that rate, at fixed moments. The wait of a message
is from its moment, whether or not it could be sent then, to when its one notification has been read: a broker that
falls behind is not spared the messages that wait for it. Not timed: starting the processes, and the first `warm`.

How late the machine itself is stands beside it (`machine_p99`): the publisher waits for the same moments, and has
nothing to send, while the two others sleep. No broker can be sooner than the moment at which its publisher wakes up.
`sent_p99` is without that: from when a message was begun to be sent.

The floor stands beside it (`floor_p50`, `floor_p99`): a process that is a ROUTER and nothing else stands where the
broker stood. For each message, as many bytes at the same moments, it sends some to the subscriber and a receipt to the
publisher, as a broker must; it decodes and matches nothing.

With `columns` the events of a message are published as columns, or as rows by a build that takes no columns.

With `fsync` the broker keeps a journal in that mode, in a temporary folder, under `folder` if that is named.

Beside the times stands what each of the three processes has used of a processor meanwhile (`busy_cpu` of the first
part, `paced_cpu` of the second): where they add up to nearly all that the machine has, they wait for each other.

With `dumps`, a folder, the broker runs under callgrind, which counts its instructions in both parts: `busy_count` and
`paced_count`, of a message. It is then so slow that times say nothing; the load is the broker's all the same.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, Final, final

from client import Client
from client.publisher import Publisher

from .bare_router import Bare, read_bare
from .broker_trial import READY, SECONDS_MAX, child, seconds_used, served
from .comparison import counting

STREAM: Final = "S"
ATTRIBUTES: Final = {"name": "string", "number": "int", "last": "int"}
QUERY: Final = f"SELECT * FROM FILTER{{last = 1}}({STREAM})"
WINDOW: Final = 64
NAME: Final = "measured"
WARM_FLOOR: Final = 100  # messages


def message(number: int, batch: int) -> tuple[list[int], list[tuple[str, int, int]]]:
    """Times and rows; the last row is the one that is notified of."""
    return [number] * batch, [(f"N{at % 50}", number, int(at == batch - 1)) for at in range(batch)]


@final
class Sender:
    """Publishes batches as rows; as columns where that is asked for, and the build has them."""

    def __init__(self, publisher: Publisher, columns: bool) -> None:
        self._publisher = publisher
        self._columns = columns and hasattr(publisher, "publish_columns")

    def prepared(self, rows: list[tuple[str, int, int]]) -> Any:
        """The rows, as a program has them."""
        if not self._columns:
            return rows
        names, numbers, last = zip(*rows, strict=True)
        return {"name": list(names), "number": array("q", numbers), "last": array("q", last)}

    def send(self, times: list[int], prepared: Any) -> None:
        if self._columns:
            self._publisher.publish_columns(prepared, times)
        else:
            self._publisher.publish_batch(times, prepared)


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """The publisher's part, and the others' beginnings and ends."""
    batch, count, warm = job["batch"], job["messages"], job["warm"]
    with _broker(job) as (address, broker), Client(address, timeout=SECONDS_MAX) as client:
        client.add_stream(STREAM, ATTRIBUTES)
        with child("benchmarks.broker_latency", "subscriber") as subscriber:
            order = {"address": address, "parts": [warm, count, count]}
            assert subscriber.stdin is not None
            subscriber.stdin.write(json.dumps(order) + "\n")
            subscriber.stdin.flush()
            if _told(subscriber) != READY:
                raise SystemExit("the subscriber did not begin")
            pids = {"publisher": os.getpid(), "broker": broker.pid, "subscriber": subscriber.pid}
            parts = [range(at, at + count) for at in (warm, warm + count)]
            with client.publisher(STREAM, window=WINDOW) as publisher:
                sender = Sender(publisher, job.get("columns", False))
                _send(sender, _made(range(warm), batch, sender), 0.0)
                _told(subscriber)
                made = _made(parts[0], batch, sender)
                counter = _counter(job, broker)
                counter.begin()
                used, begun = seconds_used(pids), perf_counter()
                _send(sender, made, 0.0)
                last = _told(subscriber)[-1]
                capacity = count / (last - begun)
                busy_seconds, busy = _shares(used, seconds_used(pids), perf_counter() - begun)
                busy_count = counter.end() / count
                made = _made(parts[1], batch, sender)
                apart = 1 / (capacity * job["load"])
                machine = [begun - moment for moment, begun in _paced(range(count), apart)]
                counter.begin()
                used, begun = seconds_used(pids), perf_counter()
                moments, begins = _send(sender, made, apart)
                read = _told(subscriber)
                paced_seconds, paced = _shares(used, seconds_used(pids), perf_counter() - begun)
                paced_count = counter.end() / count
            floor = _floor(subscriber, batch, count, apart) if "dumps" not in job else [0.0]
    waits = sorted(end - moment for moment, end in zip(moments, read, strict=True))
    sent = [end - moment for moment, end in zip(begins, read, strict=True)]
    return {
        "capacity": capacity * batch,
        "messages": count,
        "p50": 1_000 * waits[len(waits) // 2],
        "p99": _p99(waits),
        "sent_p99": _p99(sent),
        "machine_p99": _p99(machine),
        "floor_p50": 1_000 * sorted(floor)[len(floor) // 2],
        "floor_p99": _p99(floor),
        "longest": 1_000 * waits[-1],
        "busy_cpu": busy,
        "paced_cpu": paced,
        "busy_seconds": busy_seconds,
        "paced_seconds": paced_seconds,
        "busy_count": busy_count,
        "paced_count": paced_count,
    }


def _floor(subscriber: subprocess.Popen[str], batch: int, count: int, apart: float) -> list[float]:
    """How long each message waits where a bare ROUTER stands between this process and the subscriber."""
    with child("benchmarks.bare_router") as router, Bare(_told(router)) as sender:
        assert subscriber.stdin is not None
        subscriber.stdin.write(json.dumps({"address": sender.address, "count": WARM_FLOOR + count}) + "\n")
        subscriber.stdin.flush()
        if _told(subscriber) != READY:
            raise SystemExit("the subscriber did not reach the bare ROUTER")
        first = [(times, sender.prepared(rows)) for times, rows in (message(at, batch) for at in range(WARM_FLOOR))]
        made = [(times, sender.prepared(rows)) for times, rows in (message(at, batch) for at in range(count))]
        gc.collect()
        gc.freeze()
        _send(sender, first, apart)
        moments, _ = _send(sender, made, apart)
        read = _told(subscriber)[WARM_FLOOR:]
    return [end - moment for moment, end in zip(moments, read, strict=True)]


@contextmanager
def _broker(job: Mapping[str, Any]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """With the journal that the job asks for."""
    under = counting.command(Path(job["dumps"])) if "dumps" in job else ()
    if job.get("fsync") is None:
        with served(under=under) as broker:
            yield broker
        return
    with tempfile.TemporaryDirectory(prefix="foretell-", dir=job.get("folder")) as folder:
        config = Path(folder) / "broker.toml"
        config.write_text(f'[journal]\npath = "journal"\nfsync = {json.dumps(job["fsync"])}\n', encoding="utf-8")
        with served("--config", str(config), under=under) as broker:
            yield broker


def _counter(job: Mapping[str, Any], broker: subprocess.Popen[str]) -> counting.Counter:
    return counting.Counter(broker.pid, Path(job["dumps"])) if "dumps" in job else counting.Counter(0, None)


def _shares(
    before: Mapping[str, float], after: Mapping[str, float], seconds: float
) -> tuple[dict[str, float], dict[str, float]]:
    """What each has used meanwhile, in seconds, and as parts of one processor."""
    used = {name: after[name] - begun for name, begun in before.items()}
    return used, {name: each / seconds for name, each in used.items()}


def _made(numbers: range, batch: int, sender: Sender) -> list[tuple[list[int], Any]]:
    """Messages that the collector does not look through while they are sent: a pause would count as the broker's."""
    made = [(times, sender.prepared(rows)) for times, rows in (message(number, batch) for number in numbers)]
    gc.collect()
    gc.freeze()
    return made


def _send(sender: Sender | Bare, made: list[tuple[list[int], Any]], apart: float) -> tuple[list[float], list[float]]:
    """These messages, so many seconds apart; their moments, and when they were begun."""
    begins: list[float] = []
    moments: list[float] = []
    for (times, prepared), (moment, begun) in zip(made, _paced(range(len(made)), apart)):
        moments.append(moment)
        begins.append(begun)
        sender.send(times, prepared)
    return moments, begins


def _paced(numbers: range, apart: float) -> Iterator[tuple[float, float]]:
    """At each moment, so many seconds apart: it, and when it was noticed."""
    first = perf_counter()
    for number in numbers:
        moment = first + number * apart
        rest = moment - perf_counter()
        if rest > 0:
            sleep(rest)
        yield moment, perf_counter()


def _p99(seconds: list[float]) -> float:
    """In milliseconds."""
    return 1_000 * sorted(seconds)[len(seconds) * 99 // 100]


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
    for line in sys.stdin:  # the floor
        print(json.dumps(read_bare(**json.loads(line))), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["subscriber"]:
        subscribe(json.loads(sys.stdin.readline()))
    else:
        print(json.dumps(measure(json.load(sys.stdin))))
