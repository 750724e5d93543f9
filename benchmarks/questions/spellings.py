"""The question what it costs to write the same in another way, in all languages.

Not here: the texts (spellings), what one process does (spellings_trial).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from rich.table import Table

import broker

from ..groups.trial import Figures
from ..measuring import BenchmarkError, Effort, Say, Spread, agreed, in_turn
from ..spellings import FAMILIES
from ..spellings_trial import Job
from ..ticks import market
from .cases import MICRO, cost, tick_file, workload
from .question import Question
from .shapes import constants_file

COUNT: Final = 10_000
EVENTS: Final = 20_000
SECONDS: Final = 2.0  # of publishing
REGISTERING: Final = 20.0
REPETITIONS: Final = 3  # at most
MUST: Final = 1.5  # times the cheapest way of a family
FOLDER: Final = Path(broker.__file__).parents[1]  # the engine that this process has is measured


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all ways of all families. Raises BenchmarkError where two ways of a family have different matches."""
    say("making ticks")
    stocks, events, count = market(effort.market), min(EVENTS, effort.events), min(COUNT, effort.subscriptions)
    asked = [(family, way) for family, ways in FAMILIES.items() for way in ways]
    with tick_file(stocks, events) as ticks, constants_file(stocks, count) as constants:
        jobs = {
            f"{family}: {way}": Job(
                ticks=str(ticks), constants=str(constants), family=family, way=way, count=count,
                seconds=SECONDS, registering=REGISTERING,
            )
            for family, way in asked
        }  # fmt: skip
        repetitions = min(REPETITIONS, effort.repetitions)
        found: dict[str, list[Figures]] = in_turn(jobs, repetitions, "benchmarks.spellings_trial", say, FOLDER)
    for family, ways in FAMILIES.items():
        check(family, {way: found[f"{family}: {way}"] for way in ways})
    return {
        "compiled": agreed("all", "compiled or not", [f["compiled"] for each in found.values() for f in each]),
        "workload": {**workload(stocks, effort), "events": events},
        "cases": [summary(family, way, count, found[f"{family}: {way}"]) for family, way in asked],
    }


def check(family: str, found: Mapping[str, list[Figures]]) -> None:
    """As far as two ways came, they have as many matches after any events."""
    ways = list(found)
    for way in ways:
        for figures in found[way]:
            one, other = figures["counts"], found[ways[0]][0]["counts"]
            far = min(len(one), len(other))
            if one[:far] != other[:far]:
                raise BenchmarkError(f"{family}: {other[:far]} matches as {ways[0]!r}, {one[:far]} as {way!r}")


def summary(family: str, way: str, count: int, found: list[Figures]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "family": family,
        "way": way,
        "language": FAMILIES[family][way].language,
        "count": count,
        "registered": min(figures["registered"] for figures in found),
        "groups_made": found[0]["groups"],
        "microseconds_per_subscribe": asdict(Spread.of(f["subscribe"] * MICRO for f in found)),
        "events": min(figures["events"] for figures in found),
    }
    if told["events"]:
        told["units_per_event"] = asdict(Spread.of(map(cost, found)))
        told["matches_per_event"] = float(f"{found[0]['matches'] / found[0]['events']:.4g}")
    return told


def table(answer: dict[str, Any]) -> Table:
    """A row a way, with how many times the cheapest of its family it costs."""
    shown = Table(caption_justify="left")
    for heading in ("family", "spelling", "language"):
        shown.add_column(heading)
    for heading in ("groups", "matches an event", "units", "times the cheapest", "us a subscribe"):
        shown.add_column(heading, justify="right")
    worst: list[str] = []
    for family in FAMILIES:
        cases = [case for case in answer["cases"] if case["family"] == family]
        measured = [case["units_per_event"]["median"] for case in cases if "units_per_event" in case]
        for case in cases:
            units = case.get("units_per_event", {}).get("median")
            times = None if units is None else units / min(measured)
            if times is None or times > MUST:
                worst.append(f"{family}: {case['way']}")
            shown.add_row(
                family, case["way"], case["language"], str(case["groups_made"]),
                f"{case['matches_per_event']:.3g}" if units is not None else "-",
                f"{units:,.1f}" if units is not None else f"stopped at {case['registered']:,}",
                f"{times:.1f}" if times is not None else "-",
                f"{case['microseconds_per_subscribe']['median']:,.0f}",
            )  # fmt: skip
    shown.caption = f"More than {MUST:g} times the cheapest: {', '.join(worst) or 'none'}."
    return shown


QUESTION: Final = Question(
    name="spellings",
    text="What does it cost to write the same in another way, with 10,000 subscriptions?",
    bias=(
        "The families are those that the rules of rewriting know; a meaning has spellings that none of them has.",
        "Constants are those of `shapes`; all subscriptions of a run are written in one way.",
        f"What takes longer stops: publishing after {SECONDS:g} s, and registering after {REGISTERING:g} s. The events"
        " of a row that stopped are the first ones.",
        "Results are made, and counted; they are not read. SASE+ and P-ToPSS collect lineage.",
        "It measures the engine that the command has: PYTHONPATH=.venv/native:. python -P -m benchmarks spellings.",
    ),
    ask=ask,
    table=table,
)
