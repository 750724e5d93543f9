"""The question whether P-ToPSS's section 6.1 is reproduced, and what an event costs beside it, up to 100,000.

Not here: the load (composite_workload), the paper's states and transitions (composite_machines), what the paper says of
them (composite_statements), one process (composite_trial).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from .. import targets
from ..builds import UNCOMPILED, Build, fastest
from ..composite_machines import Replay, merged
from ..composite_scale import CHECKED, COUNTS, MICRO, STREAMS, cost, growth, memory, rows_of, streams
from ..composite_statements import SMALL, Lines, statements
from ..composite_trial import PAPER, Figures, Job, Stream
from ..composite_workload import Distribution, Settings, relevant, stream, subscriptions
from ..measuring import FULL, ROOT, BenchmarkError, Effort, Say, Spread, in_turn
from ..report import spread
from ..ticks import market
from .cases import tick_file
from .question import Question

SHARE: Final = 100  # of the size of Effort.subscriptions: the paper's 1,000, of which the figures are
TIMES: Final = (1, 2, 3, 4, 5)  # that many
SMALL_POOL: Final = 20
GAPS: Final = (0, 1, 2, 3, 5, 7, 9)
LENGTHS: Final = (3, 5, 10, 15, 20)
POOLS: Final = (20, 50, 100, 150, 200)
EACH: Final = 100  # events a subscription in a figure; the second half is measured
TICKS: Final = 50_000  # for the unit
MODULE: Final = "benchmarks.composite_trial"
DISTRIBUTIONS: Final[tuple[Distribution, ...]] = ("uniform", "gaussian")
LABELS: Final[Mapping[str, tuple[str, str]]] = {
    "9a": ("subscriptions", "states, merged"),
    "9b": ("subscriptions", "CPU time an event, microseconds"),
    "9c": ("operators `;` of 9", "CPU time an event, microseconds"),
    "9d": ("primitives in a subscription", "commonality: shared states / states unmerged"),
    "9e": ("event pool", "states, merged"),
    "9f": ("event pool", "transitions an event"),
    "scale": ("subscriptions", "CPU time an event, units"),
}


@dataclass(frozen=True, slots=True)
class Point:
    """A measured point of a figure: of which line, at which x, on which load."""

    figure: str
    line: str
    at: float
    settings: Settings

    @property
    def name(self) -> str:
        return f"{self.figure}, {self.line}, {self.at:g}"


def points(size: int, step: int = 1) -> Iterator[Point]:
    """Each `step`th point of the figures; `size` is the paper's 1,000."""
    for cs in DISTRIBUTIONS:
        for pool, name in ((Settings().pool, ""), (SMALL_POOL, SMALL)):
            for times in TIMES[::step]:
                load = Settings(count=size * times, pool=pool, primitives=cs)
                yield Point("9a", f"{cs}_cs{name}", load.count, load)
                yield Point("9b", f"{cs}_cs{name}", load.count, load)
        load = Settings(count=size, primitives=cs)
        for gaps in GAPS[::step]:
            yield Point("9c", f"{cs}_cs", gaps, replace(load, gaps=gaps))
        for length in LENGTHS[::step]:
            yield Point("9d", f"{cs}_cs", length, replace(load, length=length))
        for pool in POOLS[::step]:
            yield Point("9e", f"{cs}_cs", pool, replace(load, pool=pool))
            for pub in DISTRIBUTIONS:
                yield Point("9f", f"{cs}_cs, {pub}_pub", pool, replace(load, pool=pool, partials=pub))


def counted(asked: Iterable[Point], say: Say) -> dict[str, float]:
    """The points that no clock is needed for. Raises BenchmarkError where two ways of merging differ."""
    found: dict[str, float] = {}
    for point in asked:
        say(point.name)
        chains = subscriptions(point.settings)
        if point.figure == "9f":
            replay, events = Replay(point.settings, chains), stream(point.settings, chains)
            half = EACH * len(chains) // 2
            replay.take(islice(events, half))
            fired = replay.take(islice(events, half))
            found[point.name] = fired.transitions / fired.events
        elif point.figure in ("9a", "9d", "9e"):
            whole = merged(chains)
            states = Replay(point.settings, chains).states
            if states != len(whole.states):
                raise BenchmarkError(f"{point.name}: {len(whole.states)} merged states, a plain trie has {states}")
            found[point.name] = whole.commonality if point.figure == "9d" else len(whole.states)
    return found


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure everything. Raises BenchmarkError where matches or states are not those of the plain loops."""
    if effort.subscriptions < FULL.subscriptions:
        return _asked(effort, say, Build(UNCOMPILED, str(ROOT)))  # to see that it runs, nothing is built
    with fastest(say) as build:
        return _asked(effort, say, build)


def _asked(effort: Effort, say: Say, build: Build) -> dict[str, Any]:
    quick = effort.subscriptions < FULL.subscriptions
    asked = list(points(effort.subscriptions // SHARE, 2 if quick else 1))
    exact = counted(asked, say)
    timed = {point.name: point for point in asked if point.figure in ("9b", "9c")}
    scales = {f"N={n:,}": Settings(count=n) for n in sorted({min(n, effort.subscriptions) for n in COUNTS})}
    with tick_file(market(TICKS), TICKS) as ticks:
        jobs = {name: _job(ticks, p.settings, [_figure_stream(p.settings)]) for name, p in timed.items()}
        jobs |= {name: _job(ticks, load, streams(load, effort)) for name, load in scales.items()}
        found: dict[str, list[Figures]] = in_turn(jobs, effort.repetitions, MODULE, say, build.folder)
    say("checking matches")
    for name, job in jobs.items():
        _check(name, Settings(**job["settings"]), job["streams"], found[name])
    cases: list[dict[str, Any]] = []
    for point in asked:
        if point.name in exact:
            measured = Spread.of([exact[point.name]])
        else:
            window = (EACH * point.settings.count // 2, EACH * point.settings.count)
            measured = Spread.of(cost(f, "paper", window).seconds * MICRO for f in found[point.name])
        cases.append({"figure": point.figure, "line": point.line, "at": point.at, "found": asdict(measured)})
    rows = [row for name, load in scales.items() for row in rows_of(load, effort, found[name])]
    return {
        "compiled": build.compiled,
        "workload": asdict(Settings(count=effort.subscriptions // SHARE)),
        "cases": cases,
        "statements": [asdict(each) for each in statements(_lines(cases))],
        "scale": rows,
        "growth": [asdict(growth(rows, key)) | {"stream": key} for key in STREAMS] if len(scales) > 1 else [],
        "memory": [memory(load, found[name]) for name, load in scales.items()],
    }


def _job(ticks: Path, load: Settings, streams: list[Stream]) -> Job:
    return Job(ticks=str(ticks), settings=asdict(load), streams=streams)


def _figure_stream(load: Settings) -> Stream:
    half = EACH * load.count // 2
    return Stream(name="paper", kind=PAPER, cuts=sorted({min(CHECKED, half), half, 2 * half}), fresh=False)


def _check(name: str, load: Settings, published: Iterable[Stream], repetitions: list[Figures]) -> None:
    """The matches of each stream's first events are the replay's, for streams that met an engine without events."""
    chains = subscriptions(load)
    for asked in published:
        if asked["name"] == "saturated":
            continue
        first = asked["cuts"][0]
        events = stream(load, chains) if asked["kind"] == PAPER else iter(relevant(load, asked["cuts"][-1]))
        expected = Replay(load, chains).take(islice(events, first)).matches
        for figures in repetitions:
            matches = figures["courses"][asked["name"]]["slices"][0]["matches"]
            if matches != expected:
                raise BenchmarkError(f"{name}, {asked['name']}: {matches} matches, a plain loop finds {expected}")


def _lines(cases: list[dict[str, Any]]) -> dict[str, Lines]:
    figures: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for case in cases:
        line = figures.setdefault(case["figure"], {}).setdefault(case["line"], [])
        line.append((case["at"], case["found"]["median"]))
    return {name: dict(lines) for name, lines in figures.items()}


def table(answer: dict[str, Any]) -> Table:
    """The paper's statements, then time, growth and memory beside what they must be."""
    shown = Table()
    for heading in ("what", "", "N"):
        shown.add_column(heading)
    shown.add_column("least / median / most", justify="right")
    shown.add_column("must / aim", justify="right")
    shown.add_column("reached")
    for each in answer["statements"]:
        holds = "holds" if each["holds"] else "does not hold"
        shown.add_row(each["figure"], f"{each['says']}\n  {each['reason']}", "", "", "", holds)
    shown.add_section()
    for row in answer["scale"]:
        limits = f"{row['must']:g} / {row['aim']:g} units" if "must" in row else "units"
        tuples = row["tuples_per_match_at_the_end"]
        matches = f"{row['matches_per_event']:g} matches an event, at the end of {tuples:g} tuples each"
        collecting = row["in_full_collections"]["most"]
        matches += f"; up to {collecting:.0f} units are full garbage collections" if collecting else ""
        about = f"{STREAMS[row['stream']]}; {matches}"
        shown.add_row("time", about, f"{row['count']:,}", spread(Spread(**row["found"]), 1), limits, row["reached"])
    for row in answer["growth"]:
        limit = f"{targets.COMPOSITE_GROWTH.must:g}"
        shown.add_row("exponent", STREAMS[row["stream"]], "", f"{row['exponent']:.2f}", limit, row["reached"])
    shown.add_section()
    for row in answer["memory"]:
        count = f"{row['count']:,}"
        shown.add_row("memory", f"{row['terms']:,} terms, MB", count, _megabytes(row["loaded"]), "", "")
        for name in ("pool", "paper", "saturated"):
            shown.add_row("memory", f"  and in the stream {name!r}, MB more", count, _megabytes(row[name]), "", "")
        seconds = spread(Spread(**row["subscribe_seconds"]), 1)
        shown.add_row("registering", "from text, s", count, seconds, "", "")
    return shown


def _megabytes(found: Mapping[str, float]) -> str:
    return spread(Spread(*(found[name] / 1e6 for name in ("least", "median", "most"))), 1)


def plot(answer: dict[str, Any], folder: Path) -> list[Path]:
    """A picture a figure, and one of the scale."""
    from ..plots import Lines as Curves  # matplotlib is the extra `plot`
    from ..plots import curves

    folder.mkdir(parents=True, exist_ok=True)
    figures: dict[str, Curves] = {}
    for case in answer["cases"]:
        figures.setdefault(case["figure"], {}).setdefault(case["line"], []).append((case["at"], case["found"]))
    for row in answer["scale"]:
        line = STREAMS[row["stream"]]
        figures.setdefault("scale", {}).setdefault(line, []).append((row["count"], row["found"]))
    return [
        curves(answer, folder / f"composites-{name}.svg", lines, LABELS[name], name == "scale", name == "scale")
        for name, lines in figures.items()
    ]


QUESTION: Final = Question(
    name="composites",
    text="Is P-ToPSS's section 6.1 reproduced, and what does an event cost, up to 100,000 subscriptions?",
    bias=(
        "The paper's generator and defaults; its Gaussians are ours: mean in the middle, deviation range / 6.",
        "States are the paper's, merged (broker.automaton.machines); what runs is a trie of words and terms of them.",
        "Transitions are primary ones between merged states, replayed: words make most of them unnecessary.",
        "A primitive is one event of the pool, so that an event satisfies one; no variables, conditions or WITHIN.",
        "report = completions: a match has a count and a witness, neither of which is read while the clock runs.",
        "Figures are on 100 of the paper's stream's 2,300 events a subscription; the second half of these is measured.",
        "What follows `;` waits for ever, so that cost rises along a stream: hence the same number of events, the same"
        " share, and the worst case once more on an engine that all of that has passed (not judged).",
        "Full garbage collections count. At 100,000 one takes seconds, and whether it falls into a part is chance.",
        "Memory is of the resident set; names and texts, which the caller keeps, are not counted.",
    ),
    ask=ask,
    table=table,
    plot=plot,
)
