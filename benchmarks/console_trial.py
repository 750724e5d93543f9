"""What open pages of the console cost a broker at part of its capacity: a publisher, a broker, a subscriber, pages.

    python -m benchmarks.console_trial < job.json

The capacity is measured without pages, as in broker_latency. Then messages are sent at `load` times that, in rounds: in
each round a stretch of `messages` with no page open, one with each number of `pages`, so that a slow minute of the
machine meets all of them. A page is a connection that reads `/api/live` as the overview does, and asks again when it
ends; all pages are in one process. A wait is that of broker_latency: from a message's moment to its notification.

Told are, for each number of pages, the waits of all rounds together, and, for each round, what the p99 and the broker's
processor time of a message are relative to the stretch without pages of the same round.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from client import Client

from .broker_latency import ATTRIBUTES, STREAM, WINDOW, Sender, _made, _p99, _send, _told, _used
from .broker_trial import READY, SECONDS_MAX, child, served

MODULE: Final = "benchmarks.console_trial"


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """The publisher's part, and the others' beginnings and ends."""
    batch, count, warm, pages = job["batch"], job["messages"], job["warm"], [0, *job["pages"]]
    busy = job["busy"]
    stretches = [number for _ in range(job["rounds"]) for number in pages]
    found: dict[int, list[dict[str, float]]] = {number: [] for number in pages}
    waits: dict[int, list[float]] = {number: [] for number in pages}
    with (
        _console() as (address, numbers, pid),
        Client(address, timeout=SECONDS_MAX) as client,
        child("benchmarks.broker_latency", "subscriber") as subscriber,
        child(MODULE, "pages", numbers) as reader,
    ):
        client.add_stream(STREAM, ATTRIBUTES)
        assert subscriber.stdin is not None
        assert reader.stdin is not None
        order = {"address": address, "parts": [warm, busy, *[count] * len(stretches)]}
        subscriber.stdin.write(json.dumps(order) + "\n")
        subscriber.stdin.flush()
        if _told(subscriber) != READY:
            raise SystemExit("the subscriber did not begin")
        at = warm + busy
        with client.publisher(STREAM, window=WINDOW) as publisher:
            sender = Sender(publisher, False)
            _send(sender, _made(range(warm), batch, sender), 0.0)
            _told(subscriber)
            made, begun = _made(range(warm, at), batch, sender), perf_counter()
            _send(sender, made, 0.0)
            capacity = busy / (_told(subscriber)[-1] - begun)
            for number in stretches:
                reader.stdin.write(f"{number}\n")
                reader.stdin.flush()
                if _told(reader) != number:
                    raise SystemExit("the pages did not open")
                made = _made(range(at, at + count), batch, sender)
                at += count
                used = _used({"broker": pid})["broker"]
                moments, _ = _send(sender, made, 1 / (capacity * job["load"]))
                own = [end - moment for moment, end in zip(moments, _told(subscriber), strict=True)]
                waits[number] += own
                spent = (_used({"broker": pid})["broker"] - used) / count
                found[number].append({"p99": _p99(own), "cpu": spent})
    return {"capacity": capacity * batch, "cases": [_case(number, found, waits[number]) for number in pages]}


def _case(number: int, found: dict[int, list[dict[str, float]]], waits: list[float]) -> dict[str, Any]:
    without = found[0]
    relative = {
        f"{name}_relative": [own[name] / (other[name] or 1e-9) for own, other in zip(found[number], without)]
        for name in ("p99", "cpu")
    }
    return {"pages": number, "p50": 1_000 * sorted(waits)[len(waits) // 2], "p99": _p99(waits), **relative}


@contextmanager
def _console() -> Iterator[tuple[str, str, int]]:
    """A broker with a console: its address, that of the console, and its process."""
    with tempfile.TemporaryDirectory(prefix="foretell-") as folder:
        config = Path(folder) / "broker.toml"
        config.write_text('[console]\naddress = "http://127.0.0.1:0"\n', encoding="utf-8")
        with served("--config", str(config)) as (address, broker):
            assert broker.stdout is not None
            numbers = broker.stdout.readline().split()[-1].removeprefix("http://").partition("/")[0]
            yield address, numbers, broker.pid


async def _page(host: str, port: int, seen: asyncio.Event) -> None:
    """One page, until it is cancelled. `seen` is set by its first look at the broker."""
    last = "0"
    while True:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                head = f"GET /api/live HTTP/1.1\r\nHost: {host}\r\nLast-Event-ID: {last}\r\n\r\n"
                writer.write(head.encode())
                while line := await reader.readline():
                    if line.startswith(b"id: "):
                        last = line[4:].decode().strip()
                    elif line.startswith(b"data: "):
                        seen.set()
            finally:
                writer.close()
        await asyncio.sleep(0.5)  # as the server tells a page


async def read_pages(address: str) -> None:
    """Keep as many pages open as the last line of the input says; say so when each has something to show."""
    host, _, port = address.partition(":")
    pages: list[asyncio.Task[None]] = []
    while line := await asyncio.to_thread(sys.stdin.readline):
        wanted = int(line)
        for page in pages[wanted:]:
            page.cancel()
        await asyncio.gather(*pages[wanted:], return_exceptions=True)
        del pages[wanted:]
        fresh = [asyncio.Event() for _ in range(wanted - len(pages))]
        pages += [asyncio.create_task(_page(host, int(port), seen)) for seen in fresh]
        await asyncio.gather(*[seen.wait() for seen in fresh])
        print(wanted, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["pages"]:
        asyncio.run(read_pages(sys.argv[2]))
    else:
        print(json.dumps(measure(json.load(sys.stdin))))
