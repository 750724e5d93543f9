"""The question what register automata over disordered streams cost: the workloads of AFA's section 7.

Not here: events, queries and processes (benchmarks.afa).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from rich.table import Table

from .. import targets
from ..afa.contests import contests, units
from ..afa.engine_trial import EngineFigures, EngineJob, Reading
from ..afa.rivals_trial import MAXIMAL, Contest, Contestant, ContestFigures
from ..afa.trial import Figures, Job
from ..afa.updates_trial import UpdatesFigures, UpdatesJob
from ..afa.workloads import Q1, Q2, Q2_KEPT, WAITING, falls, ignoring, q3, words
from ..builds import UNCOMPILED, Build, builds
from ..measuring import FULL, ROOT, BenchmarkError, Effort, Say, Spread, agreed, taken_in_turn, trial
from ..report import spread
from ..targets import Target
from .cases import MICRO
from .question import Question

TRIAL: Final = "benchmarks.afa.trial"
ENGINE_TRIAL: Final = "benchmarks.afa.engine_trial"
UPDATES_TRIAL: Final = "benchmarks.afa.updates_trial"
UPDATES: Final = 2_000
UPDATES_PART: Final = 100
LATE: Final = (0.0, 0.01, 0.05, 0.1, 0.2)
LIFETIMES: Final = (10, 1_000)
READINGS: Final[dict[Reading, str]] = {
    "counted": "counted",
    "columns": "read in columns, without ids",
    "all columns": "read in columns",
    "each": "read one by one",
}
FALLS_READINGS: Final[tuple[Reading, ...]] = ("counted", "each")  # registering 10,000 takes a minute
SEED: Final = 2010
PASSES: Final = 100  # of the events, for memory
CONTEST_ROUNDS: Final = 3
CONTESTANTS: Final[tuple[Contestant, ...]] = ("repair", "two passes", "numbered")
OF_RESTARTS: Final[tuple[Contestant, ...]] = ("repair", "restart")


def cases(events: int) -> dict[str, Job]:
    """Every trial, by name."""
    by, long = " BY key", 50 * events
    first, second, third = Q1.format(by="", k=2, within=500), Q2.format(by="", within=500), q3(words(1)[0], 500)
    found: dict[str, Job] = {"Q1 W=2,000": Job(queries=[Q1.format(by="", k=2, within=2_000)], events=events)}
    for late in LATE:
        name = f", {late:.0%} late" if late else ""
        found[f"Q1{name}"] = Job(queries=[first], events=events, late=late)
        found[f"Q2{name}"] = Job(queries=[second], events=events, late=late, up=0.7)
        found[f"Q3{name}"] = Job(queries=[third], events=events, late=late)
    kept = Q2_KEPT.format(by="", within=500)
    for late in (0.0, 0.2):
        name = f", {late:.0%} late" if late else ""
        found[f"Q2 by price{name}"] = Job(queries=[kept], events=events, late=late, up=0.7)
    for within in (500, 2_000):
        text = WAITING.format(by="", ignored="TRUE", within=within)
        for late in (0.0, 0.05, 0.2):
            found[f"waiting W={within:,}, {late:.0%} late"] = Job(queries=[text], events=events, late=late)
    text = WAITING.format(by="", ignored="TRUE", within=500)
    found["waiting W=500, in blocks"] = Job(queries=[text], events=events // 10, switches={"waiting": False})
    shared = ignoring(Q1.format(by="", k=1, within=500))
    for sharing in (True, False):
        name = "shared" if sharing else "copied"
        found[f"90% ignorable, {name}"] = Job(
            queries=[shared], events=events, ignored=0.9, switches={"sharing": sharing}
        )
    for count in (1, 10, 100, 256):
        found[f"{count} words"] = Job(queries=[q3(word, 500) for word in words(count)], events=events)
    found["Q3, in batches of 10"] = Job(queries=[third], events=events, batch=10)
    for changes in (100, 10, 1):
        found[f"Q3, a change every {changes}"] = Job(queries=[third], events=events, changes=changes)
    for lifetime in LIFETIMES:
        found[f"Q3, an arc for {lifetime:,} events"] = Job(
            queries=[third], events=events // 10, changes=100, lifetime=lifetime
        )
    found["Q3, a tenth"] = Job(queries=[third], events=events // 10)
    for keys in (1, 100, 10_000):
        found[f"Q1, {keys:,} keys"] = Job(queries=[Q1.format(by=by, k=2, within=long)], events=events, keys=keys)
        found[f"Q3, {keys:,} keys"] = Job(queries=[q3(words(1)[0], long, by)], events=events, keys=keys)
    found["memory"] = Job(queries=[first], events=events, late=0.05, looks=PASSES)
    return found


def engine_cases(events: int) -> dict[str, EngineJob]:
    """Trials of many subscriptions through the engine, by name."""
    found: dict[str, EngineJob] = {}
    for reading, name in READINGS.items():
        for count in (1, 256):
            queries = [q3(word, 500) for word in words(count)]
            job = EngineJob(queries=queries, events=events, up=0.5, together=True, reading=reading)
            found[f"engine, {count} words, {name}"] = job
    for reading in FALLS_READINGS:
        for count in (1, 10_000):
            job = EngineJob(queries=falls(count), events=events, up=0.7, together=True, reading=reading)
            found[f"engine, {count:,} falls, {READINGS[reading]}"] = job
    apart = [q3(word, 500) for word in words(256)]
    job = EngineJob(queries=apart, events=events // 10, up=0.5, together=False, reading="each")
    found["engine, 256 words, each alone"] = job
    return found


def rivals(events: int) -> dict[str, dict[str, Contest]]:
    """Contests with other ways to do the same, by query."""
    found: dict[str, dict[str, Contest]] = {}
    for query, up in (("Q1", 0.5), ("Q2", 0.7)):
        group = found[query] = {}
        for late in (0.0, 0.05, 0.2):
            for contestant in CONTESTANTS:
                group[f"{query}, {late:.0%} late, {contestant}"] = Contest(
                    contestant=contestant, query=query, events=events, within=500, up=up, late=late
                )
    few = events // 10
    shuffled = found["late"] = {}
    for contestant in OF_RESTARTS:
        shuffled[f"Q2, 5% late, {few:,} events, {contestant}"] = Contest(
            contestant=contestant, query="Q2", events=few, within=500, up=0.7, late=0.05
        )
    changes = found["changes"] = {}
    for every in (100, 10):
        for contestant in OF_RESTARTS:
            changes[f"Q3, an arc turned every {every}, {few:,} events, {contestant}"] = Contest(
                contestant=contestant, query="Q3", events=few, within=500, changes=every
            )
    told = found["told"] = {}
    for limit in (0, 250, 500, 1_000, MAXIMAL):
        name = "at once" if limit == MAXIMAL else f"{limit:,} ahead"
        told[f"Q2, 20% late, told {name}"] = Contest(
            contestant="repair", query="Q2", events=few, within=500, up=0.7, late=0.2, speculation=limit, single=True
        )
    return found


def rival_rows(found: dict[str, dict[str, ContestFigures]]) -> Iterator[dict[str, Any]]:
    """The cost of each contest, and, where it was seen when results are told, how late they are and how many go."""
    for group, by_name in found.items():
        for name, figures in by_name.items():
            yield _contest_row(name, figures, units(figures), "units")
            if group == "told":
                yield _contest_row(f"{name}: waits", figures, Spread.of([figures["waited"]]), "events")
                share = figures["retracted"] / max(1, figures["inserted"])
                yield _contest_row(f"{name}: withdrawn", figures, Spread.of([share]), "share")


def _contest_row(name: str, figures: ContestFigures, measured: Spread, measure: str) -> dict[str, Any]:
    return {
        "name": name,
        "inserted": figures["inserted"],
        "retracted": figures["retracted"],
        "nodes_per_event": figures["made"] / figures["events"],
        "found": asdict(measured),
        "must": None,
        "aim": None,
        "measure": measure,
        "reached": "-",
    }


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all, compiled where there is a compiler; uncompiled only, of fewer events, to see that it runs."""
    if effort.subscriptions < FULL.subscriptions:
        return _asked(effort, say, Build(UNCOMPILED, str(ROOT)))
    with builds(say) as forms:
        return _asked(effort, say, forms[0])


def _asked(effort: Effort, say: Say, form: Build) -> dict[str, Any]:
    asked = cases(effort.events if form.compiled else effort.events // 10)
    if not form.compiled:
        asked["memory"]["looks"] = 10
    jobs: dict[str, Callable[[], Any]] = {
        name: partial(trial, TRIAL, dict(job), folder=form.folder) for name, job in asked.items()
    }
    found: dict[str, list[Figures]] = taken_in_turn(jobs, effort.repetitions, say)
    many: dict[str, Callable[[], Any]] = {
        name: partial(trial, ENGINE_TRIAL, dict(job), folder=form.folder)
        for name, job in engine_cases(effort.events if form.compiled else effort.events // 10).items()
    }
    through_engine: dict[str, list[EngineFigures]] = taken_in_turn(many, effort.repetitions, say)
    updates = UPDATES if form.compiled else 4 * UPDATES_PART
    updating = partial(trial, UPDATES_TRIAL, dict(UpdatesJob(updates=updates, part=UPDATES_PART)), folder=form.folder)
    by_text: dict[str, list[UpdatesFigures]] = taken_in_turn(
        {f"engine, {updates:,} updates": updating}, effort.repetitions, say
    )
    for name, figures in found.items():
        agreed(name, "results", [each["inserted"] - each["retracted"] for each in figures])
    check(found)
    others = contests(rivals(asked["Q1"]["events"]), form, min(effort.repetitions, CONTEST_ROUNDS), say)
    return {
        "compiled": form.compiled,
        "workload": {"seed": SEED, "events": asked["Q1"]["events"]},
        "cases": [*_rows(found), *engine_rows(through_engine), *updates_rows(by_text), *rival_rows(others)],
        "memory": found["memory"][0]["bytes"],
    }


def check(found: dict[str, list[Figures]]) -> None:
    """Raises BenchmarkError where lateness or a switch changes how many results are left."""
    for name, figures in found.items():
        plain = name.split(",")[0] + ", 0% late" if name.startswith("waiting") else name.split(",")[0]
        if plain in found and " late" in name:
            left, wanted = (each["inserted"] - each["retracted"] for each in (figures[0], found[plain][0]))
            if left != wanted:
                raise BenchmarkError(f"{name}: {left} results are left, in order there are {wanted}")


def _rows(found: dict[str, list[Figures]]) -> Iterator[dict[str, Any]]:
    for name, figures in found.items():
        if name == "memory":
            looks = figures[0]["bytes"]
            yield _row(name, figures, Spread.of([max(looks[3:]) / max(*looks[:3], 1)]), targets.AFA_MEMORY)
            continue
        units = Spread.of(each["cpu"] / each["events"] / each["unit"] for each in figures)
        yield _row(name, figures, units, targets.AFA.get(name))
    times = Spread.of(_times(found, "256 words", "1 words"))
    yield _row("256 words over one", found["256 words"], times, targets.AFA_WORDS)
    times = Spread.of(_times(found, "Q3, a change every 10", "Q3, in batches of 10"))
    yield _row("Q3, a change every 10, over none", found["Q3"], times, targets.AFA_CHANGES)
    for name in ("Q3, a change every 10", *(f"Q3, an arc for {lifetime:,} events" for lifetime in LIFETIMES)):
        plain = "Q3, in batches of 10" if name.endswith("10") else "Q3, a tenth"
        each = [(a["cpu"] - b["cpu"]) / a["changed"] * MICRO for a, b in zip(found[name], found[plain])]
        yield _row(f"{name}: a change", found[name], Spread.of(each), targets.AFA_CHANGE.get(name))


def engine_rows(found: dict[str, list[EngineFigures]]) -> Iterator[dict[str, Any]]:
    """What many subscriptions cost through the engine, and how much more than one."""
    units = {name: [each["cpu"] / each["events"] / each["unit"] for each in figures] for name, figures in found.items()}
    for name, figures in found.items():
        yield _engine_row(name, figures[0], Spread.of(units[name]), None)
    for many, one, readings, target in (
        ("256 words", "1 words", READINGS, targets.AFA_WORDS),
        ("10,000 falls", "1 falls", FALLS_READINGS, targets.AFA_FALLS),
    ):
        for reading in readings:
            several, single = f"engine, {many}, {READINGS[reading]}", f"engine, {one}, {READINGS[reading]}"
            times = Spread.of(a / b for a, b in zip(units[several], units[single]))
            yield _engine_row(f"engine, {many} over one, {READINGS[reading]}", found[several][0], times, target)


def _engine_row(name: str, first: EngineFigures, measured: Spread, target: Target | None) -> dict[str, Any]:
    row = {
        "name": name,
        "inserted": first["results"],
        "retracted": 0,
        "nodes_per_event": None,
        "found": asdict(measured),
    }
    if target is None:
        return row | {"must": None, "aim": None, "measure": "units", "reached": "-"}
    reached = target.reached(measured) if first["compiled"] else "-"
    return row | {"must": target.must, "aim": target.aim, "measure": target.measure, "reached": reached}


def updates_rows(found: dict[str, list[UpdatesFigures]]) -> Iterator[dict[str, Any]]:
    """What an update costs that is given as text, first and in the end."""
    for name, figures in found.items():
        first = figures[0]
        row: dict[str, Any] = {"inserted": first["results"], "retracted": 0, "nodes_per_event": None}
        row |= {"must": None, "aim": None, "measure": "us", "reached": "-"}
        for part, seconds in (
            (f"the first {UPDATES_PART}", [each["first"] for each in figures]),
            (f"the last {UPDATES_PART}", [each["last"] for each in figures]),
        ):
            yield row | {"name": f"{name}: one of {part}", "found": asdict(Spread.of(s * MICRO for s in seconds))}


def _times(found: dict[str, list[Figures]], slower: str, faster: str) -> Iterator[float]:
    for a, b in zip(found[slower], found[faster]):
        yield (a["cpu"] / a["events"] / a["unit"]) / (b["cpu"] / b["events"] / b["unit"])


def _row(name: str, figures: list[Figures], measured: Spread, target: Target | None) -> dict[str, Any]:
    first = figures[0]
    row = {
        "name": name,
        "inserted": first["inserted"],
        "retracted": first["retracted"],
        "nodes_per_event": first["nodes"] / first["events"],
        "found": asdict(measured),
    }
    if target is None:
        measure = "us" if name.endswith(": a change") else "units"
        return row | {"must": None, "aim": None, "measure": measure, "reached": "-"}
    reached = target.reached(measured) if first["compiled"] else "-"
    return row | {"must": target.must, "aim": target.aim, "measure": target.measure, "reached": reached}


def table(answer: dict[str, Any]) -> Table:
    shown = Table(caption_justify="left")
    shown.add_column("workload")
    for heading in ("results", "withdrawn", "nodes an event", "least / median / most", "must", "aim"):
        shown.add_column(heading, justify="right")
    for heading in ("in", "reached"):
        shown.add_column(heading)
    for row in answer["cases"]:
        limits = ["" if row[name] is None else f"{row[name]:g}" for name in ("must", "aim")]
        nodes = "" if row["nodes_per_event"] is None else f"{row['nodes_per_event']:.2f}"
        counts = (f"{row['inserted']:,}", f"{row['retracted']:,}", nodes)
        told = spread(Spread(**row["found"]), 2)
        shown.add_row(row["name"], *counts, told, *limits, row["measure"], row["reached"])
    return shown


QUESTION: Final = Question(
    name="afa",
    text=(
        "What do register automata over disordered streams cost: in order, late, waiting, merged, changing, by key, and"
        " beside other ways to do the same?"
    ),
    bias=(
        "But for what is said of the engine, the executor alone is measured: no reading of results, batches of 100"
        " events, one punctuation for"
        " 500 events. Decoding and the checks of events come on top.",
        "Prices are the paper's synthetic ones, one a time unit; lateness is uniform up to 1,000 time units.",
        "Each trial takes the fastest of three passes; results left must be as many as in order.",
        "The other ways (the AFA paper's two passes; restarting; events that wait for promises or numbers) are ours,"
        " with lists for its tree, compiled as the executor is. What is left must be the same for all.",
        "A change comes between two batches: what is compared with it takes its events in batches of that size, too.",
        "A change is one of conditions that were compiled beforehand: parsing its text costs far more.",
        "What waits starts at a drop of more than 1.15, of one event in thirty: an event has 8 or 32 results.",
    ),
    ask=ask,
    table=table,
)
