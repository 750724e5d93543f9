"""Selects the events of a cell from events in order, and turns them into runs.

A shuffle has selected a cell's events already. A worker that opens files selects here, batch by batch, before values
become Python objects. Not here: cells (plan), files (history).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from broker.events import StreamDefinition

from .history.form import Run, batches
from .plan.cell import FIRST, LAST, Cell, Keys, Point

Columns = Mapping[str, tuple[str, ...]]
"""By stream, the columns of its attributes (history.form)."""


class Events(Protocol):
    """Events in order, such as a prepared history, of which a range can be read."""

    def between(self, first: Point | None = None, last: Point | None = None) -> Iterator[pa.RecordBatch]:
        """The events from one point to another, both included; None: no bound."""
        ...


def stretch(cell: Cell) -> tuple[Point | None, Point | None]:
    """The first and the last point that a cell reads: its own events, and a window after them."""
    first = None if cell.first == FIRST else cell.first
    # Owned events are not later than `until`, so this covers all that the cell needs.
    last = None if cell.until == LAST else (min(cell.until[0] + cell.window, LAST[0]), LAST[1])
    return first, last


def runs_of(
    cell: Cell, events: Events, streams: Mapping[str, StreamDefinition], reads: Collection[str], columns: Columns
) -> Iterator[Run]:
    """The runs of a cell, from all events. `reads`: the streams that the cell reads."""
    first, last = stretch(cell)
    if first is not None and last is not None and last < first:
        return
    if cell.first == cell.until:
        return
    wanted = {name: stream for name, stream in streams.items() if name in reads}
    for batch in events.between(first, last):
        own = batch if cell.keys is None else of_keys(batch, cell.keys, wanted, columns)
        yield from batches(own, wanted, columns)


def arrived(
    found: Iterable[pa.RecordBatch], streams: Mapping[str, StreamDefinition], columns: Columns
) -> Iterator[Run]:
    """The runs of a cell, from its shuffled events."""
    for batch in found:
        yield from batches(batch, streams, columns)


def of_keys(
    batch: pa.RecordBatch, keys: Keys, streams: Mapping[str, StreamDefinition], columns: Columns
) -> pa.RecordBatch:
    """The events of a batch whose keys are a cell's. O(rows + different keys)."""
    mask: Any = None
    for stream, attribute in keys.attributes:
        if stream not in streams:
            continue
        column = batch.column(columns[stream][streams[stream].schema.position(attribute)])
        own = pc.and_(_among(column, keys), pc.equal(batch.column("stream"), stream))
        mask = own if mask is None else pc.or_(mask, own)
    return batch.slice(0, 0) if mask is None else batch.filter(mask)


def _among(column: pa.Array, keys: Keys) -> pa.Array:
    encoded = column.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    if keys.only:
        taken = [value in keys.only for value in values]
    else:
        taken = [value not in keys.apart and bucket_of(value, keys.buckets) == keys.bucket for value in values]
    # A null is not a key, and belongs to the first bucket.
    null = not keys.only and keys.bucket == 0
    return pc.fill_null(pa.array(taken, pa.bool_()).take(encoded.indices), null)


def bucket_of(value: str | int | bool, buckets: int) -> int:
    """The bucket of a key, the same on every machine and for every stream."""
    return crc32(str(value).encode()) % buckets
