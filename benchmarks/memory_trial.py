"""What subscriptions and runs occupy, in an own process: a job on standard input, bytes out as JSON.

    python -m benchmarks.memory_trial < job.json

The method: the process's resident set (VmRSS of /proc/self/status, Linux) before and after, each time after a garbage
collection and, where the C library has it, `malloc_trim`, divided by the number of things that came in between. A first
tenth comes before the first look, so that what is made once (parser, indexes' roots, arenas) is not counted. Names,
query texts and rows exist before, and are kept by this process: they are the caller's, not the engine's; only where
keys are counted, nothing is kept of them.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
from pathlib import Path
from typing import Any, Final, TypedDict

from broker.engine import Engine

from .ticks import ATTRIBUTES, STREAM
from .trial import CEL, build_grammar

STATUS: Final = Path("/proc/self/status")
BATCH: Final = 1_000
# Ticks of a symbol fall, so that each waits for a tick above it, in vain: as many runs as ticks. They share nothing.
WAITING: Final = f"SELECT * FROM {STREAM} NEXT{{$2.name = $1.name AND $2.price > $1.price}} {STREAM}"
PER_SYMBOL: Final = 100


class Occupied(TypedDict):
    """Bytes. `peak` is the most that was resident (VmHWM) less what was resident at the first look, per thing."""

    count: int
    each: float
    peak: float


def resident(line: str = "VmRSS") -> int:
    """Bytes, after everything that can be given back was given back."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    found = dict(row.split(":", 1) for row in STATUS.read_text(encoding="ascii").splitlines() if ":" in row)
    return int(found[line].split()[0]) * 1024


def subscriptions(texts: dict[str, str]) -> Occupied:
    """What each of them occupies with everything that the engine makes of it."""
    build_grammar(texts, CEL)
    engine = _engine()
    items = list(texts.items())
    first = len(items) // 10
    for name, query in items[:first]:
        engine.subscribe(name, query=query)
    before = resident()
    for name, query in items[first:]:
        engine.subscribe(name, query=query)
    return _occupied(before, len(items) - first)


def runs(count: int) -> Occupied:
    """What each waiting run occupies, in one state, a hundred in a cell; none of them is in a cohort. At least 2,000.

    The cells are made by the first tenth, and not counted.
    Raises ValueError where the engine has not as many objects as there are runs.
    """
    symbols = max(1, count // PER_SYMBOL)
    rows = [(f"S{number % symbols:06}", 1e6 - number / 8, number) for number in range(count)]
    engine = _engine()
    engine.subscribe("waiting", query=WAITING)
    first = max(BATCH, count // 10)
    before = counted = 0
    for start in range(0, count, BATCH):
        if start <= first < start + BATCH:
            before = resident()
            counted = count - start
        taken = rows[start : start + BATCH]
        engine.publish(STREAM, range(start + 1, start + len(taken) + 1), taken)
    found = engine.statistics()
    if found["runs"] != count:
        raise ValueError(f"expected {count} runs, found {found['runs']}")
    return _occupied(before, counted)


def keys(count: int, query: str = WAITING) -> Occupied:
    """What each key occupies that has one run; its text is counted."""
    engine = _engine()
    engine.subscribe("waiting", query=query)
    first = max(BATCH, count // 10)
    before = 0
    for start in range(0, first + count, BATCH):
        if start == first:
            before = resident()
        numbers = range(start, start + BATCH)
        engine.publish(STREAM, [number + 1 for number in numbers], [(f"S{n:08}", 1e6 - n / 8, n) for n in numbers])
    if engine.statistics()["runs"] < count:
        raise ValueError(f"expected {count} runs, found {engine.statistics()['runs']}")
    return _occupied(before, count)


def _engine() -> Engine:
    engine = Engine()
    engine.add_stream(STREAM, ATTRIBUTES, key="name")
    return engine


def _occupied(before: int, count: int) -> Occupied:
    after = resident()
    return Occupied(
        count=count,
        each=(after - before) / count,
        peak=(resident("VmHWM") - before) / count,
    )


def measure(job: dict[str, Any]) -> Occupied:
    """The job has `subscriptions` by name, a number of `runs`, or one of `keys` with a `query`: by default WAITING, so
    that other ticks of the key pass by."""
    if "keys" in job:
        return keys(job["keys"], job.get("query", WAITING))
    return runs(job["runs"]) if "runs" in job else subscriptions(job["subscriptions"])


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
