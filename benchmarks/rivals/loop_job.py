"""The rival that anybody would write first: a Python loop for exactly one workload, tuned. Foretell is not used.

    python -m benchmarks.rivals.loop_job < job.json

Tuned means: subscriptions by symbol in lists, and of a symbol only those whose first threshold the last tick passed, by
bisection; local names; one pass. It cannot do anything else, has no disorder, no lineage, no results but their number.
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

from ..ticks import Tick, from_csv

FACTOR: Final = 1.01


def w1(ticks: list[Tick]) -> int:
    """O(ticks)."""
    last: dict[str, float] = {}
    get = last.get
    found = 0
    for name, price, _ in ticks:
        if price > FACTOR * get(name, price):
            found += 1
        last[name] = price
    return found


def w4(ticks: list[Tick], subscriptions: list[list[Any]]) -> int:
    """O(ticks * subscriptions / symbols) at worst; only thresholds below the last price are looked at."""
    of: dict[str, list[tuple[float, float]]] = {}
    for symbol, above, below in subscriptions:
        of.setdefault(symbol, []).append((above, below))
    firsts: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    for symbol, pairs in of.items():
        pairs.sort()
        firsts[symbol] = [above for above, _ in pairs]
        seconds[symbol] = [below for _, below in pairs]
    waiting: dict[str, list[float]] = {}
    get = waiting.get
    found = 0
    for name, price, _ in ticks:
        below = get(name)
        if below:
            found += sum([price < threshold for threshold in below])
        if name in firsts:
            waiting[name] = seconds[name][: bisect_left(firsts[name], price)]
    return found


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Seconds of all ticks of the file, the best of `passes`, and how many matches there are."""
    walls: list[float] = []
    cpus: list[float] = []
    events = found = 0
    for _ in range(job["passes"]):
        ticks = from_csv(Path(job["ticks"]))  # again: strings whose hashes are known already would be half the work
        wall, cpu = perf_counter(), process_time()
        found = w1(ticks) if job["workload"] == "W1" else w4(ticks, job["subscriptions"])
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
        events = len(ticks)
    return {"events": events, "matches": found, "wall": min(walls), "cpu": min(cpus)}


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
