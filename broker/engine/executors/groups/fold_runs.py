"""The runs of a fold as rows of columns: a stretch of runs of one generation, which changes places with another.

Here: columns, copies, and their form in snapshots. Hot. Not here: what an event does to runs (fold).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....events.schema import Row
from ...matches.sources import Lineage
from .columns import Floats, Integers, floats, integers, with_room, with_room_for_integers

# The integers of a run; its counters follow.
FIRST: Final = 0  # the number of its first event
NUMBER: Final = 1  # that of the run: alternatives of its start share it, and are neighbours
BEGAN: Final = 2  # the start and the end of its first event
BORN: Final = 3
TRACE: Final = 4
TAKEN: Final = 5  # the end of its last event
TOUCHED: Final = 6  # whether an event of the newest epoch affects it
DEPTH: Final = 7  # the step for which it waits
COUNTERS: Final = 8
KEPT_MAX: Final = 64  # rows up to which a column that is empty stays as long as it was


@final
class FoldRuns:
    """`d` values and the least value that reports (`need`) a run; integers; the row that it took last, its other slots,
    and the events that contributed, if anybody asks for them.

    The columns may be longer than `count`: their rest is written over."""

    def __init__(self, d: int, counters: int) -> None:
        self.d: i64 = d
        self.each: i64 = COUNTERS + counters  # integers a run
        self.count: i64 = 0
        self.floats: Floats = floats()
        self.integers: Integers = integers()
        self.rows: list[Row] = []
        self.slots: list[Slots] = []
        self.lineages: list[Lineage] = []

    def room(self) -> None:
        """Room for the numbers of one more run; the columns may have moved."""
        n = self.count + 1
        if len(self.floats) < n * (self.d + 1):
            self.floats = with_room(self.floats, n * (self.d + 1))
        if len(self.integers) < n * self.each:
            self.integers = with_room_for_integers(self.integers, n * self.each)

    def close(self, row: Row, slots: Slots, lineage: Lineage) -> None:
        """Add the run whose numbers are written behind the others."""
        n = self.count
        if n < len(self.rows):
            self.rows[n] = row
            self.slots[n] = slots
        else:
            self.rows.append(row)
            self.slots.append(slots)
        if lineage is not None or len(self.lineages) > n:
            while len(self.lineages) <= n:
                self.lineages.append(None)
            self.lineages[n] = lineage
        self.count = n + 1

    def lineage(self, run: i64) -> Lineage:
        """The events that contributed to a run; None if nobody asked for them when it began."""
        return self.lineages[run] if run < len(self.lineages) else None

    def add(self, source: FoldRuns, run: i64) -> None:
        """Append a copy of another run."""
        self.room()
        at, base = self.count * (self.d + 1), run * (self.d + 1)
        j: i64
        for j in range(self.d + 1):
            self.floats[at + j] = source.floats[base + j]
        at, base = self.count * self.each, run * self.each
        for j in range(self.each):
            self.integers[at + j] = source.integers[base + j]
        self.close(source.rows[run], source.slots[run], source.lineage(run))

    def clear(self) -> None:
        self.count = 0
        if len(self.rows) > KEPT_MAX:  # events that no run has any more would be held
            self.rows.clear()
            self.slots.clear()
        if len(self.lineages) > 0:
            self.lineages.clear()

    def put(self, values: list[float], numbers: list[int], row: Row, slots: Slots, lineage: Lineage) -> None:
        """Add a run from plain lists."""
        self.room()
        at, place = self.count * (self.d + 1), self.count * self.each
        for j, value in enumerate(values):
            self.floats[at + j] = value
        for j, number in enumerate(numbers):
            self.integers[place + j] = number
        self.close(row, slots, lineage)


def tuple_slots(saved: Any) -> Slots:
    """Slots restored from plain values."""
    return tuple([tuple(slot) if isinstance(slot, list | tuple) else slot for slot in saved])
