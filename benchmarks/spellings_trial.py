"""One measurement of a way to write a family, in an own process: a job on standard input, figures out as JSON.

    python -m benchmarks.spellings_trial < job.json

Timed are `subscribe` from texts and `publish` of the batches (results made, not read), as in `groups.trial`, whose
parts these are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import islice
from pathlib import Path
from typing import Final, TypedDict

import msgpack

from broker.engine import Engine
from broker.engine import results as built

from .groups.queries import Query
from .groups.shapes import Constants
from .groups.trial import Figures, publish, registering
from .spellings import FAMILIES, OTHER, Writer
from .ticks import ATTRIBUTES, STREAM
from .trial import load

FIRST: Final = 10  # subscriptions that are there before the time of the others is measured: the first text is analysed


class Job(TypedDict):
    """`constants`: a file of what each subscription draws. `seconds`: after which registering, or publishing, stops."""

    ticks: str
    constants: str
    family: str
    way: str
    count: int
    seconds: float
    registering: float


def measure(job: Job) -> Figures:
    drawn = [Constants(*values) for values in msgpack.unpackb(Path(job["constants"]).read_bytes())[: job["count"]]]
    batches = load(job["ticks"])
    engine = Engine()
    for stream in (STREAM, OTHER):
        engine.add_stream(stream, ATTRIBUTES, key="name")
    waiting = subscriptions(job["family"], job["way"], drawn)
    first, _ = registering(engine, islice(waiting, FIRST), job["registering"])
    registered, spent = registering(engine, waiting, job["registering"])
    figures = Figures(
        compiled=(built.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)),
        registered=registered + first,
        subscribe=spent / max(1, registered),
        bytes=0.0,
        events=0,
        cpu=0.0,
        counting=0.0,
        unit=0.0,
        matches=0,
        counts=[],
        groups=engine.statistics()["groups"],
        coming={},
    )
    if registered + first == len(drawn):
        read = (STREAM, OTHER) if job["family"].startswith("two streams") else (STREAM,)
        publish(engine, read, batches, job["seconds"], figures)
    return figures


def subscriptions(family: str, way: str, members: list[Constants]) -> Iterator[tuple[str, Query]]:
    known, writer = FAMILIES[family][way], Writer()
    for number, each in enumerate(members):
        yield f"s{number}", Query(known.language, known.write(writer, each), {})


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
