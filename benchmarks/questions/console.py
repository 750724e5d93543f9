"""The question what open pages of the console cost those who publish, at half of what the broker can do.

Not here: one trial (console_trial), the wait itself (latency).
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from itertools import chain
from statistics import median
from typing import Any, Final

from rich.table import Table

from ..builds import UNCOMPILED, Build, builds
from ..measuring import FULL, ROOT, Effort, Say, Spread, taken_in_turn, trial
from ..report import spread
from .question import Question

MODULE: Final = "benchmarks.console_trial"
LOAD: Final = 0.5
PAGES: Final = (1, 50)
BATCH: Final = 10
CHANGE_MAX: Final = 1.10


def job(effort: Effort) -> dict[str, Any]:
    """Rounds of some seconds each; few of them to see that it runs."""
    full = effort.subscriptions >= FULL.subscriptions
    messages = max(50, effort.events // 40)
    return {
        "batch": BATCH, "busy": max(200, effort.events // 20), "warm": messages, "messages": messages, "load": LOAD,
        "pages": PAGES, "rounds": 8 if full else 1,
    }  # fmt: skip


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure, compiled where there is a compiler; uncompiled, of few, to see that it runs."""
    if effort.subscriptions < FULL.subscriptions:
        return _asked(effort, say, Build(UNCOMPILED, str(ROOT)))
    with builds(say) as forms:
        return _asked(effort, say, forms[-1])


def _asked(effort: Effort, say: Say, form: Build) -> dict[str, Any]:
    measured = {"pages": partial(trial, MODULE, job(effort), folder=form.folder)}
    found = taken_in_turn(measured, effort.repetitions, say)["pages"]
    return {
        "compiled": form.compiled,
        "workload": f"one stream, one subscription, messages of {BATCH} events of which one satisfies it",
        "cases": [summary([each["cases"][at] for each in found]) for at in range(1 + len(PAGES))],
    }


def summary(repetitions: list[dict[str, Any]]) -> dict[str, Any]:
    """The spreads of a number of pages; of what is relative, over all rounds."""
    found: dict[str, Any] = {"pages": repetitions[0]["pages"]}
    for name in ("p50", "p99"):
        found[name] = asdict(Spread.of(each[name] for each in repetitions))
    for name in ("p99_relative", "cpu_relative"):
        found[name] = asdict(Spread.of(chain.from_iterable(each[name] for each in repetitions)))
    found["reached"] = median(chain.from_iterable(each["p99_relative"] for each in repetitions)) <= CHANGE_MAX
    return found


def table(answer: dict[str, Any]) -> Table:
    shown = Table(caption="relative: to the stretch without pages of the same round; medians decide")
    shown.add_column("open pages", justify="right")
    for heading in ("p50 ms", "p99 ms", "p99, relative", "broker's CPU, relative", "within 10 %"):
        shown.add_column(heading, justify="right")
    for case in answer["cases"]:
        figures = [spread(Spread(**case[of]), 2) for of in ("p50", "p99", "p99_relative", "cpu_relative")]
        shown.add_row(str(case["pages"]), *figures, "yes" if case["reached"] else "no")
    return shown


QUESTION: Final = Question(
    name="console",
    text="What do open pages of the console add to the wait for a notification, at half of the broker's capacity?",
    bias=(
        "The process that reads the pages is on this machine, too: its processor time is taken from the others, which "
        "a browser elsewhere would not do.",
        "The stretches alternate within one broker: what a page leaves behind would count for the stretch after it.",
    ),
    ask=ask,
    table=table,
)
