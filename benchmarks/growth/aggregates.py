"""Time of a result by how many events its window has: `python -m benchmarks.growth.aggregates [--events N ...]`.

    python -m benchmarks.growth.aggregates --events 1000 10000 100000

Each aggregate over `LAST n EVENTS` and over `LAST n us EVERY 100 us`, in a process of its own: an event each
microsecond, of one partition. Once windows are full, 2,000 more events are published, and all results read; their
processor time for each event says what the aggregate costs. It is flat up to 100,000 events, but for the logarithm of a
quantile. `PYTHONPATH` says which build is measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any, Final

from broker.engine import Engine

BATCH: Final = 100
MEASURED: Final = 2_000
AGGREGATES: Final = (
    "count(*)",
    "sum(v)",
    "max(v)",
    "first(v)",
    "count(DISTINCT v)",
    "sum(DISTINCT v)",
    "median(v)",
    "quantile(v, 99%)",
    "stdev(v)",
    "argmax(v, k)",
)
WINDOWS: Final = {"each event": "LAST {n} EVENTS", "clock": "LAST {n} us EVERY 100 us"}


def trial(aggregate: str, windows: str, events: int) -> dict[str, Any]:
    """One case in this process."""
    engine = Engine()
    engine.add_stream("S", {"k": "string", "v": "float"})
    text = WINDOWS[windows].format(n=events)
    engine.subscribe("q", "window", f"FROM S WINDOW {text} AGGREGATE {aggregate} AS a")
    spent, results = 0.0, 0
    for first in range(0, events + BATCH + MEASURED, BATCH):
        numbers = range(first, first + BATCH)
        rows = [("x", n * 7919 % 100_003 / 8) for n in numbers]
        begun = time.process_time()
        found = engine.publish("S", list(numbers), rows)
        if first >= events:  # the first ones that are read are those of full windows
            read = [match.data for match in found]
            if first > events:
                spent += time.process_time() - begun
                results += len(read)
    return {
        "aggregate": aggregate, "windows": windows, "events": events, "results": results,
        "us_an_event": round(1e6 * spent / MEASURED, 1),
    }  # fmt: skip


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--aggregates", nargs="+", default=list(AGGREGATES))
    reader.add_argument("--windows", nargs="+", default=list(WINDOWS), choices=list(WINDOWS))
    reader.add_argument("--events", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    reader.add_argument("--here", action="store_true", help="one trial in this process")
    chosen = reader.parse_args()
    for aggregate in chosen.aggregates:
        for windows in chosen.windows:
            for events in chosen.events:
                if chosen.here:
                    print(json.dumps(trial(aggregate, windows, events)))
                    continue
                own = ["--aggregates", aggregate, "--windows", windows, "--events", str(events), "--here"]
                subprocess.run([sys.executable, "-m", "benchmarks.growth.aggregates", *own], check=True)


if __name__ == "__main__":
    main()
