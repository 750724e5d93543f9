"""The question what open pages of the console cost those who publish, at half of what the broker can do.

Not here: one trial (console_trial), the wait itself (latency).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from rich.table import Table

from ..builds import UNCOMPILED, Build, fastest
from ..intervals import SURE, Interval
from ..measuring import FULL, ROOT, Effort, Say, trial
from .question import Question

MODULE: Final = "benchmarks.console_trial"
LOAD: Final = 0.5
PAGES: Final = (1, 50)
BATCH: Final = 10
ROUNDS: Final = 60
CHANGE_MAX: Final = 1.10
RELATIVE: Final = (
    ("p99 / control", "p99_control"), ("p99, relative", "p99_relative"),
    ("CPU of the loop, relative", "loop_cpu_relative"), ("CPU of the broker, relative", "cpu_relative"),
    ("loop at questions, part", "held"),
)  # fmt: skip


def job(effort: Effort) -> dict[str, Any]:
    """Many rounds of a second or two a block; few of them to see that it runs."""
    full = effort.subscriptions >= FULL.subscriptions
    messages = max(50, effort.events // 25)
    return {
        "batch": BATCH, "busy": max(200, effort.events // 20), "warm": messages, "messages": messages, "load": LOAD,
        "pages": PAGES, "rounds": ROUNDS if full else 2,
    }  # fmt: skip


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure, compiled where there is a compiler; uncompiled, of few, to see that it runs."""
    if effort.subscriptions < FULL.subscriptions:
        return _asked(effort, say, Build(UNCOMPILED, str(ROOT)))
    with fastest(say) as form:
        return _asked(effort, say, form)


def _asked(effort: Effort, say: Say, form: Build) -> dict[str, Any]:
    say(f"{ROUNDS} rounds")
    found = trial(MODULE, job(effort), folder=form.folder)
    return {
        "compiled": form.compiled,
        "workload": f"one stream, one subscription, messages of {BATCH} events of which one satisfies it",
        "capacity": found["capacity"],
        "seconds": found["seconds"],
        "rounds": len(found["cases"][0]["p99_relative"]),
        "cases": [summary(case) for case in found["cases"]],
    }


def summary(case: dict[str, Any]) -> dict[str, Any]:
    """The medians of all rounds with their intervals. `reached`: None where the interval of the p99 includes the limit,
    so that the measurement does not say."""
    found: dict[str, Any] = {name: case[name] for name in ("pages", "p50", "p99", "longest")}
    for _, name in RELATIVE:
        found[name] = asdict(Interval.of(case[name]))
    low, high = found["p99_relative"]["low"], found["p99_relative"]["high"]
    found["reached"] = True if high <= CHANGE_MAX else False if low > CHANGE_MAX else None
    return found


def table(answer: dict[str, Any]) -> Table:
    shown = Table(caption=f"relative: to the block without pages of the same round; control: so many pages of somebody "
                          f"else; medians of all rounds, and the interval that has the median in {SURE:.0%} of "
                          f"repetitions")  # fmt: skip
    shown.add_column("open pages", justify="right")
    for heading in ("p50 ms", "p99 ms", *(name for name, _ in RELATIVE), "longest question ms", "p99 within 10 %"):
        shown.add_column(heading, justify="right")
    for case in answer["cases"]:
        figures = [_interval(case[name]) for _, name in RELATIVE]
        verdict = {True: "yes", False: "no", None: "not known"}[case["reached"]]
        waits = f"{case['p50']:.2f}", f"{case['p99']:.2f}"
        shown.add_row(str(case["pages"]), *waits, *figures, f"{case['longest']:.2f}", verdict)
    return shown


def _interval(found: dict[str, float]) -> str:
    return f"{found['median']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


QUESTION: Final = Question(
    name="console",
    text="What do open pages of the console add to the wait for a notification, at half of the broker's capacity?",
    bias=(
        "The process that reads the pages is on this machine, too: its processor time is taken from the others, which "
        "a browser elsewhere would not do. The control has the same reader, and a process that writes for it; what "
        "these do also keeps the processors awake, so that waits may be shorter than without pages.",
        "The blocks alternate within one broker: what a page leaves behind would count for the block after it.",
        "Asking the broker for its own count, before and after a block, is in none of them.",
    ),
    ask=ask,
    table=table,
)
