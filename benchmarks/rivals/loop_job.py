"""The rival that anybody would write first: a Python loop for exactly one workload, tuned. Foretell is not used.

    python -m benchmarks.rivals.loop_job < job.json

Tuned means: subscriptions by symbol in lists, and of a symbol only those whose first threshold the tick, or the one
before it, passed, by bisection; local names; one pass. It cannot do anything else, has no disorder, no lineage, no
results but their number.
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_left, bisect_right
from collections import deque
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

from ..ticks import Tick, from_csv

FACTOR: Final = 1.01
LENGTH: Final = 5
SHARE: Final = 0.8
VOLUME: Final = 1_000


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


def w2(ticks: list[Tick]) -> int:
    """O(ticks)."""
    last: dict[str, float] = {}
    risen: dict[str, int] = {}
    get = last.get
    found = 0
    for name, price, _ in ticks:
        if price > get(name, price):
            length = risen[name] = risen[name] + 1
            if length >= LENGTH:
                found += length - LENGTH + 1
        else:
            risen[name] = 1
        last[name] = price
    return found


def w3(ticks: list[Tick], within: int) -> int:
    """O(ticks * runs of a symbol). Runs of a symbol begin in order, so that those that are over stand in front."""
    runs: dict[str, deque[list[float]]] = {}  # start, sum, count, mean, the volume below which a tick ends it
    found = 0
    for time, (name, price, volume) in enumerate(ticks, 1):
        own = runs.get(name)
        if own is None:
            own = runs[name] = deque()
        first = time - within
        while own and own[0][0] < first:
            own.popleft()
        least = SHARE * volume
        for run in own:
            if volume < run[4]:
                found += 1
            if price > run[3]:
                run[1] += price
                run[2] += 1
                run[3] = run[1] / run[2]
                run[4] = least
        if volume > VOLUME:
            own.append([time, price, 1, price, least])
    return found


def w5(ticks: list[Tick], subscriptions: list[list[Any]]) -> int:
    """O(ticks * subscriptions / symbols) at worst; only boxes that begin below the price are looked at."""
    boxes: dict[str, list[tuple[float, float, int]]] = {}
    for symbol, low, high, volume in subscriptions:
        boxes.setdefault(symbol, []).append((low, high, volume))
    lows: dict[str, list[float]] = {}
    for symbol, own in boxes.items():
        own.sort()
        lows[symbol] = [low for low, _, _ in own]
    get = boxes.get
    found = 0
    for name, price, volume in ticks:
        within = get(name)
        if within:
            below = within[: bisect_right(lows[name], price)]
            found += sum([price <= high and volume > least for _, high, least in below])
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


def matching(job: dict[str, Any], ticks: list[Tick]) -> int:
    """How many matches a workload has."""
    match job["workload"]:
        case "W1":
            return w1(ticks)
        case "W2":
            return w2(ticks)
        case "W3":
            return w3(ticks, job["within"])
        case "W4":
            return w4(ticks, job["subscriptions"])
    return w5(ticks, job["subscriptions"])


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Seconds of all ticks of the file, the best of `passes`, and how many matches there are."""
    walls: list[float] = []
    cpus: list[float] = []
    events = found = 0
    for _ in range(job["passes"]):
        ticks = from_csv(Path(job["ticks"]))  # again: strings whose hashes are known already would be half the work
        wall, cpu = perf_counter(), process_time()
        found = matching(job, ticks)
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
        events = len(ticks)
    return {"events": events, "matches": found, "wall": min(walls), "cpu": min(cpus)}


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
