"""One measurement of SASE+, in an own process: a job on standard input, figures out as JSON.

    python -m benchmarks.kleene.trial < job.json

Either the engine, with any subscriptions and switches, or the naive rival with one query, on a file of ticks. Timed is
`publish` of all batches, results made and, where they are compressed, counted. Reading the matches of the last batches
with their lineage is timed apart. Decoding and other counting are not. The garbage collector is as Python starts it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from time import process_time
from typing import Any, Final, NotRequired, TypeAlias, TypedDict

from broker.engine import Engine, Options
from broker.engine import results as built

from ..ticks import ATTRIBUTES, STREAM, Tick
from ..trial import columns, load
from ..unit import unit_seconds

SPAN: Final = 10  # batches between two looks at the clock

Publish: TypeAlias = Callable[[list[int], list[Tick]], Sequence[Any]]


class Job(TypedDict):
    """`ticks`: a file of packed batches. The first `warm` of them are not timed; the matches of the last `read` are
    read. `subscriptions`: language and text by name. `options`: of the engine. `counted`: results are compressed, and
    their counts are asked for. `naive`: module, query and window of the rival, which then runs instead.
    """

    ticks: str
    warm: int
    read: int
    subscriptions: dict[str, tuple[str, str]]
    options: NotRequired[dict[str, Any]]
    counted: NotRequired[bool]
    naive: NotRequired[tuple[str, str, int]]


class Figures(TypedDict):
    """CPU seconds, but for counts. `matches` is of all batches, `events` of the timed ones; `digest` is of the lineage
    of all matches that were read. Word of a limit would count as a match, and so be noticed."""

    compiled: bool
    events: int
    matches: int
    cpu: float
    unit: float
    subscribe: float
    read: float
    read_matches: int
    digest: str


def measure(job: Job) -> Figures:
    """Run the job. O(batches in memory) packed, one span of them unpacked."""
    batches = load(job["ticks"])
    unit = unit_seconds(batches[job["warm"] :])
    begun = process_time()
    publish = _rival(job["naive"]) if "naive" in job else _engine(job)
    subscribe = process_time() - begun
    counted = job.get("counted", False)
    cpu = 0.0
    matches = events = 0
    tail: list[Sequence[Any]] = []
    for first in range(0, len(batches), SPAN):
        span = [columns(batch) for batch in batches[first : first + SPAN]]
        begun = process_time()
        found = [publish(times, rows) for times, rows in span]
        if counted:
            matches += sum(match.tuples or 0 for results in found for match in results)
        if first >= job["warm"]:
            cpu += process_time() - begun
            events += sum(len(times) for times, _ in span)
        if not counted:
            matches += sum(map(len, found))
        tail += found
        del tail[: max(0, len(tail) - job["read"])]
    begun = process_time()
    lineages = [[_lineage(match) for match in _each(results)] for results in tail]
    reading = process_time() - begun
    module = sys.modules.get(job["naive"][0]) if "naive" in job else built
    return Figures(
        compiled=(getattr(module, "__file__", None) or "").endswith(tuple(EXTENSION_SUFFIXES)),
        events=events,
        matches=matches,
        cpu=cpu,
        unit=min(unit, unit_seconds(batches[job["warm"] :])),
        subscribe=subscribe,
        read=reading,
        read_matches=sum(map(len, lineages)),
        digest=digest(lineages),
    )


def _engine(job: Job) -> Publish:
    engine = Engine(Options(**job.get("options", {})))
    engine.add_stream(STREAM, ATTRIBUTES, key="name")
    for name, (language, query) in job["subscriptions"].items():
        engine.subscribe(name, language=language, query=query)
    return lambda times, rows: engine.publish(STREAM, times, rows)


def _rival(naive: tuple[str, str, int]) -> Publish:
    module, query, within = naive
    rival: Any = import_module(module)
    made = rival.Naive(rival.query_of(query, within))
    publish: Publish = made.publish
    return publish


def _each(results: Any) -> Any:
    return results.expanded() if hasattr(results, "expanded") else results


def _lineage(match: Any) -> tuple[str, list[int]]:
    found = match.lineage
    return getattr(match, "subscription", "q"), found() if callable(found) else found


def digest(lineages: list[list[tuple[str, list[int]]]]) -> str:
    """Equal for equal matches, in whatever order each batch has them. O(matches * log matches)."""
    state = hashlib.blake2b(digest_size=8)
    for found in lineages:
        state.update(json.dumps(sorted(found)).encode())
    return state.hexdigest()


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
