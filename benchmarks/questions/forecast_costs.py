"""The question what forecasts cost: a transition, the mathematics, and counting beside matching.

Not here: one process (forecast_trial), the workloads (workloads).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from rich.table import Table

from .. import workloads
from ..builds import UNCOMPILED, Build, builds
from ..forecast_trial import HORIZON, STATES, Figures, Job
from ..measuring import FULL, ROOT, Effort, Say, Spread, in_turn
from ..report import spread
from ..targets import Target
from ..ticks import Market, market
from .cases import tick_file, warm_batches
from .question import Question

MODULE: Final = "benchmarks.forecast_trial"
MANY: Final = 1_000
POOLED: Final = {"within": HORIZON, "threshold": 0.8}
CONTEXTS: Final = {**POOLED, "context": ["key"]}
COUNTING: Final = {**POOLED, "effective": 1e9}  # nothing is ever said, so that no probability is asked for
TRANSITION: Final = Target(15, 15)
SHARE: Final = Target(0.25, 0.25, "of matching")
PASSAGE: Final = Target(1.0, 1.0, "ms")
GROWTH: Final = Target(1.5, 1.1, "times")  # of what is not touched
BESIDE: Final = "W1 beside {:,} untouched"


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all, compiled where there is a compiler; uncompiled only, of fewer events, to see that it runs."""
    if effort.subscriptions < FULL.subscriptions:
        return _asked(effort, say, [Build(UNCOMPILED, str(ROOT))])
    with builds(say) as forms:
        return _asked(effort, say, forms)


def _asked(effort: Effort, say: Say, forms: list[Build]) -> dict[str, Any]:
    stocks = market(effort.market)
    many = min(MANY, effort.subscriptions)
    few = many // 10
    asked: dict[str, tuple[Mapping[str, str], Mapping[str, Any]]] = {
        "W1": ({"q0": workloads.W1}, POOLED),
        "W1, counting only": ({"q0": workloads.W1}, COUNTING),
        "W1, context key": ({"q0": workloads.W1}, CONTEXTS),
        "W2": ({"q0": workloads.W2}, POOLED),
        "W2, counting only": ({"q0": workloads.W2}, COUNTING),
        f"W4 N={few:,}": (workloads.texts(workloads.w4(stocks, few)), POOLED),
        BESIDE.format(few): (_beside(stocks, few), POOLED),
        BESIDE.format(many): (_beside(stocks, many), POOLED),
    }
    found: dict[str, dict[str, list[Figures]]] = {}
    with tick_file(stocks, effort.warm + effort.events) as ticks:
        for form in forms:
            jobs = {
                name: Job(
                    ticks=str(ticks),
                    warm=warm_batches(effort),
                    subscriptions=dict(texts),
                    forecast=dict(forecast),
                )
                for name, (texts, forecast) in asked.items()
            }
            found[form.name] = in_turn(jobs, effort.repetitions, MODULE, say, form.folder)
    cases = [row for form in forms for row in _rows(form, found[form.name], (BESIDE.format(few), BESIDE.format(many)))]
    return {
        "compiled": forms[0].compiled,
        "mathematics_compiled": next(iter(found[forms[0].name].values()))[0]["mathematics_compiled"],
        "workload": {"events": effort.events, "warm": effort.warm, "few": few, "many": many},
        "cases": cases,
    }


def _beside(stocks: Market, count: int) -> dict[str, str]:
    """W1 and so many subscriptions of W4 of symbols that are never traded."""
    others = [replace(pair, symbol=f"never {pair.symbol}") for pair in workloads.w4(stocks, count)]
    return {**workloads.texts(others), "W1": workloads.W1}


def _rows(form: Build, found: Mapping[str, list[Figures]], sizes: tuple[str, str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, figures in found.items():
        plain = Spread.of(f["plain"] / f["events"] / f["unit"] for f in figures)
        more = Spread.of((f["predictive"] - f["plain"]) / f["events"] / f["unit"] for f in figures)
        share = Spread.of(f["predictive"] / f["plain"] - 1.0 for f in figures)
        rows.append(_row(form, f"{name}: matching, an event", plain, None, "units"))
        rows.append(_row(form, f"{name}: forecasts beside it, an event", more, _judged(name), "units"))
        judged = SHARE if "counting" in name else None
        rows.append(_row(form, f"{name}: forecasts beside matching", share, judged, SHARE.measure))
    every = [f for figures in found.values() for f in figures]
    for name, key in (("pool", "step_pool"), ("key and month", "step_contexts")):
        units = Spread.of(f[key] / f["unit"] for f in every)  # type: ignore[literal-required]
        rows.append(_row(form, f"a step counted and asked for, {name}", units, TRANSITION, "units"))
    milliseconds = Spread.of(f["passage"] * 1_000 for f in every)
    rows.append(_row(form, f"h of {STATES} states, N = {HORIZON}", milliseconds, PASSAGE, "ms"))
    few, many = (found[name] for name in sizes)
    times = Spread.of(b["predictive"] / a["predictive"] for a, b in zip(few, many))
    rows.append(_row(form, f"{sizes[1]} over {sizes[0]}, an event with forecasts", times, GROWTH, GROWTH.measure))
    return rows


def _judged(name: str) -> Target | None:
    """W1 alone has exactly one transition an event: its key's run ends, and another begins."""
    return TRANSITION if name.startswith("W1") and "untouched" not in name else None


def _row(form: Build, name: str, found: Spread, target: Target | None, measure: str) -> dict[str, Any]:
    if target is TRANSITION and not form.compiled:
        target = TRANSITION.uncompiled()
    reached = "-" if target is None else target.reached(found)
    limit = None if target is None else target.must
    return {
        "name": name,
        "build": form.name,
        "found": asdict(found),
        "must": limit,
        "measure": measure,
        "reached": reached,
    }


def table(answer: dict[str, Any]) -> Table:
    shown = Table(caption_justify="left")
    shown.add_column("row")
    shown.add_column("form")
    for heading in ("least / median / most", "must"):
        shown.add_column(heading, justify="right")
    shown.add_column("in")
    shown.add_column("reached")
    for row in answer["cases"]:
        must = "" if row["must"] is None else f"{row['must']:g}"
        found = spread(Spread(**row["found"]), 2)
        shown.add_row(row["name"], row["build"], found, must, row["measure"], row["reached"])
    return shown


QUESTION: Final = Question(
    name="forecast_costs",
    text="What do forecasts cost: a transition, the mathematics, and counting beside matching?",
    bias=(
        "The same ticks go through an engine without forecasts and one with them in turn, in one process; results are"
        " read outside the clock.",
        "W1 is the worst case: each tick ends the run of its key and begins another, so that each event is a transition"
        " and its probability is asked for.",
        "'Forecasts beside it' is everything: counting, first passages, notices, what became of them, calibration;"
        " 'counting only' never asks for a probability.",
        "W4 touches N/100 subscriptions an event, each of which then takes a step; 'untouched' ones are of symbols that"
        " never come.",
        "A step alone walks the first three of six states, over and over; its rows settle, as those of a stream do.",
        "h is of a chain with three edges a state, computed anew; an engine does so only where rows have moved.",
    ),
    ask=ask,
    table=table,
)
