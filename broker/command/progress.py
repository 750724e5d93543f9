"""How far a file has been read, shown as a bar; nothing where nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .reading import EventReader


@contextmanager
def progress(reading: EventReader) -> Iterator[Callable[[int], None]]:
    """What to tell how far we are: a bar on standard error if that is a terminal and the end is known, else nothing."""
    if reading.extent is None or not sys.stderr.isatty():
        yield lambda position: None
        return
    from rich.console import Console
    from rich.progress import Progress

    # On one terminal, what is printed appears above the bar.
    together = sys.stdout.isatty()
    bar = Progress(console=Console(stderr=True), transient=True, redirect_stdout=together, redirect_stderr=False)
    with bar:
        task = bar.add_task(Path(reading.place).name, total=reading.extent)
        yield lambda position: bar.update(task, completed=position)
