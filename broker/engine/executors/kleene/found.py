"""What an event completed of a pattern, in one partition: matches, made when somebody reads them.

Here: matches of runs that exist one by one. Not here: the common form (expansion), how other representations make
theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, final

from mypy_extensions import mypyc_attr

from ....events.schema import Row
from ..expansion import Found
from ..matches import Item, Matched

Trail: TypeAlias = "tuple[Any, int, Item, int, int] | None"
"""The events that a run has: what came before, component, item, time and place in the stream of the last one. Made of
tuples, which are freed without recursion however long it gets."""


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

    def amount(self) -> int:
        return len(self.trails)

    def all(self) -> Iterator[Matched]:
        for trail, values in zip(self.trails, self.values):
            assigned = unrolled(trail)
            yield Matched(assigned, assigned[0][2], assigned[-1][2], values)
