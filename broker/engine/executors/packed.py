"""Packed columns: machine numbers that grow at the end and are read anywhere; packed runs consist of them.

Compiled, a column is an array (librt.vecs); interpreted, a list. Here: the types, growing, shifting. Not here: the
meaning of columns. A packed column has one owner: always write `column = put(column, ...)`, and keep no second
reference across that call.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from mypy_extensions import i64

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import append, extend, vec

COMPILED: Final[bool] = not __file__.endswith(".py")
_USUAL: Final = 65_536  # zeros that are there already: to make them costs as much as to copy them
_ZEROS: Final = memoryview(bytes(8 * _USUAL)).cast("q")
_FLOAT_ZEROS: Final = _ZEROS.cast("B").cast("d")
ROOM: Final = 32  # numbers for which a new column has room, if its owner asks for room

if not COMPILED:
    globals()["vec"] = {float: list, i64: list}  # `vec[float](...)` makes a list

Floats: TypeAlias = "vec[float]"
Integers: TypeAlias = "vec[i64]"


def floats() -> vec[float]:
    return vec[float]()


def integers() -> vec[i64]:
    return vec[i64]()


def put(values: vec[float], at: i64, value: float) -> vec[float]:
    """The column with a value at an index, which is at most its length. O(1), amortised."""
    if at < len(values):
        values[at] = value
        return values
    if not COMPILED:
        values.append(value)  # type: ignore[attr-defined]  # a list
        return values
    return append(values, value)


def put_integer(values: vec[i64], at: i64, value: i64) -> vec[i64]:
    """The same for integers."""
    if at < len(values):
        values[at] = value
        return values
    if not COMPILED:
        values.append(value)  # type: ignore[attr-defined]  # a list
        return values
    return append(values, value)


def integers_of(numbers: Sequence[int]) -> vec[i64]:
    """Numbers as a column. O(their number)."""
    found = integers()
    for at, number in enumerate(numbers):
        found = put_integer(found, at, number)
    return found


def floats_of(numbers: Sequence[float]) -> vec[float]:
    """The same for floats."""
    found = floats()
    for at, number in enumerate(numbers):
        found = put(found, at, number)
    return found


def roomy(values: vec[i64], size: i64) -> vec[i64]:
    """The column with at least that length, filled with zeros. O(its length), amortised O(1) a number."""
    return lengthened(values, max(ROOM, 2 * len(values), size))


def roomy_floats(values: vec[float], size: i64) -> vec[float]:
    """The same for floats."""
    return lengthened_floats(values, max(ROOM, 2 * len(values), size))


def lengthened(values: vec[i64], size: i64) -> vec[i64]:
    """The column with exactly that length, which is at least its own, filled with zeros. O(size)."""
    if not COMPILED:
        values.extend([0] * (size - len(values)))  # type: ignore[attr-defined]  # a list
        return values
    more = int(size - len(values))
    if more <= _USUAL:
        return extend(values, _ZEROS[:more])
    return extend(values, memoryview(bytes(8 * more)).cast("q"))  # copied as it is


def lengthened_floats(values: vec[float], size: i64) -> vec[float]:
    """The same for floats."""
    if not COMPILED:
        values.extend([0.0] * (size - len(values)))  # type: ignore[attr-defined]  # a list
        return values
    more = int(size - len(values))
    if more <= _USUAL:
        return extend(values, _FLOAT_ZEROS[:more])
    return extend(values, memoryview(bytes(8 * more)).cast("d"))


def shifted(values: vec[float], first: i64, upto: i64) -> None:
    """Move the values from `first` to below `upto` to the front. O(values moved)."""
    j: i64
    for j in range(upto - first):
        values[j] = values[first + j]


def shifted_integers(values: vec[i64], first: i64, upto: i64) -> None:
    """The same for integers."""
    j: i64
    for j in range(upto - first):
        values[j] = values[first + j]
