"""Rows as they come from clients, read straight into columns: no object is made for a value. Hot.

The bytes are a msgpack array of rows, each an array of values in the order of the schema. Columns are made of what has
a simple form: rows of one length, values of one type in each column, whole numbers without nulls. Of anything else
nothing is made: whoever asked unpacks the rows as objects, and finds out what is wrong with them, if anything is.

Here: that. Not here: columns that have travelled as columns (event_columns), whether they fit a stream (column_checks).
"""

from __future__ import annotations

from array import array
from contextlib import suppress
from typing import Final, final

from mypy_extensions import i64, u8

from .batch import (
    COMPILED,
    Column,
    FloatColumn,
    IntegerColumn,
    Integers,
    ObjectColumn,
    TextColumn,
    packed_floats,
    zeros,
)
from .event_columns import EventColumns
from .short_texts import SHORT, ShortTexts

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import vec

if not COMPILED:
    globals()["vec"] = {u8: list}

COLUMNS_MAX: Final = 64
"""Of wider rows, no columns are made."""
_EXPONENT: Final = 52  # where that of a float of 64 bits begins
_INFINITE: Final = 0x7FF  # that of NaN and the infinities
_NAN: Final = 0x7FF8_0000  # the upper half
_HALF: Final = 0x1_0000_0000
_OTHER: Final = -1
_NULL: Final = 0
_FLOAT: Final = 1
_INTEGER: Final = 2
_TEXT: Final = 3
_BOOL: Final = 4
_TYPES: Final = ("", "float", "int", "string", "bool")  # by kind


def columns_of_rows(data: bytes, most: int) -> EventColumns | None:
    """The rows as columns; None for more than `most`, and where they have no simple form. O(bytes)."""
    reader = _Reader(data)
    count = reader.array()
    if not 0 < count <= most:
        return None
    width = reader.array()
    if not 0 < width <= COLUMNS_MAX:
        return None
    columns = [_Column(reader, count) for _ in range(width)]
    row: i64
    for row in range(count):
        if row > 0 and reader.array() != width:
            return None
        for column in columns:
            if not column.take(reader.value(), row):
                return None
    if reader.at != reader.size or any(column.kind == _NULL for column in columns):
        return None
    return EventColumns([column.made() for column in columns], [_TYPES[column.kind] for column in columns], int(count))


@final
class _Reader:
    """What is read next, at byte `at` of `size`, and the number that was read last: a value, the bits of a float, or
    how many bytes of text follow."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.given = vec[u8](memoryview(data))
        self.size: i64 = len(data)
        self.at: i64 = 0
        self.number: i64 = 0

    def array(self) -> i64:
        """The length of the array that begins here; -1 where none does, and for more than 65,535 values."""
        at = self.at
        if at >= self.size:
            return -1
        tag = i64(self.given[at])
        if 0x90 <= tag <= 0x9F:
            self.at = at + 1
            return tag & 0xF
        if tag != 0xDC or at + 3 > self.size:
            return -1
        self.at = at + 3
        return i64(self.given[at + 1]) << 8 | i64(self.given[at + 2])

    def value(self) -> i64:
        """The kind of the value that begins here; _OTHER for one that no column has. O(1)."""
        at = self.at
        if at >= self.size:
            return _OTHER
        tag = i64(self.given[at])
        self.at = at + 1
        self.number = tag
        if tag <= 0x7F:
            return _INTEGER
        if tag >= 0xE0:
            self.number = tag - 0x100
            return _INTEGER
        if tag == 0xCB:
            if not self._bytes(8, True) or self.number >> _EXPONENT & _INFINITE == _INFINITE:
                return _OTHER  # NaN stands for null in a column
            return _FLOAT
        if 0xA0 <= tag <= 0xBF:
            self.number = tag & 0x1F
        elif 0xCC <= tag <= 0xCF:
            return _INTEGER if self._bytes(i64(1) << (tag - 0xCC), False) and self.number >= 0 else _OTHER
        elif 0xD0 <= tag <= 0xD3:
            return _INTEGER if self._bytes(i64(1) << (tag - 0xD0), True) else _OTHER
        elif 0xD9 <= tag <= 0xDB:
            if not self._bytes(i64(1) << (tag - 0xD9), False):
                return _OTHER
        elif tag == 0xC0:
            return _NULL
        elif tag == 0xC2 or tag == 0xC3:
            self.number = tag & 1
            return _BOOL
        else:
            return _OTHER
        return _TEXT if self.at + self.number <= self.size else _OTHER

    def _bytes(self, length: i64, signed: bool) -> bool:
        """Read a big-endian number of so many bytes; whether there are as many. One of 8 has a sign in any case."""
        at = self.at
        if at + length > self.size:
            return False
        number = i64(self.given[at])
        if number >= 0x80 and (signed or length == 8):
            number -= 0x100
        place: i64
        for place in range(at + 1, at + length):
            number = number << 8 | i64(self.given[place])
        self.number = number
        self.at = at + length
        return True


@final
class _Column:
    """The values of a column so far: numbers, the bits of floats, or the numbers of texts."""

    def __init__(self, reader: _Reader, count: i64) -> None:
        self.reader = reader
        self.kind: int = _NULL  # of those before, which are all null
        self.nulls = False
        self.numbers: Integers = zeros(count)
        self.texts = _Texts(reader)

    def take(self, kind: i64, row: i64) -> bool:
        """Take the value that was read; False for one of another kind. Amortised O(bytes)."""
        if kind != self.kind and not (self._begin(int(kind), row) if self.kind == _NULL else kind == _NULL):
            return False
        number = self.reader.number
        if kind == _TEXT:
            number = self.texts.code(number)
            if number < 0:
                return False
        elif kind == _NULL:
            if self.kind == _INTEGER:
                return False
            self.nulls = True
            number = self._null()
        self.numbers[row] = number
        return True

    def _begin(self, kind: int, row: i64) -> bool:
        """The first value that is not null; whether a column of this kind may have those before."""
        if kind == _OTHER or (kind == _INTEGER and row > 0):
            return False
        self.kind = kind
        before: i64
        for before in range(row):
            self.numbers[before] = self._null()
        return True

    def _null(self) -> i64:
        """How the column has null."""
        nan: i64 = _NAN
        return nan * _HALF if self.kind == _FLOAT else -1

    def made(self) -> Column:
        """The column, once all values are in it. O(values)."""
        if self.kind == _INTEGER:
            return IntegerColumn(self.numbers)
        if self.kind == _TEXT:
            return TextColumn(self.numbers, self.texts.texts)
        if self.kind == _BOOL:
            return ObjectColumn([None if each < 0 else each == 1 for each in self.numbers])
        raw = bytes(memoryview(self.numbers)) if COMPILED else array("q", self.numbers).tobytes()
        return FloatColumn(packed_floats(memoryview(raw).cast("d")), self.nulls)


@final
class _Texts:
    """The texts of a column, each once, in the order in which they come first."""

    def __init__(self, reader: _Reader) -> None:
        self.texts: list[str] = []
        self._reader = reader
        self._short = ShortTexts()
        self._long: dict[bytes, int] = {}

    def code(self, length: i64) -> i64:
        """The number of the text that follows, of so many bytes; -1 if it is not UTF-8. Amortised O(length)."""
        at = self._reader.at
        self._reader.at = at + length
        known: i64
        if length > SHORT:
            data = self._reader.data[int(at) : int(at + length)]
            known = self._long.get(data, -1)
            if known < 0:
                known = self._add(data)
                if known >= 0:
                    self._long[data] = int(known)
            return known
        word = length + 1
        place: i64
        for place in range(at, at + length):
            word = word << 8 | i64(self._reader.given[place])
        known = self._short.code(word)
        if known < 0:
            known = self._add(self._reader.data[int(at) : int(at + length)])
            if known >= 0:
                self._short.put(word, known)
        return known

    def _add(self, data: bytes) -> i64:
        try:
            self.texts.append(data.decode())
        except UnicodeDecodeError:
            return -1
        return len(self.texts) - 1
