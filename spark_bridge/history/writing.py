"""Writes slices: sorted batches in, files in the form and a manifest out. Not here: sorting (preparing.py).

Equal events give equal bytes, so a repeated task does no harm, and a history gets the same digest again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from broker.events import DefinitionError, StreamDefinition

from ..publication import publish, write_durably
from .form import Key, arrow_schema
from .manifest import Manifest, Slice, digest_of_bytes, written
from .prepared import MANIFEST, REJECTS

if TYPE_CHECKING:
    import pyarrow

SLICE_ROWS: Final = 1_000_000
"""The default number of events of a slice."""
GROUP_ROWS: Final = 65_536
"""The events of a row group, which a reader holds at a time and can skip as a whole."""
PART: Final = "part.parquet"


def rejects_schema() -> pyarrow.Schema:
    """The table of rejected rows: the file, the line or row in it, the error, and the row as text."""
    import pyarrow as pa

    return pa.schema([(name, pa.string()) for name in ("file", "place", "reason", "raw")])


def slice_path(number: int) -> str:
    """The path of a slice in its history."""
    return f"slice={number:06d}/{PART}"


def write_slice(
    folder: Path, number: int, batches: Iterable[pyarrow.RecordBatch], schema: pyarrow.Schema
) -> Slice | None:
    """Write one slice, whole or not at all; None if there are no events.

    Columns are found by name. Raises DefinitionError unless (time, id) strictly increases. Holds one row group.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = slice_path(number)
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    # Two attempts of one task may write at the same time.
    unfinished = file.with_name(f".{PART}.{os.getpid()}")
    rows = 0
    first: Key | None = None
    last: Key | None = None
    held: list[Any] = []
    held_rows = 0
    with pq.ParquetWriter(unfinished, schema, compression="zstd", version="2.6") as writer:
        for batch in batches:
            if not batch.num_rows:
                continue
            batch = pa.RecordBatch.from_arrays([batch.column(name) for name in schema.names], schema=schema)
            begin, last = check_order(batch, last)
            first = begin if first is None else first
            rows += batch.num_rows
            held.append(batch)
            held_rows += batch.num_rows
            while held_rows >= GROUP_ROWS:
                table = pa.Table.from_batches(held, schema)
                writer.write_table(table.slice(0, GROUP_ROWS), row_group_size=GROUP_ROWS)
                rest = table.slice(GROUP_ROWS)
                held, held_rows = rest.to_batches(), rest.num_rows
        if held_rows:
            writer.write_table(pa.Table.from_batches(held, schema), row_group_size=GROUP_ROWS)
    if first is None or last is None:
        unfinished.unlink()
        file.parent.rmdir()
        return None
    digest, size = digest_of_bytes(unfinished.read_bytes()), unfinished.stat().st_size
    os.replace(unfinished, file)
    return Slice(path, rows, first, last, size, digest)


def check_order(batch: pyarrow.RecordBatch, before: Key | None) -> tuple[Key, Key]:
    """The first and last key of a nonempty batch. Raises DefinitionError unless keys increase, from `before` on."""
    import numpy as np

    times, ids = batch.column(0).to_numpy(), batch.column(1).to_numpy()
    rises = (times[1:] > times[:-1]) | ((times[1:] == times[:-1]) & (ids[1:] > ids[:-1]))
    first, last = (int(times[0]), int(ids[0])), (int(times[-1]), int(ids[-1]))
    if before is not None and first <= before:
        raise _disorder(before, first)
    if not rises.all():
        place = int(np.argmin(rises))
        raise _disorder(
            (int(times[place]), int(ids[place])),
            (int(times[place + 1]), int(ids[place + 1])),
        )
    return first, last


def _disorder(before: Key, after: Key) -> DefinitionError:
    if before == after:
        return DefinitionError(f"expected events of one time to have ids of their own, found id {after[1]} twice")
    return DefinitionError(f"expected events in the order of time and id, found {after} after {before}")


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, after everything else, and an empty table of rejects if there is none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rejects = folder / REJECTS
    if not rejects.exists():
        rejects.mkdir()
        pq.write_table(pa.Table.from_batches([], rejects_schema()), rejects / PART)
    write_durably(folder / MANIFEST, written(manifest))


def write_history(
    out: str | Path,
    streams: Mapping[str, StreamDefinition],
    batches: Iterable[pyarrow.RecordBatch],
    slice_rows: int = SLICE_ROWS,
) -> Path:
    """Publish a history of events in order, in this process and without Spark. O(events).

    Raises DefinitionError, also if there are no events or they are not in order; then nothing was published.
    """
    if slice_rows < 1:
        raise DefinitionError(f"expected 1 event a slice or more, found {slice_rows}")

    def write(folder: Path) -> str:
        slices: list[Slice] = []
        for piece in _pieces(batches, slice_rows):
            if slices and piece:
                check_order(piece[0], slices[-1].last)
            made = write_slice(folder, len(slices), piece, schema)
            if made is not None:
                slices.append(made)
        if not slices:
            raise DefinitionError(f"{out}: expected events for a history, found none")
        manifest = Manifest(MappingProxyType(dict(streams)), tuple(slices))
        write_manifest(folder, manifest)
        return manifest.digest

    schema = arrow_schema(streams)
    return publish(out, None, write)


def _pieces(batches: Iterable[pyarrow.RecordBatch], rows: int) -> Iterator[list[pyarrow.RecordBatch]]:
    """The batches of each slice. Holds one slice."""
    piece: list[pyarrow.RecordBatch] = []
    room = rows
    for batch in batches:
        while batch.num_rows:
            taken = batch.slice(0, room)
            piece.append(taken)
            room -= taken.num_rows
            batch = batch.slice(taken.num_rows)
            if not room:
                yield piece
                piece, room = [], rows
    if piece:
        yield piece
