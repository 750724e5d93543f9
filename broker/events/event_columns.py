"""Events in columns as they travel and lie in the journal: packed numbers, and texts with a dictionary.

A column is a map of plain values: its `type`, the bytes of its values as `data`, for whole numbers the `least`, for
texts, and for lists of them, the `texts` whose numbers are the data, and `valid`, a bit for each event, the first one
least, if some are null. What a column is does not depend on others, or on earlier batches.

Here: reading, writing, and looking at single events. Hot. Not here: the numbers (packed_numbers), whether columns fit a
stream (column_checks).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, final, overload

from mypy_extensions import i64

from .batch import (
    NULL_NUMBER,
    Column,
    FloatColumn,
    IntegerColumn,
    ObjectColumn,
    TextColumn,
    packed_floats,
    packed_integers,
    zeros,
)
from .errors import EventError, shown
from .packed_numbers import (
    FLOAT_BYTES,
    GREATEST,
    WIDTHS,
    bytes_of_floats,
    bytes_of_integers,
    floats_of,
    greatest_least,
    integers_of_bytes,
)
from .schema import Row, Value

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "float": ("type", "data", "valid"),
    "int": ("type", "data", "least", "valid"),
    "bool": ("type", "data", "valid"),
    "string": ("type", "data", "texts", "valid"),
    "string[]": ("type", "data", "texts", "valid"),
}


@final
class EventColumns(Sequence[Row]):
    """Events as columns of these types, a sequence of rows, which are made for those who look at them.

    Nothing is known of a stream. A slice is the events in it, and shares the columns.
    """

    def __init__(
        self, columns: list[Column], types: list[str], count: int, first: int = 0, whole: bool = True,
        plain: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.types = types
        self._columns = columns
        self._count = count
        self._first = first
        self._whole = whole
        self._plain = plain  # all of it, if it is known
        self._rows: list[Row] | None = None

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        """O(attributes) for one event, and O(1) for those beside each other."""
        if isinstance(index, slice):
            first, last, step = index.indices(self._count)
            if step != 1:
                return self.rows()[index]
            if first == 0 and last == self._count:
                return self
            return EventColumns(self._columns, self.types, max(0, last - first), self._first + first, False)
        at = index + self._count if index < 0 else index
        if not 0 <= at < self._count:
            raise IndexError(f"event {index} of {self._count}")
        return tuple([column.value(self._first + at) for column in self._columns])

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows())

    def __eq__(self, other: object) -> bool:
        """Whether they are the same events, in columns of the same types. O(values)."""
        return isinstance(other, EventColumns) and self.types == other.types and self.rows() == other.rows()

    def __hash__(self) -> int:
        return hash((self._count, *self.types))

    def rows(self) -> list[Row]:
        """The values of all events, made at the first call. O(values)."""
        rows = self._rows
        if rows is None:
            columns = [column.values() for column in self.columns()]
            rows = self._rows = list(zip(*columns, strict=True)) if columns else [()] * self._count
        return rows

    def columns(self) -> list[Column]:
        """The columns of these events alone. O(1) for all that have come together, else O(values)."""
        if self._whole:
            return self._columns
        events = packed_integers(list(range(self._first, self._first + self._count)))
        return [column.take(events) for column in self._columns]

    def plain(self) -> dict[str, Any]:
        """Plain values that `columns_of` reads. O(values); O(1) for those that were read."""
        plain = self._plain
        if plain is None:
            columns = [_written(kind, column) for kind, column in zip(self.types, self.columns(), strict=True)]
            plain = self._plain = {"count": self._count, "columns": columns}
        return plain


def columns_of(plain: Any, most: int) -> EventColumns:
    """The events that plain values describe. O(values). Raises EventError for more than `most`, and for other values
    than `plain` makes."""
    if not isinstance(plain, dict) or set(plain) != {"count", "columns"}:
        raise EventError(f"expected a map of count and columns, found {shown(plain)}")
    count, given = plain["count"], plain["columns"]
    if type(count) is not int or not 0 <= count <= most:
        raise EventError(f"count: expected 0 to {most:,} events, found {shown(count)}")
    if not isinstance(given, (list, tuple)):
        raise EventError(f"columns: expected an array, found {shown(given)}")
    columns: list[Column] = []
    types: list[str] = []
    for at, each in enumerate(given):
        try:
            columns.append(_read(each, count))
        except EventError as error:
            raise EventError(f"column {at}: {error}") from None
        types.append(each["type"])
    return EventColumns(columns, types, count, 0, True, plain)


def numbers_of(plain: Any, count: int) -> list[int]:
    """So many whole numbers of which none is null, such as times. O(numbers). Raises EventError."""
    column = _read(plain, count)
    if not isinstance(column, IntegerColumn):
        raise EventError("expected a column of type int without nulls, found another")
    return [int(number) for number in column.numbers]


def plain_numbers(numbers: Sequence[int]) -> dict[str, Any]:
    """Plain values that `numbers_of` reads; each number has 64 bits. O(numbers)."""
    return _written("int", IntegerColumn(packed_integers(numbers if isinstance(numbers, list) else list(numbers))))


# --- reading -----------------------------------------------------------------------------------------------------


def _read(plain: Any, count: int) -> Column:
    if not isinstance(plain, dict) or type(plain.get("type")) is not str or plain["type"] not in _FIELDS:
        raise EventError(f"expected a map with a type, one of {', '.join(_FIELDS)}, found {shown(plain)}")
    kind: str = plain["type"]
    for name in plain:
        if name not in _FIELDS[kind]:
            raise EventError(f"expected only {', '.join(_FIELDS[kind])} in type {kind}, found {shown(name)}")
    data: Any = plain.get("data")
    if type(data) is not bytes:
        raise EventError(f"data: expected a byte string, found {shown(data)}")
    valid = _valid(plain.get("valid"), count)
    match kind:
        case "float":
            return _floats(data, count, valid)
        case "int":
            return _integers(data, count, plain.get("least"), valid)
        case "string":
            return _texts(data, count, _each_once(plain.get("texts")), valid)
        case "string[]":
            return _lists(data, count, plain.get("texts"), valid)
    return _bools(data, count, valid)


def _valid(given: Any, count: int) -> bytes | None:
    if given is None:
        return None
    if type(given) is not bytes or len(given) != (count + 7) // 8:
        found = f"{len(given)} bytes" if type(given) is bytes else shown(given)
        raise EventError(f"valid: expected {(count + 7) // 8} bytes, a bit for each event, found {found}")
    return given


def _width(data: bytes, count: int, widths: Sequence[int]) -> int:
    for width in widths:
        if len(data) == width * count:
            return width
    expected = " or ".join([str(width * count) for width in widths])
    raise EventError(f"data: expected {expected} bytes for {count} events, found {len(data)}")


def _floats(data: bytes, count: int, valid: bytes | None) -> Column:
    _width(data, count, (FLOAT_BYTES,))
    numbers = floats_of(data)
    nulls = False
    at: i64
    for at in range(len(numbers)):
        number = numbers[at]
        if valid is not None and not valid[at >> 3] >> (at & 7) & 1:
            numbers[at] = NULL_NUMBER
            nulls = True
        elif number - number != 0.0:  # true only for NaN and the infinities
            raise EventError(f"event {at}: expected a finite float, found {number}")
    return FloatColumn(numbers, nulls)


def _integers(data: bytes, count: int, least: Any, valid: bytes | None) -> Column:
    width = _width(data, count, WIDTHS)
    most = greatest_least(width) if width < 8 else 0
    if type(least) is not int or not (-GREATEST - 1 <= least <= most if width < 8 else least == 0):
        expected = "0, as the numbers have 8 bytes" if width == 8 else f"-2**63 to {most}, as those of {width} bytes"
        raise EventError(f"least: expected {expected}, found {shown(least)}")
    numbers = integers_of_bytes(data, width, least)
    if valid is None:
        return IntegerColumn(numbers)
    values: list[Value] = []
    nulls = False
    at: i64
    for at in range(len(numbers)):
        there = bool(valid[at >> 3] >> (at & 7) & 1)
        nulls = nulls or not there
        values.append(int(numbers[at]) if there else None)
    return ObjectColumn(values) if nulls else IntegerColumn(numbers)


def _each_once(given: Any) -> list[str]:
    texts = _strings(given)
    if len(set(texts)) != len(texts):
        raise EventError("texts: expected each once, found one twice")
    return texts


def _strings(given: Any) -> list[str]:
    if not isinstance(given, (list, tuple)):
        raise EventError(f"texts: expected an array of strings, found {shown(given)}")
    texts: list[str] = []
    for text in given:
        if type(text) is not str:
            raise EventError(f"texts: expected strings, found {shown(text)}")
        texts.append(text)
    return texts


def _lists(data: bytes, count: int, given: Any, valid: bytes | None) -> Column:
    """Lists are numbers of a dictionary, as texts are."""
    if not isinstance(given, (list, tuple)):
        raise EventError(f"texts: expected an array of arrays of strings, found {shown(given)}")
    lists: list[Value] = [tuple(_strings(each)) for each in given]
    coded = _texts(data, count, [""] * len(lists), valid)
    return ObjectColumn([lists[code] if code >= 0 else None for code in coded.codes])


def _texts(data: bytes, count: int, texts: list[str], valid: bytes | None) -> TextColumn:
    codes = integers_of_bytes(data, _width(data, count, WIDTHS[:3]), 0)
    many: i64 = len(texts)
    at: i64
    for at in range(len(codes)):
        if valid is not None and not valid[at >> 3] >> (at & 7) & 1:
            codes[at] = -1
        elif codes[at] >= many:
            raise EventError(f"event {at}: expected the number of one of {many} texts, found {codes[at]}")
    return TextColumn(codes, texts)


def _bools(data: bytes, count: int, valid: bytes | None) -> Column:
    _width(data, count, (1,))
    values: list[Value] = []
    at: i64
    for at in range(len(data)):
        if valid is not None and not valid[at >> 3] >> (at & 7) & 1:
            values.append(None)
        elif data[at] > 1:
            raise EventError(f"event {at}: expected 0 or 1 as a bool, found {data[at]}")
        else:
            values.append(data[at] == 1)
    return ObjectColumn(values)


# --- writing -----------------------------------------------------------------------------------------------------


def _written(kind: str, column: Column) -> dict[str, Any]:
    """A column of this type as plain values."""
    if isinstance(column, FloatColumn):
        if not column.nulls:
            return {"type": kind, "data": bytes_of_floats(column.numbers)}
        zeroed = packed_floats([number if number == number else 0.0 for number in column.numbers])
        return {"type": kind, "data": bytes_of_floats(zeroed), **_nulls(column.values())}
    if isinstance(column, IntegerColumn):
        data, least = bytes_of_integers(column.numbers)
        return {"type": kind, "data": data, "least": least}
    if isinstance(column, TextColumn):
        return _recoded(column)
    values: list[Any] = column.values()
    match kind:
        case "string" | "string[]":
            return _coded(kind, values)
        case "bool":
            return {"type": kind, "data": bytes([value is True for value in values]), **_nulls(values)}
        case "float":
            floats = packed_floats([0.0 if value is None else value for value in values])
            return {"type": kind, "data": bytes_of_floats(floats), **_nulls(values)}
    known = [value for value in values if value is not None]
    least_known = min(known, default=0)
    data, least = bytes_of_integers(packed_integers([least_known if value is None else value for value in values]))
    return {"type": kind, "data": data, "least": least, **_nulls(values)}


def _recoded(column: TextColumn) -> dict[str, Any]:
    """Of a dictionary, which may have more texts and in another order, what these events have of it."""
    codes, texts = column.codes, column.texts
    if len(texts) > len(codes):
        return _coded("string", [texts[code] if code >= 0 else None for code in codes])
    numbers: dict[str, int] = {}
    known = packed_integers([-1] * len(texts))
    made = packed_integers(codes)
    nulls = False
    at: i64
    for at in range(len(codes)):
        code = codes[at]
        if code < 0:
            nulls = True
            made[at] = 0
            continue
        number = known[code]
        if number < 0:
            number = known[code] = numbers.setdefault(texts[code], len(numbers))
        made[at] = number
    data, _ = bytes_of_integers(made)
    return {"type": "string", "data": data, "texts": [*numbers], **(_nulls(column.values()) if nulls else {})}


def _coded(kind: str, values: list[Any]) -> dict[str, Any]:
    """Texts or lists of them, each once, in the order in which they come first, and their numbers."""
    numbers: dict[Any, int] = {}
    codes = zeros(len(values))
    nulls = False
    for at, text in enumerate(values):
        if text is None:
            nulls = True
            continue
        code = numbers.get(text, -1)
        if code < 0:
            code = len(numbers)
            numbers[text] = code
        codes[at] = code
    data, _ = bytes_of_integers(codes)  # the first text has 0, so nothing is to be added
    return {"type": kind, "data": data, "texts": [*numbers], **(_nulls(values) if nulls else {})}


def _nulls(values: Sequence[Any]) -> dict[str, Any]:
    """Which events have a value, if not all do."""
    if None not in values:
        return {}
    bits = bytearray((len(values) + 7) // 8)
    for at, value in enumerate(values):
        if value is not None:
            bits[at >> 3] |= 1 << (at & 7)
    return {"valid": bytes(bits)}
