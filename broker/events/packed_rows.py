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
    packed_integers,
)
from .event_columns import EventColumns

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import vec

if not COMPILED:
    globals()["vec"] = {u8: list}

COLUMNS_MAX: Final = 64
"""Of wider rows, no columns are made."""
SHORT: Final = 7
"""Bytes of a text that is looked up as a number: its length, and its bytes below it."""
_SLOTS: Final = 256  # of a dictionary at first; a power of 2
_SCATTER: Final = 0x278D_DE6E_5FD2_9F05  # 2**62 by the golden ratio (Knuth, TAOCP 6.4)
_UNSCATTERED: Final = 40  # the low bits of a product, which depend on few of the word's
_EXPONENT: Final = 52  # where that of a float of 64 bits begins
_INFINITE: Final = 0x7FF  # that of NaN and the infinities
_NAN: Final = 0x7FF8_0000  # the upper half
_HALF: Final = 0x1_0000_0000
_UNKNOWN: Final = 0
_FLOAT: Final = 1
_INTEGER: Final = 2
_TEXT: Final = 3
_BOOL: Final = 4


def columns_of_rows(data: bytes, most: int) -> EventColumns | None:
    """The rows as columns; None for more than `most`, and where they have no simple form. O(bytes)."""
    size: i64 = len(data)
    given = vec[u8](memoryview(data))
    if size < 2:
        return None
    first = i64(given[0])
    at: i64 = 1
    count: i64 = first & 0xF
    if first == 0xDC and size > 3:
        count = i64(given[1]) << 8 | i64(given[2])
        at = 3
    elif not 0x90 <= first <= 0x9F:
        return None
    width: i64 = -1
    numbers = packed_integers([])  # column after column, when the first row has told how many there are
    kinds: list[int] = []
    nulls: list[bool] = []
    texts: list[_Texts] = []
    row: i64
    column: i64
    for row in range(count):
        if at >= size:
            return None
        header = i64(given[at])
        values: i64 = header & 0xF
        at += 1
        if header == 0xDC and at + 1 < size:
            values = i64(given[at]) << 8 | i64(given[at + 1])
            at += 2
        elif not 0x90 <= header <= 0x9F:
            return None
        if row == 0:
            width = values
            if not 0 < width <= COLUMNS_MAX or count > most:
                return None
            numbers = _zeros(width * count)
            kinds = [_UNKNOWN] * int(width)
            nulls = [False] * int(width)
            texts = [_Texts(data, given)] * int(width)
        elif values != width:
            return None
        for column in range(width):
            if at >= size:
                return None
            tag = i64(given[at])
            at += 1
            kind: i64 = _INTEGER
            number: i64 = tag
            length: i64 = 0
            if tag == 0xCB:
                kind = _FLOAT
                length = 8
            elif 0xA0 <= tag <= 0xBF:
                kind = _TEXT
                number = tag & 0x1F
            elif 0xCC <= tag <= 0xD3:
                length = i64(1) << (tag & 3)
            elif 0xD9 <= tag <= 0xDB:
                kind = _TEXT
                length = i64(1) << (tag - 0xD9)
            elif tag == 0xC2 or tag == 0xC3:
                kind = _BOOL
                number = tag & 1
            elif tag == 0xC0:
                if kinds[column] == _INTEGER:
                    return None
                nulls[column] = True
                numbers[column * count + row] = _null(kinds[column])
                continue
            elif tag >= 0xE0:
                number = tag - 0x100
            elif tag > 0x7F:
                return None
            if length > 0:  # a number that big, big-endian
                if at + length > size:
                    return None
                number = i64(given[at])
                if number >= 0x80 and kind != _TEXT and tag != 0xCC and tag != 0xCD and tag != 0xCE:
                    if tag == 0xCF:
                        return None  # more than 63 bits
                    number -= 0x100
                place: i64
                for place in range(at + 1, at + length):
                    number = number << 8 | i64(given[place])
                at += length
                if kind == _FLOAT and number >> _EXPONENT & _INFINITE == _INFINITE:
                    return None  # NaN stands for null in a column
            if kinds[column] != kind:
                if kinds[column] != _UNKNOWN or (kind == _INTEGER and nulls[column]):
                    return None
                kinds[column] = int(kind)
                if kind == _TEXT:
                    texts[column] = _Texts(data, given)
                for place in range(row):  # all of them nulls
                    numbers[column * count + place] = _null(int(kind))
            if kind == _TEXT:
                if at + number > size:
                    return None
                code = texts[column].code(at, number)
                if code < 0:
                    return None
                at += number
                number = code
            numbers[column * count + row] = number
    if at != size or width < 0:
        return None
    raw = memoryview(bytes(memoryview(numbers)) if COMPILED else array("q", numbers).tobytes())
    columns: list[Column] = []
    names: list[str] = []
    for column in range(width):
        own = raw[int(column * count * 8) : int((column + 1) * count * 8)]
        kind = kinds[column]
        if kind == _FLOAT:
            names.append("float")
            columns.append(FloatColumn(packed_floats(own.cast("d")), nulls[column]))
        elif kind == _INTEGER:
            names.append("int")
            columns.append(IntegerColumn(packed_integers(own.cast("q"))))
        elif kind == _TEXT:
            names.append("string")
            columns.append(TextColumn(packed_integers(own.cast("q")), texts[column].texts))
        elif kind == _BOOL:
            names.append("bool")
            columns.append(ObjectColumn([None if each < 0 else each == 1 for each in own.cast("q")]))
        else:
            return None
    return EventColumns(columns, names, int(count))


@final
class _Texts:
    """The texts of a column, each once, in the order in which they come first."""

    def __init__(self, data: bytes, given: vec[u8]) -> None:
        self.texts: list[str] = []
        self._data = data
        self._given = given
        self._words: Integers = _zeros(_SLOTS)  # 0 where a slot is free
        self._codes: Integers = _zeros(_SLOTS)
        self._long: dict[bytes, int] = {}

    def code(self, at: i64, length: i64) -> i64:
        """The number of a text of so many bytes; -1 if it is not UTF-8. O(length)."""
        if length > SHORT:
            data = self._data[int(at) : int(at + length)]
            known: i64 = self._long.get(data, -1)
            if known < 0:
                known = self._add(at, length)
                if known >= 0:
                    self._long[data] = int(known)
            return known
        word = length + 1
        place: i64
        for place in range(at, at + length):
            word = word << 8 | i64(self._given[place])
        words = self._words
        mask: i64 = len(words) - 1
        slot: i64 = word * _SCATTER >> _UNSCATTERED & mask
        while words[slot] != word:
            if words[slot] == 0:
                code = self._add(at, length)
                if code >= 0:
                    words[slot] = word
                    self._codes[slot] = code
                    if 2 * len(self.texts) > len(words):
                        self._grow()
                return code
            slot = slot + 1 & mask
        return self._codes[slot]

    def _add(self, at: i64, length: i64) -> i64:
        try:
            text = self._data[int(at) : int(at + length)].decode()
        except UnicodeDecodeError:
            return -1
        self.texts.append(text)
        return len(self.texts) - 1

    def _grow(self) -> None:
        """Twice as many slots. O(slots)."""
        words, codes = self._words, self._codes
        mask: i64 = 2 * len(words) - 1
        self._words, self._codes = _zeros(mask + 1), _zeros(mask + 1)
        old: i64
        for old in range(len(words)):
            word = words[old]
            if word == 0:
                continue
            slot: i64 = word * _SCATTER >> _UNSCATTERED & mask
            while self._words[slot] != 0:
                slot = slot + 1 & mask
            self._words[slot] = word
            self._codes[slot] = codes[old]


def _zeros(count: i64) -> Integers:
    return packed_integers(memoryview(bytes(int(count) * 8)).cast("q"))


def _null(kind: int) -> i64:
    """How a column of that kind has null."""
    nan: i64 = _NAN
    return nan * _HALF if kind == _FLOAT else -1
