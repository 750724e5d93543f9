"""A progress bar for reading a file, with rate and remaining time, on standard error: where that is a terminal, unless
the user says otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from .reading import EventReader

if TYPE_CHECKING:
    from rich.progress import Progress

MEGABYTE: Final = 1_000_000
LINE_SECONDS: Final = 5.0
"""Where a bar cannot move, it is a line each so many seconds."""

ProgressOption: TypeAlias = Annotated[
    bool | None,
    typer.Option("--progress/--no-progress", help="Show how far it is; by default if standard error is a terminal."),
]


@contextmanager
def progress(reading: EventReader, wanted: bool | None = None) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the position; it moves a bar if that is wanted and the end is known.

    `wanted` None: if standard error is a terminal. Where it is none, lines are written instead.
    """
    terminal = sys.stderr.isatty()
    if reading.extent is None or not (terminal if wanted is None else wanted):
        yield lambda position: None
        return
    if not terminal:
        yield told_in_lines(Path(reading.place).name, reading.extent, reading.unit == "row", time.monotonic)
        return
    bar = _bar(reading.unit == "row")
    with bar:
        task = bar.add_task(Path(reading.place).name, total=reading.extent)
        yield lambda position: bar.update(task, completed=position)


def told_in_lines(name: str, extent: int, rows: bool, clock: Callable[[], float]) -> Callable[[int], None]:
    """Writes how far a file is read, how fast, and how long the rest takes at that rate."""
    began = last = clock()

    def advance(position: int) -> None:
        nonlocal last
        now = clock()
        if now - last < LINE_SECONDS or not 0 < position < extent:
            return
        last = now
        speed = position / (now - began)
        left = round((extent - position) / speed)
        told = f"{name}: {100 * position // extent} %, {rate(speed, rows)}, {left:,} s left"
        print(told, file=sys.stderr, flush=True)

    return advance


def _bar(rows: bool) -> Progress:
    """A bar whose positions are rows of a table, or else bytes of a file."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(rate(task.finished_speed or task.speed, rows), style="progress.data.speed")

    # If output and bar share a terminal, the output appears above the bar.
    return Progress(
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        Rate(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
        redirect_stderr=False,
    )


def rate(speed: float | None, rows: bool) -> str:
    """How fast a file is read, of so many positions a second."""
    if speed is None:
        return "? rows/s" if rows else "? MB/s"
    return f"{speed:,.0f} rows/s" if rows else f"{speed / MEGABYTE:,.1f} MB/s"
