"""The question what a journal costs through the broker, by how durable answers are.

Not here: one trial (broker_latency); the journal alone, and against SQLite (benchmarks.journal).
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from ..builds import UNCOMPILED, Build, builds
from ..measuring import FULL, ROOT, Effort, Say, Spread, taken_in_turn, trial
from ..report import spread
from ..targets import Target
from .latency import LOAD, MODULE, processors, summary
from .question import Question

BATCH: Final = 100
NONE: Final = "no journal"
MODES: Final = (NONE, "os", "interval", "always")
JUDGED: Final = "always"
KEPT: Final = Target(1 / 2, 3 / 4, "of the rate without a journal", at_least=True)
FOLDER: Final = "journal"  # the name with --data
_MOUNTS: Final = Path("/proc/self/mounts")


def job(mode: str, effort: Effort) -> dict[str, Any]:
    """Five times the effort's events, as a disk takes its time."""
    messages = max(50, 5 * effort.events // BATCH)
    asked = {"batch": BATCH, "messages": messages, "warm": messages // 10, "load": LOAD}
    folder = effort.data.get(FOLDER)
    if mode == NONE:
        return asked
    return asked | {"fsync": mode, "folder": None if folder is None else str(folder.absolute())}


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure each mode in turn, compiled where there is a compiler; uncompiled, of few, to see that it runs."""
    if effort.subscriptions < FULL.subscriptions:
        return _asked(effort, say, Build(UNCOMPILED, str(ROOT)))
    with builds(say) as forms:
        return _asked(effort, say, forms[-1])


def _asked(effort: Effort, say: Say, build: Build) -> dict[str, Any]:
    trials = {mode: partial(trial, MODULE, job(mode, effort), folder=build.folder) for mode in MODES}
    found = taken_in_turn(trials, effort.repetitions, say)
    rates = [each["capacity"] for each in found[NONE]]
    cases = []
    for mode, repetitions in found.items():
        kept = Spread.of(each["capacity"] / rate for each, rate in zip(repetitions, rates, strict=True))
        reached = KEPT.reached(kept) if mode == JUDGED else "-"
        cases.append({"name": mode, **summary(repetitions), "kept": asdict(kept), "reached": reached})
    folder = effort.data.get(FOLDER, Path(tempfile.gettempdir())).absolute()
    return {
        "compiled": build.compiled,
        "workload": f"one stream, messages of {BATCH} events, one subscription, which each message satisfies once",
        "file_system": file_system(folder),
        "cases": cases,
    }


def file_system(folder: Path) -> str:
    """The kind of file system that this folder is on; where the system does not say it, that it does not."""
    if not _MOUNTS.exists():
        return "unknown"
    mounts = [line.split()[1:3] for line in _MOUNTS.read_text(encoding="utf-8").splitlines()]
    there = folder.resolve()
    over = [(len(place), kind) for place, kind in mounts if there.is_relative_to(place)]
    return max(over)[1] if over else "unknown"


def table(answer: dict[str, Any]) -> Table:
    shown = Table(
        caption=f"journal on {answer['file_system']}; processors used by publisher + broker + subscriber at capacity",
        caption_justify="left",
    )
    shown.add_column("fsync")
    for heading in ("capacity, events/s", "of none", "p50 ms", "p99 ms", "processors", "reached"):
        shown.add_column(heading, justify="right")
    for case in answer["cases"]:
        figures = [
            spread(Spread(**case[of]), decimals)
            for of, decimals in (("capacity", 0), ("kept", 2), ("p50", 2), ("p99", 2))
        ]
        shown.add_row(case["name"], *figures, processors(case, "busy_cpu"), case["reached"])
    return shown


QUESTION: Final = Question(
    name="durability",
    text="What does a journal cost through the broker, in batches of 100, by when it is synced?",
    bias=(
        "One publisher with up to 64 messages under way, so that many share a sync; one that waits for each receipt "
        "waits for a sync each time.",
        "The ratio is of trials one after the other; p50 and p99 are at half of each mode's own capacity.",
        "Publisher and subscriber share the machine with the broker: what they cost is in both rates.",
        "Where no folder is named, the journal is in the system's temporary folder: on tmpfs a sync costs nothing.",
    ),
    ask=ask,
    table=table,
)
