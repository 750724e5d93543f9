"""Growth of an event's cost with the partial matches that wait in its key, where it completes none of them.

    python -m benchmarks.growth_waiting [--most 100000]

Runs of CEL's NEXT wait for an event that satisfies a condition beyond the key. For each kind of condition, 100 to
100,000 of them are begun by events of a key; then events of that key come that complete none. Prints a row for each
number: the microseconds of such an event, and of one that begins a run. The first is flat.
"""

from __future__ import annotations

import argparse
import time
from typing import Final

from broker.engine import Engine

SCHEMA: Final = {"name": "string", "price": "float", "volume": "int"}
CONDITIONS: Final = {
    "a factor": "$2.price > $1.price * 1.1",
    "a constant": "$2.price < 0.5",
    "either": "($2.price > $1.price * 1.1 OR $2.volume < $1.volume)",
    "equality": "$2.volume = $1.volume + 7",
}
EVENTS: Final = 2_000
BATCH: Final = 100


def cost(engine: Engine, stream: str, first: int, rows: list[tuple[str, float, int]]) -> float:
    """The microseconds of an event, in batches. Raises AssertionError if one completes a match."""
    begun = time.perf_counter()
    found = 0
    for at in range(0, len(rows), BATCH):
        part = rows[at : at + BATCH]
        found += len(engine.publish(stream, list(range(first + at, first + at + len(part))), part))
    spent = time.perf_counter() - begun
    assert found == 0, f"{found} matches"
    return 1e6 * spent / len(rows)


def measured(condition: str, waiting: int) -> tuple[float, float]:
    """The microseconds of an event that completes none of so many runs, and of one that has begun one of them."""
    engine = Engine()
    for stream in ("Opened", "Quote"):
        engine.add_stream(stream, SCHEMA)
    text = f"SELECT * FROM Opened NEXT{{$2.name = $1.name AND {condition}}} Quote"
    engine.subscribe("waiting", query=text)
    opening = [("A", 100.0 + (at * 7_919 % 1_000) / 10, 1_000 + at % 1_000) for at in range(waiting)]
    begin = cost(engine, "Opened", 0, opening)
    cost(engine, "Quote", waiting, [("A", 100.0, 5_000)])  # what is prepared once
    quotes = [("A", 100.0 + at % 9, 5_000 + at % 9) for at in range(EVENTS)]
    event = cost(engine, "Quote", waiting + 1, quotes)
    assert engine.statistics()["runs"] == waiting
    return event, begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=100_000, help="partial matches of the key")
    most = parser.parse_args().most
    print(f"{'condition':12} {'waiting':>9} {'us an event':>12} {'us a run':>9}")
    for name, condition in CONDITIONS.items():
        waiting = 100
        while waiting <= most:
            event, begin = measured(condition, waiting)
            print(f"{name:12} {waiting:9,} {event:12.2f} {begin:9.2f}", flush=True)
            waiting *= 10


if __name__ == "__main__":
    main()
