"""The question whether the targets are reached: every row of targets.py, measured, beside must and aim.

Embedded workloads run in both forms, compiled and uncompiled; the other rows in the compiled one, where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from rich.table import Table

from .. import plain_loops, targets, workloads
from ..builds import Build, builds
from ..measuring import BenchmarkError, Effort, Say, Spread, taken_in_turn, trial
from ..report import spread
from ..targets import Target
from ..ticks import Market, market
from .cases import Case, checked, cost, tick_file, units, warm_batches, workload
from .question import Question

MOST: Final = 100_000
LIKE: Final = 1_000  # the subscriptions whose matches an event the larger set has too
MESSAGE: Final = 10  # batches of 100 in a message to the broker
LARGER: Final = "{}, batches of 1,000"
BATCHES_1000: Final = LARGER.format("W1")
SUBSCRIPTION, RUN, PARQUET = "a W4 subscription", "a run outside cohorts", "W1 from Parquet"
TOGETHER: Final = 4_000  # events of batches that travel in one message
THROUGH: Final[Mapping[str, tuple[int, bool, int]]] = {
    # how many batches of 100 the publisher has in one, whether as columns, and the events of those that travel together
    "W1 through broker and client": (MESSAGE, False, 0),
    "W1 through broker and client, in columns": (MESSAGE, True, 0),
    "W1 through broker and client, messages of 100 in columns": (1, True, 0),
    "W1 through broker and client, batches of 100 together": (1, False, TOGETHER),
    "W1 through broker and client, batches of 100 in columns together": (1, True, TOGETHER),
}
KEY, KEYS = "a key and its run", 300_000
PASSED: Final = "a key and its run, which ticks may pass by"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table. `count`: of subscriptions, or of runs; fewer than `asked` are not judged."""

    what: str
    build: str
    count: int
    found: Spread
    target: Target
    asked: int

    def told(self) -> dict[str, Any]:
        row = {"name": self.what, "build": self.build, "count": self.count, "found": asdict(self.found)}
        reached = self.target.reached(self.found) if self.count >= self.asked else "-"
        return row | asdict(self.target) | {"reached": reached}


def embedded(stocks: Market, effort: Effort) -> dict[str, Case]:
    """The cases that run in both forms: those of targets.EMBEDDED. Matches are not read."""
    ticks = stocks.ticks[: effort.warm + effort.events]
    found = {
        "W1": Case({"q0": workloads.W1}, plain_loops.w1(ticks), read=0),
        "W2": Case({"q0": workloads.W2}, plain_loops.w2(ticks), read=0),
    }
    for count in (10_000, MOST):
        taken = min(count, effort.subscriptions)
        pairs, boxes = workloads.w4(stocks, taken), workloads.w5(stocks, taken)
        found[f"W4 N={count:,}"] = Case(workloads.texts(pairs), plain_loops.w4(ticks, pairs), read=0)
        found[f"W5 N={count:,}"] = Case(workloads.texts(boxes), plain_loops.w5(ticks, boxes), read=0)
    return {name: found[name] for name in targets.EMBEDDED}


def growing(stocks: Market, effort: Effort, both: Mapping[str, Case]) -> dict[str, Case]:
    """Few and many subscriptions with about as many matches an event, and the embedded cases in larger batches."""
    ticks = stocks.ticks[: effort.warm + effort.events]
    found = {LARGER.format(name): replace(both[name], batches=MESSAGE) for name in targets.COLUMNS}
    for kind, count in (("few", LIKE), ("many", effort.subscriptions)):
        pairs, boxes = workloads.w4_rare(stocks, count, LIKE), workloads.w5_rare(stocks, count, LIKE)
        found[f"W4 {kind}"] = Case(workloads.texts(pairs), plain_loops.w4(ticks, pairs), read=0)
        found[f"W5 {kind}"] = Case(workloads.texts(boxes), plain_loops.w5(ticks, boxes), read=0)
    return found


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all rows. Raises BenchmarkError where matches are not those of the plain loops."""
    say("making ticks")
    stocks = market(effort.market)
    say("counting matches")
    both = embedded(stocks, effort)
    other = growing(stocks, effort, both)
    with tick_file(stocks, effort.warm + effort.events) as file, builds(say) as forms:
        measurements: dict[str, Callable[[], Any]] = {}
        for build in forms:
            for name, case in both.items():
                measurements[f"{name}, {build.name}"] = _trial(case, file, effort, build)
        best = forms[0]
        for name, case in other.items():
            measurements[name] = _trial(case, file, effort, best)
        measurements |= dict(_others(both, other, file, effort, best))
        found = taken_in_turn(measurements, effort.repetitions, say)
    for name, case in other.items():
        checked(name, case, found[name])
    rows = [*_embedded_rows(both, found, forms), *_other_rows(both, other, found, effort, best)]
    return {
        "compiled": best.compiled,
        "workload": workload(stocks, effort),
        "cases": [row.told() for row in rows],
        "matches": {name: case.matches for name, case in (both | other).items()},
    }


def _trial(case: Case, file: Path, effort: Effort, build: Build) -> Callable[[], Any]:
    return partial(trial, "benchmarks.trial", case.job(file, warm_batches(effort)), folder=build.folder)


def _others(
    both: Mapping[str, Case], other: Mapping[str, Case], file: Path, effort: Effort, build: Build
) -> Iterator[tuple[str, Callable[[], Any]]]:
    through = {
        "ticks": str(file),
        "warm": warm_batches(effort),
        "query": workloads.W1,
        "matches": other[BATCHES_1000].matches,
    }
    for name, (batches, packed, together) in THROUGH.items():
        job = {**through, "batches": batches, "columns": packed, "message_events": together}
        yield name, partial(trial, "benchmarks.broker_trial", job, folder=build.folder)
    tables = {"ticks": str(file), "query": workloads.W1}
    yield PARQUET, partial(trial, "benchmarks.parquet_trial", tables, folder=build.folder)
    many = dict(both["W4 N=100,000"].subscriptions)
    yield SUBSCRIPTION, partial(trial, "benchmarks.memory_trial", {"subscriptions": many}, folder=build.folder)
    yield RUN, partial(trial, "benchmarks.memory_trial", {"runs": effort.events}, folder=build.folder)
    keys: dict[str, Any] = {"keys": min(KEYS, effort.market)}
    yield KEY, partial(trial, "benchmarks.memory_trial", {**keys, "query": workloads.W1}, folder=build.folder)
    yield PASSED, partial(trial, "benchmarks.memory_trial", keys, folder=build.folder)


def _embedded_rows(both: Mapping[str, Case], found: Mapping[str, list[Any]], forms: list[Build]) -> Iterator[Row]:
    for build in forms:
        for name, case in both.items():
            repetitions = checked(name, case, found[f"{name}, {build.name}"])
            if any(figures["compiled"] != build.compiled for figures in repetitions):
                raise BenchmarkError(f"{name}: expected the {build.name} form, found the other")
            target = targets.EMBEDDED[name] if build.compiled else targets.EMBEDDED[name].uncompiled()
            asked = int(name.partition("=")[2].replace(",", "") or 1)
            yield Row(name, build.name, len(case.subscriptions), units(repetitions), target, asked)


def _other_rows(
    both: Mapping[str, Case], other: Mapping[str, Case], found: Mapping[str, list[Any]], effort: Effort, build: Build
) -> Iterator[Row]:
    """Ratios are of one round of the repetitions each."""
    for name, target in targets.COLUMNS.items():
        larger, asked = LARGER.format(name), int(name.partition("=")[2].replace(",", "") or 1)
        yield Row(larger, build.name, len(both[name].subscriptions), units(found[larger]), target, asked)
    for kind in ("W4", "W5"):
        rounds = zip(found[f"{kind} many"], found[f"{kind} few"])
        times = Spread.of(cost(many) / cost(few) for many, few in rounds)
        many = len(other[f"{kind} many"].subscriptions)
        yield Row(f"{kind} over N={LIKE:,}, equal matches", build.name, many, times, targets.GROWTH, MOST)
    for name, (batches, _, _) in THROUGH.items():
        told = agreed_matches(name, found[name], other[BATCHES_1000].matches)
        rates = zip(told, found[BATCHES_1000] if batches == MESSAGE else found[f"W1, {build.name}"])
        share = Spread.of((b["events"] / b["wall"]) / (e["events"] / e["wall"]) for b, e in rates)
        yield Row(name, build.name, 1, share, targets.THROUGH_BROKER, 1)
    tables = agreed_matches(PARQUET, found[PARQUET], other[BATCHES_1000].matches)
    alone = Spread.of(median(f["reading"]) / median(f["matching"]) for f in tables)
    yield Row(PARQUET, build.name, 1, alone, targets.FROM_PARQUET, 1)
    needed = {SUBSCRIPTION: LIKE, RUN: LIKE, KEY: KEYS, PASSED: KEYS}
    of = {SUBSCRIPTION: targets.SUBSCRIPTION_BYTES, RUN: targets.RUN_BYTES}
    of |= dict.fromkeys((KEY, PASSED), targets.KEY_BYTES)
    for name, target in of.items():
        each = Spread.of(figures["each"] for figures in found[name])
        yield Row(f"memory: {name}", build.name, found[name][0]["count"], each, target, needed[name])
    many = len(both["W4 N=100,000"].subscriptions)
    text = Spread.of(figures["subscribe"] for figures in found[f"W4 N=100,000, {build.name}"])
    yield Row("registering W4 from text", build.name, many, text, targets.REGISTERING_TEXT, MOST)
    parsed = [f["subscribe_parsed"] for f in found[f"W4 N=100,000, {build.name}"]]
    yield Row("registering W4 parsed", build.name, many, Spread.of(parsed), targets.REGISTERING_PARSED, MOST)


def agreed_matches(name: str, told: list[Any], matches: int) -> list[Any]:
    """The same figures. Raises BenchmarkError where not all matches were found, or a subscriber not told of them."""
    for figures in told:
        if figures["matches"] != matches:
            raise BenchmarkError(f"{name}: {figures['matches']} matches, a plain loop finds {matches}")
    return told


def table(answer: dict[str, Any]) -> Table:
    shown = Table(caption_justify="left")
    for heading in ("row", "form"):
        shown.add_column(heading)
    for heading in ("N", "least / median / most", "must", "aim"):
        shown.add_column(heading, justify="right")
    shown.add_column("in")
    shown.add_column("reached")
    for row in answer["cases"]:
        found = Spread(**row["found"])
        shown.add_row(
            row["name"],
            row["build"],
            f"{row['count']:,}",
            spread(found, 0 if found.median >= 1000 else 2 if found.median < 10 else 1),
            f"{row['must']:.3g}",
            f"{row['aim']:.3g}",
            row["measure"],
            row["reached"],
        )
    return shown


QUESTION: Final = Question(
    name="table",
    text="Are the targets reached: cost in units, growth, the way through the broker, memory, registration?",
    bias=(
        "The ticks are synthetic; events are decoded beforehand, in batches of 100 or of 1,000, lineage off; matches"
        " are counted, their ids not read.",
        "Uncompiled rows: must is 10 times the compiled form's must, aim 8 times its aim.",
        "Equal matches: W4's step between thresholds is drawn N/1,000 times as wide, W5's boxes N/1,000 times narrower"
        " (workloads.w4_rare, w5_rare): matches an event stay about equal, runs begun an event still grow with N.",
        "Through the broker: three processes on this machine; the publisher has up to 16 messages under way. The"
        f" embedded rate is that of batches of as many events, from rows. Together: {TOGETHER:,} events in a message.",
        "From Parquet: as `foretell run` reads a file, by CPU time, over reading its record batches alone.",
        "Memory is of the resident set, without names, texts and rows, which the caller keeps (memory_trial.py); that"
        " of a key is with its text: W1's run waits for the key's next tick, the other for a higher one.",
        "Registration is one subscribe a subscription, by CPU time, in a process whose parser is built already.",
    ),
    ask=ask,
    table=table,
)
