"""Opens, checks and reads a prepared history. Not here: writing one (writing.py).

    DIR/manifest.json               see manifest.py
    DIR/slice=000000/part.parquet   events in the form of form.py, sorted by (time, id), after those of earlier slices
    DIR/rejects/                    rows that were not events, with the reason

DIR is a folder that `prepare` has published, whose CURRENT names the current run, or the folder of one run. Executors
read slices themselves, without Spark, so DIR must be on a disk that they share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, final

from broker.events import DefinitionError, ForetellError, StreamDefinition, suggestion

from ..publication import current_run
from .form import EVENT_COLUMNS, Key, attribute_columns, columns_of, spark_schema
from .manifest import Manifest, Slice, digest_of_bytes, read_manifest

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

MANIFEST: Final = "manifest.json"
REJECTS: Final = "rejects"
BATCH_ROWS: Final = 16_384
"""The most rows of a batch that is read."""

_GLOBBING: Final = re.compile(r"([\\{}\[\]*?])")


@final
@dataclass(frozen=True, slots=True)
class History:
    """A prepared history. It is small, and is sent to executors. `path`: the folder with the manifest."""

    path: str
    manifest: Manifest

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Read the manifest and check that its files exist. O(slices).

        Raises DefinitionError, which begins with the folder or the file.
        """
        folder = current_run(Path(path).absolute())
        file = folder / MANIFEST
        try:
            text = file.read_bytes().decode()
        except FileNotFoundError:
            raise DefinitionError(f"{path}: expected a prepared history, found no {MANIFEST} in it") from None
        except NotADirectoryError:
            raise DefinitionError(f"{path}: expected the folder of a prepared history, found a file") from None
        except (OSError, UnicodeDecodeError) as error:
            raise DefinitionError(f"{file}: expected a file that can be read: {error}") from None
        try:
            history = cls(str(folder), read_manifest(text))
        except ForetellError as error:
            raise DefinitionError(f"{file}: {error}") from None
        for part in history.slices:
            history._check_size(part)
        return history

    def _check_size(self, part: Slice) -> None:
        file = self.file(part)
        try:
            size = file.stat().st_size
        except OSError:
            raise DefinitionError(f"{file}: expected a slice of {part.rows} events, found no file") from None
        if size != part.bytes:
            raise DefinitionError(f"{file}: expected a slice of {part.bytes} bytes, found {size}: prepare it again")

    # --- content ------------------------------------------------------------------------------------------------

    @property
    def streams(self) -> Mapping[str, StreamDefinition]:
        """The streams of the history, by name."""
        return self.manifest.streams

    @property
    def slices(self) -> tuple[Slice, ...]:
        """The files in the order of their events."""
        return self.manifest.slices

    @property
    def rows(self) -> int:
        """The number of events."""
        return self.manifest.rows

    @property
    def rejects(self) -> int:
        """The number of rejected rows."""
        return self.manifest.rejects

    @property
    def digest(self) -> str:
        """A digest, equal for equal events, streams and slices."""
        return self.manifest.digest

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns of each stream's attributes, for `form.batches`."""
        return columns_of(self.streams)

    def file(self, part: Slice | int) -> Path:
        """The file of a slice."""
        return Path(self.path) / (self.slices[part] if isinstance(part, int) else part).path

    def check_streams(self, wanted: Mapping[str, StreamDefinition]) -> None:
        """Raise DefinitionError unless the history has these streams, with equal attributes."""
        for name, stream in wanted.items():
            found = self.streams.get(name)
            if found is None:
                hint = suggestion(name, self.streams)
                raise DefinitionError(f"{self.path}: expected events of the stream {name!r}, found none{hint}")
            if found.schema != stream.schema:
                raise DefinitionError(
                    f"{self.path}: stream {name!r}: expected the attributes {stream.schema.declared()}, "
                    f"found {found.schema.declared()}"
                )

    def verify(self) -> None:
        """Read every file, and raise DefinitionError for the first that differs from the manifest. O(bytes)."""
        for part in self.slices:
            self._check_size(part)
            if digest_of_bytes(self.file(part).read_bytes()) != part.digest:
                raise DefinitionError(f"{self.file(part)}: expected the slice that was prepared, found other bytes")

    # --- the events ---------------------------------------------------------------------------------------------

    def events(self, spark: SparkSession) -> DataFrame:
        """All events as a DataFrame in the form of form.py, in no order."""
        schema = spark_schema(self.streams)
        if not self.slices:
            return spark.createDataFrame([], schema)
        return spark.read.schema(schema).parquet(*(spark_path(self.file(part)) for part in self.slices))

    def rejected(self, spark: SparkSession) -> DataFrame:
        """The rows that were not events: file, place, reason, raw."""
        return spark.read.schema("file string, place string, reason string, raw string").parquet(
            spark_path(Path(self.path) / REJECTS)
        )

    def read(
        self,
        part: Slice | int,
        first: Key | None = None,
        last: Key | None = None,
        columns: Sequence[str] | None = None,
        batch_rows: int = BATCH_ROWS,
    ) -> Iterator[pyarrow.RecordBatch]:
        """The events of a slice from the key `first` to the key `last`, both included, in order, without Spark.

        `columns`: the attributes' columns to read, by default all; the columns of every event are always read. Holds
        one row group. O(events from the row group of the first on). Raises DefinitionError with the file if it cannot
        be read.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        slice = self.slices[part] if isinstance(part, int) else part
        if (first is not None and slice.last < first) or (last is not None and slice.first > last):
            return
        whole = (first is None or slice.first >= first) and (last is None or slice.last <= last)
        wanted = [*EVENT_COLUMNS, *(attribute_columns(self.streams) if columns is None else columns)]
        try:
            with pq.ParquetFile(self.file(slice)) as file:
                groups = range(file.num_row_groups)
                if not whole:
                    groups = _groups(file.metadata, first, last)
                for batch in file.iter_batches(batch_rows, row_groups=list(groups), columns=wanted):
                    found = batch if whole else _between(batch, first, last)
                    if found.num_rows:
                        yield found
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise DefinitionError(f"{self.file(slice)}: expected a slice that can be read: {reason}") from None

    def between(
        self, first: Key | None = None, last: Key | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[pyarrow.RecordBatch]:
        """The events from one key to another, both included, in order, over all slices."""
        for part in self.slices:
            yield from self.read(part, first, last, columns)


def spark_path(path: Path) -> str:
    """A path for Spark's readers: on the local file system, with wildcards escaped."""
    return "file://" + _GLOBBING.sub(r"\\\1", str(path.absolute()))


def _groups(metadata: Any, first: Key | None, last: Key | None) -> range:
    """The row groups that may contain events between the keys, by their statistics of times."""
    times = [metadata.row_group(group).column(0).statistics for group in range(metadata.num_row_groups)]
    begin, end = 0, len(times)
    if first is not None:
        while begin < end and times[begin].max < first[0]:
            begin += 1
    if last is not None:
        while begin < end and times[end - 1].min > last[0]:
            end -= 1
    return range(begin, end)


def _between(batch: pyarrow.RecordBatch, first: Key | None, last: Key | None) -> pyarrow.RecordBatch:
    begin = 0 if first is None else _place(batch, first, after=False)
    end = batch.num_rows if last is None else _place(batch, last, after=True)
    return batch.slice(begin, max(0, end - begin))


def _place(batch: pyarrow.RecordBatch, key: Key, after: bool) -> int:
    """How many rows of a sorted batch are before the key, or with `after` not after it. O(log rows)."""
    import numpy as np

    times, ids = batch.column(0).to_numpy(), batch.column(1).to_numpy()
    low, high = np.searchsorted(times, key[0], "left"), np.searchsorted(times, key[0], "right")
    return int(low + np.searchsorted(ids[low:high], key[1], "right" if after else "left"))
