"""One load through the engine of one build, in an own process: a job on standard input, figures out as JSON.

    python -m benchmarks.comparison.trial < job.json

It uses `Engine` and nothing else of a build, so that older builds run too. Phases: `subscribe`, the last subscriptions
from text; `event`, publishing; `match`, reading matches of the last batches; `answer`, asking for the probability of
keys of the last batches. What is there before a phase is frozen, as `foretell serve` does; otherwise the garbage
collector is as Python starts it.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias, TypedDict

import msgpack

from broker.engine import Engine
from broker.engine import results as built

from .phases import Phases

EVENT, SUBSCRIBE, MATCH, ANSWER = "event", "subscribe", "match", "answer"
SUBSCRIBED: Final = 1_000
READ: Final = 200  # matches, and answers

Batch: TypeAlias = tuple[list[int], list[tuple[Any, ...]]]


class Job(TypedDict):
    """`load`: the file of a Load."""

    load: str


class Figures(TypedDict):
    """`seconds` and `times`, how often a thing was done, by phase; `matches` of all batches, `digest` of those read.

    The first subscriptions pay for the parser; where there are no earlier ones, `subscribe` counts none.
    """

    compiled: bool
    seconds: dict[str, float]
    times: dict[str, int]
    matches: int
    digest: str


def measure(job: Job) -> Figures:
    """Run the job. O(events in memory)."""
    load = msgpack.unpackb(Path(job["load"]).read_bytes(), strict_map_key=False)
    warm, timed, last = (batches(load[part]) for part in ("warm", "timed", "last"))
    phases = Phases()
    engine = Engine()
    engine.add_stream(load["stream"], load["attributes"], key=load["key"])
    early, late = load["subscriptions"][:-SUBSCRIBED], load["subscriptions"][-SUBSCRIBED:]
    subscribe(engine, early)
    frozen()
    with phases.phase(SUBSCRIBE):
        subscribe(engine, late)
    frozen()
    matches = publish(engine, load["stream"], warm, load["counted"])
    with phases.phase(EVENT):
        matches += publish(engine, load["stream"], timed, load["counted"])
    tail = [engine.publish(load["stream"], times, rows) for times, rows in last]
    with phases.phase(MATCH):
        read = [match.line() for match in islice((match for results in tail for match in results), READ)]
    asked = [row[0] for _, rows in last for row in rows][:READ] if load["within"] else []
    if asked:
        names = [name for name, *_ in load["subscriptions"]]
        with phases.phase(ANSWER):
            for key in asked:
                for name in names:
                    engine.probability(name, key, load["within"])
        asked *= len(names)
    return Figures(
        compiled=(built.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)),
        seconds=phases.seconds,
        times={
            SUBSCRIBE: len(late) if early else 0,
            EVENT: sum(len(times) for times, _ in timed),
            MATCH: len(read),
            ANSWER: len(asked),
        },
        matches=matches + sum(map(len, tail)),
        digest=digest([match.line() for results in tail for match in results]),
    )


def batches(packed: list[bytes]) -> list[Batch]:
    """Times and rows; each row has strings of its own, as those that come over a wire have."""
    return [(times, [tuple(row) for row in rows]) for times, rows in map(msgpack.unpackb, packed)]


def frozen() -> None:
    """What is there is not collected again, so that no phase pays for what it did not make."""
    gc.collect()
    gc.freeze()


def subscribe(engine: Engine, subscriptions: list[Any]) -> None:
    for name, language, query, options in subscriptions:
        engine.subscribe(name, language=language, query=query, **options)


def publish(engine: Engine, stream: str, parts: list[Batch], counted: bool) -> int:
    """How many matches there are; of compressed ones, how many they stand for."""
    matches = 0
    for times, rows in parts:
        results = engine.publish(stream, times, rows)
        matches += sum(match.tuples or 0 for match in results) if counted else len(results)
    return matches


def digest(lines: list[Any]) -> str:
    """Equal for equal matches, in whatever order. O(matches * log matches)."""
    state = hashlib.blake2b(digest_size=8)
    for line in sorted(json.dumps(line, sort_keys=True) for line in lines):
        state.update(line.encode())
    return state.hexdigest()


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
