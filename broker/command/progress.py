"""A progress bar for reading a file; nothing if standard error is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .reading import EventReader


@contextmanager
def progress(reading: EventReader) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the position; it moves a bar if standard error is a terminal and the end is known."""
    if reading.extent is None or not sys.stderr.isatty():
        yield lambda position: None
        return
    from rich.console import Console
    from rich.progress import Progress

    # If output and bar share a terminal, the output appears above the bar.
    together = sys.stdout.isatty()
    bar = Progress(console=Console(stderr=True), transient=True, redirect_stdout=together, redirect_stderr=False)
    with bar:
        task = bar.add_task(Path(reading.place).name, total=reading.extent)
        yield lambda position: bar.update(task, completed=position)
