"""A progress bar for reading a file, with rate and remaining time; nothing if standard error is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .reading import EventReader

if TYPE_CHECKING:
    from rich.progress import Progress

MEGABYTE: Final = 1_000_000


@contextmanager
def progress(reading: EventReader) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the position; it moves a bar if standard error is a terminal and the end is known."""
    if reading.extent is None or not sys.stderr.isatty():
        yield lambda position: None
        return
    bar = _bar(reading.unit == "row")
    with bar:
        task = bar.add_task(Path(reading.place).name, total=reading.extent)
        yield lambda position: bar.update(task, completed=position)


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
