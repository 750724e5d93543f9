"""Columns that a group allocates at once: filled ones, and ones with room for more.

Not here: columns that grow one number at a time (packed), the meaning of columns.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from mypy_extensions import i64

from ..packed import Floats, Integers, floats, integers, put, put_integer, roomy, roomy_floats

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import vec

COMPILED: Final[bool] = not __file__.endswith(".py")
INFINITY: Final = float("inf")
NAN: Final = float("nan")

if not COMPILED:
    globals()["vec"] = {float: list, i64: list}  # `vec[float](...)` makes a list

__all__ = (
    "INFINITY", "NAN", "Floats", "Integers", "filled", "filled_integers", "floats", "floats_from", "integers",
    "integers_from", "put", "put_integer", "roomy", "with_room", "with_room_for_integers",
)  # fmt: skip


def filled(count: i64, value: float) -> Floats:
    """A column of equal numbers."""
    return vec[float]([value] * count)


def filled_integers(count: i64, value: i64) -> Integers:
    return vec[i64]([value] * count)


def floats_from(values: list[float]) -> Floats:
    return vec[float](values)


def integers_from(values: list[int]) -> Integers:
    return vec[i64](values)


def with_room(values: Floats, size: i64) -> Floats:
    """The column with at least that length. O(1), or O(its length) if it grows; it doubles."""
    return values if len(values) >= size else roomy_floats(values, size)


def with_room_for_integers(values: Integers, size: i64) -> Integers:
    """The same for integers."""
    return values if len(values) >= size else roomy(values, size)
