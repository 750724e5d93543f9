"""Makes columns of what a program gives, and checks them, a loop a column: lists, buffers, Arrow, coded texts.

A check says only that all is well, or that it is not: who finds a batch unfit asks the checks of rows (validation),
which name the first wrong value, and convert what may be converted.

Here: that. Hot. Not here: reading Arrow's memory (arrow), times and ids (validation).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence, Sized
from typing import Any, Final

from mypy_extensions import i64

from .arrow import has_arrow, has_arrow_columns, read_column, read_columns
from .batch import (
    COMPILED,
    NEVER_CODED,
    NULL_NUMBER,
    Batch,
    Column,
    FloatColumn,
    Floats,
    IntegerColumn,
    Integers,
    ObjectColumn,
    TextColumn,
    batch_of_rows,
    packed_floats,
    packed_integers,
    widened,
    zeros,
)
from .coded_texts import CodedTexts
from .errors import EventError, shown
from .event_columns import EventColumns
from .row_columns import GREATEST, USUAL, packed_column
from .schema import Attribute, Row, Value
from .stream import StreamDefinition
from .text_codes import text_codes, text_column
from .validation import check_rows, encodable, misfit, texts_fit, unknown_attribute

FEW: Final = 256  # rows of which columns are worth making: of fewer, most texts may be new in each batch
_WHOLE: Final = "bBhHiIlLqQnN"
_NO_COLUMNS: Final = (str, bytes, bytearray, Mapping, set, frozenset)


def batch_of(stream: StreamDefinition, given: Any, count: int, coded: list[bool] = NEVER_CODED) -> Batch:
    """A valid batch of so many events. O(values).

    `given`: a column for each attribute by name, or a record batch of Arrow; those that may be null may be missing.
    `coded`: as Batch says.
    Raises EventError: for an attribute, or with the row as `check_rows` does.
    """
    found = _by_attribute(stream, given, count)
    columns: list[Column] = []
    for at, (attribute, values) in enumerate(zip(stream.schema.attributes, found)):
        column = column_of(attribute, values, stream, len(coded) > 0 and coded[at])
        if column is None:
            break
        columns.append(column)
    if len(columns) == len(found):
        return Batch(count, columns, None, coded)
    lists = [_listed(stream, attribute, values) for attribute, values in zip(stream.schema.attributes, found)]
    return Batch(count, [], list(check_rows(stream, list(zip(*lists, strict=True)))))


def batch_of_events(stream: StreamDefinition, given: EventColumns) -> Batch:
    """A valid batch of events that have come as columns, in the order of the schema; rows that may be shorter, too.
    O(values). Raises EventError as `check_rows` does."""
    columns: list[Column] = []
    for attribute, column in zip(stream.schema.attributes, given.columns()):
        fits = _fitting(attribute, column, stream)
        if fits is None:
            break
        columns.append(fits)
    if len(columns) == len(given.types) == len(stream.schema.attributes):
        return Batch(len(given), columns)
    return batch_of_rows(list(check_rows(stream, given.rows())))


def batch_of_values(stream: StreamDefinition, rows: list[Any]) -> Batch:
    """A valid batch of rows: with columns, too, if there are many and all values fit as they are. O(values).

    The batch keeps the rows. Raises EventError as `check_rows` does.
    """
    count = len(rows)
    if count >= FEW:
        columns = _columns_of_values(stream, rows)
        if columns is not None:
            return Batch(count, columns, rows)
    found = check_rows(stream, rows)
    return batch_of_rows(rows if found is rows else list(found))


def _columns_of_values(stream: StreamDefinition, rows: list[Any]) -> list[Column] | None:
    """A column for each attribute; None if a value does not fit as it is. O(values)."""
    width = len(stream.schema)
    for row in rows:
        if type(row) is not tuple or len(row) != width:
            return None
    tuples: list[tuple[Any, ...]] = rows
    columns: list[Column] = []
    for position, attribute in enumerate(stream.schema.attributes):
        column = packed_column(attribute, tuples, position) if COMPILED else None
        if column is None:
            values: list[Any] = [each[position] for each in tuples]
            column = column_of(attribute, values, stream)
        if column is None:
            return None
        columns.append(column)
    return columns


def event_columns(stream: StreamDefinition, given: Any, count: int) -> Sequence[Row]:
    """So many valid events to be sent: as columns, or as rows where values had to be converted one by one. O(values).
    `given`: as in `batch_of`. Raises EventError."""
    batch = batch_of(stream, given, count)
    if batch.made is not None:
        return batch.made
    return _coded_events(stream, batch.columns, count)


def packed_events(stream: StreamDefinition, rows: Sequence[Any]) -> EventColumns | None:
    """Valid rows to be sent, as columns; None for few, and if a value does not fit as it is. Uncompiled, packing rows
    costs less. O(values)."""
    if not COMPILED or len(rows) < FEW:
        return None
    columns = _columns_of_values(stream, list(rows))
    if columns is None:
        return None
    return _coded_events(stream, columns, len(rows))


def _coded_events(stream: StreamDefinition, columns: list[Column], count: int) -> EventColumns:
    batch = Batch(count, columns)
    for position in range(len(columns)):
        text_column(batch, position)
    return EventColumns(batch.columns, [attribute.type for attribute in stream.schema.attributes], count)


def _fitting(attribute: Attribute, column: Column, stream: StreamDefinition) -> Column | None:
    """The column, if its values are those of the attribute."""
    if isinstance(column, FloatColumn):
        return column if attribute.type == "float" and (attribute.nullable or not column.nulls) else None
    if isinstance(column, IntegerColumn):
        return column if attribute.type == "int" else None
    if isinstance(column, TextColumn):
        return column if attribute.type == "string" and (attribute.nullable or not _has_nulls(column.codes)) else None
    return column_of(attribute, column.values(), stream)


def _has_nulls(codes: Integers) -> bool:
    at: i64
    nulls = False
    for at in range(len(codes)):
        nulls = nulls or codes[at] < 0
    return nulls


def table_hint(given: object) -> str:
    """What to write where a DataFrame is given."""
    if type(given).__name__ != "DataFrame":
        return ""
    pandas = type(given).__module__.startswith("pandas")
    made = "pyarrow.RecordBatch.from_pandas(frame)" if pandas else "frame.to_arrow().to_batches()[0]"
    return f"; publish_columns takes {made}"


def _by_attribute(stream: StreamDefinition, given: Any, count: int) -> list[Any]:
    """What is given for each attribute, of that length."""
    if not isinstance(given, dict) and has_arrow_columns(given):  # to ask what is none costs as much as a short column
        given = read_columns(stream, given)
    if not isinstance(given, (dict, Mapping)):
        names = ", ".join([*(f"{name!r}: [...]" for name in stream.schema.names[:3])])
        expected = f"expected columns by attribute, as {{{names}}}, or a record batch of Arrow"
        raise EventError(f"stream {stream.name!r}: {expected}, found {shown(given)}{table_hint(given)}")
    attributes: tuple[Attribute, ...] = stream.schema.attributes
    known = 0
    for attribute in attributes:
        known += attribute.name in given
    if known != len(given):  # to ask the schema for each name costs as much as a short column
        for name in given:
            if not isinstance(name, str) or stream.schema.position(name) < 0:
                raise unknown_attribute(stream, name)
    found: list[Any] = []
    for attribute in attributes:
        if attribute.name not in given:
            if not attribute.nullable:
                raise misfit(stream, attribute, "nothing")
            found.append([None] * count)
            continue
        values: Any = given[attribute.name]
        plain = isinstance(values, (list, array))
        if not plain and has_arrow(values):
            values = read_column(stream, attribute.name, values)
        if not plain and (isinstance(values, _NO_COLUMNS) or not isinstance(values, Sized)):
            place = f"stream {stream.name!r}, attribute {attribute.name!r}"
            raise EventError(f"{place}: expected a column of values, found {shown(values)}")
        if len(values) != count:
            place = f"stream {stream.name!r}, attribute {attribute.name!r}"
            raise EventError(f"{place}: expected {count} values, one for each time, found {len(values)}")
        found.append(values)
    return found


def column_of(attribute: Attribute, given: Any, stream: StreamDefinition, coded: bool = False) -> Column | None:
    """The column of an attribute, texts as numbers if they are to be `coded`; None if values do not fit as they are.
    O(values)."""
    if isinstance(given, CodedTexts):
        return _coded(stream, attribute, given)
    view = None if isinstance(given, (list, tuple, range)) else _view(given)
    if view is not None:
        return _of_buffer(attribute, view)
    values: list[Any] = given if isinstance(given, list) else _listed(stream, attribute, given)
    match attribute.type:
        case "float":
            return _floats(values, attribute.nullable)
        case "int":
            return _integers(values, attribute.nullable)
        case "string":
            numbers = text_codes(values, attribute.nullable) if coded and len(values) >= FEW else None
            return _texts(values, attribute.nullable) if numbers is None else numbers
        case "string[]":
            return ObjectColumn(values.copy()) if texts_fit(values, attribute.nullable) else None
        case _:
            return _bools(values, attribute.nullable)


def integers_of(given: Any) -> list[int] | None:
    """The whole numbers of a buffer; None if it is none. O(values)."""
    if isinstance(given, (list, tuple, range, str, bytes, bytearray)):
        return None
    view = _view(given)
    if view is None or view.format not in _WHOLE:
        return None
    return view.tolist()


def _view(given: Any) -> memoryview | None:
    """The memory of numbers, one after the other, in this machine's order; None if there is none."""
    try:
        view = memoryview(given)
    except (TypeError, ValueError, BufferError):
        return None
    return view if view.ndim == 1 and view.c_contiguous and len(view.format) == 1 else None


def _of_buffer(attribute: Attribute, view: memoryview) -> Column | None:
    kind = view.format
    if attribute.type == "float":
        if kind == "d":
            numbers = packed_floats(view)
        elif kind == "f" or kind in _WHOLE:
            given: list[Any] = view.tolist()
            numbers = packed_floats([float(each) for each in given])
        else:
            return None
        return FloatColumn(numbers, False) if _finite(numbers) else None
    if attribute.type == "int" and kind in _WHOLE:
        if view.itemsize < 8 or kind in "qln":
            return IntegerColumn(widened(view))
        large: list[Any] = view.tolist()
        return IntegerColumn(packed_integers(large)) if max(large, default=0) <= GREATEST else None
    if attribute.type == "bool" and kind == "?":
        truths: list[Any] = view.tolist()
        return ObjectColumn(truths)
    return None


def _finite(numbers: Floats) -> bool:
    at: i64
    for at in range(len(numbers)):
        number = numbers[at]
        if number - number != 0.0:  # true only for NaN and the infinities
            return False
    return True


def _floats(values: list[Any], nullable: bool) -> Column | None:
    nulls = False
    for value in values:
        if type(value) is float:
            number: float = value  # compiled, a number instead of an object
            if number - number != 0.0:
                return None
        elif value is None and nullable:
            nulls = True
        else:
            return None
    if nulls:
        return FloatColumn(packed_floats([NULL_NUMBER if value is None else value for value in values]), True)
    return FloatColumn(packed_floats(values), False)


def _integers(values: list[Any], nullable: bool) -> Column | None:
    nulls = False
    for value in values:
        if type(value) is int:
            if not (-USUAL < value < USUAL or -GREATEST - 1 <= value <= GREATEST):
                return None
        elif value is None and nullable:
            nulls = True
        else:
            return None
    if nulls:
        return ObjectColumn(values.copy())
    if not COMPILED:
        return IntegerColumn(packed_integers(values))
    numbers = zeros(len(values))
    for at, value in enumerate(values):
        numbers[at] = value
    return IntegerColumn(numbers)


def _texts(values: list[Any], nullable: bool) -> Column | None:
    texts: list[str] = []
    for value in values:
        if type(value) is str:
            texts.append(value)
        elif value is not None or not nullable:
            return None
    return ObjectColumn(values.copy(), len(values) >= FEW) if encodable("".join(texts)) else None


def _bools(values: list[Any], nullable: bool) -> Column | None:
    for value in values:
        if type(value) is not bool and (value is not None or not nullable):
            return None
    return ObjectColumn(values.copy())


def _coded(stream: StreamDefinition, attribute: Attribute, given: CodedTexts) -> Column | None:
    """Raises EventError for a code without a text."""
    codes = _codes(stream, attribute, given)
    texts = list(given.texts)
    if attribute.type != "string" or _texts(texts, False) is None:
        return None
    at: i64
    count: i64 = len(texts)
    for at in range(len(codes)):
        if codes[at] < 0 and not attribute.nullable:
            return None
        if codes[at] < -1 or codes[at] >= count:
            place = f"stream {stream.name!r}, row {at}, attribute {attribute.name!r}"
            raise EventError(f"{place}: expected a code of one of {count} texts, or -1, found {codes[at]}")
    return TextColumn(codes, texts)


def _codes(stream: StreamDefinition, attribute: Attribute, given: CodedTexts) -> Integers:
    view = None if isinstance(given.codes, (list, tuple, range)) else _view(given.codes)
    if view is not None and view.format in _WHOLE and (view.itemsize < 8 or view.format in "qln"):
        return widened(view)
    codes: list[Any] = view.tolist() if view is not None else list(given.codes)
    for at, code in enumerate(codes):
        if type(code) is not int or not -1 <= code < len(given.texts):
            place = f"stream {stream.name!r}, row {at}, attribute {attribute.name!r}"
            raise EventError(f"{place}: expected a code of one of {len(given.texts)} texts, or -1, found {shown(code)}")
    return packed_integers(codes)


def _listed(stream: StreamDefinition, attribute: Attribute, given: Any) -> list[Any]:
    """Python's values of what is given, for the checks of rows."""
    if isinstance(given, CodedTexts):
        texts: list[Value] = list(given.texts)
        return [texts[code] if code >= 0 else None for code in _codes(stream, attribute, given)]
    for name in ("tolist", "to_pylist"):
        if hasattr(given, name):
            return list(getattr(given, name)())
    return list(given)


