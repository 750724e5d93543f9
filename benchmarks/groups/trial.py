"""One measurement of a shape in the embedded engine, in an own process: a job on standard input, figures out as JSON.

    python -m benchmarks.groups.trial < job.json

What it runs on comes with the job: the packed ticks, and what the subscriptions draw. Timed are `subscribe` from texts,
`publish` of the batches (results made, not read), and `len` of the results; then, in mid-stream, subscriptions that
come and go. Each of these stops after some seconds, and the figures say how far it came. Memory is the difference of
the resident set, after a collection each time. The garbage collector is as Python starts it.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any, Final, TypedDict

import msgpack

from broker.engine import Engine, Options
from broker.engine import results as built

from ..memory_trial import resident
from ..ticks import ATTRIBUTES, STREAM
from ..trial import columns, load
from ..unit import unit_seconds
from .queries import Query, streams, subscriptions
from .shapes import Constants

LOOK: Final = 10  # batches between two looks at the clock
REGISTERED: Final = 1_000  # subscriptions between two looks at the clock
COMING: Final = 1_000  # subscriptions that come in mid-stream, and go
FIRST: Final = 500  # subscriptions that are there before memory and time of the others are measured, at most a tenth


class Job(TypedDict):
    """`constants`: a file of what each subscription draws. `seconds`: after which registering, or publishing, stops."""

    ticks: str
    constants: str
    shape: str
    count: int
    off: list[str]
    seconds: float
    registering: float
    comes: bool


class Figures(TypedDict):
    """Seconds, but for counts. `counts`: matches after each LOOK batches. `groups`: how many there are."""

    compiled: bool
    registered: int
    subscribe: float
    bytes: float
    events: int
    cpu: float
    counting: float
    unit: float
    matches: int
    counts: list[int]
    groups: int
    coming: dict[str, float]


def measure(job: Job) -> Figures:
    drawn = [
        Constants(*values) for values in msgpack.unpackb(Path(job["constants"]).read_bytes())[: job["count"] + COMING]
    ]
    members, later = drawn[: job["count"]], drawn[job["count"] :]
    batches = load(job["ticks"])
    engine = Engine(Options(executors_off=tuple(job["off"])))
    for stream in streams(job["shape"]):
        engine.add_stream(stream, ATTRIBUTES, key="name")
    waiting = subscriptions(job["shape"], members)
    first = min(FIRST, len(members) // 10)
    for name, query in islice(waiting, max(1, first)):
        enter(engine, name, query)
    before = resident()
    registered, spent = registering(engine, waiting, job["registering"])
    grown = resident() - before
    figures = Figures(
        compiled=(built.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)),
        registered=registered + max(1, first),
        subscribe=spent / max(1, registered),
        bytes=grown / max(1, registered),
        events=0,
        cpu=0.0,
        counting=0.0,
        unit=0.0,
        matches=0,
        counts=[],
        groups=engine.statistics()["groups"],
        coming={},
    )
    if registered + max(1, first) >= len(members):
        publish(engine, streams(job["shape"]), batches, job["seconds"], figures)
        if job["comes"]:
            figures["coming"] = coming(engine, job["shape"], later, figures["events"])
    return figures


def enter(engine: Engine, name: str, query: Query) -> None:
    engine.subscribe(name, language=query.language, query=query.text, **query.options)


def registering(engine: Engine, waiting: Any, seconds: float) -> tuple[int, float]:
    """How many of them came in that time, and the time that subscribing took. Texts are not timed."""
    registered, spent = 0, 0.0
    while spent < seconds and (some := list(islice(waiting, REGISTERED))):
        begun = process_time()
        for name, query in some:
            enter(engine, name, query)
        spent += process_time() - begun
        registered += len(some)
    return registered, spent


def publish(
    engine: Engine, streams: tuple[str, ...], batches: list[bytes], seconds: float, figures: Figures
) -> None:  # fmt: skip
    before = unit_seconds(batches)
    for at in range(0, len(batches), LOOK):
        span = [columns(batch) for batch in batches[at : at + LOOK]]
        begun = process_time()
        found = [
            engine.publish(streams[number % len(streams)], times, rows)
            for number, (times, rows) in enumerate(span, at)
        ]
        done = process_time()
        figures["matches"] += sum(map(len, found))
        figures["counting"] += process_time() - done
        figures["cpu"] += done - begun
        figures["events"] += sum(len(times) for times, _ in span)
        figures["counts"].append(figures["matches"])
        if figures["cpu"] > seconds:
            break
    figures["unit"] = (before + unit_seconds(batches)) / 2


def coming(engine: Engine, shape: str, later: list[Constants], time: int) -> dict[str, float]:
    """Subscriptions that come from texts that were prepared, each with the next event of its key, and that go again."""
    ready = [
        (f"later-{name}", engine.prepare(query.text, query.language), each.symbol)
        for (name, query), each in zip(subscriptions(shape, later), later)
    ]
    spent: dict[str, list[float]] = {"in": [], "out": []}
    for way in spent:
        for name, prepared, symbol in ready:
            time += 1
            begun = process_time()
            if way == "in":
                engine.subscribe(name, query=prepared)
            else:
                engine.unsubscribe(name)
            engine.publish(STREAM, [time], [(symbol, 1.0, 1)])
            spent[way].append(process_time() - begun)
    found = {f"{way} mean": sum(values) / COMING for way, values in spent.items()}
    return found | {f"{way} worst": max(values) for way, values in spent.items()}


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
