"""`prepare`: Spark reads the sources, sorts by (time, id) and writes slices; published whole or not at all.

There are four steps, each a job: read and convert every piece, which also finds rows that are not events; write the
rejects; sort; cut into slices. Rows are stored on disk in between, because a sorting job reads its input twice, and
reading costs most.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, final

from broker.events import DefinitionError, ForetellError, StreamDefinition
from broker.events.arrow_paths import root_of, without_structs

from ..failures import plainly
from ..publication import publish
from .form import EVENT_COLUMNS, arrow_schema, columns_of
from .manifest import VERSION, Manifest, Slice, digest_of, streams_written
from .mapping import Files, Table, check_types
from .prepared import REJECTS, History, spark_path
from .reading import Piece, check_form, pieces_of, read_piece
from .tables import converted, of_form, read_schema, reject_columns
from .writing import SLICE_ROWS, write_manifest, write_slice

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

_WORK: Final = "_work"
_CELL_SCHEMA: Final = "slice string, error string"


def prepare(
    spark: SparkSession,
    sources: Files | Table | Sequence[Files | Table],
    out: str | Path,
    streams: Mapping[str, StreamDefinition] | Iterable[StreamDefinition],
    *,
    rejects_max: float = 0.0,
    slice_rows: int = SLICE_ROWS,
) -> History:
    """The history of all events in the sources, of these streams, sorted and sliced in the folder `out`.

    If the same files were prepared before, the existing history is returned and no job starts; another run would have
    the same digest. `rejects_max`: the share of rows that may not be events; they are kept in the history's table of
    rejects. `slice_rows`: the number of events of a slice, except the last.

    Raises DefinitionError, before a job starts, for a missing file, a missing column or one that cannot fit; after
    reading, for a damaged file, too many rejects, a repeated id, or no events at all. `out` is then unchanged.
    """
    declared = dict(streams) if isinstance(streams, Mapping) else {stream.name: stream for stream in streams}
    given = [sources] if isinstance(sources, Files | Table) else list(sources)
    if not declared or not given:
        raise DefinitionError(f"{out}: expected streams and sources of events, found none")
    if not 0.0 <= rejects_max <= 1.0:
        raise DefinitionError(f"expected a share of rejects from 0 to 1, found {rejects_max}")
    if slice_rows < 1:
        raise DefinitionError(f"expected 1 event a slice or more, found {slice_rows}")
    files = [source for source in given if isinstance(source, Files)]
    tables = [source for source in given if isinstance(source, Table)]
    pieces = pieces_of(files, declared)
    for table in tables:
        _check_table(table, declared)
    digest = None
    if not tables:
        digest = digest_of([VERSION, streams_written(declared), _inputs(files), rejects_max, slice_rows])
    job = _Job(spark, str(out), declared, pieces, tables, rejects_max, slice_rows, digest)
    return History.open(publish(out, digest, job.write))


@final
@dataclass(frozen=True, slots=True)
class _Job:
    """One run of `prepare`, with arguments and headers checked."""

    spark: SparkSession
    out: str
    streams: Mapping[str, StreamDefinition]
    pieces: Sequence[Piece]
    tables: Sequence[Table]
    rejects_max: float
    slice_rows: int
    digest: str | None

    def write(self, folder: Path) -> str:
        """Fill the folder; the digest to publish it under."""
        work = folder / _WORK
        with plainly(self.out):
            self._rows().write.parquet(spark_path(work / "read"))
            rejects = self._rejects(folder, work / "read")
            self._sorted(work / "read").write.parquet(spark_path(work / "sorted"))
            slices = self._slices(folder, work / "sorted")
        shutil.rmtree(work)
        manifest = Manifest(MappingProxyType(dict(self.streams)), slices, rejects)
        write_manifest(folder, manifest)
        return self.digest or manifest.digest

    def _rows(self) -> DataFrame:
        """All rows of all sources in `read_schema`."""
        from pyspark.sql.pandas.types import from_arrow_schema

        streams = dict(self.streams)
        pieces = list(self.pieces)
        schema = from_arrow_schema(read_schema(streams))
        found: list[DataFrame] = []
        if pieces:

            def read(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
                for batch in batches:
                    for number in batch.column(0).to_pylist():
                        yield from read_piece(pieces[number], streams)

            numbers = self.spark.range(0, len(pieces), 1, len(pieces))
            found.append(numbers.mapInArrow(read, schema))
        found += [_rows_of(table, streams, schema) for table in self.tables]
        return reduce(type(found[0]).unionAll, found)

    def _rejects(self, folder: Path, read: Path) -> int:
        """Write the table of rejects; their number. Raises DefinitionError if there are too many."""
        import pyarrow.dataset as ds
        from pyspark.sql import functions as F

        names = reject_columns(self.streams)
        *_, reason, _, fatal = names
        parts = ds.dataset(_files(read), format="parquet", schema=read_schema(self.streams))
        rows, bad = parts.count_rows(), parts.count_rows(filter=ds.field(reason).is_valid())
        if bad:
            unreadable = parts.head(1, columns=[reason], filter=ds.field(fatal), batch_size=1024).to_pylist()
            if unreadable:
                raise DefinitionError(unreadable[0][reason])
        if bad > self.rejects_max * rows:
            first = parts.head(1, columns=list(names[:3]), filter=ds.field(reason).is_valid()).to_pylist()[0]
            place = ": ".join(filter(None, (first[name] for name in names[:3])))
            raise DefinitionError(
                f"expected at most {self.rejects_max:.4g} of the rows to be rejected, found {bad} of {rows}; "
                f"one of them: {place}"
            )
        if bad == rows:
            raise DefinitionError(f"{self.out}: expected events for a history, found none in its sources")
        if bad:
            kept = [F.col(name).alias(name.removeprefix("reject").lstrip("_")) for name in names[:4]]
            rows_read = self._read(read)
            rows_read.where(F.col(reason).isNotNull()).select(*kept).write.parquet(spark_path(folder / REJECTS))
        return int(bad)

    def _sorted(self, read: Path) -> DataFrame:
        """The events, sorted. Raises DefinitionError if ids are given and one occurs twice."""
        from pyspark.sql import functions as F

        names = reject_columns(self.streams)
        events = self._read(read).where(F.col(names[2]).isNull()).drop(*names)
        if self.tables or any(p.columns is None or p.columns.id is not None for p in self.pieces):
            twice = events.groupBy("id").count().where("count > 1").orderBy("id").limit(1).collect()
            if twice:
                raise DefinitionError(f"expected events to have ids of their own, found id {twice[0]['id']} twice")
        return events.orderBy("time", "id")

    def _slices(self, folder: Path, sorted_rows: Path) -> tuple[Slice, ...]:
        """Cut the sorted files. Every slice except the last has the same number of events, however Spark sorted."""
        import pyarrow.parquet as pq

        files = [str(file) for file in _files(sorted_rows)]
        sizes = [pq.read_metadata(file).num_rows for file in files]
        size, streams = self.slice_rows, dict(self.streams)
        count = -(-sum(sizes) // size)

        def cut(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
            import pyarrow as pa

            for batch in batches:
                for number in batch.column(0).to_pylist():
                    rows = _range(files, sizes, number * size, (number + 1) * size)
                    text = error = None
                    try:
                        made = write_slice(folder, number, rows, arrow_schema(streams))
                        text = None if made is None else json.dumps(asdict(made))
                    except ForetellError as complaint:
                        error = str(complaint)
                    yield pa.RecordBatch.from_pydict(
                        {"slice": pa.array([text], pa.string()), "error": pa.array([error], pa.string())}
                    )

        told = self.spark.range(0, count, 1, count).mapInArrow(cut, _CELL_SCHEMA).collect()
        for row in told:
            if row["error"] is not None:
                raise DefinitionError(row["error"])
        slices = sorted((_slice(json.loads(row["slice"])) for row in told), key=lambda part: part.first)
        for before, part in pairwise(slices):
            if part.first <= before.last:
                raise DefinitionError(f"expected events in the order of time and id, found {part.first} twice")
        return tuple(slices)

    def _read(self, read: Path) -> DataFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = from_arrow_schema(read_schema(self.streams))
        return self.spark.read.schema(schema).parquet(spark_path(read))


def _check_table(table: Table, streams: Mapping[str, StreamDefinition]) -> None:
    header = _header(table)
    if table.columns is None:
        check_form(header, streams, "the DataFrame")
        return
    name = table.columns.stream.name
    if streams.get(name) != table.columns.stream:
        raise DefinitionError(f"the DataFrame: expected a declared stream, found {name!r}")
    check_types(_by_paths(header), table.columns, "the DataFrame")


def _by_paths(header: pyarrow.Schema) -> pyarrow.Schema:
    """The columns, those in structs by their paths."""
    import pyarrow as pa

    return without_structs(pa.RecordBatch.from_pylist([], schema=header)).schema


def _header(table: Table) -> pyarrow.Schema:
    import pyarrow as pa

    return pa.schema([pa.field(field.name, _arrow_type(field.dataType)) for field in table.rows.schema.fields])


def _arrow_type(kind: DataType) -> pyarrow.DataType:
    """A column's type in Arrow; null for types that no attribute can have."""
    import pyarrow as pa
    from pyspark.sql import types as T

    plain: Mapping[type[T.DataType], pyarrow.DataType] = {
        T.StringType: pa.string(),
        T.ByteType: pa.int8(),
        T.ShortType: pa.int16(),
        T.IntegerType: pa.int32(),
        T.LongType: pa.int64(),
        T.FloatType: pa.float32(),
        T.DoubleType: pa.float64(),
        T.BooleanType: pa.bool_(),
        T.DateType: pa.date32(),
        T.TimestampType: pa.timestamp("us", "UTC"),
        T.TimestampNTZType: pa.timestamp("us"),
        T.NullType: pa.null(),
        T.BinaryType: pa.binary(),
    }
    if isinstance(kind, T.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, T.ArrayType):
        return pa.list_(_arrow_type(kind.elementType))
    fields = kind.fields if isinstance(kind, T.StructType) else []
    return plain.get(type(kind), pa.struct([pa.field(each.name, _arrow_type(each.dataType)) for each in fields]))


def _rows_of(table: Table, streams: Mapping[str, StreamDefinition], schema: Any) -> DataFrame:
    columns = table.columns
    if columns is None:
        wanted = [*EVENT_COLUMNS, *(name for name in table.rows.columns if name not in EVENT_COLUMNS)]
    else:
        paths = columns.needed(_by_paths(_header(table)).names, "the DataFrame")
        wanted = list(dict.fromkeys([root_of(each, table.rows.columns) for each in paths]))
    names = columns_of(streams)

    def convert(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        made = read_schema(streams)
        for batch in batches:
            if columns is None:
                yield from of_form(batch, streams, made)
            else:
                yield from converted(without_structs(batch), columns, names[columns.stream.name], made)

    return table.rows.select(*(f"`{name.replace('`', '``')}`" for name in wanted)).mapInArrow(convert, schema)


def _inputs(files: Sequence[Files]) -> list[Any]:
    """The names, sizes and modification times of the sources, which identify them."""
    inputs: list[Any] = []
    for source in files:
        columns = source.columns
        own = None
        if columns is not None:
            own = [columns.stream.name, columns.time, columns.id, columns.start, dict(columns.attributes)]
        for file, kind in source.listed():
            status = file.stat()
            inputs.append([str(file), kind, status.st_size, status.st_mtime_ns, own])
    return inputs


def _files(folder: Path) -> list[Path]:
    """The files that Spark has written into a folder, in the order of its partitions."""
    return sorted(folder.glob("part-*.parquet"))


def _range(files: Sequence[str], sizes: Sequence[int], begin: int, end: int) -> Iterator[pyarrow.RecordBatch]:
    """The rows from number `begin` to before `end`, over consecutive files. Skips row groups."""
    import pyarrow.parquet as pq

    offset = 0
    for name, size in zip(files, sizes):
        if offset < end and offset + size > begin:
            with pq.ParquetFile(name) as file:
                at = offset
                for group in range(file.num_row_groups):
                    rows = file.metadata.row_group(group).num_rows
                    if at < end and at + rows > begin:
                        inner = at
                        for batch in file.iter_batches(row_groups=[group]):
                            first, last = max(begin - inner, 0), min(end - inner, batch.num_rows)
                            inner += batch.num_rows
                            if first < last:
                                yield batch.slice(first, last - first)
                    at += rows
        offset += size


def _slice(part: Mapping[str, Any]) -> Slice:
    first, last = part["first"], part["last"]
    return Slice(
        part["path"], part["rows"], (first[0], first[1]), (last[0], last[1]), part["bytes"], part["digest"]
    )
