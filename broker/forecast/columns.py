"""Packed columns that grow. Here: longer ones. Hot. Not here: what stands in them."""

from __future__ import annotations

from mypy_extensions import i64

from ..events.batch import Floats, Integers, packed_floats, packed_integers


def with_room(values: Integers, size: i64) -> Integers:
    """A longer column, of at least that length, which doubles. O(its length)."""
    wanted: i64 = max(size, 2 * len(values))
    fresh = packed_integers(memoryview(bytes(8 * int(wanted))).cast("q"))
    j: i64
    for j in range(len(values)):
        fresh[j] = values[j]
    return fresh


def with_room_for_floats(values: Floats, size: i64) -> Floats:
    """The same for floats."""
    wanted: i64 = max(size, 2 * len(values))
    fresh = packed_floats(memoryview(bytes(8 * int(wanted))).cast("d"))
    j: i64
    for j in range(len(values)):
        fresh[j] = values[j]
    return fresh
