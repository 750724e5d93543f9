"""The question whether SASE+ finds exactly the heat waves that are known in the archive of temperatures.

Not here: reading the archive (forecasts.temperatures), publishing it (kleene.temperatures).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from rich.table import Table

from ..builds import UNCOMPILED, Build, fastest
from ..forecasts.temperatures import EVENTS
from ..kleene.temperatures import EXPECTED
from ..measuring import FULL, ROOT, BenchmarkError, Effort, Say, Spread, taken_in_turn, trial
from ..report import spread
from .cases import MICRO
from .question import Question

NAME: Final = "temperatures"
MODULE: Final = "benchmarks.kleene.temperatures"


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Publish all of it, compiled where there is a compiler; uncompiled for a first look."""
    if effort.subscriptions < FULL.subscriptions:
        return _asked(effort, say, Build(UNCOMPILED, str(ROOT)))
    with fastest(say) as build:
        return _asked(effort, say, build)


def _asked(effort: Effort, say: Say, build: Build) -> dict[str, Any]:
    job = {NAME: str(effort.data[NAME].absolute())}
    found = taken_in_turn({NAME: partial(trial, MODULE, job, folder=build.folder)}, effort.repetitions, say)[NAME]
    for figures in found:
        if figures["events"] != EVENTS or figures["matches"] != EXPECTED:
            raise BenchmarkError(
                f"{NAME}: expected {EVENTS:,} events with {EXPECTED} matches,"
                f" found {figures['events']:,} with {figures['matches']}"
            )
    each = Spread.of(figures["cpu"] / figures["events"] * MICRO for figures in found)
    return {
        "compiled": build.compiled,
        "workload": {"events": EVENTS},
        "cases": [{"name": name, "matches": count} for name, count in EXPECTED.items()],
        "microseconds_per_event": {"least": each.least, "median": each.median, "most": each.most},
    }


def table(answer: dict[str, Any]) -> Table:
    each = Spread(**answer["microseconds_per_event"])
    events = answer["workload"]["events"]
    shown = Table(caption=f"{events:,} events, {spread(each, 2)} us an event with both", caption_justify="left")
    shown.add_column("five hot days in a row")
    shown.add_column("matches", justify="right")
    for case in answer["cases"]:
        shown.add_row(case["name"], f"{case['matches']:,}")
    return shown


QUESTION: Final = Question(
    name="kleene_temperatures",
    text="Does SASE+ find the heat waves that are known in the archive of temperatures, all and without overlap?",
    bias=(
        "Days are published in the order of days, then stations; a day without a temperature is not.",
        "Both subscriptions are in one engine; lineage is off, and each result is read outside the clock.",
    ),
    ask=ask,
    table=table,
    needs=(NAME,),
)
