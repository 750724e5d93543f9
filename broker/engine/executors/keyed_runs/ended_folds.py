"""Runs of a FOLD in a batch as numbers: what a run was when an event ended it.

Here: that form. Hot. Not here: rows of matches with such runs (completions), finding them (folding).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....events.batch import Batch
from ...matches.placed_runs import PlacedRuns
from ...matches.sources import PartialMatch
from ...program.target import Target
from ...program.transition import SlotUpdate
from ..packed import Integers, integers, roomy
from .fold_numbers import BEGUN, BORN, COUNT, FIELDS, T0, TRACE, FoldNumbers

_LAST: Final = FIELDS  # behind the numbers of the run, the event that it took last
_EACH: Final = FIELDS + 1


@final
class EndedFolds(PlacedRuns):
    """The runs of a FOLD that ended in a batch.

    `update` fills the slots of a run from its first event, `counter` is the slot of its count, -1 for none.
    """

    def __init__(self, targets: list[Target], update: SlotUpdate | None, counter: int, batch: Batch) -> None:
        super().__init__(targets)
        self.update = update
        self.counter = counter
        self.batch = batch
        self._numbers: Integers = integers()
        self._upto: i64 = 0
        self._slots: list[Slots] = []  # of runs that were there before the batch

    def add(self, runs: FoldNumbers, at: i64, last: i64) -> i64:
        """Note a run, which has taken that event of the batch last; returns its number. Amortised O(1)."""
        place = self._upto
        if len(self._numbers) < place + _EACH:
            self._numbers = roomy(self._numbers, place + _EACH)
        own, given = self._numbers, runs.numbers
        begun = given[at + BEGUN]
        if begun < 0:
            self._slots.append(runs.earlier[-begun - 1])
            begun = -len(self._slots)
        own[place + BEGUN] = begun
        own[place + T0] = given[at + T0]
        own[place + BORN] = given[at + BORN]
        own[place + TRACE] = given[at + TRACE]
        own[place + COUNT] = given[at + COUNT]
        own[place + _LAST] = last
        self._upto = place + _EACH
        return place

    def born(self, place: i64) -> i64:
        return self._numbers[place + BORN]

    def run(self, place: i64) -> PartialMatch:
        own, batch = self._numbers, self.batch
        begun = own[place + BEGUN]
        slots: Slots = ()
        if begun < 0:
            slots = self._slots[-begun - 1]
        elif self.update is not None:
            slots = self.update.fill(batch.row(int(begun)), (), (), 1, 1)
        if self.counter >= 0:
            filled = list(slots)
            filled[self.counter] = int(own[place + COUNT])
            slots = tuple(filled)
        row = batch.row(int(own[place + _LAST]))
        return PartialMatch(row, slots, own[place + T0], own[place + BORN], own[place + TRACE], None)
