"""What an engine with SASE+ subscriptions occupies while events pass, in an own process; JSON in, JSON out.

    python -m benchmarks.kleene.memory < job.json

The ticks of the file are published over and over, each time later, as many times as are asked for; resident bytes, as
memory_trial takes them, are looked at after each tenth of the events. Results are counted, not kept.
"""

from __future__ import annotations

import json
import sys
from typing import Final, TypedDict

from broker.engine import Engine

from ..memory_trial import resident
from ..ticks import ATTRIBUTES, STREAM
from ..trial import columns, load

LOOKS: Final = 10


class Job(TypedDict):
    """`events`: how many are published in all, whatever the file has."""

    ticks: str
    events: int
    subscriptions: dict[str, str]


class Occupied(TypedDict):
    """Resident bytes after each tenth, over those before the first event; `runs` of the engine at each look."""

    events: int
    matches: int
    bytes: list[int]
    runs: list[int]


def measure(job: Job) -> Occupied:
    engine = Engine()
    engine.add_stream(STREAM, ATTRIBUTES, key="name")
    for name, query in job["subscriptions"].items():
        engine.subscribe(name, language="sase", query=query)
    batches = load(job["ticks"])
    before = resident()
    found = Occupied(events=0, matches=0, bytes=[], runs=[])
    time = at = 0
    while found["events"] < job["events"]:
        _, rows = columns(batches[at])
        at = (at + 1) % len(batches)
        results = engine.publish(STREAM, range(time + 1, time + len(rows) + 1), rows)
        time += len(rows)
        found["matches"] += len(results)
        found["events"] += len(rows)
        del results
        if found["events"] * LOOKS >= job["events"] * (len(found["bytes"]) + 1):
            found["bytes"].append(resident() - before)
            found["runs"].append(engine.statistics()["pattern_runs"])
    return found


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
