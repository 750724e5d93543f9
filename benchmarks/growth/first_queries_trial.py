"""One case of the first queries, in an own process: a job on standard input, figures out as JSON.

    python -m benchmarks.growth.first_queries_trial < job.json

The job has a subscription file as text, and rows by `language`: `keys` in turn, `rounds` events of each, a millisecond
apart. What is measured, and when a case is given up, says first_queries.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any, Final, TypedDict

from broker.engine import Engine
from broker.events.schema import Row

from ..memory_trial import STATUS, resident

BATCH: Final = 1_000
MILLISECOND: Final = 1_000
SUCCESS_EVERY: Final = 10_000  # logins of one address


class Figures(TypedDict):
    """CPU seconds, bytes; `incomplete`: results of that kind; `given_up`: what the case had too much of, if it had."""

    events: int
    seconds: float
    bytes: int
    matches: int
    incomplete: int
    given_up: str | None


def _price(key: int, number: int, _: int) -> Row:
    return (f"S{key}", 100.0 + 10.0 * (number % 2))


def _login(key: int, number: int, count: int) -> Row:
    return (f"192.0.2.{key}", "denied" if (number + 1) % min(count, SUCCESS_EVERY) else "success")


def _reading(key: int, number: int, _: int) -> Row:
    return (f"s{key}", ("up", "down")[number % 2], number % 10)


def _took(key: int, number: int, _: int) -> Row:
    return (f"u{key}", "ok", number % 10)


ROWS: Final[dict[str, Callable[[int, int, int], Row]]] = {
    "cayuga": _price, "sase": _login, "ptopss": _login, "afa": _reading, "window": _took,
}  # fmt: skip
"""The row of a key and the number of an event among those of its key, and of how many."""


def events(language: str, keys: int, rounds: int) -> Iterator[Row]:
    """The rows of that many keys in turn."""
    row = ROWS[language]
    return (row(key, number, rounds) for number in range(rounds) for key in range(keys))


def peak() -> int:
    """The most bytes that were resident; unlike ru_maxrss not those of the process that started this one."""
    for line in STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise ValueError(f"{STATUS}: expected a line VmHWM")


def loaded(text: str) -> Engine:
    """An engine with what a subscription file of this text says."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "first.toml"
        file.write_text(text, encoding="utf-8")
        return Engine.load(file)


def measure(job: dict[str, Any]) -> Figures:
    """Play a case in this process. O(events)."""
    engine = loaded(job["text"])
    (stream,) = engine.streams
    source = events(job["language"], job["keys"], job["rounds"])
    before, given_up = resident(), None
    seconds, found, incomplete, time = 0.0, 0, 0, 0
    while rows := list(islice(source, BATCH)):
        times = range(time, time + len(rows) * MILLISECOND, MILLISECOND)
        time = times.stop
        started = process_time()
        results = engine.publish(stream, times, rows)
        for each in results:
            found += each.kind == "match"
            incomplete += each.kind == "incomplete"
        seconds += process_time() - started
        if seconds > job["seconds"]:
            given_up = f"{job['seconds']:g} s"
        elif peak() - before > job["megabytes"] << 20:
            given_up = f"{job['megabytes']:,} MB"
        if given_up is not None:
            break
    taken = time // MILLISECOND
    return Figures(
        events=taken, seconds=seconds, bytes=max(0, peak() - before), matches=found, incomplete=incomplete,
        given_up=given_up,
    )  # fmt: skip


if __name__ == "__main__":
    json.dump(measure(json.load(sys.stdin)), sys.stdout)
