"""Decides which segments to remove, from numbers alone. It removes nothing.

A segment is removed when it is too old or the journal is too large, whole and the oldest first; but never one that a
checkpoint needs. Durable cursors need none: their results are in the checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from ..events.errors import DefinitionError, shown


@final
@dataclass(frozen=True, slots=True)
class Retention:
    """The limits: `age` in microseconds, `size` in bytes; None: no limit. Raises DefinitionError."""

    age: int | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        for name in ("age", "size"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise DefinitionError(f"retention.{name}: expected a whole number from 1 on, found {shown(value)}")


@final
@dataclass(frozen=True, slots=True)
class Extent:
    """One segment: its records from `first` to `last`, its bytes, and when the last record was written."""

    name: str
    first: int
    last: int
    size: int
    last_time: int


def plan(sealed: Sequence[Extent], active_size: int, needed_after: int, limits: Retention, now: int) -> list[str]:
    """The names of the segments to remove at the time `now`, in microseconds, the oldest first.

    `sealed`: the sealed segments in order. `needed_after`: the position of the older checkpoint; records behind it
    stay.
    """
    remove: list[str] = []
    total = active_size + sum(extent.size for extent in sealed)
    for extent in sealed:
        too_old = limits.age is not None and extent.last_time < now - limits.age
        too_large = limits.size is not None and total > limits.size
        if extent.last > needed_after or not (too_old or too_large):
            break
        remove.append(extent.name)
        total -= extent.size
    return remove
