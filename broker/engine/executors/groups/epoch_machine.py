"""The machine of a group over epochs.

Here: welcoming members, writing matches. Hot. Not here: members and cells (machine).
"""

from __future__ import annotations

from typing import final

from ...program.target import Outcome
from ..contract import Input, OverEpochs
from .cell import GroupCell
from .chain import ChainCell
from .epoch_runs import EpochRuns
from .machine import GroupMachine
from .making import CellRecipe
from .watching import MemberWatch


@final
class EpochMachine(GroupMachine, OverEpochs):
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

    def close_epoch(self) -> None:
        for cell in self.cells.values():
            cell.close_epoch()

    # --- events -------------------------------------------------------------------------------------------------

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
