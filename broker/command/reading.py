"""Opens a file of events in any format. Each format has its own module."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias, cast, final

import typer

from ..events import StreamDefinition
from .batch import Item, only_stream, stream_named
from .json_lines import read_json_lines

Format: TypeAlias = Literal["jsonl", "csv", "parquet"]

STANDARD_INPUT: Final = "-"
TIME_COLUMN: Final = "time"

FormatOption: TypeAlias = Annotated[
    Format | None, typer.Option("--format", help="The format of the events; by default by the file's suffix.")
]
TimeOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--time", metavar="COLUMN", help="CSV, Parquet: the column of the times; by default 'time'."),
]


@final
@dataclass(frozen=True, slots=True)
class EventReader:
    """An open file of events. `extent` is the position of its end, or None if unknown; places count `unit`s."""

    items: Iterator[Item]
    place: str
    unit: Literal["line", "row"]
    extent: int | None


@contextmanager
def open_events(
    file: str,
    streams: Mapping[str, StreamDefinition],
    format: Format | None = None,
    stream: str | None = None,
    time: str | None = None,
) -> Iterator[EventReader]:
    """Open a file of events, `-` being standard input; close it at the end of the block.

    `stream` and `time` are for CSV and Parquet, whose files name no stream. Raises OSError and errors with their place.
    """
    kind = format or _format_of(file)
    place = "standard input" if file == STANDARD_INPUT else file
    if kind == "jsonl":
        with _opened(file) as source:
            yield EventReader(read_json_lines(source, place, streams), place, "line", _size(file))
        return
    definition = only_stream(streams) if stream is None else stream_named(streams, stream)
    if kind == "csv":
        from .csv_rows import read_csv

        with _opened(file) as source:
            yield EventReader(read_csv(source, place, definition, time or TIME_COLUMN), place, "line", _size(file))
        return
    from .parquet_rows import open_parquet, read_parquet

    # Open it here as well, so that a missing file raises the same error in every format.
    with _opened(file) as source, open_parquet(source.read() if file == STANDARD_INPUT else file, place) as table:
        rows = read_parquet(table, place, definition, time or TIME_COLUMN)
        yield EventReader(rows, place, "row", table.metadata.num_rows)


@contextmanager
def _opened(file: str) -> Iterator[BufferedReader]:
    if file == STANDARD_INPUT:
        yield cast("BufferedReader", sys.stdin.buffer)
    else:
        with open(file, "rb") as source:
            yield source


def _format_of(file: str) -> Format:
    match Path(file).suffix.lower():
        case ".csv":
            return "csv"
        case ".parquet" | ".pq":
            return "parquet"
        case _:
            return "jsonl"


def _size(file: str) -> int | None:
    """Return the size of a regular file in bytes; None for a pipe or a device."""
    return os.path.getsize(file) if os.path.isfile(file) else None
