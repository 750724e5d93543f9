"""One measurement of register automata over disordered streams, in an own process: a job in, figures out as JSON.

    python -m benchmarks.afa.trial < job.json

The executor runs alone, without an engine around it: what it costs to take events, to settle each batch, to punctuate,
to change arcs. Events are generated beforehand, results are made in columns and counted, not read.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from time import process_time
from typing import Any, Final, NotRequired, TypedDict

from broker.algebra.afa.lowering import lower
from broker.automaton.automaton import Arc, Automaton
from broker.automaton.constructions.registers import automaton_of_registers
from broker.engine.executors.speculative import speculation as built
from broker.engine.executors.speculative.merging import merged
from broker.engine.executors.speculative.speculation import Speculation, SpeculationSwitches
from broker.events.instant import FOREVER
from broker.events.schema import Schema
from broker.language.afa import parse

from ..memory_trial import resident
from ..ticks import BATCH, market, packed
from ..unit import BATCHES, unit_seconds
from .workloads import ATTRIBUTES, Arrival, arrivals, ignorable, rows

EVERY: Final = 500  # events between punctuations, each this far and what events are late behind
PASSES: Final = 3
LOOKS: Final = 10


class Job(TypedDict):
    """`queries` run as one. `up`, `keys`, `ignored`: of the events; `late`: how many are, by up to `moved`. `changes`:
    one arc is exchanged so often, for later events or, with `lifetime`, for the events that far back. `switches`: of
    the executor. `batch`: events in one. `looks`: the events pass so often, and memory is looked at."""

    queries: list[str]
    events: int
    up: NotRequired[float]
    keys: NotRequired[int]
    late: NotRequired[float]
    moved: NotRequired[int]
    ignored: NotRequired[float]
    changes: NotRequired[int]
    lifetime: NotRequired[int]
    switches: NotRequired[dict[str, Any]]
    batch: NotRequired[int]
    looks: NotRequired[int]


class Figures(TypedDict):
    """CPU seconds of the fastest pass, but for counts. `changed`: how often arcs were exchanged."""

    compiled: bool
    events: int
    cpu: float
    unit: float
    inserted: int
    retracted: int
    nodes: int
    changed: int
    bytes: list[int]


def automaton(text: str) -> Automaton:
    schema = Schema.declare(ATTRIBUTES)
    return automaton_of_registers(lower(parse(text), text, {"Stock": schema}.get, lambda: ["Stock"]))


def stream(job: Job) -> list[Arrival]:
    """The events of a job, in the order of their arrival."""
    events = rows(job["events"], job.get("up", 0.5), job.get("keys", 1))
    if "ignored" in job:
        events = ignorable(events, job["ignored"])
    return arrivals(events, job.get("late", 0.0), job.get("moved", 1_000))


def measure(job: Job) -> Figures:
    """Run the job some times."""
    wire = packed(market(BATCH * BATCHES).ticks)
    whole = merged([automaton(text) for text in job["queries"]])
    came = stream(job)
    behind = job.get("moved", 1_000) + EVERY
    found = Figures(
        compiled=(built.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)), events=len(came), cpu=float("inf"),
        unit=unit_seconds(wire), inserted=0, retracted=0, nodes=0, changed=0, bytes=[],
    )  # fmt: skip
    if "looks" in job:
        _look(job, Speculation(whole.automaton, labels=whole.labels), came, found)
        return found
    switches = SpeculationSwitches(**job.get("switches", {}))
    for _ in range(PASSES):
        speculation = Speculation(whole.automaton, labels=whole.labels, switches=switches)
        swap = Swap(speculation, whole.automaton.arcs, job.get("lifetime", 0)) if "changes" in job else None
        _run(job, speculation, came, behind, swap, found)
    return found


class Swap:
    """Exchanges the last arc for one that is the same, for later events, and back."""

    def __init__(self, speculation: Speculation, arcs: tuple[Arc, ...], lifetime: int) -> None:
        self.speculation = speculation
        self.arcs = arcs
        self.lifetime = lifetime
        self.changed = 0

    def change(self) -> None:
        """Delete the arc, and insert it again; with a lifetime, insert it once more for one event."""
        self.changed += 1
        newest = self.speculation.newest
        begin, until = (newest - self.lifetime, newest) if self.lifetime else (newest + 1, FOREVER)
        kept = [arc for arc in self.arcs if arc.end > self.speculation.promised]
        last = kept[-1]
        if self.lifetime:
            kept.insert(0, replace(last, begin=begin, end=begin + 1))
        else:
            kept[-1:] = [replace(last, end=begin), replace(last, begin=begin)]
        self.arcs = tuple(kept)
        self.speculation.write(self.arcs, begin, until)


def _run(
    job: Job, speculation: Speculation, came: list[Arrival], behind: int, swap: Swap | None, found: Figures
) -> None:
    size = min(BATCH, job.get("changes", BATCH), job.get("batch", BATCH))
    batches = [came[at : at + size] for at in range(0, len(came), size)]
    columns = [([time for time, _ in batch], [row for _, row in batch]) for batch in batches]
    inserted = retracted = taken = 0
    every = 0 if swap is None else job["changes"]
    begun = process_time()
    for times, batch in columns:
        speculation.take_batch(0, times, times, times, batch)
        changes = speculation.settle()
        withdrawn = int(changes.withdrawn)
        retracted += withdrawn
        inserted += int(changes.left) - withdrawn
        taken += len(times)
        if taken % EVERY == 0:
            speculation.punctuate(taken - behind)
        if swap is not None and taken % every == 0:
            swap.change()
    found["cpu"] = min(found["cpu"], process_time() - begun)
    found["inserted"], found["retracted"] = inserted, retracted
    found["nodes"] = int(speculation.stepper.made)
    found["changed"] = 0 if swap is None else swap.changed


def _look(job: Job, speculation: Speculation, came: list[Arrival], found: Figures) -> None:
    """Resident bytes after each tenth, over those before the first event."""
    before = resident()
    shift = 0
    found["events"] = len(came) * job["looks"]
    begun = process_time()
    for look in range(job["looks"]):
        for at in range(0, len(came), BATCH):
            times = [time + shift for time, _ in came[at : at + BATCH]]
            speculation.take_batch(0, times, times, times, [row for _, row in came[at : at + BATCH]])
            found["inserted"] += int(speculation.settle().left)
            if at % EVERY == 0:
                speculation.punctuate(shift + at - EVERY - job.get("moved", 1_000))
        shift += len(came)
        if (look + 1) * LOOKS % job["looks"] == 0:
            found["bytes"].append(resident() - before)
    found["cpu"] = process_time() - begun


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
