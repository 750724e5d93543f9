"""Runs of a batch as numbers, made only where somebody reads results one by one: their place says what they are.

Here: runs of one event. Hot. Not here: rows of matches with such runs
(completions), finding them (keyed_runs), runs of a FOLD (keyed_runs.ended_folds).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...events.batch import Batch
from ..executors.event_ids import EventIds
from ..executors.trace import mixed
from ..program.target import Target
from ..program.transition import SlotUpdate
from .sources import Lineage, PartialMatch


class PlacedRuns:
    """The runs of one place of a program in a batch, by their own places. `targets`: the place's ends, by number."""

    def __init__(self, targets: list[Target]) -> None:
        self.targets = targets

    def born(self, place: i64) -> i64:
        """The time at which a run was born. O(1)."""
        raise AssertionError

    def run(self, place: i64) -> PartialMatch:
        """A run."""
        raise AssertionError


@final
class PairRuns(PlacedRuns):
    """Runs that took one event each, whose number in the batch is their place.

    `depth` and `update` are those of the first step, `lineage`: somebody asks for it.
    """

    def __init__(
        self,
        targets: list[Target],
        update: SlotUpdate | None,
        depth: i64,
        lineage: bool,
        batch: Batch,
        times: list[int],
        ids: EventIds,
    ) -> None:
        super().__init__(targets)
        self.update = update
        self.depth = depth
        self.lineage = lineage
        self.batch = batch
        self.times = times
        self.ids = ids

    def born(self, place: i64) -> i64:
        return self.times[place]

    def run(self, place: i64) -> PartialMatch:
        row, time = self.batch.row(int(place)), self.times[place]
        slots = self.update.fill(row, (), (), 1, 1) if self.update is not None else ()
        lineage: Lineage = (None, int(self.ids.at(place))) if self.lineage else None
        return PartialMatch(row, slots, time, time, self.trace(place), lineage)

    def trace(self, place: i64) -> i64:
        """The digest of a run. O(1)."""
        return mixed(0, self.ids.at(place), self.depth)
