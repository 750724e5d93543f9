"""Matches of a FOLD in a batch as numbers: what the run was when an event ended it.

A run is made of them only where somebody reads results. Here: that form. Hot. Not here: blocks of such matches
(member_matches), finding them (folding).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....events.batch import Batch
from ...program.target import Target
from ...program.transition import SlotUpdate
from ..matches import PartialMatch
from ..member_matches import Ends, EventPath, Roster
from ..packed import Integers, integers, integers_of, roomy
from .fold_numbers import BEGUN, BORN, COUNT, FIELDS, T0, TRACE, FoldNumbers

_LAST: Final = FIELDS  # behind the numbers of the run, the event that it took last
_EACH: Final = FIELDS + 1


@final
class FoldMatches(Roster):
    """The ends of a FOLD in a batch, and the runs that were ended there. `handles`: 0, 1, 2, ..., for each end.

    `update` fills the slots of a run from its first event, `counter` is the slot of its count, -1 for none.
    """

    def __init__(self, ends: Ends, update: SlotUpdate | None, counter: int, batch: Batch) -> None:
        super().__init__()
        self.ends = ends
        self.single, self.newest = ends.single, ends.newest
        self.update = update
        self.counter = counter
        self.batch = batch
        self.handles: Integers = integers_of(range(len(ends.targets)))
        self._numbers: Integers = integers()
        self._upto: i64 = 0
        self._slots: list[Slots] = []  # of runs that were there before the batch

    def target(self, handle: int) -> Target:
        return self.ends.targets[handle]

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

    def run(self, path: EventPath, first: i64, count: i64) -> PartialMatch:
        own, batch = self._numbers, self.batch
        begun = own[first + BEGUN]
        slots: Slots = ()
        if begun < 0:
            slots = self._slots[-begun - 1]
        elif self.update is not None:
            slots = self.update.fill(batch.row(int(begun)), (), (), 1, 1)
        if self.counter >= 0:
            filled = list(slots)
            filled[self.counter] = int(own[first + COUNT])
            slots = tuple(filled)
        row = batch.row(int(own[first + _LAST]))
        return PartialMatch(row, slots, own[first + T0], own[first + BORN], own[first + TRACE], None)
