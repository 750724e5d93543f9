"""What has been promised of a stream's events by their values: a time for each region of rows (AFA, F.2).

Promises with predicates are kept as what they say together: each region has the latest time that one of them promises
for its rows. So the table is as large as the constants demand, however many promises were made.

Here: that table. Not here: regions (algebra), promises of all events of a stream (watermarks), who may rely on which
(finality).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from ...algebra.regions import NO_CLASS, Cuts, ValueAxis, axes, joined, number_of, regions, rows, satisfied
from ...algebra.terms import Term
from ...events.errors import LimitExceeded
from ...events.schema import Row, Schema, Value
from .stream_order import NOTHING_PROMISED


@final
class PromisedRows:
    """`times` by region along the `axes`; `latest`: the greatest of them. `before`: what it begins with."""

    def __init__(self, schema: Schema, before: PromisedRows | None = None) -> None:
        self.schema = schema
        self.axes: list[ValueAxis] = [] if before is None else list(before.axes)
        self.times: list[int] = [NOTHING_PROMISED] if before is None else list(before.times)
        self.latest = max(self.times)

    def promise(self, time: int, condition: Term, cuts: Cuts, most: int, base: int) -> None:
        """No earlier event that satisfies the condition comes. `base`: what is promised of all. O(regions).

        Raises LimitExceeded if there would be more than `most` regions.
        """
        cut = joined({axis.position: frozenset(axis.cuts) for axis in self.axes}, cuts)
        along = axes(self.schema, cut)
        if regions(along) > most:
            self.simplify(base)
            cut = joined({axis.position: frozenset(axis.cuts) for axis in self.axes}, cuts)
            along = axes(self.schema, cut)
        if regions(along) > most:
            raise LimitExceeded(
                f"punctuations with predicates may tell at most {most} kinds of events apart (promised_regions_max),"
                f" found {regions(along)}; promise values with a range, or all events"
            )
        if [axis.cuts for axis in along] != [axis.cuts for axis in self.axes]:
            self._divide(along)
        for number, row in enumerate(self.rows()):
            if self.times[number] < time and satisfied(condition, row):
                self.times[number] = time
        self.latest = max(self.times)

    def _divide(self, along: list[ValueAxis]) -> None:
        """Set the axes, whose regions lie in one of the present ones each, or join some that have equal times."""
        blank: list[Value] = [None] * len(self.schema)
        for axis in self.axes:
            blank[axis.position] = axis.representatives[0]  # for an axis that goes, any class will do
        self.times = [self.floor(row) for row in rows(along, blank)]
        self.axes = along

    def rows(self) -> Iterator[Row]:
        """A representative of each region."""
        return rows(self.axes, [None] * len(self.schema))

    def floor(self, row: Row) -> int:
        """The time before which such an event is late by these promises. O(attributes x log constants)."""
        number = number_of(self.axes, row)
        return NOTHING_PROMISED if number == NO_CLASS else self.times[number]

    def least(self) -> int:
        """The time before which no event can come, whatever its values. O(regions)."""
        return min(self.times)

    def simplify(self, base: int) -> None:
        """Drop the constants that tell nothing apart any more, where all is promised until `base`. O(regions x
        attributes); O(1) if nothing is left."""
        if base >= self.latest:
            if self.axes:
                self._reset()
            return
        self.times = [max(time, base) for time in self.times]
        thin = [self._thin(at) for at in range(len(self.axes))]
        kept = [axis for axis in thin if axis is not None]
        if len(kept) < len(thin) or any(len(one.cuts) < len(other.cuts) for one, other in zip(kept, self.axes)):
            self._divide(kept)

    def _reset(self) -> None:
        self.axes, self.times, self.latest = [], [NOTHING_PROMISED], NOTHING_PROMISED

    def _thin(self, at: int) -> ValueAxis | None:
        """An axis without the cuts between classes that have equal times, whatever the other attributes; None: all of
        its classes have."""
        axis = self.axes[at]
        inner = regions(self.axes[at + 1 :])
        columns: list[list[int]] = [[] for _ in range(len(axis))]
        for number, time in enumerate(self.times):
            columns[number // inner % len(axis)].append(time)
        if all(column == columns[0] for column in columns):
            return None
        kept = [cut for one, other, cut in axis.neighbours() if columns[one] != columns[other]]
        return ValueAxis(axis.position, axis.type, axis.nullable, kept)

    def points(self, position: int) -> list[Any]:
        """The constants of an attribute that are the only value of their class, as values of it."""
        for axis in self.axes:
            if axis.position == position:
                numbers = [axis.point(cut) for cut in axis.cuts]
                return [axis.representatives[number] for number in numbers if number != NO_CLASS]
        return []

    def dump(self) -> Any:
        return [[[axis.position, list(axis.cuts)] for axis in self.axes], list(self.times)]

    def load(self, data: Any) -> None:
        along, times = data
        self._divide(axes(self.schema, {position: frozenset(cuts) for position, cuts in along}))
        self.times = list(times)
        self.latest = max(self.times)

    def check_invariants(self) -> None:
        assert len(self.times) == regions(self.axes)
        assert self.latest == max(self.times)
