"""The machine of a group over epochs.

Here: welcoming members, writing matches. Hot. Not here: members and cells (machine).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...program.target import Outcome
from ..completions import Completions
from ..contract import Input
from ..member_matches import ALONE
from ..member_matches import RUN as RUN_OBJECT
from .blocks import FIELDS, RUN
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

    def _welcome(self) -> None:
        """Note what new members want to be told: lineage, results since a time, events of a stream."""
        audience = self._audience
        for target in self._newcomers:
            first = target.first
            if target.feeds is not None:
                audience.feeding = True
                self._epoch_runs.lineage = True
            if first is None:
                audience.single = False
            else:
                if first.lineage:
                    self._epoch_runs.lineage = True
                if first.since > audience.newest:
                    audience.newest = first.since
        self._newcomers = []

    def _tell(self, found: Completions) -> None:
        matches, event = found.epochs, found.event
        out, packed, audience, page = self._found, matches.packed, self._audience, self.events.page
        blocks, paths, path = out.blocks, out.paths, packed.path
        block: i64 = 0
        i: i64
        j: i64
        while block < out.upto:
            first, number = blocks[block + 3], blocks[block + 4]
            begin, count, width = blocks[block + 5], blocks[block + 6], blocks[block + 7]
            for i in range(count):
                if blocks[block + 2] == RUN:
                    run = out.runs[begin]
                    packed.runs.append(run)
                    packed.add(event, audience, run.born, out.members, first, number, len(packed.runs) - 1, RUN_OBJECT)
                elif width == 0:
                    born = matches.end(event)
                    packed.add(event, audience, born, out.members, first, number, 0, ALONE)
                else:
                    to: i64 = len(path.rows)
                    for j in range(begin + i * width, begin + (i + 1) * width):
                        at = page.place(paths[j])
                        path.add(page.row(at), page.item(at), page.start(at), page.time(at))
                    packed.add(event, audience, path.times[to], out.members, first, number, to, width)
            block += FIELDS
        out.clear()
        if audience.feeding and matches.feeding:
            matches.unpack()
