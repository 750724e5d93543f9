"""The form of events as a table, for all streams of a history. Not here: reading, converting, checking.

    time     long     microseconds since 1970: the end of the event
    id       long     its arrival number; unique, and the order of events with equal times
    start    long     its beginning: usually its time
    stream   string   the stream of the event
    ...               a nullable column for each attribute, with its name: string, long, double, boolean or
                      array<string>

Attributes with equal names and types share a column over all streams. A dot in a name is `_` in that of the column,
because Spark reads it as the path into a struct. If a name is taken by one of the four columns, by
another type, or by a name that differs only in case (which Spark does not distinguish), the column gets the suffix
`_TYPE` or `_1`; `columns_of` maps attributes to columns. Events are always ordered by (time, id).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from broker.events import Row, StreamDefinition, ValueType
from broker.events.arrow import read_times, read_usual
from broker.events.column_checks import event_columns

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.types import StructType

EVENT_COLUMNS: Final = ("time", "id", "start", "stream")
"""The columns of every event, before its attributes."""

Key: TypeAlias = tuple[int, int]
"""(time, id): the position of an event in the order."""

Run: TypeAlias = tuple[str, list[int], Sequence[Row], list[int], list[int]]
"""Consecutive events of one stream as `Engine.publish` takes them: stream, times, rows, ids, starts. Rows may be
columns that nobody has read yet."""


def columns_of(streams: Mapping[str, StreamDefinition]) -> dict[str, tuple[str, ...]]:
    """By stream, the columns of its attributes in the order of its schema.

    It does not depend on the order of `streams`, because columns are named in the order of the streams' names.
    """
    taken: dict[str, ValueType | None] = dict.fromkeys(EVENT_COLUMNS)
    folded = {name.lower(): name for name in taken}
    own: dict[tuple[str, ValueType], str] = {}
    for name in sorted(streams):
        for attribute in streams[name].schema.attributes:
            wanted = (attribute.name, attribute.type)
            if wanted in own:
                continue
            column = attribute.name.replace(".", "_")
            if column.lower() in folded:
                column += f"_{attribute.type.replace('[]', 's')}"
            while column.lower() in folded:
                column += "_1"
            folded[column.lower()] = column
            own[wanted] = column
    return {name: tuple(own[a.name, a.type] for a in stream.schema.attributes) for name, stream in streams.items()}


def attribute_columns(streams: Mapping[str, StreamDefinition]) -> dict[str, ValueType]:
    """The columns of all attributes and their types, in the order of a history's columns."""
    columns = columns_of(streams)
    return {
        column: attribute.type
        for name in sorted(streams)
        for column, attribute in zip(columns[name], streams[name].schema.attributes)
    }


def arrow_schema(streams: Mapping[str, StreamDefinition]) -> pyarrow.Schema:
    """The form as an Arrow schema."""
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "string[]": pa.list_(pa.string()),
    }
    return pa.schema(
        [
            pa.field("time", pa.int64(), nullable=False),
            pa.field("id", pa.int64(), nullable=False),
            pa.field("start", pa.int64(), nullable=False),
            pa.field("stream", pa.string(), nullable=False),
            *(pa.field(column, types[kind]) for column, kind in attribute_columns(streams).items()),
        ]
    )


def spark_schema(streams: Mapping[str, StreamDefinition]) -> StructType:
    """The form as a Spark schema."""
    from pyspark.sql import types

    kinds: Mapping[str, types.DataType] = {
        "string": types.StringType(),
        "int": types.LongType(),
        "float": types.DoubleType(),
        "bool": types.BooleanType(),
        "string[]": types.ArrayType(types.StringType()),
    }
    return types.StructType(
        [
            types.StructField("time", types.LongType(), nullable=False),
            types.StructField("id", types.LongType(), nullable=False),
            types.StructField("start", types.LongType(), nullable=False),
            types.StructField("stream", types.StringType(), nullable=False),
            *(types.StructField(column, kinds[kind]) for column, kind in attribute_columns(streams).items()),
        ]
    )


def batches(
    batch: pyarrow.RecordBatch,
    streams: Mapping[str, StreamDefinition],
    columns: Mapping[str, tuple[str, ...]] | None = None,
) -> Iterator[Run]:
    """A batch, cut into runs of one stream, in order, whose rows stay columns. O(values).

    Columns are found by name; `columns`: the result of `columns_of`, if the history has more streams than `streams`. A
    missing column is null. Events of streams that are not in `streams` are skipped. Raises EventError for a value that
    does not fit its stream.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not batch.num_rows:
        return
    columns = columns_of(streams) if columns is None else columns
    places = {name: place for place, name in enumerate(batch.schema.names)}
    named = batch.column(places["stream"])
    if not pa.types.is_string(named.type):
        named = named.cast(pa.string())
    encoded = pc.run_end_encode(named)
    begin = 0
    for stream, end in zip(encoded.values.to_pylist(), encoded.run_ends.to_pylist()):
        if stream in streams:
            part = batch if end - begin == batch.num_rows else batch.slice(begin, end - begin)
            ends, starts = part.column(places["time"]), part.column(places["start"])
            times = read_times(ends)
            values = {
                attribute.name: read_usual(streams[stream], attribute, part.column(places[column]))
                for attribute, column in zip(streams[stream].schema.attributes, columns[stream])
                if column in places
            }
            rows = event_columns(streams[stream], values, part.num_rows)
            ids = read_times(part.column(places["id"]))
            yield stream, times, rows, ids, times if starts.equals(ends) else read_times(starts)
        begin = end


def batch_of(run: Run, columns: Mapping[str, tuple[str, ...]], schema: pyarrow.Schema) -> pyarrow.RecordBatch:
    """The inverse of `batches`: a run as a batch with the columns of `schema`, null where the run has none."""
    import pyarrow as pa

    stream, times, rows, ids, starts = run
    count = len(times)
    own: dict[str, Any] = {"time": times, "id": ids, "start": starts, "stream": [stream] * count}
    own.update(zip(columns[stream], zip(*rows)))
    arrays = [
        pa.array(own[field.name], field.type) if field.name in own else pa.nulls(count, field.type) for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)

