"""An event as an automaton reads it: with its times in its row, if the automaton reads the timed stream."""

from __future__ import annotations

from collections.abc import Collection

from broker.algebra.timed_stream import timed, timed_row
from broker.events.schema import Row


def as_read(streams: Collection[str], stream: str, time: int, row: Row, start: int | None = None) -> tuple[str, Row]:
    """The stream and row of an event for who reads `streams`; an event that begins nowhere else begins at its time."""
    if timed(stream) not in streams:
        return stream, row
    return timed(stream), timed_row(row, time, time if start is None else start)
