"""The question how an event's cost grows with subscriptions, with a pattern's length, and with skew.

Not here: how it is drawn (plots).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from .. import plain_loops, workloads
from ..builds import fastest
from ..measuring import Effort, Say, Spread, in_turn
from ..report import spread
from ..ticks import Market, market
from ..trial import Figures
from .cases import Case, checked, tick_file, units, warm_batches, workload
from .question import Question

COUNTS: Final = (1_000, 3_000, 10_000, 30_000, 100_000)
LENGTHS: Final = (1, 2, 3, 4, 6, 8)
SKEWS: Final = (0.0, 0.5, 1.0, 1.5, 2.0)
CHAINS: Final = 1_000
SKEWED: Final = 10_000
LIKE: Final = COUNTS[0]


@dataclass(frozen=True, slots=True)
class Point:
    """One measured point of a line of an axis."""

    axis: str
    line: str
    at: float
    case: Case

    @property
    def name(self) -> str:
        return f"{self.line}, {self.axis} {self.at:,g}"


def points(stocks: Market, effort: Effort) -> Iterator[Point]:
    """All of them; O(ticks * subscriptions / symbols) each, for counting the matches."""
    ticks = stocks.ticks[: effort.warm + effort.events]
    for count in sorted({min(count, effort.subscriptions) for count in COUNTS}):
        for line, pairs in (
            ("W4", workloads.w4(stocks, count)),
            ("W4, equal matches", workloads.w4_rare(stocks, count, LIKE)),
        ):
            yield Point("N", line, count, Case(workloads.texts(pairs), plain_loops.w4(ticks, pairs), read=0))
        for line, boxes in (
            ("W5", workloads.w5(stocks, count)),
            ("W5, equal matches", workloads.w5_rare(stocks, count, LIKE)),
        ):
            yield Point("N", line, count, Case(workloads.texts(boxes), plain_loops.w5(ticks, boxes), read=0))
    for length in LENGTHS:
        chains = workloads.chains(stocks, CHAINS, length)
        case = Case(workloads.texts(chains), plain_loops.chains(ticks, chains), read=0)
        yield Point("length", f"chains N={CHAINS:,}", length, case)
    skewed = min(SKEWED, effort.subscriptions)
    for skew in SKEWS:
        pairs = workloads.w4_skewed(stocks, skewed, skew)
        case = Case(workloads.texts(pairs), plain_loops.w4(ticks, pairs), read=0)
        yield Point("skew", f"W4 N={skewed:,}", skew, case)


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all points. Raises BenchmarkError where matches are not those of the plain loops."""
    say("making ticks")
    stocks = market(effort.market)
    say("counting matches")
    asked = list(points(stocks, effort))
    with tick_file(stocks, effort.warm + effort.events) as file, fastest(say) as build:
        jobs = _jobs(asked, file, effort)
        found: dict[str, list[Figures]] = in_turn(jobs, effort.repetitions, "benchmarks.trial", say, build.folder)
    return {
        "compiled": build.compiled,
        "workload": workload(stocks, effort),
        "cases": [_summary(point, effort, checked(point.name, point.case, found[point.name])) for point in asked],
    }


def _jobs(asked: list[Point], file: Path, effort: Effort) -> Mapping[str, Any]:
    return {point.name: point.case.job(file, warm_batches(effort)) for point in asked}


def _summary(point: Point, effort: Effort, found: list[Figures]) -> dict[str, Any]:
    return {
        "axis": point.axis,
        "line": point.line,
        "at": point.at,
        "matches_per_event": float(f"{point.case.matches / (effort.warm + effort.events):.4g}"),
        "states": found[0]["states"],
        "runs": found[0]["runs"],
        "units_per_event": asdict(units(found)),
        "microseconds_per_event": asdict(Spread.of(f["cpu"] / f["events"] * 1e6 for f in found)),
    }


def table(answer: dict[str, Any]) -> Table:
    shown = Table()
    for heading in ("axis", "workload"):
        shown.add_column(heading)
    for heading in ("at", "matches an event", "states", "us an event", "units"):
        shown.add_column(heading, justify="right")
    for case in answer["cases"]:
        shown.add_row(
            case["axis"],
            case["line"],
            f"{case['at']:,g}",
            f"{case['matches_per_event']:.4g}",
            f"{case['states']:,}",
            spread(Spread(**case["microseconds_per_event"]), 2),
            spread(Spread(**case["units_per_event"]), 1),
        )
    return shown


def plot(answer: dict[str, Any], folder: Path) -> list[Path]:
    """A picture an axis."""
    from ..plots import draw  # matplotlib is the extra `plot`

    return draw(answer, folder)


QUESTION: Final = Question(
    name="scaling",
    text="How does the time an event takes grow with the number of subscriptions, with their length, and with skew?",
    bias=(
        "Subscriptions of one form: what many different forms would share less is not seen.",
        "Longer chains match less often; a chain of length 1 is a filter.",
        "Skew is of the subscriptions' symbols; the ticks' symbols have Zipf 1.1 throughout, in the same order.",
        "Equal matches: see the question table.",
    ),
    ask=ask,
    table=table,
    plot=plot,
)
