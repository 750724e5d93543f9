"""What durability costs, and whether segment files or SQLite hold the journal: `python -m benchmarks.journal`.

Each design in each mode, with one batch of 100 events to a commit (a publisher that waits) and with sixteen (publishers
that do not, whose batches share a sync), each trial in a process of its own, in turn. Not here: a trial itself.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from .journal_trial import BATCH_EVENTS, DESIGNS
from .measuring import Spread, taken_in_turn, trial
from .provenance import provenance

QUESTION: Final = "What does a journal cost, by mode, and is it segment files or SQLite?"
BIAS: Final = (
    "Events of the stock workload's form; one writer; reading back comes from the page cache.",
    "SQLite has no interval: with synchronous=NORMAL it is given a checkpoint every 50 ms, which syncs.",
    "SQLite checks no page of its database file; the segments' CRCs are paid for in every figure.",
    "Plain syncs are measured beside each trial: on a disk that syncs slowly all designs wait for it alike.",
)
MODES: Final = ("always", "interval", "os")
GROUPS: Final = (1, 16)
RESULTS: Final = Path(__file__).parent / "results" / "journal.json"


def ask(folder: str, seconds: float, repetitions: int, console: Console) -> dict[str, Any]:
    """Every trial that many times: by design, mode and group the spread of each figure."""
    jobs = {
        f"{design} | {mode} | {group}": {
            "design": design, "mode": mode, "batches": group, "seconds": seconds, "folder": folder,
        }
        for group in GROUPS
        for mode in MODES
        for design in DESIGNS
        if mode == "always" or "thread" not in design
    }  # fmt: skip
    measurements = {name: partial(trial, "benchmarks.journal_trial", job) for name, job in jobs.items()}
    with console.status(QUESTION) as status:
        found = taken_in_turn(measurements, repetitions, status.update)
    return {
        name: {figure: vars_of(Spread.of(each[figure] for each in values)) for figure in values[0]}
        for name, values in found.items()
    }


def vars_of(spread: Spread) -> dict[str, float]:
    return {"least": spread.least, "median": spread.median, "most": spread.most}


def show(found: dict[str, Any], console: Console) -> None:
    table = Table(title=f"batches of {BATCH_EVENTS} events; medians")
    columns = (
        "design",
        "mode",
        "batches a commit",
        "events/s",
        "commit p50 ms",
        "p99 ms",
        "read events/s",
        "bytes/event",
    )
    for column in columns:
        table.add_column(column, justify="left" if column in columns[:2] else "right")
    for name, figures in found.items():
        table.add_row(
            *name.split(" | "),
            f"{figures['events_per_second']['median']:,.0f}",
            f"{figures['commit_p50_ms']['median']:.2f}",
            f"{figures['commit_p99_ms']['median']:.2f}",
            f"{figures['read_events_per_second']['median']:,.0f}",
            f"{figures['bytes_per_event']['median']:.0f}",
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.journal", description=QUESTION)
    parser.add_argument("--folder", help="on the disk to be measured (default: a temporary one)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each trial")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--out", type=Path, help=f"where the result goes (kept ones: {RESULTS.name} in results/)")
    chosen = parser.parse_args()
    console = Console(width=130)
    where = provenance()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        found = ask(folder, chosen.seconds, chosen.repetitions, console)
    show(found, console)
    if chosen.out is not None:
        head = {"question": QUESTION, "bias": list(BIAS)}
        answer = {**head, **where, "repetitions": chosen.repetitions, "found": found}
        chosen.out.write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
        console.print(f"kept in {chosen.out}", highlight=False)


if __name__ == "__main__":
    main()
