"""The machine of a group over epochs.

Here: what an event does, welcoming members, writing matches. Hot. Not here: members and cells (machine).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from ...program.target import Outcome
from ..completions import Completions
from ..contract import Input
from ..matches import Item
from .cell import GroupCell
from .chain import ChainCell
from .epoch_runs import EpochRuns
from .machine import GroupMachine
from .making import CellRecipe
from .watching import MemberWatch


@final
class EpochMachine(GroupMachine):
    """The members of one template and key over epochs."""

    def __init__(
        self,
        recipe: CellRecipe,
        inputs: list[Input],
        outcome: Outcome,
        events_max: int,
        runs: EpochRuns,
        watched: bool = False,
    ) -> None:
        """`watched`: members may have watchers."""
        super().__init__(recipe, inputs, outcome, events_max, runs)
        self._epoch_runs = runs
        self.watch: MemberWatch | None = MemberWatch(self.members) if watched else None

    def _made(self) -> GroupCell:
        cell = super()._made()
        if self.watch is not None:
            assert isinstance(cell, ChainCell), "only chains are watched"
            cell.watch = self.watch
        return cell

    def clear(self) -> None:
        if self.watch is not None:
            for cell in self.cells.values():
                if isinstance(cell, ChainCell):
                    cell.drop()
        super().clear()

    # --- events -------------------------------------------------------------------------------------------------

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, part: Row, item: Item, found: Completions
    ) -> bool:
        self.number += 1
        if len(self._newcomers) > 0:
            self._welcome()
        cell = self._one
        if cell is None:
            cell = self._cell(row, time, True)
            if cell is None:
                return False
        event = self.number
        start = found.start_of(found.event)
        cell.began = start
        cell.item = item
        cell.position = position
        cell.place = place
        out = self._found
        if out.members_upto > 0:  # of an event that completed nothing, or failed
            out.clear()
        cell.take(row, time, event, out)
        noted = cell.noted == event
        if noted:
            self.events.add(event, row, start, time, item)
        if out.upto > 0:
            self._tell(found)
        if noted and self.events.grown():
            self._sweep(time)
        return True

    def _welcome(self) -> None:
        """Note what new members want to be told: lineage, results since a time, events of a stream."""
        audience = self._audience
        for target in self._newcomers:
            first = target.first
            if target.feeds is not None:
                self._epoch_runs.lineage = True
            if first is None:
                audience.single = False
            else:
                if first.lineage:
                    self._epoch_runs.lineage = True
                if first.since > audience.newest:
                    audience.newest = first.since
        self._newcomers = []
