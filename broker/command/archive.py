"""`foretell archive`: exports the events of a broker's journal as history. `broker.storage` reads the journal.

The events are in the order of their arrival, with the times and ids that the broker gave them. Events that the broker
refused are not in the journal, and its other entries, such as subscriptions, are not exported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, cast, final

import typer

from ..events import DefinitionError, Disorder, ForetellError, Row, Schema, StreamDefinition, UnknownStream
from .complaint import BadInput

if TYPE_CHECKING:
    import pyarrow

Format: TypeAlias = Literal["parquet", "jsonl"]

Events: TypeAlias = tuple[str, list[int], list[Row], list[int], list[int]]
"""Stream, times, rows, ids and starts of a batch; the lists have equal lengths."""

PARTIAL: Final = ".partial"
"""The suffix of a file that is being written."""


def archive(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a broker's journal.")],
    out: Annotated[Path, typer.Option("--out", metavar="PATH", help="Parquet: a folder. JSON lines: a new file.")],
    format: Annotated[
        Format, typer.Option("--format", help="A prepared history in Parquet, or events in JSON lines.")
    ] = "parquet",
    streams: Annotated[
        Path | None,
        typer.Option("--streams", metavar="SUBS.toml", help="Declares streams that the journal no longer declares."),
    ] = None,
) -> None:
    """Export the events of a broker's journal as history, also while it runs."""
    known: dict[str, StreamDefinition] = {}
    if streams is not None:
        from .loading import load_file

        known = {stream.name: stream for stream in load_file(streams).streams}
    journal = open_journal(folder, known)
    if format == "jsonl":
        written = _write_lines(journal, out)
    else:
        written = _write_history(journal, out)
    typer.echo(f"{out}: {written} events of {len(journal.streams)} streams")


@final
@dataclass(frozen=True, slots=True)
class JournalFolder:
    """The events of a journal up to its end when it was opened. Reading it again returns the same events."""

    folder: Path
    streams: Mapping[str, StreamDefinition]
    until: int

    def events(self) -> Iterator[Events]:
        """Yield the batches in the order in which the broker took them. Raises StorageErrors and UnknownStream, with
        the folder."""
        from ..storage.records import BatchTaken

        for record in _records(self.folder, self.until):
            if isinstance(record, BatchTaken) and record.rows:
                if record.stream not in self.streams:
                    raise UnknownStream(
                        f"{self.folder}: expected the declaration of the stream {record.stream!r}, which is in the "
                        "journal no more: --streams SUBS.toml says it"
                    )
                times, rows = list(record.times), [tuple(row) for row in record.rows]
                starts = times if record.starts is None else list(record.starts)
                yield record.stream, times, rows, list(record.ids), starts

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the same batches in the form of a prepared history."""
        from spark_bridge.history.form import arrow_schema, batch_of, columns_of

        schema, columns = arrow_schema(self.streams), columns_of(self.streams)
        for run in self.events():
            yield batch_of(run, columns, schema)


def open_journal(folder: str | Path, known: Mapping[str, StreamDefinition] | None = None) -> JournalFolder:
    """Open the journal in a folder, with the streams that it declares and those in `known`. O(bytes).

    Raises StorageErrors and OSError, and DefinitionError if a stream has different declarations at different times.
    """
    from ..storage import Damaged, Folder
    from ..storage.records import StreamDeclared
    from ..storage.segments import survey

    found = survey(Folder(Path(folder)))
    if found is None:
        raise Damaged(f"{folder}: expected a journal, found none")
    streams = dict(known or {})
    for record in _records(Path(folder), found.position):
        if isinstance(record, StreamDeclared):
            declared = StreamDefinition(
                record.name,
                Schema.declare(record.attributes),
                record.key,
                cast("Disorder", record.disorder),
                record.lateness,
                record.speculation,
                record.idle,
            )
            if streams.setdefault(record.name, declared).schema != declared.schema:
                raise DefinitionError(
                    f"{folder}: stream {record.name!r}: expected the attributes "
                    f"{streams[record.name].schema.declared()}, found {declared.schema.declared()}"
                )
    return JournalFolder(Path(folder), streams, found.position)


def _records(folder: Path, until: int) -> Iterator[object]:
    from ..storage import Damaged, Folder
    from ..storage.records import decode
    from ..storage.scanning import head_of
    from ..storage.segments import entries, segment_names

    files = Folder(folder)
    segments = [(name, head_of(files, name)) for name in segment_names(files)]
    for entry in entries(files, segments, 0, until):
        try:
            yield decode(entry.kind, entry.payload)
        except Damaged as error:
            raise Damaged(f"{folder}: record {entry.position}: {error}") from None


def _write_history(journal: JournalFolder, out: Path) -> int:
    try:
        from spark_bridge.history.prepared import History
        from spark_bridge.history.writing import write_history
    except ImportError:
        raise BadInput(
            f"{out}: writing Parquet needs pyarrow, which is not installed: pip install 'foretell[parquet]', or "
            "--format jsonl"
        ) from None
    try:
        write_history(out, journal.streams, journal.batches())
    except ForetellError as error:
        raise BadInput(str(error) if str(error).startswith(str(out)) else f"{out}: {error}") from error
    return History.open(out).rows


def _write_lines(journal: JournalFolder, out: Path) -> int:
    """Write under another name and rename, so that `out` is either complete or absent."""
    if out.exists():
        raise BadInput(f"{out}: expected a file that does not exist yet, found one")
    partial = out.with_name(out.name + PARTIAL)
    count = 0
    try:
        with partial.open("x", encoding="utf-8") as file:
            for stream, times, rows, ids, starts in journal.events():
                names = journal.streams[stream].schema.names
                for time, row, identity, start in zip(times, rows, ids, starts):
                    line: dict[str, object] = {"stream": stream, "time": time, "id": identity}
                    if start != time:
                        line["start"] = start
                    line["data"] = dict(zip(names, row))
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += len(times)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise BadInput(f"{partial}: another archive is being made there, or one was interrupted: remove it") from None
    except BaseException:
        partial.unlink()
        raise
    partial.rename(out)
    return count
