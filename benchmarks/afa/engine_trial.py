"""One measurement of AFA subscriptions through the engine, in an own process: a job in, figures out as JSON.

    python -m benchmarks.afa.engine_trial < job.json

Batches of events in order are published and results are counted or read: what a program pays that embeds the engine.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib.machinery import EXTENSION_SUFFIXES
from time import process_time
from typing import Any, Final, Literal, TypeAlias, TypedDict

from broker.engine import Engine, Options, results

from ..ticks import BATCH, market, packed
from ..unit import BATCHES, unit_seconds
from .workloads import ATTRIBUTES, rows

WARM: Final = 1_000
Reading: TypeAlias = Literal["counted", "columns", "all columns", "each"]
"""What is done with results: their number is asked, the columns of COLUMNS or all are read, or one result after the
other."""
COLUMNS: Final = ("subscription", "start", "end")


class EngineJob(TypedDict):
    """`queries`: a subscription each; `together`: whether they may run as one. `up`: of the events."""

    queries: list[str]
    events: int
    up: float
    together: bool
    reading: Reading


class EngineFigures(TypedDict):
    """CPU seconds. `subscribers`: how many subscriptions have results."""

    compiled: bool
    events: int
    cpu: float
    unit: float
    registering: float
    results: int
    subscribers: int


def measure(job: EngineJob) -> EngineFigures:
    """Subscribe, publish, count."""
    wire = packed(market(BATCH * BATCHES).ticks)
    engine = Engine(Options(together=job["together"]))
    engine.add_stream("Stock", ATTRIBUTES)
    begun = process_time()
    for number, text in enumerate(job["queries"]):
        engine.subscribe(f"q{number}", language="afa", query=text)
    registering = process_time() - begun
    events = rows(WARM + job["events"], job["up"])
    counts: Counter[str] = Counter()
    number = 0
    spent = 0.0
    for at in range(0, len(events), BATCH):
        batch = events[at : at + BATCH]
        times = list(range(at + 1, at + 1 + len(batch)))
        begun = process_time()
        found = engine.publish("Stock", times, batch)
        read = _read(found, job["reading"])
        if at >= WARM:
            spent += process_time() - begun
        number += len(found)
        counts.update(match.subscription for match in read or found)
    return EngineFigures(
        compiled=(results.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)), events=job["events"], cpu=spent,
        unit=unit_seconds(wire), registering=registering, results=number, subscribers=len(counts),
    )  # fmt: skip


def _read(found: Any, reading: Reading) -> list[Any]:
    """The results, if they are read one after the other."""
    match reading:
        case "counted":
            len(found)
            return []
        case "columns" | "all columns":
            table = found.columns()
            for name in COLUMNS if reading == "columns" else table:
                table[name]
            return []
        case "each":
            return list(found)


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
