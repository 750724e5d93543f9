"""Splits the sources of a history into pieces, checks their headers, and reads a piece in a worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from broker.events import DefinitionError, ForetellError, StreamDefinition
from broker.events.arrow_paths import to_read, without_structs

from .form import EVENT_COLUMNS, columns_of
from .mapping import FILES_MAX, ROW_BITS, Columns, Files, Format, check_types
from .tables import converted, form_columns, of_form, read_schema, rejected
from .texts import csv_header, read_csv, read_json_lines, separator_of

if TYPE_CHECKING:
    import pyarrow

PIECE_ROWS: Final = 1_000_000
"""Rows of a Parquet file that one task reads, unless a row group has more."""
BATCH_ROWS: Final = 16_384


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or some row groups of it. `first_id`: the id of its first row, if ids are derived."""

    file: str
    format: Format
    columns: Columns | None
    first_row: int
    first_id: int
    groups: tuple[int, int] = (0, 0)


def pieces_of(sources: Sequence[Files], streams: Mapping[str, StreamDefinition]) -> list[Piece]:
    """The pieces of all files, in order. Reads headers only.

    Raises DefinitionError for a missing file, one of another format, a missing column, or one that cannot fit.
    """
    listed = [(file, kind, source.columns) for source in sources for file, kind in source.listed()]
    if len(listed) > FILES_MAX:
        raise DefinitionError(f"expected at most {FILES_MAX} files, found {len(listed)}")
    pieces: list[Piece] = []
    for number, (file, kind, columns) in enumerate(listed):
        if columns is not None and streams.get(columns.stream.name) != columns.stream:
            raise DefinitionError(f"{file}: expected a declared stream, found {columns.stream.name!r}")
        first_id = (number << ROW_BITS) + 1
        match kind:
            case "parquet":
                pieces += _groups(file, columns, streams, first_id)
            case "csv":
                if columns is None:
                    raise DefinitionError(f"{file}: expected a mapping of the CSV file's columns, found none")
                columns.needed(csv_header(file, separator_of(columns)), str(file))
                pieces.append(Piece(str(file), kind, columns, 1, first_id))
            case "jsonl":
                pieces.append(Piece(str(file), kind, columns, 1, first_id))
    return pieces


def read_piece(piece: Piece, streams: Mapping[str, StreamDefinition]) -> Iterator[pyarrow.RecordBatch]:
    """The events and rejects of a piece in `read_schema`. An error that makes the file unreadable has `fatal`."""
    try:
        match piece.format:
            case "parquet":
                yield from _read_groups(piece, streams)
            case "csv":
                assert piece.columns is not None
                yield from read_csv(Path(piece.file), piece.columns, streams, piece.first_id)
            case "jsonl":
                yield from read_json_lines(Path(piece.file), piece.columns, streams, piece.first_id)
    except (ForetellError, OSError) as error:
        yield rejected(read_schema(streams), piece.file, [""], [str(error)], [""], True)


def check_form(header: pyarrow.Schema, streams: Mapping[str, StreamDefinition], place: str) -> None:
    """Raise DefinitionError if a table is not in the form of a history of these streams."""
    from pyarrow import types

    for column in EVENT_COLUMNS:
        if header.get_field_index(column) < 0:
            raise DefinitionError(f"{place}: expected the column {column!r} of a history, found none")
    kind = header.field("stream").type
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)):
        raise DefinitionError(f"{place}: column 'stream': expected string, found the type {kind}")
    for name in streams:
        check_types(header, form_columns(streams, name), place)


def _groups(
    file: Path, columns: Columns | None, streams: Mapping[str, StreamDefinition], first_id: int
) -> Iterator[Piece]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as table:
            header, metadata = _header(table), table.metadata
            sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(file, error) from None
    if columns is None:
        check_form(header, streams, str(file))
    else:
        check_types(header, columns, str(file))
    begin = row = size = 0
    for group, rows in enumerate([*sizes, PIECE_ROWS]):
        if begin < group and size + rows > PIECE_ROWS:
            yield Piece(str(file), "parquet", columns, row + 1, first_id + row, (begin, group))
            begin, row, size = group, row + size, 0
        size += rows


def _read_groups(piece: Piece, streams: Mapping[str, StreamDefinition]) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, row = read_schema(streams), 0
    names = columns_of(streams)
    try:
        with pq.ParquetFile(piece.file) as file:
            wanted = None
            if piece.columns is not None:
                wanted = to_read(piece.columns.needed(_header(file).names, piece.file), file.schema_arrow)
            for batch in file.iter_batches(BATCH_ROWS, row_groups=list(range(*piece.groups)), columns=wanted):
                yield from _judged(without_structs(batch), piece, streams, names, schema, row)
                row += batch.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(Path(piece.file), error) from None


def _header(file: pyarrow.parquet.ParquetFile) -> pyarrow.Schema:
    """The columns of a file, those in structs by their paths."""
    import pyarrow as pa

    return without_structs(pa.RecordBatch.from_pylist([], schema=file.schema_arrow)).schema


def _judged(
    batch: pyarrow.RecordBatch,
    piece: Piece,
    streams: Mapping[str, StreamDefinition],
    names: Mapping[str, tuple[str, ...]],
    schema: pyarrow.Schema,
    row: int,
) -> list[pyarrow.RecordBatch]:
    if piece.columns is None:
        return of_form(batch, streams, schema, piece.file)
    own = names[piece.columns.stream.name]
    return converted(batch, piece.columns, own, schema, piece.file, piece.first_row + row, piece.first_id + row)


def _damaged(file: Path, error: Any) -> DefinitionError:
    reason = str(error).partition("\n")[0]
    return DefinitionError(f"{file}: expected a Parquet file, found a damaged one: {reason}")
