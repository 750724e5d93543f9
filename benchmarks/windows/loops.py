"""The windows of some workloads by plain loops: the truth about their number and sums, and a rival for its time.

Each is what somebody would write for exactly that, tuned for this interpreter; all give the sum of each window. Sums
are running ones, as such loops have them, so they differ from exact ones in their last digits. Foretell is not used.

    python -m benchmarks.windows.loops < job.json
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, Final, TypeAlias

from ..ticks import Tick, from_csv

Loop: TypeAlias = Callable[[list[Tick], bool], tuple[int, float]]
"""How many windows there are over the ticks, by name if so wanted, and the sum of their sums."""


def tumble(ticks: list[Tick], by: bool) -> tuple[int, float]:
    counts: dict[str, int] = {}
    sums: dict[str, float] = {}
    windows, total = 0, 0.0
    for name, price, _ in ticks:
        key = name if by else ""
        count = counts.get(key, 0) + 1
        now = sums.get(key, 0.0) + price
        if count == 100:
            windows += 1
            total += now
            count, now = 0, 0.0
        counts[key] = count
        sums[key] = now
    return windows, total


def slide(ticks: list[Tick], by: bool) -> tuple[int, float]:
    kept: dict[str, deque[float]] = {}
    sums: dict[str, float] = {}
    windows, total = 0, 0.0
    for name, price, _ in ticks:
        key = name if by else ""
        last = kept.get(key)
        if last is None:
            last = kept[key] = deque()
            sums[key] = 0.0
        last.append(price)
        now = sums[key] + price
        if len(last) > 1000:
            now -= last.popleft()
        sums[key] = now
        if len(last) == 1000:
            windows += 1
            total += now
    return windows, total


def session(ticks: list[Tick], by: bool) -> tuple[int, float]:
    lasts: dict[str, int] = {}
    windows, total = 0, 0.0
    for time, (name, price, _) in enumerate(ticks, 1):
        key = name if by else ""
        last = lasts.get(key)
        if last is None or time - last > 300:
            windows += 1  # each session is told in the end, and every event is in one
        lasts[key] = time
        total += price
    return windows, total


def until(ticks: list[Tick], by: bool) -> tuple[int, float]:
    """From each large volume until the next small one."""
    starts: dict[str, list[float]] = {}
    sums: dict[str, float] = {}
    windows, total = 0, 0.0
    for name, price, volume in ticks:
        key = name if by else ""
        before = sums.get(key, 0.0)
        if volume > 2000:
            starts.setdefault(key, []).append(before)
        now = sums[key] = before + price
        if volume < 200:
            for start in starts.pop(key, ()):
                windows += 1
                total += now - start
    return windows, total


def pairs(ticks: list[Tick], by: bool) -> tuple[int, float]:
    """From each large volume to each small one, at most 1,000 events."""
    starts: dict[str, deque[tuple[int, float]]] = {}
    counts: dict[str, int] = {}
    sums: dict[str, float] = {}
    windows, total = 0, 0.0
    for name, price, volume in ticks:
        key = name if by else ""
        count = counts[key] = counts.get(key, 0) + 1
        before = sums.get(key, 0.0)
        if volume > 2000:
            starts.setdefault(key, deque()).append((count, before))
        now = sums[key] = before + price
        if volume < 200:
            open_ = starts.get(key)
            if open_:
                while open_ and open_[0][0] <= count - 1000:
                    open_.popleft()
                windows += len(open_)
                for _, start in open_:
                    total += now - start
    return windows, total


def clock(ticks: list[Tick], by: bool) -> tuple[int, float]:
    open_: dict[str, float] = {}
    windows, total, period = 0, 0.0, 0
    for time, (name, price, _) in enumerate(ticks, 1):
        if time // 1000 != period:
            period = time // 1000
            windows += len(open_)
            total += sum(open_.values())
            open_ = {}
        key = name if by else ""
        open_[key] = open_.get(key, 0.0) + price
    return windows + len(open_), total + sum(open_.values())


def hop(ticks: list[Tick], by: bool) -> tuple[int, float]:
    """As long as 1,000, one every 100: panes of 100, ten of which are a window."""
    panes: deque[dict[str, float]] = deque([{} for _ in range(10)], 10)
    windows, total, period = 0, 0.0, 0

    def close() -> tuple[int, float]:
        found: dict[str, float] = {}
        for pane in panes:
            for key, value in pane.items():
                found[key] = found.get(key, 0.0) + value
        return len(found), sum(found.values())

    for time, (name, price, _) in enumerate(ticks, 1):
        while time // 100 != period:
            more, value = close()
            windows, total = windows + more, total + value
            period += 1
            panes.append({})
        key = name if by else ""
        panes[-1][key] = panes[-1].get(key, 0.0) + price
    for _ in range(10):
        more, value = close()
        windows, total = windows + more, total + value
        panes.append({})
    return windows, total


LOOPS: Final[dict[str, Loop]] = {
    "tumble": tumble,
    "slide": slide,
    "session": session,
    "until": until,
    "pairs": pairs,
    "clock": clock,
    "hop": hop,
}


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds, the best of `passes`, over the ticks of a file; how many windows, and the sum of their sums."""
    seconds: list[float] = []
    windows, total, events = 0, 0.0, 0
    for _ in range(job["passes"]):
        ticks = from_csv(Path(job["ticks"]))  # again: strings whose hashes are known already would be half the work
        begun = process_time()
        windows, total = LOOPS[job["loop"]](ticks, job["by"] != "one")
        seconds.append(process_time() - begun)
        events = len(ticks)
    return {"events": events, "windows": windows, "total": total, "cpu": min(seconds)}


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
