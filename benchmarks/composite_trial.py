"""One measurement of the engine on composite subscriptions, in an own process: a job in, figures out, as JSON.

    python -m benchmarks.composite_trial < job.json

The load follows from the job's settings (composite_workload). Timed are `subscribe` of all subscriptions from their
texts, and `publish` in batches of 100 (results made, not read), between the cuts of each stream. A stream goes on where
the one before has left the engine; one that asks for a fresh engine has a fork of the process that was made before any
event, so that a registration of minutes serves several. The garbage collector is as Python starts it.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any, Final, TypedDict

import msgpack

from broker.engine import Engine
from broker.engine import results as built

from .composite_workload import ATTRIBUTES, STREAM, Chain, Settings, relevant, stream, subscriptions
from .memory_trial import resident
from .ticks import BATCH
from .unit import unit_seconds

LANGUAGE: Final = "ptopss"
REPORT: Final = "completions"
PAPER: Final = "paper"  # the other kind of a stream is `relevant`


class Stream(TypedDict):
    """`kind`: PAPER or any other name; `cuts`, ascending: after how many events to look; `fresh`: an engine."""

    name: str
    kind: str
    cuts: list[int]
    fresh: bool


class Job(TypedDict):
    """`ticks`: a file of packed ones, for the unit. `settings` are those of composite_workload."""

    ticks: str
    settings: dict[str, Any]
    streams: list[Stream]


class Slice(TypedDict):
    """Between two cuts: CPU seconds, events until the end and in between, matches; in the last batch, tuples.

    `collecting`: of these seconds, full garbage collections. One of a million objects takes long, and comes rarely:
    whether one falls into a slice is chance.
    """

    upto: int
    events: int
    cpu: float
    collecting: float
    matches: int
    last_matches: int
    last_tuples: float


class Course(TypedDict):
    """A whole stream. `grown`: bytes that the process has more at its end than at its beginning."""

    slices: list[Slice]
    grown: int


class Figures(TypedDict):
    """Seconds and bytes. `loaded` is what all subscriptions take; names and texts are there before."""

    compiled: bool
    unit: float
    subscribe: float
    loaded: int
    terms: int
    courses: dict[str, Course]


def measure(job: Job) -> Figures:
    """Run the job."""
    batches = msgpack.unpackb(Path(job["ticks"]).read_bytes())
    unit = unit_seconds(batches)
    settings = Settings(**job["settings"])
    chains = subscriptions(settings)
    texts = {f"q{number}": chain.ptopss() for number, chain in enumerate(chains)}
    engine = registered(dict(islice(texts.items(), 1)))  # pays for the parser
    before = resident()
    begun = process_time()
    engine = registered(texts)
    subscribe = process_time() - begun
    figures = Figures(
        compiled=(built.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)),
        unit=unit,
        subscribe=subscribe,
        loaded=resident() - before,
        terms=engine.statistics()["terms"],
        courses={},
    )
    for each in [s for s in job["streams"] if s["fresh"]]:
        figures["courses"][each["name"]] = forked(engine, settings, chains, each)
    for each in [s for s in job["streams"] if not s["fresh"]]:
        figures["courses"][each["name"]] = course(engine, settings, chains, each)
    figures["unit"] = min(unit, unit_seconds(batches))
    return figures


def registered(texts: dict[str, str]) -> Engine:
    engine = Engine()
    engine.add_stream(STREAM, ATTRIBUTES)
    for name, query in texts.items():
        engine.subscribe(name, language=LANGUAGE, query=query, report=REPORT)
    return engine


def course(engine: Engine, settings: Settings, chains: list[Chain], asked: Stream) -> Course:
    """Publish a stream up to its last cut, or its end."""
    if asked["kind"] == PAPER:
        events: Iterator[int] = stream(settings, chains)
    else:
        events = iter(relevant(settings, asked["cuts"][-1]))
    done = 0
    slices: list[Slice] = []
    before = resident()
    for cut in asked["cuts"]:
        slices.append(_slice(engine, events, cut - done))
        done += slices[-1]["events"]
        slices[-1]["upto"] = done
    return Course(slices=slices, grown=resident() - before)


def _slice(engine: Engine, events: Iterator[int], count: int) -> Slice:
    found = Slice(upto=0, events=0, cpu=0.0, collecting=0.0, matches=0, last_matches=0, last_tuples=0.0)
    time = engine.now or 0
    full = FullCollections()
    while found["events"] < count:
        rows = [(kind,) for kind in islice(events, min(BATCH, count - found["events"]))]
        if not rows:
            break
        times = list(range(time + 1, time + 1 + len(rows)))
        collected, begun = full.seconds, process_time()
        results = engine.publish(STREAM, times, rows)
        found["cpu"] += process_time() - begun
        found["collecting"] += full.seconds - collected
        found["events"] += len(rows)
        found["matches"] += len(results)
        time = times[-1]
        if found["events"] >= count:
            found["last_matches"] = len(results)
            found["last_tuples"] = float(sum(match.tuples or 0 for match in results))
    full.stop()
    return found


class FullCollections:
    """CPU seconds that full garbage collections take, until it is stopped."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._begun = 0.0
        gc.callbacks.append(self._called)

    def _called(self, phase: str, info: dict[str, int]) -> None:
        if info["generation"] < 2:
            return
        if phase == "start":
            self._begun = process_time()
        else:
            self.seconds += process_time() - self._begun

    def stop(self) -> None:
        gc.callbacks.remove(self._called)


def forked(engine: Engine, settings: Settings, chains: list[Chain], asked: Stream) -> Course:
    """The same in a fork, which this process waits for. Raises ChildProcessError where it fails."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reader)
            gc.collect()  # copies now the pages that a collection would copy while it is timed
            with os.fdopen(writer, "w") as out:
                json.dump(course(engine, settings, chains, asked), out)
            status = 0
        except Exception as error:  # the parent has only the last line of what a trial says
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as told:
        text = told.read()
    _, ended = os.waitpid(child, 0)
    if ended:
        raise ChildProcessError(f"the fork for {asked['name']!r} failed")
    found: Course = json.loads(text)
    return found


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
