"""Reads a Parquet file into batches of one stream, with pyarrow.

Columns go to the engine as they are; it checks every value and finds those that do not fit. A column whose type
cannot fit is refused here, before the first row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..events import Attribute, EventError, StreamDefinition, suggestion
from ..events.arrow import read_times, read_usual
from ..events.arrow_paths import to_read, without_structs
from ..events.file_form import column_hint
from .bad_events import BadEvents
from .batch import BATCH_EVENTS, EventBatch
from .column_rows import ColumnRows
from .complaint import BadInput, placed
from .file_times import FileTimes

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

CHUNK_ROWS: Final = 16 * BATCH_EVENTS  # one batch: of columns, a larger one costs less


def open_parquet(source: Any, place: str, texts: Collection[str] = ()) -> pyarrow.parquet.ParquetFile:
    """Open a file; `source` is a path or the whole content as bytes. `texts`: columns whose texts are read as numbers
    with a dictionary, as the file has them.

    Raises BadInput if pyarrow is missing or the file is not Parquet, for instance truncated.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadInput(
            f"{place}: reading Parquet needs pyarrow, which is not installed: pip install 'foretell[parquet]'"
        ) from None
    try:
        file = _opened(source, None)
        coded = [field.name for field in file.schema_arrow if field.name in texts and _is_text(field.type)]
        if not coded:
            return file
        with file:
            return _opened(source, coded, file.metadata)
    except (pyarrow.ArrowException, ValueError) as error:
        raise BadInput(f"{place}: expected a Parquet file, found a damaged one: {_reason(error)}") from None


def _opened(source: Any, coded: list[str] | None, known: Any = None) -> pyarrow.parquet.ParquetFile:
    import pyarrow.parquet

    given = pyarrow.BufferReader(source) if isinstance(source, bytes) else source
    return pyarrow.parquet.ParquetFile(given, metadata=known, read_dictionary=coded)


def read_parquet(
    file: pyarrow.parquet.ParquetFile,
    place: str,
    stream: StreamDefinition,
    time: str,
    clock: FileTimes | None = None,
    bad: BadEvents | None = None,
) -> Iterator[EventBatch]:
    """Yield the rows of a file as batches; `time` is the column of the times. `position` counts rows.

    Columns that are no attributes are ignored. Raises errors with the place and the column or the row; rows without a
    time may be left out.
    """
    import pyarrow

    clock = FileTimes({stream.name: stream}) if clock is None else clock
    leave_out = None if bad is None or bad.stops else partial(_leave_out, bad, place)
    with placed(place):
        raw = file.schema_arrow
        header = without_structs(pyarrow.RecordBatch.from_pylist([], schema=raw)).schema
        if clock.now:
            time = header.names[0]
        else:
            _check_time(header, time, clock.fractional(stream.name))
        sources = {each.name: stream.files.column(each.name) for each in stream.schema.attributes}
        known = [each for each in stream.schema.attributes if _present(raw, header, stream, each, sources[each.name])]
        wanted = to_read([time, *(sources[each.name] for each in known)], raw)
        count = 0
        try:
            for batch in file.iter_batches(CHUNK_ROWS, columns=wanted):
                table = without_structs(batch)
                times, good = _times(table.column(time), count, stream.name, clock, leave_out)
                columns = {each.name: _column(stream, each, table.column(sources[each.name])) for each in known}
                rows = ColumnRows(columns, stream.schema.names, len(table))
                places: Sequence[int] = range(count + 1, count + len(rows) + 1)
                count += len(rows)
                if good is not None:
                    rows, places = rows.taken(good), [places[at] for at in good]
                if places:
                    yield EventBatch(stream.name, times, rows, None, None, places, places[-1])
        except (pyarrow.ArrowException, ValueError, OSError) as error:
            raise EventError(f"expected columns that can be read, found after row {count}: {_reason(error)}") from None


def _column(stream: StreamDefinition, attribute: Attribute, column: Any) -> Any:
    """A column in a type of the attribute; values that have no exact one are left to the checks of the engine."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_timestamp(kind) or types.is_date(kind):
        return [None if each is None else each for each in instants(column)]
    if types.is_decimal(kind) or (attribute.type == "int" and types.is_floating(kind)):
        target = "int64" if attribute.type == "int" else "float64"
        try:
            column = column.cast(target)
        except pyarrow.ArrowException:
            if types.is_decimal(kind):
                column = column.cast("float64")
            return [int(each) if each is not None and each.is_integer() else each for each in column.to_pylist()]
    return read_usual(stream, attribute, column)


def instants(column: Any) -> list[int | None]:
    """The instants of timestamps, those without a zone in UTC, and of dates; nanoseconds are cut. O(values)."""
    from pyarrow import types

    unit = "s" if types.is_date(column.type) else column.type.unit
    if types.is_date(column.type):
        column = column.cast("timestamp[s]")
    ticks: list[int | None] = column.cast("int64").to_pylist()
    if unit == "ns":
        return [None if each is None else each // 1_000 for each in ticks]
    factor = {"s": 1_000_000, "ms": 1_000, "us": 1}[unit]
    return ticks if factor == 1 else [None if each is None else each * factor for each in ticks]


def _present(
    raw: pyarrow.Schema, header: pyarrow.Schema, stream: StreamDefinition, attribute: Attribute, source: str
) -> bool:
    """Return whether the file has the column of an attribute. Raises if a required one is missing or the type cannot
    fit."""
    found = header.get_all_field_indices(source)
    whole = raw.get_field_index(source)
    if not found and whole >= 0:  # a struct
        kind = raw.field(whole).type
        path = next((each for each in header.names if each.startswith(f"{source}.")), f"{source}.x")
        hint = f"; write --column {f'{path}={attribute.name}'!r}"
        raise EventError(f"column {source!r}: expected {attribute.type}, found the type {kind}{hint}")
    if not found and attribute.nullable and source == attribute.name:
        return False
    if len(found) != 1:
        hint = column_hint(source, [name for name in header.names if stream.schema.position(name) < 0])
        raise EventError(
            f"stream {stream.name!r}: expected one column {source!r}, found {len(found)}{'' if found else hint}"
        )
    kind = header.field(found[0]).type
    if not _fits(kind, attribute):
        raise EventError(f"column {source!r}: expected {attribute.type}, found the type {kind}")
    return True


def _fits(kind: pyarrow.DataType, attribute: Attribute) -> bool:
    from pyarrow import types

    if types.is_null(kind):
        return attribute.nullable
    match attribute.type:
        case "string":
            return _is_text(_plain(kind))
        case "int":
            whole = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
            return bool(whole or types.is_timestamp(kind) or types.is_date(kind))
        case "float":
            return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind))
        case "bool":
            return bool(types.is_boolean(kind))
        case "string[]":
            return bool(types.is_list(kind) or types.is_large_list(kind)) and _is_text(_plain(kind.value_type))


def _plain(kind: pyarrow.DataType) -> pyarrow.DataType:
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def _is_text(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _check_time(header: pyarrow.Schema, time: str, fractional: bool) -> None:
    from pyarrow import types

    found = header.get_all_field_indices(time)
    if len(found) != 1:
        raise EventError(
            f"expected a column {time!r} with the times (--time COLUMN names it), found "
            f"{f'{len(found)} of them' if found else ', '.join(header.names[:8])}"
            f"{'' if found else suggestion(time, header.names)}"
        )
    kind = header.field(found[0]).type
    number = types.is_integer(kind) or (fractional and types.is_floating(kind))
    if not (number or types.is_timestamp(kind) or types.is_date(kind) or _is_text(_plain(kind))):
        raise EventError(f"column {time!r}: expected ints, timestamps or ISO-8601 texts, found the type {kind}")


def _times(
    column: pyarrow.Array,
    before: int,
    stream: str,
    clock: FileTimes,
    leave_out: Callable[[int, EventError, object], None] | None,
) -> tuple[list[int], list[int] | None]:
    """Convert times to microseconds since 1970; a timestamp without a time zone is UTC. Also the indexes of the rows
    that have one; None: all."""
    from pyarrow import types

    if clock.now:
        return [0] * len(column), None
    temporal = types.is_timestamp(column.type) or types.is_date(column.type)
    if temporal and not column.null_count:
        return (read_times(column) if types.is_timestamp(column.type) else instants(column)), None  # type: ignore[return-value]  # no nulls
    if not temporal and types.is_integer(column.type) and not column.null_count:
        try:
            return clock.numbers(read_times(column), stream, whole=True), None
        except EventError:
            pass  # and again one by one, to tell the row
    values: list[Any] = instants(column) if temporal else column.to_pylist()
    times: list[int] = []
    good: list[int] = []
    for index, value in enumerate(values):
        try:
            if value is None:
                raise EventError("expected a time, found null")
            times.append(value if temporal else clock.instant(value, stream))
            good.append(index)
        except EventError as error:
            if leave_out is None:
                raise EventError(f"row {before + index + 1}: {error}") from None
            leave_out(before + index + 1, error, value)
    return times, None if len(good) == len(values) else good


def _leave_out(bad: BadEvents, place: str, row: int, error: EventError, value: object) -> None:
    bad.refuse(f"{place}: row {row}", error, value)


def _reason(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
