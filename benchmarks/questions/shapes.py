"""The question what each shape of subscription costs, in all languages, with groups and without.

Not here: the shapes (groups.queries), what one process does (groups.trial), how it is drawn (plots).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, Final

import msgpack
from rich.table import Table

import broker

from ..groups.queries import FILTERS, MIXED, NAMES
from ..groups.shapes import drawn
from ..groups.trial import COMING, Figures, Job
from ..measuring import FULL, BenchmarkError, Effort, Say, Spread, agreed, in_turn
from ..ticks import Market, market
from .cases import MICRO, cost, tick_file, workload
from .question import Question

COUNTS: Final = (1, 100, 1_000, 10_000, 100_000)
MILLION: Final = 1_000_000  # of filters, where the effort is the full one
EVENTS: Final = 20_000
SECONDS: Final = 3.0  # of publishing
REGISTERING: Final = {True: 40.0, False: 8.0}  # seconds, with groups and without
REGISTERING_MILLION: Final = 200.0
FOLDER: Final = Path(broker.__file__).parents[1]  # the engine that this process has is measured


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement: a shape, so many subscriptions, groups or none."""

    shape: str
    count: int
    groups: bool

    @property
    def name(self) -> str:
        return f"{self.shape}, N={self.count:,}, {'groups' if self.groups else 'no groups'}"

    def job(self, ticks: Path, constants: Path) -> Job:
        million = self.count >= MILLION
        return Job(
            ticks=str(ticks),
            constants=str(constants),
            shape=self.shape,
            count=self.count,
            off=[] if self.groups else ["groups"],
            seconds=SECONDS,
            registering=REGISTERING_MILLION if million else REGISTERING[self.groups],
            comes=self.shape == MIXED and self.groups,
        )


def points(effort: Effort) -> list[Point]:
    counts = sorted({min(count, effort.subscriptions) for count in COUNTS})
    found = [Point(shape, count, groups) for count in counts for shape in NAMES for groups in (True, False)]
    return [*found, Point(FILTERS, MILLION, True)] if effort.subscriptions >= FULL.subscriptions else found


@contextmanager
def constants_file(stocks: Market, count: int) -> Iterator[Path]:
    """A temporary file of what so many subscriptions draw."""
    with tempfile.TemporaryDirectory(prefix="foretell-benchmark-") as folder:
        file = Path(folder) / "constants.msgpack"
        file.write_bytes(msgpack.packb([astuple(each) for each in drawn(stocks, count)]))
        yield file


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all points. Raises BenchmarkError where matches with groups are not those without."""
    say("making ticks")
    stocks = market(effort.market)
    asked = points(effort)
    events = min(EVENTS, effort.events)
    most = max(point.count for point in asked)
    with tick_file(stocks, events) as ticks, constants_file(stocks, most + COMING) as constants:
        jobs = {point.name: point.job(ticks, constants) for point in asked}
        found: dict[str, list[Figures]] = in_turn(jobs, effort.repetitions, "benchmarks.groups.trial", say, FOLDER)
    for point in asked:
        if point.groups:
            check(point, found)
    return {
        "compiled": agreed("all", "compiled or not", [f["compiled"] for each in found.values() for f in each]),
        "workload": {**workload(stocks, effort), "events": events},
        "cases": [summary(point, found[point.name]) for point in asked],
    }


def check(point: Point, found: Mapping[str, list[Figures]]) -> None:
    """With and without groups, as far as both came, matches are equal after any events."""
    ways = [found[point.name], found.get(Point(point.shape, point.count, False).name, [])]
    counts = [figures["counts"] for way in ways for figures in way]
    for one in counts:
        far = min(len(one), len(counts[0]))
        if one[:far] != counts[0][:far]:
            raise BenchmarkError(f"{point.name}: {counts[0][:far]} matches, in another run {one[:far]}")


def summary(point: Point, found: list[Figures]) -> dict[str, Any]:
    first = found[0]
    told: dict[str, Any] = {
        "shape": point.shape,
        "count": point.count,
        "groups": point.groups,
        "registered": min(figures["registered"] for figures in found),
        "groups_made": first["groups"],
        "microseconds_per_subscribe": asdict(Spread.of(f["subscribe"] * MICRO for f in found)),
        "bytes_each": asdict(Spread.of(f["bytes"] for f in found)),
        "events": min(figures["events"] for figures in found),
    }
    if told["events"]:
        told["units_per_event"] = asdict(Spread.of(map(cost, found)))
        told["microseconds_per_event"] = asdict(Spread.of(f["cpu"] / f["events"] * MICRO for f in found))
        told["counting_per_event"] = asdict(Spread.of(f["counting"] / f["events"] / f["unit"] for f in found))
        told["matches_per_event"] = float(f"{first['matches'] / first['events']:.4g}")
    for name in first["coming"]:
        told[f"microseconds {name}"] = asdict(Spread.of(f["coming"][name] * MICRO for f in found))
    return told


def table(answer: dict[str, Any]) -> Table:
    shown = Table(caption_justify="left")
    shown.add_column("shape")
    for heading in (
        "N",
        "matches an event",
        "units",
        "without groups",
        "us a subscribe",
        "without",
        "bytes",
        "without",
    ):
        shown.add_column(heading, justify="right")
    cases = answer["cases"]
    without = {(case["shape"], case["count"]): case for case in cases if not case["groups"]}
    for case in cases:
        if case["groups"]:
            other = without.get((case["shape"], case["count"]))
            both = (case, other)
            shown.add_row(
                case["shape"],
                f"{case['count']:,}",
                f"{case['matches_per_event']:.3g}" if "matches_per_event" in case else "-",
                *(units(each) for each in both),
                *(middle(each, "microseconds_per_subscribe") for each in both),
                *(middle(each, "bytes_each") for each in both),
            )
    told = [case for case in cases if "microseconds in mean" in case]
    lines = [
        f"{case['shape']}, N={case['count']:,}: one in or out, with the next event of its key, microseconds: "
        + ", ".join(
            f"{name} {middle(case, f'microseconds {name}')}"
            for name in ("in mean", "in worst", "out mean", "out worst")
        )
        for case in told
    ]
    shown.caption = "\n".join(lines)
    return shown


def units(case: Mapping[str, Any] | None) -> str:
    """Units an event; how far it came where it stopped."""
    if case is None:
        return "-"
    if "units_per_event" not in case:
        return f"stopped at {case['registered']:,} subscriptions"
    told = f"{case['units_per_event']['median']:,.1f}"
    return told if case["events"] >= EVENTS else f"{told} (first {case['events']:,} events)"


def middle(case: Mapping[str, Any] | None, name: str) -> str:
    return "-" if case is None else f"{case[name]['median']:,.0f}"


def plot(answer: dict[str, Any], folder: Path) -> list[Path]:
    """A picture a language: units an event by the number of subscriptions."""
    from ..plots import curves  # matplotlib is the extra `plot`

    folder.mkdir(parents=True, exist_ok=True)
    drawn_files: list[Path] = []
    for language in dict.fromkeys(name.split(":")[0] for name in NAMES):
        for groups, what in ((True, "groups"), (False, "without")):
            lines: dict[str, list[tuple[float, Mapping[str, float]]]] = {}
            for case in answer["cases"]:
                own = case["shape"].split(":")[0] == language and case["groups"] is groups
                if own and "units_per_event" in case:
                    name = case["shape"].partition(": ")[2]
                    lines.setdefault(name, []).append((case["count"], case["units_per_event"]))
            file = "".join(letter for letter in language.lower() if letter.isalnum())
            path = folder / f"shapes-{file}-{what}.svg"
            drawn_files.append(curves(answer, path, lines, ("subscriptions", "units an event"), True, True))
    return drawn_files


QUESTION: Final = Question(
    name="shapes",
    text="What does an event cost with up to 100,000 subscriptions of each shape, with groups and without?",
    bias=(
        "The constants lie around each symbol's median, so that an event passes some of the conditions of many.",
        "Every set has one shape, except the mixed one; each shape has 100 symbols, so that a group has N/100 members.",
        "Results are made, and counted, which is timed apart; they are not read. SASE+ and P-ToPSS collect lineage.",
        f"What takes longer stops: publishing after {SECONDS:g} s, and registering after {REGISTERING[True]:g} s with"
        f" groups and {REGISTERING[False]:g} s without. The events of a row that stopped are the first ones.",
        "Memory is of the resident set, and includes the names that the caller makes.",
        "It measures the engine that the command has: PYTHONPATH=.venv/native:. python -P -m benchmarks shapes.",
    ),
    ask=ask,
    table=table,
    plot=plot,
)
