"""What an event completed of a pattern, in one partition: matches, made when somebody reads them.

Here: the common form, and matches of runs that exist one by one. Not here: how other representations make theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias, final

from mypy_extensions import mypyc_attr

from ....events.schema import Row

Item: TypeAlias = Any
"""An event in a match: its id, or for a derived one what it adds to a trace and the ids of its lineage."""
Trail: TypeAlias = "tuple[Any, int, Item, int, int] | None"
"""The events that a run has: what came before, component, item, time and place in the stream of the last one. Made of
tuples, which are freed without recursion however long it gets."""


class Matched(NamedTuple):
    """A match: components with the item and the time of each of their events, in the order of the stream; the times of
    the first and the last one; the values of RETURN."""

    assigned: list[tuple[int, Item, int]]
    start: int
    end: int
    values: Row


@mypyc_attr(acyclic=True)  # matches lead to logs and to earlier events only
class Found:
    """Matches that one event completed, or that time did."""

    def count(self) -> int:
        """How many. O(1), but for compressed ones."""
        raise AssertionError

    def each(self) -> Iterator[Matched]:
        """They themselves, in a fixed order."""
        raise AssertionError


def unrolled(trail: Trail) -> list[tuple[int, Item, int]]:
    """A run's events in the order of the stream."""
    found: list[tuple[int, Item, int]] = []
    while trail is not None:
        before, component, item, time, _ = trail
        found.append((component, item, time))
        trail = before
    found.reverse()
    return found


@final
@mypyc_attr(acyclic=True)
class Several(Found):
    """Matches one by one: trails and the values of RETURN."""

    def __init__(self) -> None:
        self.trails: list[Trail] = []
        self.values: list[Row] = []

    def add(self, trail: Trail, values: Row) -> None:
        self.trails.append(trail)
        self.values.append(values)

    def count(self) -> int:
        return len(self.trails)

    def each(self) -> Iterator[Matched]:
        for trail, values in zip(self.trails, self.values):
            assigned = unrolled(trail)
            yield Matched(assigned, assigned[0][2], assigned[-1][2], values)
