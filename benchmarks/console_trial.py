"""What open pages of the console cost a broker at part of its capacity: a publisher, a broker, a subscriber, pages.

    python -m benchmarks.console_trial < job.json

The capacity is measured without pages, as in broker_latency. Then messages are sent at `load` times that, in rounds of
blocks of `messages`: in each round a block with no page open and one with each number of `pages`, each round in another
order. A block takes a second or two: a slow moment of the machine meets some of many blocks, and not all of one kind.
A page is a connection that reads `/api/live` as the overview does (console_readers). A wait is that of broker_latency:
from a message's moment to its notification.

Each number of pages has a control in each round: a block in which so many pages read the same bytes at the same times
from a process that is not the broker. What that adds to the waits is the machine's, which reads and writes them.

Told are, for each number of pages, the waits of all rounds together, and, for each round, the p99 relative to the
control, and relative to the block without pages: the p99; the processor time of a message in the loop's thread, and
that of the whole broker, which the system counts in nanoseconds. Beside it stands what the broker itself counts: the
part of its time that the loop was at questions of the console, and the longest of these, in milliseconds.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NamedTuple, final

from client import Client

from .broker_latency import ATTRIBUTES, STREAM, WINDOW, Sender, _made, _p99, _send, _told
from .broker_trial import READY, SECONDS_MAX, child, served
from .console_readers import MODULE as READERS

MODULE: Final = "benchmarks.console_trial"
Kind = tuple[int, bool]
"""Of a block: how many pages are open, and whether these read from a process that is not the broker."""
NONE: Final[Kind] = (0, False)


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
    batch, count, warm, busy = job["batch"], job["messages"], job["warm"], job["busy"]
    kinds: list[Kind] = [NONE, *((number, control) for number in job["pages"] for control in (False, True))]
    chance = random.Random(job["rounds"])
    blocks = [kind for _ in range(job["rounds"]) for kind in chance.sample(kinds, len(kinds))]
    found: dict[Kind, list[dict[str, float]]] = {kind: [] for kind in kinds}
    waits: dict[Kind, list[float]] = {kind: [] for kind in kinds}
    with (
        _console() as (address, site, pid),
        Client(address, timeout=SECONDS_MAX) as client,
        child("benchmarks.broker_latency", "subscriber") as subscriber,
        child(READERS, "write", site) as writer,
        child(READERS, "read", site, _told(writer)) as reader,
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
            for kind in blocks:
                reader.stdin.write(f"{kind[0]} {kind[1]:d}\n")
                reader.stdin.flush()
                if _told(reader) != READY:
                    raise SystemExit("the pages did not open")
                made = _made(range(at, at + count), batch, sender)
                at += count
                publisher.flush()
                before, begun = _used(pid, client), perf_counter()
                moments, _ = _send(sender, made, 1 / (capacity * job["load"]))
                own = [end - moment for moment, end in zip(moments, _told(subscriber), strict=True)]
                publisher.flush()
                after, seconds = _used(pid, client), perf_counter() - begun
                waits[kind] += own
                found[kind].append({
                    "p99": _p99(own),
                    "loop_cpu": (after.loop - before.loop) / count,
                    "cpu": (after.all - before.all) / count,
                    "held": (after.questions - before.questions) / 1e6 / seconds,
                    "longest": after.longest / 1e3,
                })
    return {
        "capacity": capacity * batch,
        "seconds": count / (capacity * job["load"]),
        "cases": [_case(number, found, waits[number, False]) for number in (0, *job["pages"])],
    }


def _case(number: int, found: dict[Kind, list[dict[str, float]]], waits: list[float]) -> dict[str, Any]:
    own = found[number, False]
    relative = {f"{name}_relative": _relative(own, found[NONE], name) for name in ("p99", "loop_cpu", "cpu")}
    return {
        "p99_control": _relative(own, found[number, number > 0], "p99"),
        "pages": number,
        "p50": 1_000 * sorted(waits)[len(waits) // 2],
        "p99": _p99(waits),
        "held": [each["held"] for each in own],
        "longest": max(each["longest"] for each in own),
        **relative,
    }


def _relative(own: list[dict[str, float]], other: list[dict[str, float]], name: str) -> list[float]:
    return [each[name] / (before[name] or 1e-9) for each, before in zip(own, other)]


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


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
