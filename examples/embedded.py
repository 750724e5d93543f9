"""Use the engine inside a program: two streams, a pattern over both, batches, and a snapshot.

A machine that warms up in at least two steps, and stops within ten minutes of the first, has probably overheated.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker.engine import Engine, Match
from broker.events import format_instant, parse_instant

WARMING = """
SELECT machine, celsius_1 AS before, celsius AS after, steps FROM
  FILTER{steps >= 2}(
    (SELECT *, 0 AS steps FROM Reading)
    FOLD{$2.machine = $.machine, $2.celsius > $.celsius AND DUR <= 10 min, $.steps + 1 AS steps} Reading)
PUBLISH Warming
"""
OVERHEATED = """
SELECT machine, before, after FROM
  FILTER{DUR <= 10 min}(
    (SELECT machine AS heated, before, after FROM Warming) NEXT{$2.machine = $1.heated} Stopped)
"""


def main() -> None:
    engine = Engine()
    engine.add_stream("Reading", {"machine": "string", "celsius": "float"})
    engine.add_stream("Stopped", {"machine": "string"})
    engine.subscribe("warming", query=WARMING)
    engine.subscribe("overheated", query=OVERHEATED, lineage=True)

    times = [parse_instant(f"2024-05-01T09:{minute:02}:00") for minute in (0, 1, 2, 3, 4)]
    show(engine.publish("Reading", times, [("A", 61.0), ("B", 70.0), ("A", 64.5), ("B", 69.0), ("A", 71.0)]))

    # A snapshot is the engine's complete state as bytes; another process can restore it too.
    engine = Engine.restore(engine.snapshot())
    show(engine.publish("Stopped", [parse_instant("2024-05-01T09:06:00")], [("A",)]))
    print(engine.statistics()["events"], "events,", engine.statistics()["matches"], "matches")


def show(results: Iterable[Match]) -> None:
    for match in results:
        lineage = "" if match.lineage is None else f" from the events {match.lineage}"
        print(f"{format_instant(match.end)} {match.subscription}: {match.data}{lineage}")


if __name__ == "__main__":
    main()
