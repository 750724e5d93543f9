"""The question whether the figures of AFA's section 6 and appendix D have the same shapes here.

Each statement that the paper makes of a figure is tested on the points that are measured, and told as held or not.
Not here: contests (benchmarks.afa), drawing (plots).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast, final

from rich.table import Table

from ..afa.contests import a_second, contests
from ..afa.rivals_trial import MAXIMAL, Contest, ContestFigures
from ..builds import UNCOMPILED, Build, builds
from ..measuring import FULL, ROOT, Effort, Say, Spread
from .question import Question

ROUNDS: Final = 3
IN_BLOCKS: Final = {"sharing": False, "waiting": False}
AHEAD: Final = (0, 100, 250, 500, 1_000, 5_000)
LATE: Final = (0, 5, 10, 15, 20)
IGNORED: Final = (0, 10, 30, 50, 70, 80, 90)
EVERY: Final = (1, 5, 10, 50, 100)
OVER: Final = 1.05  # what two measurements may differ by and count as equal

Points: TypeAlias = dict[str, dict[float, float]]
"""By line and x, the measured value."""


@final
@dataclass(frozen=True, slots=True)
class PaperFigure:
    """`jobs`: by line and x. `value`: what of a contest is drawn. `says`: what the paper says of it, and the test."""

    number: int
    x: str
    y: str
    jobs: dict[tuple[str, float], Contest]
    value: Callable[[ContestFigures], Spread]
    says: tuple[tuple[str, Callable[[Points], bool]], ...]


def _told(figures: ContestFigures) -> Spread:
    return Spread.of([figures["inserted"] + figures["retracted"]])


def _waited(figures: ContestFigures) -> Spread:
    return Spread.of([figures["waited"]])


def _stored(figures: ContestFigures) -> Spread:
    return Spread.of([figures["stored"]])


def _ends(line: dict[float, float]) -> tuple[float, float]:
    return line[min(line)], line[max(line)]


def _rises(line: dict[float, float], by: float = 1.0) -> bool:
    first, last = _ends(line)
    return last > first * by


def paper_figures(events: int) -> list[PaperFigure]:
    """All that can be measured here. The paper's real prices and its plan of joins (IPM) cannot."""

    def q1(**more: Any) -> Contest:
        made: Any = {"contestant": "repair", "query": "Q1", "events": events, "within": 500, **more}
        return cast("Contest", made)

    def q2(**more: Any) -> Contest:
        return q1(query="Q2", up=0.7, **more)

    def q3(**more: Any) -> Contest:
        return q1(query="Q3", **more)

    bars: dict[tuple[str, float], Contest] = {
        ("AFA+O", 0): q1(contestant="numbered", within=2_000, switches={}),
        ("AFA", 0): q1(within=2_000, switches=IN_BLOCKS),
        ("AFA+ignore", 0): q1(within=2_000),
        ("CAN", 0): q1(query="CAN", within=2_000),
        ("two passes", 0): q1(contestant="two passes", within=2_000),
    }
    changing = {("static", float(d)): q3() for d in (EVERY[0], EVERY[-1])}
    changing |= {("dynamic arcs", float(d)): q3(changes=d) for d in EVERY}
    changing |= {("restart", float(d)): q3(contestant="restart", changes=d) for d in EVERY if d > 1}
    limits = [*AHEAD, MAXIMAL]
    speculating = {
        (f"I = {share}%", float(_ahead(limit))): q1(
            k=1, late=0.05, moved=5_000, ignored=share / 100, speculation=limit, single=True
        )
        for share in (70, 90)
        for limit in limits
    }
    late = {
        (line, float(share)): q2(contestant=contestant, late=share / 100)
        for line, contestant in (("AFA", "repair"), ("AFA+O", "numbered"), ("two passes", "two passes"))
        for share in LATE
    }
    ignoring = {
        (line, float(share)): q1(k=1, ignored=share / 100, switches=switches)
        for line, switches in (("AFA+ignore", {}), ("AFA", IN_BLOCKS))
        for share in IGNORED
    }
    rate, stored, most = "thousand events a second", "partial matches stored", float(_ahead(MAXIMAL))
    return [
        PaperFigure(8, "", rate, bars, a_second, (
            ("AFA+O has the highest throughput", lambda p: p["AFA+O"][0] * OVER >= p["AFA"][0]),
            ("AFA is slightly worse, followed by AFA+ignore", lambda p: p["AFA"][0] * OVER >= p["AFA+ignore"][0]),
            ("CAN is around 25% slower than AFA+ignore", lambda p: 0.65 < p["CAN"][0] / p["AFA+ignore"][0] < 0.85),
        )),
        PaperFigure(9, "events between changes", rate, changing, a_second, (
            ("A change every 10 events costs less than 10%", lambda p: p["dynamic arcs"][10] > 0.9 * p["static"][1]),
            ("Restarting degenerates quickly", lambda p: p["restart"][10] < p["dynamic arcs"][10] / 3),
        )),
        PaperFigure(10, "speculation", "results told, and withdrawn", speculating, _told, (
            ("The output grows with speculation", lambda p: all(_rises(line) for line in p.values())),
            ("It grows by less where more can be ignored", lambda p: _growth(p["I = 90%"]) < _growth(p["I = 70%"])),
            ("It grows 14 times at I = 70%, 4.5 times at 90%",
             lambda p: _growth(p["I = 70%"]) > 10 and _growth(p["I = 90%"]) > 3),
        )),
        PaperFigure(11, "speculation", "events until a result is told", speculating, _waited, (
            ("Latency falls with speculation", lambda p: all(not _rises(line) for line in p.values())),
            ("Without a limit it is less than 0.5", lambda p: all(line[most] < 0.5 for line in p.values())),
        )),
        PaperFigure(12, "% of the events late", rate, late, a_second, (
            ("In order, AFA and AFA+O are comparable", lambda p: 0.8 < p["AFA"][0] / p["AFA+O"][0] < 1.25),
            ("Disorder makes AFA slower", lambda p: p["AFA"][20] * OVER < p["AFA"][0]),
            ("AFA+O has the highest throughput", lambda p: all(p["AFA+O"][x] > p["AFA"][x] for x in p["AFA"] if x)),
            ("AFA+O is mildly affected", lambda p: p["AFA+O"][20] > 0.75 * p["AFA+O"][0]),
        )),
        PaperFigure(13, "% of the events late", stored, late, _stored, (
            ("Memory grows with disorder", lambda p: _rises(p["AFA"], OVER)),
            ("That of AFA+O grows less", lambda p: _growth(p["AFA+O"]) < _growth(p["AFA"])),
        )),
        PaperFigure(16, "% of the events ignored", rate, ignoring, a_second, (
            ("Throughput grows with what is ignored", lambda p: _rises(p["AFA+ignore"])),
            ("It drops a little at first", lambda p: p["AFA+ignore"][10] < p["AFA+ignore"][0]),
            ("Beyond 80% it is higher than that of the basic form", lambda p: p["AFA+ignore"][90] > p["AFA"][90]),
        )),
        PaperFigure(17, "% of the events ignored", stored, ignoring, _stored, (
            ("Memory falls a lot with what is ignored", lambda p: p["AFA+ignore"][90] < 0.5 * p["AFA+ignore"][0]),
            ("In the basic form it stays high", lambda p: p["AFA"][90] > 0.7 * p["AFA"][0]),
            ("Below 20% the basic form needs less", lambda p: p["AFA"][10] < p["AFA+ignore"][10]),
        )),
    ]  # fmt: skip


def _ahead(limit: int) -> int:
    """Where a limit is drawn: no limit as twice the largest."""
    return 2 * AHEAD[-1] if limit == MAXIMAL else limit


def _growth(line: dict[float, float]) -> float:
    first, last = _ends(line)
    return last / max(first, 1)


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """All figures, compiled where there is a compiler."""
    if effort.subscriptions < FULL.subscriptions:
        return _asked(effort, say, Build(UNCOMPILED, str(ROOT)))
    with builds(say) as forms:
        return _asked(effort, say, forms[0])


def _asked(effort: Effort, say: Say, form: Build) -> dict[str, Any]:
    events = effort.events // (5 if form.compiled else 10)
    asked = paper_figures(events)
    groups = {str(sorted(map(str, figure.jobs))): figure.jobs for figure in asked}  # two figures may show the same
    jobs = {name: {f"{line} {x:g}": job for (line, x), job in own.items()} for name, own in groups.items()}
    found = contests(jobs, form, min(effort.repetitions, ROUNDS), say)
    cases: list[dict[str, Any]] = []
    statements: list[dict[str, Any]] = []
    for figure in asked:
        own = found[str(sorted(map(str, figure.jobs)))]
        points: Points = {}
        for line, x in figure.jobs:
            value = figure.value(own[f"{line} {x:g}"])
            points.setdefault(line, {})[x] = value.median
            cases.append({"figure": figure.number, "line": line, "x": x, "y": asdict(value), "of": figure.y})
        for text, holds in figure.says:
            statements.append({"figure": figure.number, "says": text, "held": bool(holds(points))})
    return {"compiled": form.compiled, "workload": {"events": events}, "cases": cases, "statements": statements}


def table(answer: dict[str, Any]) -> Table:
    shown = Table(caption_justify="left")
    for heading in ("figure", "the paper says", "held"):
        shown.add_column(heading)
    for row in answer["statements"]:
        shown.add_row(str(row["figure"]), row["says"], "yes" if row["held"] else "no")
    for row in answer["cases"]:
        shown.add_row(str(row["figure"]), f"{row['line']}, {row['x']:g}: {row['y']['median']:g} {row['of']}", "")
    return shown


def plot(answer: dict[str, Any], folder: Path) -> list[Path]:
    """A picture a figure."""
    from ..plots import bars, curves

    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    for figure in paper_figures(answer["workload"]["events"]):
        own = [case for case in answer["cases"] if case["figure"] == figure.number]
        path = folder / f"afa-{figure.number}.svg"
        if figure.x == "":
            made.append(bars(answer, path, {case["line"]: case["y"] for case in own}, figure.y))
            continue
        lines: dict[str, list[tuple[float, Any]]] = {}
        for case in own:
            lines.setdefault(case["line"], []).append((case["x"], case["y"]))
        made.append(curves(answer, path, lines, (figure.x, figure.y), figure.number == 9, figure.number == 9))
    return made


QUESTION: Final = Question(
    name="afa_figures",
    text="Do figures 8 to 13, 16 and 17 of the AFA paper have the same shapes here?",
    bias=(
        "The paper's generator and queries; its real prices and its plan of joins (IPM) are not there.",
        "Fences have bounds that the paper's automata lack, so that fewer runs are stored, and partial matches are"
        " counted instead of bytes. AFA is the executor without sharing of blocks, AFA+ignore the executor as it is,"
        " AFA+O events that wait for their numbers in front of it, CAN the automaton in two states with a register.",
        "The two passes and restarting are ours, compiled as the executor is. Latency is counted in events.",
    ),
    ask=ask,
    table=table,
    plot=plot,
)
