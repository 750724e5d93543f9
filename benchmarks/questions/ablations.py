"""The question what each optimisation saves: every workload with each switch of the engine off, and uncompiled.

All forms must find the same matches, with the same ids and values; otherwise there is no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from .. import plain_loops, workloads
from ..builds import Build, builds
from ..measuring import Effort, Say, Spread, agreed, taken_in_turn, trial
from ..ticks import Market, market
from ..trial import Figures
from .cases import Case, checked, tick_file, units, warm_batches, workload
from .question import Question

SWITCHES: Final = ("indexes", "batches")
ON, ALL_OFF, UNCOMPILED = "all on", "all off", "uncompiled"
SHARE: Final = 10  # of the events one in so many: without an index an event can take a hundred times as long
COUNT: Final = 2_000


def cases(stocks: Market, effort: Effort) -> dict[str, Case]:
    """Workloads that the indexes are for: W1 and W2 for that of runs, jumps for that of the arcs out of a state, W4 and
    W5 for groups."""
    ticks = stocks.ticks[: effort.warm + effort.events // SHARE]
    count = min(COUNT, effort.subscriptions)
    pairs, boxes = workloads.w4(stocks, count), workloads.w5(stocks, count)
    jumps = workloads.jumps(stocks, count)
    return {
        "W1": Case({"q0": workloads.W1}, plain_loops.w1(ticks)),
        "W2": Case({"q0": workloads.W2}, plain_loops.w2(ticks)),
        f"W4 N={count:,}": Case(workloads.texts(pairs), plain_loops.w4(ticks, pairs)),
        f"W5 N={count:,}": Case(workloads.texts(boxes), plain_loops.w5(ticks, boxes)),
        f"jumps N={count:,}": Case(workloads.texts(jumps), plain_loops.jumps(ticks, jumps)),
    }


def variants(forms: list[Build]) -> dict[str, tuple[dict[str, bool], Build]]:
    """Switches and form by name; the first one is the reference."""
    best = forms[0]
    found: dict[str, tuple[dict[str, bool], Build]] = {ON: ({}, best)}
    for switch in SWITCHES:
        found[f"no {switch}"] = ({switch: False}, best)
    found[ALL_OFF] = (dict.fromkeys(SWITCHES, False), best)
    if best is not forms[-1]:
        found[UNCOMPILED] = ({}, forms[-1])
    return found


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all. Raises BenchmarkError where anything finds other matches."""
    say("making ticks")
    stocks = market(effort.market)
    asked = cases(stocks, effort)
    events = effort.warm + effort.events // SHARE
    with tick_file(stocks, events) as file, builds(say) as forms:
        compared = variants(forms)
        measurements = {
            f"{name}, {variant}": _trial(replace(case, options=options), file, effort, build)
            for name, case in asked.items()
            for variant, (options, build) in compared.items()
        }
        found = taken_in_turn(measurements, effort.repetitions, say)
        compiled = forms[0].compiled
    return {
        "compiled": compiled,
        "workload": workload(stocks, effort) | {"events": effort.events // SHARE},
        "variants": list(compared),
        "cases": [_summary(name, case, found, list(compared)) for name, case in asked.items()],
    }


def _trial(case: Case, file: Path, effort: Effort, build: Build) -> Callable[[], Any]:
    return partial(trial, "benchmarks.trial", case.job(file, warm_batches(effort)), folder=build.folder)


def _summary(name: str, case: Case, found: Mapping[str, list[Figures]], compared: list[str]) -> dict[str, Any]:
    """Units by variant. The matches of the last batches must be equal in all of them, to the last value."""
    of = {variant: checked(f"{name}, {variant}", case, found[f"{name}, {variant}"]) for variant in compared}
    return {
        "name": name,
        "subscriptions": len(case.subscriptions),
        "matches": case.matches,
        "digest": agreed(name, "matches read", [figures["digest"] for taken in of.values() for figures in taken]),
        "units_per_event": {variant: asdict(units(taken)) for variant, taken in of.items()},
    }


def table(answer: dict[str, Any]) -> Table:
    """Medians, and how many times the reference's each is."""
    shown = Table(caption="units an event, medians, and how many times those of all on", caption_justify="left")
    shown.add_column("workload")
    for variant in answer["variants"]:
        shown.add_column(variant, justify="right")
    for case in answer["cases"]:
        found = {variant: Spread(**values).median for variant, values in case["units_per_event"].items()}
        cells = [f"{units:,.1f} ({units / found[ON]:.1f}x)" for units in found.values()]
        shown.add_row(case["name"], *cells)
    return shown


QUESTION: Final = Question(
    name="ablations",
    text="What does each optimisation save?",
    bias=(
        "Each switch is off alone, and all at once; what two of them save together is not seen.",
        "A tenth of the usual events, since some forms are slow; the workloads are those that the indexes are for.",
        "Sharing of equal states, and results in columns, have no switch.",
        "Matches of the last 10,000 events are compared in full, those before by number.",
    ),
    ask=ask,
    table=table,
)
