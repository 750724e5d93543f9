"""What windows cost an event, in units: by numbers of events, by conditions, sessions, by the clock; with sums and not.

Question: is the cost of an event that of the windows that it completes, whatever their length and whatever is open?
Bias: results are counted; `--read` makes all of them and adds that cost. Batches of 100; the garbage collector is as
Python starts it; one process runs all, one after the other. CPU time an event, in units taken before and after.

`python -m benchmarks.windows [--only NAME] [--events 100000] [--read]`. It says whether the engine is compiled: figures
of one that is not say nothing about users'.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from time import process_time
from typing import Final

from broker.engine import Engine
from broker.engine import results as built

from .ticks import ATTRIBUTES, BATCH, STANDARD, STREAM, Tick, market, packed
from .unit import unit_seconds

RISING: Final = "any & !([price > prev.price])"
WINDOWS: Final[dict[str, str]] = {
    "tumble 100": "EVERY 100 EVENTS",
    "slide 100 by 10": "LAST 100 EVENTS EVERY 10 EVENTS",
    "slide 1,000 by 1": "LAST 1000 EVENTS EVERY 1 EVENT",
    "slide 10,000 by 1": "LAST 10000 EVENTS EVERY 1 EVENT",
    "rising, all": "AFTER any* MATCHING any [price > prev.price]*",
    "rising, from its first": f"AFTER any* MATCHING ({RISING}) [price > prev.price]*",
    "session prefixes": "AFTER any* MATCHING (any & !([time - prev.time <= 300])) [time - prev.time <= 300]*",
    "session 300": "SESSION 300",
    "from A until the next B": "AFTER any* MATCHING [volume > 2000] [volume >= 200]* [volume < 200]",
    "A any* B to 100": "AFTER any* MATCHING [volume > 2000] any* [volume < 200] & any{1,100}",
    "A any* B to 1,000": "AFTER any* MATCHING [volume > 2000] any* [volume < 200] & any{1,1000}",
    "A any* B within 500": "AFTER any* MATCHING [volume > 2000] any* [volume < 200] WITHIN 500",
    "clock 1,000": "EVERY 1000",
    "clock 1,000 by 100": "LAST 1000 EVERY 100",
}
AGGREGATES: Final = {"count": "count(*) AS n", "sum": "sum(price) AS s", "sum, max": "sum(price) AS s, max(price) AS m"}
KEYS: Final = {"one key": "", "100 keys": " BY name"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", default=[], help="names of windows begin with one of these")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--read", action="store_true", help="make every result")
    asked = parser.parse_args()
    compiled = str(built.__file__).endswith(tuple(EXTENSION_SUFFIXES))
    ticks = market(STANDARD).ticks[: asked.events]
    batches = packed(ticks)
    print(f"{'compiled' if compiled else 'NOT compiled'}, {len(ticks)} events; units an event, windows an event")
    shuffled = random.Random(1)
    many = [(f"K{shuffled.randrange(10_000)}", price, volume) for _, price, volume in ticks]
    for name, windows in WINDOWS.items():
        if asked.only and not name.startswith(tuple(asked.only)):
            continue
        told: list[str] = []
        for keyed, by in KEYS.items():
            for what, aggregates in AGGREGATES.items():
                query = f"FROM {STREAM}{by} WINDOW {windows} AGGREGATE {aggregates}"
                told.append(f"{keyed}, {what} {measured(query, ticks, batches, asked.read)}")
        query = f"FROM {STREAM} BY name WINDOW {windows} AGGREGATE {AGGREGATES['sum']}"
        told.append(f"10,000 keys, sum {measured(query, many, batches, asked.read)}")
        print(f"{name}: {'; '.join(told)}", flush=True)


def measured(query: str, ticks: Sequence[Tick], batches: list[bytes], read: bool) -> str:
    """The cost of an event and the number of its windows, the better of two runs."""
    best, windows = float("inf"), 0
    unit = unit_seconds(batches)
    for _ in range(2):
        engine = Engine()
        engine.add_stream(STREAM, dict(ATTRIBUTES))
        engine.subscribe("q", language="window", query=query)
        found = 0
        begun = process_time()
        for first in range(0, len(ticks), BATCH):
            rows = ticks[first : first + BATCH]
            results = engine.publish(STREAM, range(first + 1, first + len(rows) + 1), rows)
            found += sum(1 for _ in results) if read else len(results)
        best = min(best, process_time() - begun)
        windows = found
    unit = (unit + unit_seconds(batches)) / 2
    return f"{best / len(ticks) / unit:.1f} ({windows / len(ticks):.2f})"


if __name__ == "__main__":
    main()
