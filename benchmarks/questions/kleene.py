"""The question what SASE+ costs: Query 3, its variants, its switches, a naive rival, growth, memory.

Not here: queries, truths and processes (benchmarks.kleene).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, final

import msgpack
from rich.table import Table

from .. import targets, workloads
from ..builds import UNCOMPILED, Build, builds
from ..kleene import queries, truth
from ..kleene.rival import NAIVE, compiled_rival
from ..kleene.trial import Figures, Job
from ..measuring import FULL, ROOT, BenchmarkError, Effort, Say, Spread, agreed, taken_in_turn, trial
from ..plain_loops import w4
from ..report import spread
from ..targets import Target
from ..ticks import Market, Tick, market, packed
from .cases import MICRO, cost, units, warm_batches, workload
from .question import Question

TRIAL: Final = "benchmarks.kleene.trial"
MEMORY: Final = "benchmarks.kleene.memory"
READ: Final = 10  # batches
FEW, MANY, VARIANTS = 100, 10_000, 1_000
LETTERS: Final = 19  # events of a window of 20 before the last one
LETTERS_FEW: Final = 11  # where runs are explicit, there are 2 to the power of that at most
CLIMBS: Final = 40
EXPLICIT: Final = {"runs_max": 100_000_000, "matches_max": 100_000_000}  # a limit would make the others look better
SHARE: Final = 10  # of the events one in so many where runs are explicit, which is slow
MEMORY_TIMES: Final = 10  # the market, over and over
STEADY: Final = 3  # tenths of the events: from then on memory is to be flat


@final
@dataclass(frozen=True, slots=True)
class Case:
    """What a trial runs, on which file, and how many matches it must find. `like`: whose digest it must have."""

    subscriptions: Mapping[str, tuple[str, str]]
    matches: int
    ticks: str = "ticks"
    options: Mapping[str, Any] = field(default_factory=dict)
    counted: bool = False
    naive: tuple[str, int] | None = None
    read: int = 0
    like: str = ""

    def job(self, files: Mapping[str, Path], warm: int, naive: str) -> Job:
        made = Job(
            ticks=str(files[self.ticks]),
            warm=warm,
            read=self.read,
            subscriptions=dict(self.subscriptions),
            options=dict(self.options),
            counted=self.counted,
        )
        if self.naive is not None:
            made["naive"] = (naive, *self.naive)
        return made


def one(text: str) -> dict[str, tuple[str, str]]:
    return {"q": ("sase", text)}


def all_of(texts: Mapping[str, str], language: str = "sase") -> dict[str, tuple[str, str]]:
    return {name: (language, text) for name, text in texts.items()}


def streams(stocks: Market, effort: Effort) -> dict[str, list[Tick]]:
    """Ticks and letters, and the first of both, where a tenth is enough."""
    events, few = effort.warm + effort.events, effort.warm + effort.events // SHARE
    letters = queries.letter_ticks(events)
    return {
        "ticks": list(stocks.ticks[:events]),
        "few ticks": list(stocks.ticks[:few]),
        "letters": letters,
        "few letters": letters[:few],
    }


def cases(stocks: Market, effort: Effort) -> dict[str, Case]:
    """Every trial of the engine and of the rival, by name."""
    made = streams(stocks, effort)
    ticks = made["ticks"]
    found: dict[str, Case] = {}
    for name, measure, within in (("W3", "avg", 500), ("W3", "avg", 5_000), ("max", "max", 500), ("max", "max", 5_000)):
        title = f"{name} W={within:,}"
        matches = truth.query_3(ticks, within, measure)
        found[title] = Case(one(queries.query_3(within, measure)), matches, read=READ)
        found[f"naive {title}"] = Case({}, matches, naive=(measure, within), read=READ, like=title)
    subsets, rising = truth.letters(made["few letters"], LETTERS_FEW), truth.climbs(made["few ticks"], CLIMBS)
    for title, case in {
        "letters": Case(one(queries.letters(LETTERS_FEW)), subsets, "few letters", EXPLICIT, counted=True),
        "climbs": Case(one(queries.climbs(CLIMBS)), rising, "few ticks", EXPLICIT, counted=True),
    }.items():
        found[f"buffer on, {title}"] = case
        found[f"buffer off, {title}"] = replace(case, options={**EXPLICIT, "columns": False})
    found["letters k=20"] = Case(
        one(queries.letters(LETTERS)), truth.letters(made["letters"], LETTERS), "letters", counted=True
    )
    many = min(VARIANTS, effort.subscriptions)
    for title, bounds in (("variants", queries.WIDE), ("rare variants", queries.RARE)):
        percents = queries.percents(many, bounds)
        asked = truth.query_3(ticks, 500, "avg", percents)
        found[title] = Case(all_of(queries.variants(percents, 500)), asked)
    sizes = {"few": FEW, "many": min(MANY, effort.subscriptions)}
    for title, count in sizes.items():
        pairs = queries.pairs(stocks, count, FEW)
        found[f"pairs {title}"] = Case(all_of(queries.pair_texts(pairs)), truth.pairs(ticks, pairs))
    cel = workloads.w4_rare(stocks, sizes["many"], FEW)
    found["cel"] = Case(all_of(workloads.texts(cel), "cayuga"), w4(ticks, cel))
    both = {**found["pairs many"].subscriptions, **found["cel"].subscriptions}
    found["pairs and cel"] = Case(both, found["pairs many"].matches + found["cel"].matches)
    return found


@contextmanager
def written(stocks: Market, effort: Effort) -> Iterator[dict[str, Path]]:
    """The streams as files, which are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="foretell-benchmark-") as folder:
        files: dict[str, Path] = {}
        for name, ticks in streams(stocks, effort).items():
            files[name] = Path(folder) / f"{name.replace(' ', '-')}.msgpack"
            files[name].write_bytes(msgpack.packb(packed(ticks)))
        yield files


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all, compiled where there is a compiler; uncompiled only, of fewer events, to see that it runs."""
    if effort.subscriptions < FULL.subscriptions:
        return _asked(effort, say, [Build(UNCOMPILED, str(ROOT))])
    with builds(say) as forms:
        return _asked(effort, say, forms)


def _asked(effort: Effort, say: Say, forms: list[Build]) -> dict[str, Any]:
    say("making ticks")
    stocks = market(effort.market)
    say("counting matches")
    asked = cases(stocks, effort)
    best = forms[0]
    say("compiling the naive rival")
    rival = compiled_rival(best) if best.compiled else NAIVE
    with written(stocks, effort) as files:
        warm = warm_batches(effort)
        jobs: dict[str, Callable[[], Any]] = {}
        for name, case in asked.items():
            jobs[name] = partial(trial, TRIAL, case.job(files, warm, rival), folder=best.folder)
        for form in forms[1:]:
            for name in targets.KLEENE:
                job = asked[name].job(files, warm, NAIVE)
                jobs[f"{name}, {form.name}"] = partial(trial, TRIAL, job, folder=form.folder)
        found: dict[str, list[Figures]] = taken_in_turn(jobs, effort.repetitions, say)
        lasting = {
            "ticks": str(files["ticks"]),
            "events": MEMORY_TIMES * effort.market,
            "subscriptions": {"avg": queries.query_3(500), "climbs": queries.climbs(CLIMBS)},
        }
        memory = taken_in_turn({"memory": partial(trial, MEMORY, lasting, folder=best.folder)}, 1, say)["memory"]
    for name, case in asked.items():
        checked(name, case, found)
    return {
        "compiled": best.compiled,
        "workload": workload(stocks, effort),
        "cases": list(_rows(asked, found, forms, memory)),
        "matches": {name: str(case.matches) for name, case in asked.items()},  # climbs have more than JSON counts
        "memory": memory[0],
    }


def checked(name: str, case: Case, found: Mapping[str, list[Figures]]) -> None:
    """Raises BenchmarkError where matches are not those of the plain loops, or their events not those of `like`."""
    matches = agreed(name, "matches", [figures["matches"] for figures in found[name]])
    if matches != case.matches:
        raise BenchmarkError(f"{name}: {matches} matches, a plain loop finds {case.matches}")
    if case.like:
        other = found[case.like][0]["digest"]
        if any(figures["digest"] != other for figures in found[name]):
            raise BenchmarkError(f"{name}: the events of its matches are not those of {case.like}")


def _rows(
    asked: Mapping[str, Case], found: Mapping[str, list[Figures]], forms: list[Build], memory: list[Any]
) -> Iterator[dict[str, Any]]:
    best = forms[0]
    for form in forms:
        for name, target in targets.KLEENE.items():
            own = found[name] if form is best else found[f"{name}, {form.name}"]
            judged = target if form.compiled else target.uncompiled()
            yield _row(f"{name}: an event", form.name, 1, units(own), judged)
    for name in targets.KLEENE:
        each = Spread.of(f["read"] / max(1, f["read_matches"]) * MICRO for f in found[name])
        yield _row(f"{name}: a match read with its lineage", best.name, 1, each, None, "us")
        yield _row(f"{name}: the naive rival, an event", best.name, 1, units(found[f"naive {name}"]), None, "units")
    for name in targets.KLEENE:
        times = _times(found, f"naive {name}", name)
        yield _row(f"{name}: over the naive rival", best.name, 1, times, targets.KLEENE_NAIVE)
    switch = targets.KLEENE_SWITCH
    for name in ("letters", "climbs"):
        times = _times(found, f"buffer off, {name}", f"buffer on, {name}")
        yield _row(f"{name}: the shared buffer", best.name, 1, times, switch)
    each = Spread.of(f["cpu"] / f["events"] * MICRO for f in found["letters k=20"])
    yield _row("any, 20 events in the window, counted: an event", best.name, 1, each, targets.KLEENE_LETTERS)
    many = len(asked["variants"].subscriptions)
    for name in ("variants", "rare variants"):
        times = _times(found, name, "W3 W=500")
        told = asked[name].matches // found[name][0]["events"]
        title = f"{name} of Query 3 over one, {told:,} matches an event"
        yield _row(title, best.name, many, times, targets.KLEENE_VARIANTS, asked=VARIANTS)
    many = len(asked["pairs many"].subscriptions)
    times = _times(found, "pairs many", "pairs few")
    yield _row(f"pairs over N={FEW}, equal matches", best.name, many, times, targets.KLEENE_GROWTH, asked=MANY)
    yield _row("pairs: an event", best.name, many, units(found["pairs many"]), None, "units")
    yield _row("as many of CEL: an event", best.name, many, units(found["cel"]), None, "units")
    yield _row("both in one engine: an event", best.name, 2 * many, units(found["pairs and cel"]), None, "units")
    grown = Spread.of(_grown(occupied["bytes"]) for occupied in memory)
    yield _row(f"memory over {memory[0]['events']:,} events", best.name, 2, grown, targets.KLEENE_MEMORY)


def _times(found: Mapping[str, list[Figures]], slower: str, faster: str) -> Spread:
    """Ratios, each of one round of the repetitions."""
    return Spread.of(cost(a) / cost(b) for a, b in zip(found[slower], found[faster]))


def _grown(looks: list[int]) -> float:
    """The most of the later looks over the most of the first ones, which have seen whole windows too."""
    return max(looks[STEADY:]) / max(*looks[:STEADY], 1)


def _row(
    name: str, build: str, count: int, found: Spread, target: Target | None, measure: str = "", asked: int = 1
) -> dict[str, Any]:
    """A row without a target, or of fewer subscriptions than the target speaks of, is not judged."""
    row: dict[str, Any] = {"name": name, "build": build, "count": count, "found": asdict(found)}
    if target is None:
        return row | {"must": None, "aim": None, "measure": measure, "reached": "-"}
    reached = target.reached(found) if count >= asked else "-"
    return row | {"must": target.must, "aim": target.aim, "measure": target.measure, "reached": reached}


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
        limits = ["" if row[name] is None else f"{row[name]:g}" for name in ("must", "aim")]
        digits = 2 if found.median < 10 else 1
        told = spread(found, digits)
        shown.add_row(row["name"], row["build"], f"{row['count']:,}", told, *limits, row["measure"], row["reached"])
    return shown


QUESTION: Final = Question(
    name="kleene",
    text="What does SASE+ cost: Query 3, what it shares and merges, growth, memory; how far is a naive engine behind?",
    bias=(
        "The ticks are synthetic; events are decoded beforehand, in batches of 100. Lineage is on, and made when it is"
        " read: that is a row of its own.",
        "The naive rival is ours, an object for each fork; it is compiled where the engine is, by the same compiler,"
        " and knows its query beforehand, which the engine does not.",
        "Matches are as many as a plain loop finds; those of the last 1,000 events have the events of the rival's.",
        "The buffer is compared where it is meant to help: on letters (one key, 12 events in the window) and on rising"
        " runs that skip, of a tenth of the events.",
        "Compressed results are counted within the clock; without the buffer limits are raised, so that nothing is left"
        " out.",
        "Variants differ in a percentage only: uniform between 5 and 80, so that a thousand have some thousand matches"
        " an event, or between 0.2 and 2, so that they have a few times those of one.",
        "Pairs have boxes that are N/100 times narrower: about as many events begin one, however many there are.",
        "Memory is the resident set, the most of the last seven tenths over the most of the first three.",
    ),
    ask=ask,
    table=table,
)
