"""One measurement of updates through the engine, in an own process: a job in, figures out as JSON.

    python -m benchmarks.afa.updates_trial < job.json

The last arc of a word of ticks is exchanged for another one after every ten events of a stream that speculates; what is
final is promised now and then. An update is given as text: it is parsed, checked, and the runs follow it.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from time import process_time
from typing import Final, TypedDict

from broker.engine import Engine, results

from .trial import EVERY
from .workloads import ATTRIBUTES, q3, rows, words

EVENTS: Final = 10  # between two updates


class UpdatesJob(TypedDict):
    """`updates`: so many. `part`: of the first so many, and the last so many, the cost is told."""

    updates: int
    part: int


class UpdatesFigures(TypedDict):
    """CPU seconds of an update. `results`: of all events; `arcs`: of the subscription in the end."""

    compiled: bool
    first: float
    last: float
    results: int
    arcs: int


def measure(job: UpdatesJob) -> UpdatesFigures:
    """Publish and update in turn."""
    engine = Engine()
    engine.add_stream("Stock", ATTRIBUTES, disorder="speculate")
    engine.subscribe("q", language="afa", query=q3(words(1)[0], 500))
    events = rows(job["updates"] * EVENTS)
    spent: list[float] = []
    found = 0
    name = "a7"
    for number in range(job["updates"]):
        at = number * EVENTS
        times = list(range(at + 1, at + EVENTS + 1))
        told = engine.publish("Stock", times, events[at : at + EVENTS], times)
        found += sum(1 for match in told if match.kind == "match")
        if at % EVERY == 0:
            engine.punctuate(at - EVERY)
        sign = ">=" if number % 2 else "<"
        begun = process_time()
        engine.update("q", [f"n{number}: q7 -> q8 WHEN step {sign} 0"], [name])
        spent.append(process_time() - begun)
        name = f"n{number}"
    part = job["part"]
    return UpdatesFigures(
        compiled=(results.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)), first=sum(spent[:part]) / part,
        last=sum(spent[-part:]) / part, results=found, arcs=len(engine.catalog.subscriptions["q"].revised().arcs),
    )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
