"""The runs of a fold as rows of columns: a stretch of runs of one generation, which changes places with another.

Here: columns, copies, and their form in snapshots. Hot. Not here: what an event does to runs (fold).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....events.schema import Row
from ..matches import Lineage
from .columns import Floats, Integers, floats, integers, with_room, with_room_for_integers

# The integers of a run; its counters follow.
FIRST: Final = 0  # the number of its first event
NUMBER: Final = 1  # that of the run: alternatives of its start share it, and are neighbours
BEGAN: Final = 2  # the start and the end of its first event
BORN: Final = 3
TRACE: Final = 4
TAKEN: Final = 5  # the end of its last event
TOUCHED: Final = 6  # whether an event of the newest epoch affects it
COUNTERS: Final = 7


@final
class FoldRuns:
    """`d` values and the least value that reports (`need`) a run; integers; the row that it took last, its other slots,
    and the events that contributed, if anybody asks for them."""

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
        self.rows.append(row)
        self.slots.append(slots)
        self.lineages.append(lineage)
        self.count += 1

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
        self.close(source.rows[run], source.slots[run], source.lineages[run])

    def clear(self) -> None:
        self.count = 0
        if len(self.rows) > 0:
            self.rows.clear()
            self.slots.clear()
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
