"""Decides from numbers alone which segments may go. It removes nothing.

A segment goes when it is too old or the journal too large, whole and from the old end; but never one that a checkpoint
still needs, and never one that a durable cursor still needs unless that cursor is told what it has missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from ..events.errors import DefinitionError, shown


@final
@dataclass(frozen=True, slots=True)
class Retention:
    """`age` in microseconds, `size` in bytes; None: no such limit. Raises DefinitionError."""

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
    """A cursor whose next records, `first` to `last`, are no longer there."""

    cursor: str
    first: int
    last: int


@final
@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """The names of the segments that go, oldest first, and the cursors to be told."""

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
    """What goes at the time `now`. `sealed`: in order. `needed_after`: the position of the older checkpoint; nothing
    behind it goes. `cursors`: the last position that each has done with.
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
