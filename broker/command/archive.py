"""`foretell archive`: exports the events of a broker's journal as history. `broker.storage` reads the journal.

The events are in the order of their arrival, with the times and ids that the broker gave them, without those that were
withdrawn. Events that the broker refused are not in the journal, and its other entries, such as subscriptions, are not
exported.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, final

import typer

from ..events import DefinitionError, ForetellError, Row, StreamDefinition, UnknownStream
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
    """The events of a journal up to its end when it was opened, without those that were withdrawn. Reading it again
    returns the same events.

    `withdrawn`: by id, which of the events with this id were, in their order, counted from 1.
    """

    folder: Path
    streams: Mapping[str, StreamDefinition]
    until: int
    withdrawn: Mapping[int, frozenset[int]] = field(default_factory=dict)

    def events(self) -> Iterator[Events]:
        """Yield the batches in the order in which the broker took them. Raises StorageErrors and UnknownStream, with
        the folder."""
        from ..kernel.records import BatchTaken

        seen: Counter[int] = Counter()
        for record in _records(self.folder, self.until):
            if isinstance(record, BatchTaken) and record.rows:
                if record.stream not in self.streams:
                    raise UnknownStream(
                        f"{self.folder}: expected the declaration of the stream {record.stream!r}, which is in the "
                        "journal no more: --streams SUBS.toml says it"
                    )
                width = len(self.streams[record.stream].schema)
                rows = [(*row, *[None] * (width - len(row))) for row in record.rows]  # attributes may have been added
                times = list(record.times)
                starts = times if record.starts is None else list(record.starts)
                ids = list(record.ids)
                kept = self._kept(record.stream, ids, seen)
                if len(kept) < len(ids):
                    times, rows = [times[at] for at in kept], [rows[at] for at in kept]
                    ids, starts = [ids[at] for at in kept], [starts[at] for at in kept]
                if ids:
                    yield record.stream, times, rows, ids, starts

    def _kept(self, stream: str, ids: list[int], seen: Counter[int]) -> Sequence[int]:
        """The indexes of events that were not withdrawn; `seen` counts those with an id of one that was."""
        if not self.withdrawn or self.streams[stream].disorder == "arrival":
            return range(len(ids))
        kept = []
        for at, number in enumerate(ids):
            if number in self.withdrawn:
                seen[number] += 1
            if number not in self.withdrawn or seen[number] not in self.withdrawn[number]:
                kept.append(at)
        return kept

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
    from ..kernel.records import AttributeAdded, Retracted, StreamDeclared
    from ..storage import Damaged, Folder
    from ..storage.segments import survey

    found = survey(Folder(Path(folder)))
    if found is None:
        raise Damaged(f"{folder}: expected a journal, found none")
    streams = dict(known or {})
    gone: set[int] = set()
    for record in _records(Path(folder), found.position):
        if isinstance(record, StreamDeclared):
            declared = replace(StreamDefinition.of(record), time_unit=None)  # a journal has microseconds
            if not streams.setdefault(record.name, declared).includes(declared):
                raise DefinitionError(
                    f"{folder}: stream {record.name!r}: expected the attributes "
                    f"{streams[record.name].schema.declared()}, found {declared.schema.declared()}"
                )
        elif isinstance(record, AttributeAdded) and record.stream in streams:
            if streams[record.stream].schema.position(record.attribute) < 0:
                streams[record.stream] = streams[record.stream].with_attribute(record.attribute, record.type)
        elif isinstance(record, Retracted):
            gone.update(record.ids)
    withdrawn = _withdrawn(Path(folder), found.position, streams, gone) if gone else {}
    return JournalFolder(Path(folder), streams, found.position, withdrawn)


def _withdrawn(
    folder: Path, until: int, streams: Mapping[str, StreamDefinition], gone: set[int]
) -> Mapping[int, frozenset[int]]:
    """Which events with these ids were withdrawn: an id may be that of another event when one is final. O(bytes)."""
    from ..kernel.records import BatchTaken, Retracted

    seen: Counter[int] = Counter()
    found: dict[int, set[int]] = {}
    for record in _records(folder, until):
        if isinstance(record, Retracted):
            for number in record.ids:
                found.setdefault(number, set()).add(seen[number])
        elif isinstance(record, BatchTaken) and record.stream in streams:
            if streams[record.stream].disorder != "arrival":
                seen.update(gone.intersection(record.ids))
    return {number: frozenset(which) for number, which in found.items()}


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


def line_of(
    stream: str, names: Sequence[str], time: int, row: Sequence[object], identity: int | None, start: int
) -> str:
    """An event as a line of JSON."""
    line: dict[str, object] = {"stream": stream, "time": time, "id": identity}
    if start != time:
        line["start"] = start
    line["data"] = dict(zip(names, row))
    return json.dumps(line, ensure_ascii=False)


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
                    file.write(line_of(stream, names, time, row, identity, start) + "\n")
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
