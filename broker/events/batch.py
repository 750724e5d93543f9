"""A batch of events in columns: the values of each attribute beside each other, packed where they are numbers.

A column is what a program, a file or another process has already: nothing is made of a value that nobody reads. Rows
are made when they are asked for, all at once or one by one.

Here: columns and the batch. Hot. Not here: making columns of what somebody gives, and checking them (column_checks).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, TypeAlias, final

from mypy_extensions import i32, i64

from .schema import Row, Value

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import vec

COMPILED: Final[bool] = not __file__.endswith(".py")
NULL_NUMBER: Final = float("nan")  # valid floats are finite
NEVER_CODED: Final[list[bool]] = []
_USUAL: Final = 65_536  # zeros that are there already: to make them costs as much as to copy them
_ZEROS: Final = memoryview(bytes(8 * _USUAL)).cast("q")
_FLOAT_ZEROS: Final = _ZEROS.cast("B").cast("d")

if not COMPILED:
    globals()["vec"] = {float: list, i64: list, i32: list}  # `vec[float](...)` makes a list

Floats: TypeAlias = "vec[float]"
Integers: TypeAlias = "vec[i64]"


def packed_floats(values: Any) -> vec[float]:
    """A column of a list of floats, or of a buffer of them, which is copied as it is. O(values)."""
    return vec[float](values)


def packed_integers(values: Any) -> vec[i64]:
    """The same for ints of 64 bits."""
    return vec[i64](values)


def zeros(count: i64) -> vec[i64]:
    """A column of so many zeros. O(count)."""
    if count <= _USUAL:
        return vec[i64](_ZEROS[: int(count)])
    return vec[i64](memoryview(bytes(int(count) * 8)).cast("q"))


def float_zeros(count: i64) -> vec[float]:
    """The same for floats."""
    if count <= _USUAL:
        return vec[float](_FLOAT_ZEROS[: int(count)])
    return vec[float](memoryview(bytes(int(count) * 8)).cast("d"))


def widened(view: memoryview) -> vec[i64]:
    """The whole numbers of a buffer, of any width up to 64 bits with sign. O(numbers)."""
    if view.itemsize == 8 and view.format in ("q", "l"):
        return vec[i64](view)
    if not COMPILED or view.format != "i":
        return vec[i64](view.tolist())
    given = vec[i32](view)
    numbers = vec[i64]([0] * len(given))
    at: i64
    for at in range(len(given)):
        numbers[at] = i64(given[at])
    return numbers


class Column:
    """The values of one attribute, in the order of the events."""

    def value(self, at: i64) -> Value:
        """The value of an event. O(1)."""
        raise AssertionError

    def values(self) -> list[Value]:
        """All values. O(events)."""
        raise AssertionError

    def take(self, events: Integers) -> Column:
        """The values of these events, in this order. O(events)."""
        raise AssertionError


@final
class FloatColumn(Column):
    """Floats; NaN stands for null."""

    def __init__(self, numbers: vec[float], nulls: bool) -> None:
        self.numbers = numbers
        self.nulls = nulls

    def value(self, at: i64) -> Value:
        number = self.numbers[at]
        return number if number == number else None

    def values(self) -> list[Value]:
        if not self.nulls:
            return list(self.numbers)
        return [number if number == number else None for number in self.numbers]

    def take(self, events: Integers) -> Column:
        return FloatColumn(packed_floats([self.numbers[event] for event in events]), self.nulls)


@final
class IntegerColumn(Column):
    """Ints of 64 bits, none of them null."""

    def __init__(self, numbers: vec[i64]) -> None:
        self.numbers = numbers

    def value(self, at: i64) -> Value:
        return int(self.numbers[at])

    def values(self) -> list[Value]:
        return [int(number) for number in self.numbers]

    def take(self, events: Integers) -> Column:
        return IntegerColumn(packed_integers([int(self.numbers[event]) for event in events]))


@final
class TextColumn(Column):
    """Texts as numbers in a dictionary; -1 stands for null."""

    def __init__(self, codes: vec[i64], texts: list[str]) -> None:
        self.codes = codes
        self.texts = texts

    def value(self, at: i64) -> Value:
        code = self.codes[at]
        return self.texts[code] if code >= 0 else None

    def values(self) -> list[Value]:
        texts = self.texts
        return [texts[code] if code >= 0 else None for code in self.codes]

    def take(self, events: Integers) -> Column:
        return TextColumn(packed_integers([int(self.codes[event]) for event in events]), self.texts)


@final
class ObjectColumn(Column):
    """Values as they are. `uncoded`: they are texts, of which nobody has made numbers of a dictionary yet
    (text_codes)."""

    def __init__(self, objects: list[Value], uncoded: bool = False) -> None:
        self.objects = objects
        self.uncoded = uncoded

    def value(self, at: i64) -> Value:
        return self.objects[at]

    def values(self) -> list[Value]:
        return self.objects

    def take(self, events: Integers) -> Column:
        return ObjectColumn([self.objects[event] for event in events])


@final
class Batch:
    """Valid events of one stream: a column for each attribute of its schema, or rows, or both.

    `columns` is empty where there are none, `made` has the rows, if there are any yet. `coded`, if it is not empty,
    says of each attribute whether somebody has asked for numbers of its texts, in this batch or before (text_codes).
    `distinct`: it is known that no two events have the same time.
    """

    def __init__(
        self, count: int, columns: list[Column], made: list[Row] | None = None, coded: list[bool] = NEVER_CODED
    ) -> None:
        self.count = count
        self.columns = columns
        self.made = made
        self.coded = coded
        self.distinct = False

    def __len__(self) -> int:
        return self.count

    def row(self, at: int) -> Row:
        """The values of an event. O(attributes)."""
        made = self.made
        return made[at] if made is not None else tuple([column.value(at) for column in self.columns])

    def rows(self) -> list[Row]:
        """The values of all events, made at the first call. O(values)."""
        made = self.made
        if made is None:
            if self.columns:
                made = list(zip(*[column.values() for column in self.columns], strict=True))
            else:
                made = [()] * self.count
            self.made = made
        return made


def batch_of_rows(rows: list[Row]) -> Batch:
    """A batch of valid rows."""
    return Batch(len(rows), [], rows)
