"""One measurement of windows in the embedded engine, in an own process: a job on standard input, figures out as JSON.

    python -m benchmarks.windows.trial < job.json

The ticks come as CSV. Timed is `publish` of all batches, of 100 or `batch` events, results made but not read; then, of
a second engine, `publish` with all results read, which gives the sum of their sums. Best of `passes`. The garbage
collector is as Python starts it. With `moved`, the stream is in any order, and the share `late` of the events comes up
to so many places late; what is withdrawn does not count as a window. With `columns`, events come as columns, made
before they are timed.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from time import process_time
from typing import Any

from broker.engine import Engine, Options
from broker.engine import results as built

from ..afa.workloads import arrivals
from ..ticks import ATTRIBUTES, BATCH, STREAM, Tick, from_csv, packed
from ..unit import unit_seconds


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Run the job. O(ticks)."""
    file = Path(job["ticks"])
    batches = packed(from_csv(file))
    unit = unit_seconds(batches)
    cpu = reading = float("inf")
    told, windows, total, ticks = 0, 0, 0.0, from_csv(file)
    for _ in range(job["passes"]):
        ticks = from_csv(file)
        seconds, told, windows, _ = played(job, ticks, False)
        cpu = min(cpu, seconds)
    if job["read"]:
        reading, _, windows, total = played(job, from_csv(file), True)
    return {
        "compiled": str(built.__file__).endswith(tuple(EXTENSION_SUFFIXES)),
        "events": len(ticks),
        "told": told,
        "windows": windows,
        "total": total,
        "cpu": cpu,
        "reading": reading if job["read"] else None,
        "unit": min(unit, unit_seconds(batches)),
    }


def played(job: dict[str, Any], ticks: list[Tick], read: bool) -> tuple[float, int, int, float]:
    """CPU seconds, how many results and windows, and the sum of their values `s` if they are read. The end of the
    input, which completes those that wait, is timed too."""
    engine = Engine(Options(**job.get("options", {})))
    moved: int = job.get("moved", 0)
    if moved:
        engine.add_stream(STREAM, dict(ATTRIBUTES), None, "speculate", moved)
    else:
        engine.add_stream(STREAM, dict(ATTRIBUTES))
    coming = arrivals(ticks, job["late"], moved) if moved else list(enumerate(ticks, 1))
    for number, query in enumerate(job["queries"]):
        engine.subscribe(f"q{number}", language="window", query=query)
    told, windows, total, spent = 0, 0, 0.0, 0.0
    size: int = job.get("batch", BATCH)
    for first in [*range(0, len(coming), size), len(coming)]:
        times = [time for time, _ in coming[first : first + size]]
        rows = [row for _, row in coming[first : first + size]]
        given = columns(rows) if job.get("columns") else None
        begun = process_time()
        if not rows:
            results = engine.finish()
        elif given is not None:
            results = engine.publish_columns(STREAM, given, times)
        else:
            results = engine.publish(STREAM, times, rows, times if moved else None)
        if read:
            for result in results:
                told += 1
                if result.kind == "punctuation":
                    continue
                sign = -1 if result.kind == "retraction" else 1
                value: Any = result.data["s"]
                windows += sign
                total += sign * value
        else:
            told += len(results)
        spent += process_time() - begun
    return spent, told, windows if read else told, total


def columns(rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """The columns of ticks."""
    names, prices, volumes = zip(*rows) if rows else ((), (), ())
    return dict(zip(ATTRIBUTES, (list(names), array("d", prices), array("q", volumes))))


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
