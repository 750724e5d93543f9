"""What a run has found, as a table of a line a subscription (`run --summary`).

Memory: a few numbers a subscription, however many results there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO, final

from ..events import format_instant
from .complaint import escaped


@final
@dataclass(slots=True)
class SubscriptionSummary:
    """The results of one subscription. `first` and `last`: the least and the greatest end of its matches."""

    matches: int = 0
    withdrawn: int = 0
    first: int | None = None
    last: int | None = None
    forecasts: int = 0
    true: int = 0
    false: int = 0
    incomplete: int = 0

    def add(self, line: dict[str, Any]) -> None:
        match line["kind"]:
            case "match":
                self.matches += 1
                end = line["end"]
                self.first = end if self.first is None else min(end, self.first)
                self.last = end if self.last is None else max(end, self.last)
            case "retraction":
                self.withdrawn += 1
            case "forecast":
                self.forecasts += 1
            case "resolution":
                self.true += line["outcome"] is True
                self.false += line["outcome"] is False
            case "incomplete":
                self.incomplete += 1

    def cells(self) -> list[str]:
        times = ["" if time is None else format_instant(time) for time in (self.first, self.last)]
        counts = [self.withdrawn, self.forecasts, self.true, self.false, self.incomplete]
        return [f"{self.matches:,}", *times, *(f"{count:,}" for count in counts)]


@final
class Summary:
    """A sink of results that counts them, and writes the table when it is closed.

    A column of zeros is left out; the columns of matches never are. Subscriptions without results have a line, too.
    """

    HEADER = ("subscription", "matches", "first", "last", "withdrawn", "forecasts", "true", "false", "incomplete")
    ALWAYS = 4

    def __init__(self, subscriptions: Iterable[str], output: TextIO) -> None:
        self._found = {name: SubscriptionSummary() for name in subscriptions}
        self._output = output

    def write(self, lines: list[dict[str, Any]]) -> None:
        """Take results."""
        for line in lines:
            name = line.get("subscription")
            if name is not None:
                self._found.setdefault(name, SubscriptionSummary()).add(line)

    def flush(self) -> None:
        """The table is written at the end."""

    def close(self) -> None:
        """Write the table."""
        for row in self._table():
            self._output.write(row + "\n")
        self._output.flush()

    def _table(self) -> Iterator[str]:
        rows = [[escaped(name), *found.cells()] for name, found in self._found.items()]
        columns = list(zip(self.HEADER, *rows))
        kept = [
            column for at, column in enumerate(columns) if at < self.ALWAYS or any(cell != "0" for cell in column[1:])
        ]
        widths = [max(map(len, column)) for column in kept]
        for row in zip(*kept):
            name, *cells = (
                cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths))
            )
            yield "  ".join([name, *cells]).rstrip()
