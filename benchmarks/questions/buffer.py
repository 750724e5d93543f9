"""The question what it costs to hold events back until they are in order: real flights, as they are reported.

Not here: the flights and the subscriptions (afa.flights_trial).
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any, Final

from rich.table import Table

from .. import targets
from ..afa.flights_trial import FlightsFigures, FlightsJob, Language
from ..builds import fastest
from ..measuring import BenchmarkError, Effort, Say, Spread, agreed, taken_in_turn, trial
from ..report import spread
from .question import Question

TRIAL: Final = "benchmarks.afa.flights_trial"
MATCHES: Final = 6_643  # counted without any engine
LANGUAGES: Final[tuple[Language, ...]] = ("cayuga", "sase")


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Both orders in each language. Raises BenchmarkError where the matches are not those that there are."""
    with fastest(say) as form:
        jobs = {
            f"{language}, {'as reported, held back' if reported else 'in order'}": partial(
                trial, TRIAL, dict(FlightsJob(language=language, reported=reported)), folder=form.folder
            )
            for language in LANGUAGES
            for reported in (False, True)
        }
        found: dict[str, list[FlightsFigures]] = taken_in_turn(jobs, effort.repetitions, say)
    return answered(found)


def answered(found: dict[str, list[FlightsFigures]]) -> dict[str, Any]:
    cases: list[dict[str, Any]] = []
    for name, figures in found.items():
        matches = agreed(name, "matches", [each["matches"] for each in figures])
        if matches != MATCHES:
            raise BenchmarkError(f"{name}: expected {MATCHES} matches, found {matches}")
        cost = Spread.of(each["cpu"] / each["events"] / each["unit"] for each in figures)
        row = {"name": name, "matches": matches, "overtaken": figures[0]["overtaken"], "measure": "units"}
        cases.append(row | {"found": asdict(cost), "must": None, "reached": "-"})
    compiled = all(each["compiled"] for figures in found.values() for each in figures)
    for language in LANGUAGES:
        pairs = zip(found[f"{language}, as reported, held back"], found[f"{language}, in order"], strict=True)
        times = Spread.of(late["cpu"] / late["unit"] / (early["cpu"] / early["unit"]) for late, early in pairs)
        reached = targets.BUFFER.reached(times) if compiled else "-"
        row = {"name": f"{language}, held back over in order", "matches": MATCHES, "overtaken": 0, "measure": "times"}
        cases.append(row | {"found": asdict(times), "must": targets.BUFFER.must, "reached": reached})
    first = next(iter(found.values()))[0]
    return {"compiled": compiled, "workload": {"events": first["events"]}, "cases": cases}


def table(answer: dict[str, Any]) -> Table:
    shown = Table(caption_justify="left")
    shown.add_column("events")
    for heading in ("matches", "overtaken", "least / median / most", "must"):
        shown.add_column(heading, justify="right")
    for heading in ("in", "reached"):
        shown.add_column(heading)
    for row in answer["cases"]:
        must = "" if row["must"] is None else f"{row['must']:g}"
        told = spread(Spread(**row["found"]), 2)
        counts = (f"{row['matches']:,}", f"{row['overtaken']:,}")
        shown.add_row(row["name"], *counts, told, must, row["measure"], row["reached"])
    return shown


QUESTION: Final = Question(
    name="buffer",
    text="What does it cost to hold back late events, on a year of flights in the order in which they departed?",
    bias=(
        "Through the embedded engine, in batches of 100, all matches read; decoding is not included.",
        "Seven departures in ten come after one that was due later, up to a day late: far more than in most streams.",
        "The subscription is cheap, so that holding back is a large part of the whole.",
    ),
    ask=ask,
    table=table,
)
