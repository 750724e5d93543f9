"""Five hot days in a row in the archive of temperatures, by SASE+, in an own process; JSON in, JSON out.

    python -m benchmarks.kleene.temperatures < job.json

The archive is that of forecasts.temperatures, whose days and figures are used: nothing of it is kept. A day without a
temperature is not published.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time
from typing import Final, TypedDict

from broker.engine import Engine

from ..forecasts.temperatures import HOT, LENGTH, MATCHES, archive
from ..forecasts.walks import DAY

BATCH: Final = 10_000
STREAM: Final = "Weather"
APART: Final = 9_628
HEAT: Final = (
    f"PATTERN SEQ({STREAM}+ a[]) WHERE partition_contiguity(a[])"
    f" {{ [station] AND a[1].temp > {HOT} AND a[i].temp > {HOT} AND a.LEN = {LENGTH} }}"
)
SUBSCRIPTIONS: Final = {"all": HEAT, "nonoverlap": f"{HEAT} OUTPUT nonoverlap"}
EXPECTED: Final = {"all": MATCHES, "nonoverlap": APART}


class Figures(TypedDict):
    """`cpu` seconds of publishing all of it, with both subscriptions; `matches` by subscription."""

    events: int
    cpu: float
    matches: dict[str, int]


def measure(path: Path) -> Figures:
    """Publish the archive in the order of days, then stations. O(rows in memory)."""
    stations, days, temperatures = archive(path)
    return published([(days[row], stations[row], temperatures[row]) for row in range(len(days))])


def published(days: list[tuple[int, str, float]]) -> Figures:
    """The same of any days, stations and temperatures."""
    days.sort()
    engine = Engine()
    engine.add_stream(STREAM, {"station": "string", "temp": "float"}, key="station")
    for name, query in SUBSCRIPTIONS.items():
        engine.subscribe(name, language="sase", query=query, lineage=False)
    matches = dict.fromkeys(SUBSCRIPTIONS, 0)
    cpu = 0.0
    for first in range(0, len(days), BATCH):
        part = days[first : first + BATCH]
        times, rows = [day * DAY for day, _, _ in part], [(station, value) for _, station, value in part]
        begun = process_time()
        results = engine.publish(STREAM, times, rows)
        cpu += process_time() - begun
        for match in results:
            matches[match.subscription] += 1
    return Figures(events=len(days), cpu=cpu, matches=matches)


if __name__ == "__main__":
    print(json.dumps(measure(Path(json.load(sys.stdin)["temperatures"]))))
