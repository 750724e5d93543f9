"""The question how long it takes from publishing to the notification, at half of what the broker can do.

Not here: one trial (broker_latency).
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any, Final

from rich.table import Table

from ..builds import UNCOMPILED, Build, builds
from ..measuring import FULL, ROOT, Effort, Say, Spread, taken_in_turn, trial
from ..report import spread
from ..targets import Target
from .question import Question

MODULE: Final = "benchmarks.broker_latency"
LOAD: Final = 0.5
BATCHES: Final = (1, 100)
P50, P99 = Target(1.0, 0.5, "ms"), Target(5.0, 2.0, "ms")
OVER_FLOOR: Final = Target(1.3, 1.1, "times")  # where P99 is out of reach of the machine
PROCESSES: Final = ("publisher", "broker", "subscriber")
CPU: Final = ("busy_cpu", "paced_cpu")
FIGURES: Final = ("capacity", "p50", "p99", "longest", "sent_p99", "machine_p99", "floor_p99", "over_floor")


def job(batch: int, effort: Effort) -> dict[str, Any]:
    """A tenth of the effort's events, one by one; all of them in batches."""
    messages = max(100, effort.events // (10 if batch == 1 else batch))
    return {"batch": batch, "messages": messages, "warm": messages // 10, "load": LOAD}


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure both batches, compiled where there is a compiler; uncompiled only, of few, to see that it runs."""
    if effort.subscriptions < FULL.subscriptions:
        return _asked(effort, say, [Build(UNCOMPILED, str(ROOT))])
    with builds(say) as forms:
        return _asked(effort, say, forms)


def _asked(effort: Effort, say: Say, forms: list[Build]) -> dict[str, Any]:
    trials = {
        f"{batch} in a message, {build.name}": partial(trial, MODULE, job(batch, effort), folder=build.folder)
        for build in forms
        for batch in BATCHES
    }
    found = taken_in_turn(trials, effort.repetitions, say)
    cases = []
    for name, repetitions in found.items():
        case = {"name": name, **summary(repetitions)}
        judged = (("p50", P50), ("p99", P99), ("over_floor", OVER_FLOOR))
        case["reached"] = [target.reached(Spread(**case[of])) for of, target in judged]
        cases.append(case)
    return {
        "compiled": forms[-1].compiled,
        "workload": "one stream, one subscription, which each message satisfies once",
        "cases": cases,
    }


def summary(repetitions: list[dict[str, Any]]) -> dict[str, Any]:
    """The spreads of a case's figures, and of the processors that each process has used, by part of the run."""
    figures = {
        figure: asdict(Spread.of(each[figure] for each in repetitions)) for figure in FIGURES if figure != "over_floor"
    }
    figures["over_floor"] = asdict(Spread.of(each["p99"] / each["floor_p99"] for each in repetitions))
    return figures | {
        part: {who: asdict(Spread.of(each[part][who] for each in repetitions)) for who in PROCESSES} for part in CPU
    }


def processors(case: dict[str, Any], part: str) -> str:
    """What publisher, broker and subscriber have used, in processors; medians."""
    return " + ".join(f"{case[part][who]['median']:.2f}" for who in PROCESSES)


def table(answer: dict[str, Any]) -> Table:
    shown = Table(
        caption="processors used by publisher + broker + subscriber: at capacity, and at half of it; medians",
        caption_justify="left",
    )
    shown.add_column("events")
    waits = ("p50 ms", "p99 ms", "longest ms", "p99 since sent", "p99 of the machine", "p99 bare ROUTER", "over it")
    headings = ("capacity, events/s", *waits)
    for heading in (*headings, "at capacity", "at half", "reached"):
        shown.add_column(heading, justify="right")
    for case in answer["cases"]:
        figures = [spread(Spread(**case[of]), 0 if of == "capacity" else 2) for of in FIGURES]
        used = [processors(case, part) for part in CPU]
        shown.add_row(case["name"], *figures, *used, ", ".join(case["reached"]))
    return shown


QUESTION: Final = Question(
    name="latency",
    text="How long from publishing to the notification, over loopback, at half of the broker's capacity?",
    bias=(
        "Three processes on this machine: with fewer than four processors they also wait for each other. Where what "
        "they use adds up to nearly all processors, at half of the capacity too, the machine is what limits.",
        "The capacity is measured by the same publisher in the same run: a slow publisher makes a light load.",
        "A wait is counted from the moment at which a message was due, not from when it could be sent. How late the "
        "publisher is for the same moments when it sends nothing is told beside it, as the machine's.",
        "A bare ROUTER between the same publisher and subscriber, at the same moments, is what the machine and ZeroMQ"
        " take by themselves: where its longest waits are several milliseconds, no broker's are shorter.",
        "What the publisher sends was made before, and is frozen: its collector does not pause it.",
        "Without a journal; what that adds is the question durability's.",
    ),
    ask=ask,
    table=table,
)
