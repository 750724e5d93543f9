"""Makes events of several streams rows of one: the values of the key, a mark for each stream, the attributes of each.

Here: that, and where the events of each stream have a key. Hot. Not here: where a wide row has what
(broker.automaton.analyses.template).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, final

from mypy_extensions import i64

from ....automaton.analyses.template import WideRow
from ....events.schema import Row, Value
from ..contract import EventKey

NOTHING: Final[Row] = ()


@final
class WideRows:
    """By stream: where its rows have the parts of the key, how many values they have, and what a wide row has between
    these and the key's, and behind them."""

    def __init__(self, keys: list[list[int]], widths: list[int]) -> None:
        self._keys = keys
        self._widths = widths
        streams = len(widths)
        self._before: list[Row] = []
        self._after: list[Row] = []
        for stream in range(streams):
            marks = tuple([True if each == stream else None for each in range(streams)])
            self._before.append(marks + (None,) * sum(widths[:stream]))
            self._after.append((None,) * sum(widths[stream + 1 :]))

    def of(self, stream: i64, row: Row) -> Row:
        """The wide row of an event."""
        width = self._widths[stream]
        if len(row) != width:
            row = (*row[:width], *((None,) * (width - len(row))))
        keys = self._keys[stream]
        parts: Row = NOTHING
        if len(keys) == 1:
            parts = (row[keys[0]],)
        elif len(keys) > 1:
            parts = tuple([row[position] for position in keys])
        return parts + self._before[stream] + row + self._after[stream]


def wide_rows(row: WideRow | None) -> WideRows | None:
    return None if row is None else WideRows([list(each) for each in row.keys], list(row.widths))


def event_key(known: Mapping[int, Value], beginning: int, row: WideRow | None) -> EventKey | None:
    """The key of events that have these values, by column if rows are wide; None if some stream lacks one of them."""
    if row is None:
        positions = sorted(known)
        return EventKey(tuple(positions), tuple([known[position] for position in positions]), beginning)
    columns = sorted(known, key=lambda column: row.position(0, column))
    each = [tuple([row.position(stream, column) for column in columns]) for stream in range(len(row.streams))]
    if any(-1 in positions for positions in each):
        return None
    return EventKey(each[0], tuple([known[column] for column in columns]), beginning, tuple(each[1:]))
