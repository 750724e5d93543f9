"""What open pages of the console cost a broker at part of its capacity: a publisher, a broker, a subscriber, pages.

    python -m benchmarks.console_trial < job.json

The capacity is measured without pages, as in broker_latency. Then messages are sent at `load` times that, in rounds of
blocks of `messages`: in each round a block with no page open and one with each number of `pages`, each round in another
order. A block takes a second or two: a slow moment of the machine meets some of many blocks, and not all of one kind.
A page is a connection that reads `/api/live` as the overview does, and asks again when it ends; the first time after
some part of its time, so that pages ask again in every block. All pages are in one process. A wait is that of
broker_latency: from a message's moment to its notification.

Told are, for each number of pages, the waits of all rounds together, and, for each round, relative to the block without
pages of the same round: the p99; the processor time of a message in the loop's thread, and that of the whole broker,
which the system counts in nanoseconds. Beside it stands what the broker itself counts: the part of its time that the
loop was at questions of the console, and the longest of these, in milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NamedTuple, final

from client import Client

from .broker_latency import ATTRIBUTES, STREAM, WINDOW, Sender, _made, _p99, _send, _told
from .broker_trial import READY, SECONDS_MAX, child, served

MODULE: Final = "benchmarks.console_trial"
LIVES_SECONDS: Final = 12.0
"""After so long a page asks again."""


@final
class _Used(NamedTuple):
    """What a broker has used: nanoseconds of a processor, of the loop's thread and of all, and its own count of what
    the loop was at questions, in microseconds, with the longest of them."""

    loop: int
    all: int
    questions: int
    longest: int


def _used(pid: int, client: Client) -> _Used:
    threads = {int(task.name): int((task / "schedstat").read_text().split()[0]) for task in _tasks(pid)}
    loop: Mapping[str, Any] = client.statistics()["loop"]
    return _Used(
        threads[pid], sum(threads.values()), loop["question_microseconds"], loop["question_microseconds_max"]
    )


def _tasks(pid: int) -> Iterator[Path]:
    return Path(f"/proc/{pid}/task").iterdir()


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """The publisher's part, and the others' beginnings and ends."""
    batch, count, warm, busy, numbers = job["batch"], job["messages"], job["warm"], job["busy"], [0, *job["pages"]]
    chance = random.Random(job["rounds"])
    blocks = [number for _ in range(job["rounds"]) for number in chance.sample(numbers, len(numbers))]
    found: dict[int, list[dict[str, float]]] = {number: [] for number in numbers}
    waits: dict[int, list[float]] = {number: [] for number in numbers}
    with (
        _console() as (address, site, pid),
        Client(address, timeout=SECONDS_MAX) as client,
        child("benchmarks.broker_latency", "subscriber") as subscriber,
        child(MODULE, "pages", site) as reader,
    ):
        client.add_stream(STREAM, ATTRIBUTES)
        assert subscriber.stdin is not None
        assert reader.stdin is not None
        order = {"address": address, "parts": [warm, busy, *[count] * len(blocks)]}
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
            for number in blocks:
                reader.stdin.write(f"{number}\n")
                reader.stdin.flush()
                if _told(reader) != number:
                    raise SystemExit("the pages did not open")
                made = _made(range(at, at + count), batch, sender)
                at += count
                publisher.flush()
                before, begun = _used(pid, client), perf_counter()
                moments, _ = _send(sender, made, 1 / (capacity * job["load"]))
                own = [end - moment for moment, end in zip(moments, _told(subscriber), strict=True)]
                publisher.flush()
                after, seconds = _used(pid, client), perf_counter() - begun
                waits[number] += own
                found[number].append({
                    "p99": _p99(own),
                    "loop_cpu": (after.loop - before.loop) / count,
                    "cpu": (after.all - before.all) / count,
                    "held": (after.questions - before.questions) / 1e6 / seconds,
                    "longest": after.longest / 1e3,
                })
    return {
        "capacity": capacity * batch,
        "seconds": count / (capacity * job["load"]),
        "cases": [_case(number, found, waits[number]) for number in numbers],
    }


def _case(number: int, found: dict[int, list[dict[str, float]]], waits: list[float]) -> dict[str, Any]:
    own, without = found[number], found[0]
    relative = {
        f"{name}_relative": [each[name] / (other[name] or 1e-9) for each, other in zip(own, without)]
        for name in ("p99", "loop_cpu", "cpu")
    }
    return {
        "pages": number,
        "p50": 1_000 * sorted(waits)[len(waits) // 2],
        "p99": _p99(waits),
        "held": [each["held"] for each in own],
        "longest": max(each["longest"] for each in own),
        **relative,
    }


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


async def _page(host: str, port: int, seen: asyncio.Event, life: float) -> None:
    """One page, until it is cancelled. `seen` is set by its first look at the broker. `life`: the seconds after which
    it asks again for the first time."""
    last = "0"
    while True:
        with suppress(ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                async with asyncio.timeout(life):
                    last = await _read(reader, writer, host, last, seen)
            finally:
                writer.close()
        life = LIVES_SECONDS
        await asyncio.sleep(0.5)  # as the server tells a page


async def _read(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, last: str, seen: asyncio.Event
) -> str:
    """Ask for the looks behind `last`, and read until the server ends; the last one."""
    head = f"GET /api/live HTTP/1.1\r\nHost: {host}\r\nLast-Event-ID: {last}\r\n\r\n"
    writer.write(head.encode())
    while line := await reader.readline():
        if line.startswith(b"id: "):
            last = line[4:].decode().strip()
        elif line.startswith(b"data: "):
            seen.set()
    return last


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
        lives = [LIVES_SECONDS * (at + 0.5) / len(fresh) for at in range(len(fresh))]
        pages += [asyncio.create_task(_page(host, int(port), seen, life)) for seen, life in zip(fresh, lives)]
        await asyncio.gather(*[seen.wait() for seen in fresh])
        print(wanted, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["pages"]:
        asyncio.run(read_pages(sys.argv[2]))
    else:
        print(json.dumps(measure(json.load(sys.stdin))))
