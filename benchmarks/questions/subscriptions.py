"""The question how the embedded engine's rate depends on the number of CEL subscriptions.

Each case is a set of subscriptions; all see the same ticks, each repetition has its own process, and the number of
matches must be that of the plain loops.
"""

from __future__ import annotations

from typing import Any, Final

from rich.table import Table

from .. import plain_loops, workloads
from ..measuring import Effort, Say, Spread, agreed, in_turn
from ..report import spread
from ..ticks import Market, market
from ..trial import Figures
from .cases import Case, checked, summary, tick_file, warm_batches, workload
from .question import Question

COUNTS: Final = (1, 100, 10_000)


def cases(stocks: Market, events: int) -> dict[str, Case]:
    """W1, W2, and W4 with 1, 100 and 10,000 subscriptions."""
    ticks = stocks.ticks[:events]
    found = {
        "W1": Case({"q0": workloads.W1}, plain_loops.w1(ticks)),
        "W2": Case({"q0": workloads.W2}, plain_loops.w2(ticks)),
    }
    for count in COUNTS:
        pairs = workloads.w4(stocks, count)
        found[f"W4 N={count:,}"] = Case(workloads.texts(pairs), plain_loops.w4(ticks, pairs))
    return found


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all cases. Raises BenchmarkError where the engine's matches are not those of the plain loops."""
    say("making ticks")
    stocks = market(effort.market)
    events = effort.warm + effort.events
    asked = cases(stocks, events)
    with tick_file(stocks, events) as file:
        jobs = {name: case.job(file, warm_batches(effort)) for name, case in asked.items()}
        measured: dict[str, list[Figures]] = in_turn(jobs, effort.repetitions, "benchmarks.trial", say)
    for name, repetitions in measured.items():
        checked(name, asked[name], repetitions)
    return {
        "compiled": agreed("all", "compiled or not", [f["compiled"] for found in measured.values() for f in found]),
        "workload": workload(stocks, effort),
        "cases": [summary(name, len(asked[name].subscriptions), found) for name, found in measured.items()],
    }


def table(answer: dict[str, Any]) -> Table:
    shown = Table(caption_justify="left")
    shown.add_column("workload")
    rates = ("subscr.", "matches", "events/s", "us an event", "units")
    for heading in (*rates, "us a match read", "us a match in columns", "us a subscribe"):
        shown.add_column(heading, justify="right")
    for case in answer["cases"]:
        shown.add_row(
            case["name"],
            f"{case['subscriptions']:,}",
            f"{case['matches']:,}",
            spread(Spread(**case["events_per_second"]), 0),
            spread(Spread(**case["microseconds_per_event"]), 2),
            spread(Spread(**case["units_per_event"]), 1),
            _median(case, "microseconds_per_match_read"),
            _median(case, "microseconds_per_match_in_columns"),
            f"{case['microseconds_per_subscribe']['median']:,.0f}",
        )
    return shown


def _median(case: dict[str, Any], name: str) -> str:
    return f"{case[name]['median']:.1f}" if name in case else "-"


QUESTION: Final = Question(
    name="subscriptions",
    text="How many events a second does the embedded engine take with 1, 100 and 10,000 CEL subscriptions?",
    bias=(
        "The ticks are synthetic: no ties in time, no nulls, no overlap, one stream of three attributes.",
        "One process and no network; events are decoded beforehand, in batches of 100.",
        "Results are made but not read; reading a match is measured apart. Lineage is off, as CEL has it by default.",
        "W4 starts many partial matches and completes few: a tick's step is small beside the thresholds' distance.",
        "All two-step subscriptions have one form, which the engine keeps as sorted columns: other forms cost more.",
        "We are our own rival: nothing else is measured here, and we chose the workload.",
    ),
    ask=ask,
    table=table,
)
