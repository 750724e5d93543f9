"""The runs of a FOLD under one key as numbers, while batches go by columns.

Here: that form, a run so many numbers. Hot. Not here: what an event does to them (column_runs).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...program.transition import Place
from ..packed import Integers, integers, roomy

FIELDS: Final = 5
BEGUN: Final = 0  # the first event in the batch; -1, -2, ... are runs that were there before, in `earlier`
T0: Final = 1
BORN: Final = 2
TRACE: Final = 3
COUNT: Final = 4


@final
class FoldNumbers:
    """`upto` numbers of runs of a place, the oldest first.

    `earlier`: the slots of runs that were there before; `counter`: the slot that `COUNT` is for, -1 for none.
    """

    __slots__ = ("counter", "earlier", "numbers", "place", "upto")

    def __init__(self, place: Place, counter: int) -> None:
        self.place = place
        self.counter = counter
        self.numbers: Integers = integers()
        self.upto: i64 = 0
        self.earlier: list[tuple[object, ...]] = []

    def clear(self) -> None:
        self.upto = 0
        if self.earlier:
            self.earlier = []

    def push(self, begun: i64, t0: i64, born: i64, trace: i64, count: i64) -> None:
        """Add a run that is younger than all others. O(1), amortised."""
        at = self.upto
        if len(self.numbers) < at + FIELDS:
            self.numbers = roomy(self.numbers, at + FIELDS)
        numbers = self.numbers
        numbers[at + BEGUN] = begun
        numbers[at + T0] = t0
        numbers[at + BORN] = born
        numbers[at + TRACE] = trace
        numbers[at + COUNT] = count
        self.upto = at + FIELDS
