"""Converts Arrow batches of a foreign table to events, column by column, and rejects invalid rows with a reason.

The result is in the form of `read_schema`: events, and rejected rows, which have a `reason`. Values are checked as the
engine checks them. Only rows that do not fit are examined one by one, to find the text of the error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from broker.events import LARGEST, Attribute, EventError, StreamDefinition, parse_instant, row_from_mapping, shown
from broker.events.file_form import USUAL_FORM, FileForm, formatted_instant

from .form import arrow_schema, columns_of
from .mapping import Columns

if TYPE_CHECKING:
    import pyarrow

REJECT_COLUMNS: Final = ("file", "place", "reason", "raw")
RAW_CHARACTERS_MAX: Final = 10_000
"""The most characters of a rejected row that are kept."""

_LEAST, _GREATEST = -(2**63), 2**63 - 1
_MICROSECONDS: Final[Mapping[str, int]] = {"s": 10**6, "ms": 10**3, "us": 1}
_DAY: Final = 24 * 60 * 60 * 10**6


def read_schema(streams: Mapping[str, StreamDefinition]) -> pyarrow.Schema:
    """The form of events, with nullable columns, followed by the columns of rejects.

    `fatal`: the file cannot be read at all; the reason begins with the file.
    """
    import pyarrow as pa

    fields = [field.with_nullable(True) for field in arrow_schema(streams)]
    *texts, fatal = _apart([field.name for field in fields])
    return pa.schema([*fields, *(pa.field(name, pa.string()) for name in texts), pa.field(fatal, pa.bool_())])


def reject_columns(streams: Mapping[str, StreamDefinition]) -> tuple[str, ...]:
    """The names of the columns file, place, reason, raw and fatal in `read_schema`."""
    return _apart(arrow_schema(streams).names)


def _apart(names: Sequence[str]) -> tuple[str, ...]:
    """The names, changed where attributes have the same names."""
    mark = "reject_"
    while any(name.lower().startswith(mark) for name in names):
        mark += "_"
    return tuple(mark + name for name in (*REJECT_COLUMNS, "fatal"))


def rejected(
    schema: pyarrow.Schema, file: str, places: Sequence[str], reasons: Sequence[str], raws: Sequence[str], fatal: bool
) -> pyarrow.RecordBatch:
    """Rejected rows, in `read_schema`."""
    import pyarrow as pa

    count = len(reasons)
    arrays = [pa.nulls(count, field.type) for field in schema]
    arrays[-5:] = [
        pa.array([file] * count, pa.string()),
        pa.array(places, pa.string()),
        pa.array([_kept(text) for text in reasons], pa.string()),
        pa.array([_kept(text) for text in raws], pa.string()),
        pa.array([fatal] * count, pa.bool_()),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _kept(text: str) -> str:
    return text[:RAW_CHARACTERS_MAX].encode("utf-8", "replace").decode()


def converted(
    batch: pyarrow.RecordBatch,
    columns: Columns,
    names: Sequence[str],
    schema: pyarrow.Schema,
    file: str = "",
    first: int | None = None,
    first_id: int = 0,
) -> list[pyarrow.RecordBatch]:
    """The events of a batch, then its rejects, in `read_schema`; empty batches are left out. O(values).

    `names`: the attributes' columns in the form. `first`: the 1-based row of the file at which the batch begins, None
    if unknown; `first_id`: the id of that row, if ids are derived.
    """
    import numpy as np
    import pyarrow as pa

    count = batch.num_rows
    found: dict[str, Any] = {"time": _instants(batch.column(columns.time))}
    found["start"] = found["time"] if columns.start is None else _starts(batch.column(columns.start), found["time"])
    if columns.id is None:
        found["id"] = pa.array(np.arange(first_id, first_id + count))
    else:
        found["id"] = _integers(batch.column(columns.id))
    bad = np.zeros(count, bool)
    for column in found.values():
        bad |= _nulls(column)
    for attribute, name in zip(columns.stream.schema.attributes, names):
        place = batch.schema.get_field_index(columns.of(attribute))
        source = pa.nulls(count) if place < 0 else batch.column(place)
        found[name] = _values(source, attribute)
        missing = _nulls(found[name])
        bad |= missing & ~_nulls(source) if attribute.nullable else missing
    found["stream"] = pa.array([columns.stream.name]).take(pa.array(np.zeros(count, np.int32)))
    arrays = [found[field.name] if field.name in found else pa.nulls(count, field.type) for field in schema]
    whole = pa.RecordBatch.from_arrays(arrays, schema=schema)
    if not bad.any():
        return [whole] if count else []
    events = whole.filter(pa.array(~bad))
    rows = [int(row) for row in np.flatnonzero(bad)]
    records = _records(batch.take(pa.array(rows)))
    places = ["" if first is None else f"row {first + row}" for row in rows]
    times, starts = (found[name].take(pa.array(rows)).to_pylist() for name in ("time", "start"))
    reasons = [_reason(record, columns, time, start) for record, time, start in zip(records, times, starts)]
    raws = [json.dumps(record, default=str, ensure_ascii=False) for record in records]
    rejects = rejected(schema, file, places, reasons, raws, False)
    return [events, rejects] if events.num_rows else [rejects]


def _records(batch: pyarrow.RecordBatch) -> list[dict[str, Any]]:
    """Rows as values by column, including values that Python cannot represent."""
    import pyarrow as pa

    def values(column: pyarrow.Array) -> list[Any]:
        try:
            found: list[Any] = column.to_pylist()
        except UnicodeDecodeError:
            texts = column.cast(pa.string()).cast(pa.binary()).to_pylist()
            found = [None if text is None else text.decode("utf-8", "surrogateescape") for text in texts]
        except (ValueError, OverflowError, pa.ArrowException):  # a timestamp outside the years 1 to 9999
            found = [str(value) for value in column.cast(pa.int64()).to_pylist()]
        return found

    columns = [values(column) for column in batch.columns]
    return [dict(zip(batch.schema.names, row)) for row in zip(*columns)]


def of_form(
    batch: pyarrow.RecordBatch,
    streams: Mapping[str, StreamDefinition],
    schema: pyarrow.Schema,
    file: str = "",
    first: int | None = None,
) -> list[pyarrow.RecordBatch]:
    """The same for a table that is in the form already: its values are checked, too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    made: list[pyarrow.RecordBatch] = []
    named = batch.column("stream").cast(pa.string())
    columns = columns_of(streams)
    for name in pc.unique(named).to_pylist():
        part = batch.filter(pc.is_null(named) if name is None else pc.fill_null(pc.equal(named, name), False))
        if name in streams:
            made += converted(part, form_columns(streams, name), columns[name], schema, file)
        else:
            raws = [json.dumps(record, default=str, ensure_ascii=False) for record in part.to_pylist()]
            reason = f"expected a declared stream, found {shown(name)}"
            made.append(rejected(schema, file, [""] * len(raws), [reason] * len(raws), raws, False))
    return made


def form_columns(streams: Mapping[str, StreamDefinition], name: str) -> Columns:
    """The mapping of the form's own columns for one of its streams."""
    own = dict(zip(streams[name].schema.names, columns_of(streams)[name]))
    return Columns(streams[name], "time", "id", "start", own)


def _reason(record: Mapping[str, Any], columns: Columns, time: int | None, start: int | None) -> str:
    """Why a row is not an event, in the words of broker.events; its times as converted, or None."""
    try:
        if time is None:
            time = instant_of(record[columns.time], columns.time)
        if start is None and columns.start is not None:
            start = instant_of(record[columns.start], columns.start)
            check_start(start, time, columns.start)
        if columns.id is not None:
            id_of(record[columns.id], columns.id)
        present = [a for a in columns.stream.schema.attributes if columns.of(a) in record]
        row_from_mapping(columns.stream, {a.name: record[columns.of(a)] for a in present})
    except EventError as error:
        return str(error)
    return f"stream {columns.stream.name!r}: expected values that an event may have, found others"


def check_start(start: int, time: int, column: str) -> None:
    """Raise EventError for a start after the time."""
    if start > time:
        raise EventError(f"column {column!r}: expected a start not after the time {time}, found {start}")


def instant_of(value: object, column: str, form: FileForm = USUAL_FORM) -> int:
    """A table's value as a time in microseconds, a text in the form's format. Raises EventError with the column."""
    if form.time_format is not None and isinstance(value, str):
        return formatted_instant(value, form.time_format)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int | str) or isinstance(value, bool):
        found = shown(value) if value is None or isinstance(value, float) else str(value)
        raise EventError(f"column {column!r}: expected a time exact in microseconds, found {found}")
    try:
        return parse_instant(value)
    except EventError as error:
        raise EventError(f"column {column!r}: {error}") from None


def id_of(value: object, column: str) -> int:
    """A table's value as an id. Raises EventError with the column."""
    if type(value) is int and _LEAST <= value <= _GREATEST:
        return value
    raise EventError(f"column {column!r}: expected an id, an int of 64 bits, found {shown(value)}")


def _nulls(column: pyarrow.Array) -> Any:
    return column.is_null().to_numpy(zero_copy_only=False)


def _starts(column: pyarrow.Array, times: pyarrow.Array) -> pyarrow.Array:
    """The starts, by default the times; null for values that are not times or are after the time."""
    import pyarrow.compute as pc

    starts = pc.if_else(column.is_null(), times, _instants(column))
    return pc.if_else(pc.less_equal(starts, times), starts, None)


def _instants(column: pyarrow.Array) -> pyarrow.Array:
    """Microseconds since 1970, null for values that are not times; a timestamp without a zone is UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    kind = column.type
    if types.is_integer(kind):
        found = _integers(column)
    elif types.is_floating(kind):
        column = column.cast(pa.float64())
        whole = pc.and_(pc.equal(pc.floor(column), column), pc.less_equal(pc.abs(column), float(LARGEST)))
        found = pc.if_else(whole, column, None).cast(pa.int64())
    elif types.is_timestamp(kind) and kind.unit == "ns":
        ticks = column.cast(pa.int64())
        whole = pc.equal(pc.multiply(pc.divide(ticks, 1000), 1000), ticks)
        found = pc.if_else(whole, pc.divide(ticks, 1000), None)
    elif types.is_timestamp(kind):
        found = _multiplied(column.cast(pa.int64()), _MICROSECONDS[kind.unit])
    elif types.is_date32(kind):
        found = _multiplied(column.cast(pa.int32()).cast(pa.int64()), _DAY)
    elif types.is_date64(kind):
        found = _multiplied(column.cast(pa.int64()), 1000)
    else:
        found = pa.array([_instant(text) for text in column.to_pylist()], pa.int64())
    return pc.if_else(pc.and_(pc.greater_equal(found, -LARGEST), pc.less_equal(found, LARGEST)), found, None)


def _instant(text: str | None) -> int | None:
    try:
        return None if text is None else parse_instant(text)
    except EventError:
        return None


def _multiplied(ticks: pyarrow.Array, size: int) -> pyarrow.Array:
    """The ticks times their size; null where the product is too large for a time."""
    import pyarrow.compute as pc

    bound = LARGEST // size
    fits = pc.and_(pc.greater_equal(ticks, -bound), pc.less_equal(ticks, bound))
    return pc.multiply(pc.if_else(fits, ticks, None), size)


def _integers(column: pyarrow.Array) -> pyarrow.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_uint64(column.type):
        column = pc.if_else(pc.less_equal(column, pa.scalar(_GREATEST, pa.uint64())), column, None)
    return column.cast(pa.int64())


def _values(column: pyarrow.Array, attribute: Attribute) -> pyarrow.Array:
    """The values of an attribute, null for values that do not fit."""
    import pyarrow as pa
    import pyarrow.compute as pc

    match attribute.type:
        case "string":
            return _texts(column)
        case "int":
            return _integers(column)
        case "bool":
            return column.cast(pa.bool_())
        case "float":
            column = column.cast(pa.float64(), safe=False)
            return pc.if_else(pc.is_finite(column), column, None)
        case "string[]":
            found = [_list(value) for value in column.cast(pa.list_(pa.binary())).to_pylist()]
            return pa.array(found, pa.list_(pa.string()))


def _texts(column: pyarrow.Array) -> pyarrow.Array:
    import pyarrow as pa

    column = column.cast(pa.string())
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:  # bytes that are not UTF-8
        return pa.array([_text(value) for value in column.cast(pa.binary()).to_pylist()], pa.string())
    return column


def _list(values: list[bytes | None] | None) -> list[str | None] | None:
    """The texts of a list; None if one is null or no text."""
    found = None if values is None else [_text(value) for value in values]
    return None if found is None or None in found else found


def _text(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
