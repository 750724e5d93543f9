"""Events that are not final, in columns: the form in which they wait, and leave for the dispatcher.

Here: that form. Hot. Not here: their order (buffer).
"""

from __future__ import annotations

from typing import NamedTuple, final

from ...events.schema import Row


class HeldEvent(NamedTuple):
    """An event that is not final."""

    time: int
    number: int
    stream: str
    start: int
    row: Row


@final
class HeldColumns:
    """Events in columns, a row each. `instants`: all events start at their time, and `starts` is empty."""

    def __init__(
        self, times: list[int], numbers: list[int], rows: list[Row], streams: list[str], instants: bool,
        starts: list[int],
    ) -> None:  # fmt: skip
        self.times = times
        self.numbers = numbers
        self.rows = rows
        self.streams = streams
        self.instants = instants
        self.starts = starts

    def event(self, at: int) -> HeldEvent:
        start = self.times[at] if self.instants else self.starts[at]
        return HeldEvent(self.times[at], self.numbers[at], self.streams[at], start, self.rows[at])

    def spread(self) -> None:
        """Give each event its own start."""
        if self.instants:
            self.starts, self.instants = list(self.times), False

    def append(self, event: HeldEvent) -> None:
        """Where each has its own start."""
        self.times.append(event.time)
        self.numbers.append(event.number)
        self.rows.append(event.row)
        self.streams.append(event.stream)
        self.starts.append(event.start)

    def extend(self, other: HeldColumns, begin: int, end: int) -> None:
        """Append the others of [begin, end), which have as many columns."""
        self.times += other.times[begin:end]
        self.numbers += other.numbers[begin:end]
        self.rows += other.rows[begin:end]
        self.streams += other.streams[begin:end]
        self.starts += other.starts[begin:end]

    def part(self, begin: int, end: int) -> HeldColumns:
        """A copy of the events of [begin, end)."""
        return HeldColumns(
            self.times[begin:end], self.numbers[begin:end], self.rows[begin:end], self.streams[begin:end],
            self.instants, self.starts[begin:end],
        )  # fmt: skip

    def drop(self, begin: int, end: int) -> None:
        del self.times[begin:end], self.numbers[begin:end], self.rows[begin:end]
        del self.streams[begin:end], self.starts[begin:end]


def no_events() -> HeldColumns:
    """No events, of different starts."""
    return HeldColumns([], [], [], [], False, [])
