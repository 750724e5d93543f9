"""Matches of two steps whose first event is in the same batch, as numbers: which event, and which one it followed.

A run is made of the first event only where somebody reads results one by one; columns are gathered from the batch.

Here: that form. Hot. Not here: blocks of such matches (member_matches), finding them (keyed_runs.column_runs).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...events.batch import Batch
from ..program.target import Target
from ..program.transition import SlotUpdate
from .event_ids import EventIds
from .matches import Lineage, PartialMatch
from .member_matches import Ends, EventPath, Roster
from .trace import mixed


@final
class PairMatches(Roster):
    """The ends of one first step in a batch. Its runs took one event each, whose number stands for them.

    `depth` and `update` are those of the first step, `lineage`: somebody asks for it.
    """

    def __init__(
        self,
        ends: Ends,
        update: SlotUpdate | None,
        depth: i64,
        lineage: bool,
        batch: Batch,
        times: list[int],
        ids: EventIds,
    ) -> None:
        super().__init__()
        self.ends = ends
        self.single, self.newest = ends.single, ends.newest
        self.update = update
        self.depth = depth
        self.lineage = lineage
        self.batch = batch
        self.times = times
        self.ids = ids

    def target(self, handle: int) -> Target:
        return self.ends.targets[handle]

    def run(self, path: EventPath, first: i64, count: i64) -> PartialMatch:
        row, time = self.batch.row(int(first)), self.times[first]
        slots = self.update.fill(row, (), (), 1, 1) if self.update is not None else ()
        lineage: Lineage = (None, int(self.ids.at(first))) if self.lineage else None
        return PartialMatch(row, slots, time, time, self.trace(first), lineage)

    def trace(self, first: i64) -> i64:
        """The digest of a run. O(1)."""
        return mixed(0, self.ids.at(first), self.depth)
