"""Decides which segments to remove, from numbers alone. It removes nothing.

A segment is removed when it is too old or the journal is too large, whole and the oldest first; but never one that a
checkpoint needs. A durable cursor that needs a removed segment gets a record of what it has lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


@final
@dataclass(frozen=True, slots=True)
class Overtaken:
    """A cursor whose next records, `first` to `last`, are removed."""

    cursor: str
    first: int
    last: int


@final
@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """The names of the segments to remove, the oldest first, and the cursors that lose records."""

    remove: tuple[str, ...]
    overtaken: tuple[Overtaken, ...]


def plan(
    sealed: Sequence[Extent],
    active_size: int,
    needed_after: int,
    cursors: Mapping[str, int],
    limits: Retention,
    now: int,
) -> RemovalPlan:
    """The segments to remove at the time `now`, in microseconds.

    `sealed`: the sealed segments in order. `needed_after`: the position of the older checkpoint; records behind it
    stay. `cursors`: the last acknowledged position of each.
    """
    remove: list[str] = []
    removed = 0
    total = active_size + sum(extent.size for extent in sealed)
    for extent in sealed:
        too_old = limits.age is not None and extent.last_time < now - limits.age
        too_large = limits.size is not None and total > limits.size
        if extent.last > needed_after or not (too_old or too_large):
            break
        remove.append(extent.name)
        removed = extent.last
        total -= extent.size
    overtaken = [Overtaken(name, done + 1, removed) for name, done in sorted(cursors.items()) if done < removed]
    return RemovalPlan(tuple(remove), tuple(overtaken))
