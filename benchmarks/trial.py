"""One measurement of the embedded engine, in an own process: a job on standard input, figures out as JSON.

    python -m benchmarks.trial < job.json

What it runs on, ticks and subscription texts, comes with the job; nothing is generated or judged here. Timed are
`subscribe` of all subscriptions, from text and from prepared queries, `publish` of all batches (results counted, not
read), and the reading of every match of the last batches. Decoding is not. The garbage collector is as Python starts
it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import chain
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final, NotRequired, TypeAlias, TypedDict

import msgpack

from broker.engine import Engine, Match, Options
from broker.engine import results as built

from .ticks import ATTRIBUTES, STREAM, Tick, from_csv, packed
from .unit import unit_seconds

CEL: Final = "cayuga"
SPAN: Final = 10  # batches between two looks at the clocks: that look costs as much as half an event


Columns: TypeAlias = tuple[list[int], list[Tick]]  # times and rows


class Job(TypedDict):
    """`ticks`: a file of ticks, packed batches or CSV. The first `warm` are not timed; matches of the last `read` are
    read. `batches`: how many of the file make one that is published. `options`: switches of the engine.
    """

    ticks: str
    warm: int
    read: int
    subscriptions: dict[str, str]
    batches: NotRequired[int]
    options: NotRequired[dict[str, Any]]
    language: NotRequired[str]


class Figures(TypedDict):
    """Seconds, but for counts. `matches` is of all batches, `events` of the timed ones; `unit` is an event's. `digest`
    is of all matches that were read, of their values too.
    """

    compiled: bool
    events: int
    matches: int
    wall: float
    cpu: float
    unit: float
    subscribe: float
    subscribe_parsed: float
    read: float
    read_columns: float
    read_matches: int
    digest: str
    runs: int
    states: int


def measure(job: Job) -> Figures:
    """Run the job. O(batches in memory) packed, one span of them unpacked."""
    batches = load(job["ticks"])
    timed = batches[job["warm"] :]
    unit = unit_seconds(timed)
    engine = Engine(Options(**job.get("options", {})))
    engine.add_stream(STREAM, ATTRIBUTES, key="name")
    language = job.get("language", CEL)
    build_grammar(job["subscriptions"], language)
    parsed = subscribe_parsed(job["subscriptions"], language)
    begun = process_time()
    for name, query in job["subscriptions"].items():
        engine.subscribe(name, language=language, query=query)
    subscribe = process_time() - begun

    matches = sum(map(len, publish(engine, batches[: job["warm"]])))
    wall = cpu = 0.0
    events = 0
    tail: list[Any] = []
    for first in range(0, len(timed), SPAN):
        span = joined([columns(batch) for batch in timed[first : first + SPAN]], job.get("batches", 1))
        wall_begun, cpu_begun = perf_counter(), process_time()
        for times, rows in span:
            results = engine.publish(STREAM, times, rows)
            matches += len(results)
            tail.append(results)
        cpu += process_time() - cpu_begun
        wall += perf_counter() - wall_begun
        events += sum(len(times) for times, _ in span)
        del tail[: max(0, len(tail) - job["read"])]

    begun = process_time()
    for results in tail:
        table = results.columns()
        for name in table:
            table[name]
    by_columns = process_time() - begun
    begun = process_time()
    read = 0
    for results in tail:
        for _ in results:
            read += 1
    reading = process_time() - begun
    statistics = engine.statistics()
    return Figures(
        compiled=(built.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)),
        events=events,
        matches=matches,
        wall=wall,
        cpu=cpu,
        unit=min(unit, unit_seconds(timed)),
        subscribe=subscribe,
        subscribe_parsed=parsed,
        read=reading,
        read_columns=by_columns,
        read_matches=read,
        digest=digest(tail),
        runs=statistics["runs"],
        states=statistics["states"],
    )


def load(file: str) -> list[bytes]:
    """Packed batches, whatever the file's form."""
    if file.endswith(".csv"):
        return packed(from_csv(Path(file)))
    batches: list[bytes] = msgpack.unpackb(Path(file).read_bytes())
    return batches


def columns(batch: bytes) -> Columns:
    """Times and rows; each row has strings of its own, as those that come over a wire have."""
    decoded = msgpack.unpackb(batch)
    return [time for *_, time in decoded], [(name, price, volume) for name, price, volume, _ in decoded]


def joined(batches: list[Columns], count: int) -> list[Columns]:
    """Each `count` batches as one."""
    if count == 1:
        return batches
    found: list[Columns] = []
    for first in range(0, len(batches), count):
        times, rows = zip(*batches[first : first + count])
        found.append((list(chain(*times)), list(chain(*rows))))
    return found


def build_grammar(subscriptions: Mapping[str, str], language: str) -> None:
    """The first query of a process pays for its language's parser, some 40 ms: not a cost of a subscription."""
    engine = Engine()
    engine.add_stream(STREAM, ATTRIBUTES)
    for name, query in list(subscriptions.items())[:1]:
        engine.subscribe(name, language=language, query=query)


def subscribe_parsed(subscriptions: Mapping[str, str], language: str) -> float:
    """Seconds to register everything once more, in an engine of its own, from queries that it has prepared."""
    engine = Engine()
    engine.add_stream(STREAM, ATTRIBUTES, key="name")
    prepared = [(name, engine.prepare(query, language)) for name, query in subscriptions.items()]
    begun = process_time()
    for name, query in prepared:
        engine.subscribe(name, query=query)
    return process_time() - begun


def digest(read: list[Sequence[Match]]) -> str:
    """Equal for equal matches, in whatever order each batch has them. O(matches * log matches)."""
    state = hashlib.blake2b(digest_size=8)
    for results in read:
        for line in sorted(json.dumps(match.line(), sort_keys=True) for match in results):
            state.update(line.encode())
    return state.hexdigest()


def publish(engine: Engine, batches: list[bytes]) -> list[Sequence[Match]]:
    found: list[Sequence[Match]] = []
    for times, rows in map(columns, batches):
        found.append(engine.publish(STREAM, times, rows))
    return found


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
