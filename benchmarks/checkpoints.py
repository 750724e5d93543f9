"""How long everybody waits at a checkpoint of a large state, and in what memory, by the way that it is saved.

`python -m benchmarks.checkpoints`: both ways in turn, on the same journal. Not here: a trial itself.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from .builds import builds
from .measuring import Spread, taken_in_turn, trial
from .report import spread

QUESTION: Final = "How long do clients wait at a checkpoint of a large state, by who saves it?"
MODULE: Final = "benchmarks.checkpoint_trial"
WAYS: Final = ("loop", "fork")
FIGURES: Final = ("longest_before_ms", "longest_ms", "held_ms", "took_s", "memory_before_mb", "memory_most_mb")


def show(found: dict[str, list[Any]], size: int, console: Console) -> None:
    """Least, median and most of each figure."""
    table = Table(title=f"a state of {size / 1e6:,.0f} MB")
    table.add_column("checkpoint")
    for figure in FIGURES:
        table.add_column(figure.replace("_", " "), justify="right")
    for way, repetitions in found.items():
        table.add_row(way, *(spread(Spread.of(each[figure] for each in repetitions), 0) for figure in FIGURES))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkpoints", description=QUESTION)
    parser.add_argument("--folder", help="on the disk of the journal (default: a temporary one)")
    parser.add_argument("--subscriptions", type=int, default=100_000)
    parser.add_argument("--each", type=int, default=10, help="runs of each subscription")
    parser.add_argument("--repetitions", type=int, default=3)
    chosen = parser.parse_args()
    console = Console(width=150)
    with (
        tempfile.TemporaryDirectory(dir=chosen.folder) as folder,
        console.status(QUESTION) as status,
        builds(status.update) as forms,
    ):
        where = forms[-1].folder
        state = {"folder": folder, "subscriptions": chosen.subscriptions, "each": chosen.each}
        status.update("making the state")
        size = trial(MODULE, state, folder=where)["bytes"]
        trials = {way: partial(trial, MODULE, {"folder": folder, "way": way}, folder=where) for way in WAYS}
        found = taken_in_turn(trials, chosen.repetitions, status.update)
    show(found, size, console)


if __name__ == "__main__":
    main()
