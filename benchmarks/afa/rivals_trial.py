"""Contests of ways to run a register automaton over late events, in an own process: jobs in, figures out as JSON.

    python -m benchmarks.afa.rivals_trial < jobs.json

All get the same events in batches, and a promise of the earliest event still to come every 500. Each is timed in some
rounds, in turn; then each runs once more, not timed, to count what is left of its results, when each result is told,
and what is stored. What is left must be the same for all: a checksum of starts and ends.

Here: the contestants (repair, and repair behind sequence numbers, are the broker's). Not here: the other ways (rivals).
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from random import Random
from time import process_time
from typing import Any, Final, Literal, NotRequired, Protocol, TypedDict

from broker.engine.disorder.buffer import ReorderBuffer
from broker.engine.disorder.numbers import SequenceNumbers
from broker.engine.executors.speculative import speculation as built
from broker.engine.executors.speculative.speculation import Speculation, SpeculationSwitches
from broker.events.instant import FOREVER
from broker.events.schema import Row

from ..measuring import BenchmarkError
from ..ticks import BATCH, market, packed
from ..unit import BATCHES, unit_seconds
from .trial import automaton
from .workloads import CAN, LETTERS, Q1, Q2, SEED, Arrival, arrivals, ignorable, ignoring, q3, rows, words

EVERY: Final = 500  # events between punctuations
MAXIMAL: Final = -1  # speculation without a limit

Contestant = Literal["repair", "numbered", "two passes", "restart"]


class Contest(TypedDict):
    """`query`: Q1, CAN (Q1 in two states), Q2 or Q3. `late`: that share comes up to `moved` late; `ignored`: that share
    concerns nobody. `speculation`: as Cleanse has it, MAXIMAL by default. `changes`: an arc of Q3 is turned so often.
    `switches`: of the executor. `single`: events come one at a time, so that it is seen when each result is told."""

    contestant: Contestant
    query: str
    events: int
    within: int
    k: NotRequired[int]
    up: NotRequired[float]
    late: NotRequired[float]
    moved: NotRequired[int]
    ignored: NotRequired[float]
    speculation: NotRequired[int]
    changes: NotRequired[int]
    switches: NotRequired[dict[str, Any]]
    single: NotRequired[bool]


class ContestFigures(TypedDict):
    """`cpu`: seconds of each round. `waited`: how many events come, in the mean, between the last event that a result
    takes and the result. `stored`: nodes after each promise, in the mean."""

    compiled: bool
    events: int
    cpu: list[float]
    unit: float
    inserted: int
    retracted: int
    left: int
    checksum: str
    made: int
    waited: float
    stored: float


class Runner(Protocol):
    """A contestant: takes batches of events, promises, and changes; `told` counts what it has told so far."""

    def take(self, times: list[int], rows: list[Row]) -> None: ...

    def punctuate(self, time: int) -> None: ...

    def turn(self, place: int, letter: str) -> None: ...

    def read(self) -> list[tuple[bool, int, int, Sequence[int] | None]]:
        """What was told since the last call: whether it came, start, end, and the events it took, where it says so."""
        ...

    def skip(self) -> tuple[int, int]:
        """As `read`, but only how many came and went."""
        ...

    def size(self) -> tuple[int, int]:
        """The nodes made so far, and those that are stored."""
        ...


def _text(job: Contest) -> str:
    if job["query"] == "Q3":
        return q3(words(1)[0], job["within"])
    text = {"Q1": Q1, "CAN": CAN, "Q2": Q2}[job["query"]].format(by="", k=job.get("k", 2), within=job["within"])
    return ignoring(text) if "ignored" in job else text


class Repairing:
    """The broker's executor."""

    def __init__(self, job: Contest) -> None:
        whole = automaton(_text(job))
        self.runs = Speculation(whole, switches=SpeculationSwitches(**job.get("switches", {})))
        if job["query"] == "Q3":
            self.arcs = list(whole.arcs)
            self.turned = {letter: automaton(q3(letter * LETTERS, job["within"])).arcs for letter in "ud"}

    def take(self, times: list[int], rows: list[Row]) -> None:
        self.runs.take_batch(0, times, times, times, rows)

    def punctuate(self, time: int) -> None:
        self.runs.punctuate(time)

    def turn(self, place: int, letter: str) -> None:
        begin = int(self.runs.newest) + 1
        arcs = [arc for arc in self.arcs if arc.end > self.runs.promised]
        at = next(at for at, arc in enumerate(arcs) if arc.source == place and arc.end == FOREVER)
        arcs[at : at + 1] = [replace(arcs[at], end=begin), replace(self.turned[letter][place], begin=begin)]
        self.arcs = arcs
        self.runs.write(tuple(arcs), begin, FOREVER)

    def read(self) -> list[tuple[bool, int, int, Sequence[int] | None]]:
        changes = self.runs.settle()
        return [
            (changes.inserted(at), changes.start(at), changes.time(at), changes.lineage_of(at))
            for at in map(changes.place, range(changes.left))
        ]

    def skip(self) -> tuple[int, int]:
        changes = self.runs.settle()
        gone = int(changes.withdrawn)
        return int(changes.left) - gone, gone

    def size(self) -> tuple[int, int]:
        self.runs.compact()
        return int(self.runs.stepper.made), int(self.runs.arena.count)


class Numbered:
    """The same behind sequence numbers, the broker's way: events wait until all before them have come (AFA+O)."""

    def __init__(self, job: Contest) -> None:
        self.behind = Repairing(job)
        self.numbers = SequenceNumbers(0)
        self.held = ReorderBuffer()

    def take(self, times: list[int], rows: list[Row]) -> None:
        self.held.add("Stock", times, times, times, rows, True)
        for time in times:
            self.numbers.note(time, time)
        ready = self.held.release(self.numbers.time + 1)
        self.behind.take(ready.times, ready.rows)

    def punctuate(self, time: int) -> None:
        self.behind.punctuate(min(time, self.numbers.time + 1))

    def turn(self, place: int, letter: str) -> None:
        self.behind.turn(place, letter)

    def read(self) -> list[tuple[bool, int, int, Sequence[int] | None]]:
        return self.behind.read()

    def skip(self) -> tuple[int, int]:
        return self.behind.skip()

    def size(self) -> tuple[int, int]:
        return self.behind.size()


class Rival:
    """One of the other ways."""

    def __init__(self, job: Contest, rivals: Any) -> None:
        k, ignoring = job.get("k", 2), "ignored" in job
        self.rivals = rivals
        self.word = list(words(1)[0])
        query = job["query"]
        made: dict[str, tuple[Any, int, Any]] = {
            "Q1": (rivals.vs(k, ignoring), 3, (0, 0)),
            "Q2": (rivals.regaining(), 3, (0.0,)),
            "Q3": (rivals.word(self.word), LETTERS, ()),
        }
        arcs, final, initial = made[query]
        kind = rivals.TwoPasses if job["contestant"] == "two passes" else rivals.Restarting
        self.operator = kind(arcs, final, initial, job["within"])

    def take(self, times: list[int], rows: list[Row]) -> None:
        take = self.operator.take
        for time, row in zip(times, rows):
            take(time, row)

    def punctuate(self, time: int) -> None:
        self.operator.punctuate(time)

    def turn(self, place: int, letter: str) -> None:
        self.word[place] = letter
        self.operator.change(self.rivals.word(self.word))

    def read(self) -> list[tuple[bool, int, int, Sequence[int] | None]]:
        told, self.operator.told = self.operator.told, []
        return [(came, start, end, None) for came, start, end, _ in told]

    def skip(self) -> tuple[int, int]:
        told, self.operator.told = self.operator.told, []
        came = sum(1 for each in told if each[0])
        return came, len(told) - came

    def size(self) -> tuple[int, int]:
        operator = getattr(self.operator, "operator", self.operator)
        return self.operator.made, sum(len(entry.nodes) for entry in operator.entries)


def runner(job: Contest, rivals: Any) -> Runner:
    if job["contestant"] == "repair":
        return Repairing(job)
    return Numbered(job) if job["contestant"] == "numbered" else Rival(job, rivals)


def arriving(job: Contest) -> list[Arrival]:
    """The events of a contest, in the order of their arrival."""
    events = rows(job["events"], job.get("up", 0.5))
    if "ignored" in job:
        events = ignorable(events, job["ignored"])
    return arrivals(events, job.get("late", 0.0), job.get("moved", 1_000))


def turns(job: Contest) -> list[tuple[int, str]]:
    """Which letter of the word is turned at each change, and into what."""
    drawn, word = Random(SEED), list(words(1)[0])
    found: list[tuple[int, str]] = []
    for _ in range(job["events"] // job["changes"]):
        place = drawn.randrange(LETTERS)
        word[place] = "u" if word[place] == "d" else "d"
        found.append((place, word[place]))
    return found


class Run:
    """One pass of a contest. `step` is called with how many events have come, after each batch."""

    def __init__(self, job: Contest, came: list[Arrival], rivals: Any) -> None:
        self.one = runner(job, rivals)
        size = 1 if job.get("single") else min(BATCH, job.get("changes", BATCH))
        self.columns = [
            ([time for time, _ in came[at : at + size]], [row for _, row in came[at : at + size]])
            for at in range(0, len(came), size)
        ]
        self.earliest = [0] * len(came) + [len(came) + 1]
        for at in range(len(came) - 1, -1, -1):
            self.earliest[at] = min(came[at][0], self.earliest[at + 1])
        self.turns = turns(job) if "changes" in job else []
        self.changes = job.get("changes", 0)
        self.take: Callable[[list[int], list[Row]], None] = self.one.take
        self.promise: Callable[[int], None] = self.one.punctuate
        limit = job.get("speculation", MAXIMAL)
        if limit != MAXIMAL:
            one = self.one
            cleanse = rivals.Cleanse(lambda time, row: one.take([time], [row]), limit)

            def through(times: list[int], rows: list[Row]) -> None:
                for time, row in zip(times, rows):
                    cleanse.take(time, row)

            def promise(time: int) -> None:
                cleanse.punctuate(time)
                one.punctuate(time)

            self.take, self.promise = through, promise

    def go(self, step: Callable[[int, bool], None]) -> None:
        taken = 0
        for times, own in self.columns:
            self.take(times, own)
            taken += len(times)
            promised = taken % EVERY == 0 or taken == len(self.earliest) - 1
            if promised:
                self.promise(self.earliest[taken])
            step(taken, promised)
            if self.changes and taken % self.changes == 0 and taken // self.changes <= len(self.turns):
                self.one.turn(*self.turns[taken // self.changes - 1])


def _timed(job: Contest, came: list[Arrival], rivals: Any) -> float:
    run = Run(job, came, rivals)

    def step(taken: int, promised: bool) -> None:
        run.one.skip()

    begun = process_time()
    run.go(step)
    return process_time() - begun


def _looked_at(job: Contest, came: list[Arrival], rivals: Any, found: ContestFigures) -> None:
    """The pass that is not timed."""
    run = Run(job, came, rivals)
    arrived = {time: at for at, (time, _) in enumerate(came, 1)}
    net: Counter[tuple[int, int]] = Counter()
    waits: list[int] = []
    sizes: list[int] = []

    def step(taken: int, promised: bool) -> None:
        for inserted, start, end, links in run.one.read():
            net[start, end] += 1 if inserted else -1
            found["inserted" if inserted else "retracted"] += 1
            if inserted and links is not None:
                waits.append(taken - max(arrived[each] for each in links))
        if promised:
            found["made"], stored = run.one.size()
            sizes.append(stored)

    run.go(step)
    left = sorted((pair, count) for pair, count in net.items() if count != 0)
    if any(count < 0 for _, count in left):
        raise BenchmarkError(f"{job}: a result was withdrawn that was not there")
    if job["query"] == "Q3" and "changes" in job:
        _check_turned(job, came, {pair for pair, _ in left})
    found["left"] = sum(count for _, count in left)
    found["checksum"] = hashlib.blake2b(repr(left).encode(), digest_size=8).hexdigest()
    found["waited"] = sum(waits) / max(1, len(waits))
    found["stored"] = sum(sizes) / max(1, len(sizes))


def _check_turned(job: Contest, came: list[Arrival], pairs: set[tuple[int, int]]) -> None:
    """Raises BenchmarkError unless these are the words: of letters as they were at each event's time, or, where
    everything begins anew, at the last one's."""
    word, drawn, by_time = list(words(1)[0]), turns(job), list[list[str]]()
    for at in range(len(came)):
        if at > 0 and at % job["changes"] == 0:
            place, letter = drawn[at // job["changes"] - 1]
            word = [*word]
            word[place] = letter
        by_time.append(word)
    wanted = set()
    for first in range(len(came) - LETTERS + 1):
        end = first + LETTERS - 1
        asked = by_time[end] if job["contestant"] == "restart" else [by_time[first + j][j] for j in range(LETTERS)]
        if all((_step(came[first + j][1]) >= 0) == (letter == "u") for j, letter in enumerate(asked)):
            wanted.add((first + 1, end + 1))
    if pairs != wanted:
        raise BenchmarkError(f"{job}: expected {len(wanted)} words, found {len(pairs)}, or others")


def _step(row: Row) -> float:
    step = row[1]
    assert isinstance(step, float)
    return step


def measure(jobs: list[Contest], rounds: int, folder: str | None) -> list[ContestFigures]:
    """All of them; `folder`: where the rivals are compiled, None: nowhere."""
    if folder is not None:
        sys.path.insert(0, folder)
    rivals = importlib.import_module("rivals" if folder is not None else "benchmarks.afa.rivals")
    wire = packed(market(BATCH * BATCHES).ticks)
    suffixes = tuple(EXTENSION_SUFFIXES)
    compiled = (built.__file__ or "").endswith(suffixes) and (rivals.__file__ or "").endswith(suffixes)
    streams = [arriving(job) for job in jobs]
    found = [
        ContestFigures(
            compiled=compiled, events=len(came), cpu=[], unit=0.0, inserted=0, retracted=0, left=0, checksum="",
            made=0, waited=0.0, stored=0.0,
        )
        for came in streams
    ]  # fmt: skip
    for _ in range(rounds):
        unit = unit_seconds(wire)
        for job, came, figures in zip(jobs, streams, found):
            figures["cpu"].append(_timed(job, came, rivals))
            figures["unit"] = min(unit, figures["unit"] or unit)
    for job, came, figures in zip(jobs, streams, found):
        _looked_at(job, came, rivals, figures)
    return found


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    print(json.dumps(measure(asked["jobs"], asked["rounds"], asked["folder"])))
