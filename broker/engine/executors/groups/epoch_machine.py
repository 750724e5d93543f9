"""The machine of a group over epochs: it follows the trail of its key, and keeps runs only while it must.

A chain looks back (lookback) while every event of the kept epochs is a point in time. It keeps no runs then. An event
that takes time, a snapshot or a question makes the runs anew from the trail; they are kept until all that is not of the
trail has ended, which takes as many epochs as the chain has steps.

Here: following, changing between the forms, welcoming members, writing matches. Hot. Not here: finding the machines of
an event's key (broker.engine.dispatch.keyed).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from ...program.target import Outcome
from ..completions import Completions
from ..contract import Input, Member
from ..epoch_matches import EpochMatches
from ..matches import Begun, Item
from ..member_matches import ALONE
from ..member_matches import RUN as RUN_OBJECT
from ..trail import KeyTrail
from .blocks import FIELDS, RUN
from .cell import GroupCell
from .epoch_runs import EpochRuns
from .machine import GroupMachine
from .making import CellRecipe

LONG_AGO: Final = -(1 << 62)


@final
class EpochMachine(GroupMachine):
    """The members of one template and key over epochs.

    `looks`: whether it looks back at present, and so keeps no runs; otherwise it does from the epoch `_resumes` on.
    """

    def __init__(
        self,
        recipe: CellRecipe,
        inputs: list[Input],
        outcome: Outcome,
        events_max: int,
        runs: EpochRuns,
        may_look: bool = True,
    ) -> None:
        super().__init__(recipe, inputs, outcome, events_max, runs)
        self._epoch_runs = runs
        apart = len(self._parts) > 0 or len(recipe.template.found) > 0
        self._look = recipe.look if may_look and not apart else None
        self.looks = self._look is not None
        self._steps: i64 = len(recipe.template.steps)
        self._resumes: i64 = LONG_AGO
        self._trail: KeyTrail | None = None
        self._overflows: i64 = 0

    # --- events -------------------------------------------------------------------------------------------------

    def attach(self, trail: KeyTrail) -> None:
        self._trail = trail
        self._overflows = trail.overflows
        if self._look is not None:
            trail.deepen(self._steps)
            self._keep_loaded(trail)

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, part: Row, item: Item, found: Completions
    ) -> bool:
        """Process an event that has no one key, as the only one of a trail."""
        trail = self._trail
        if trail is None:
            trail = KeyTrail(self._events_max)
            self.attach(trail)
        trail.add(row, time, found.epochs.start(found.event), item)
        self.follow(trail, found)
        return True

    def follow(self, trail: KeyTrail, found: Completions) -> None:
        self.number += 1
        if len(self._newcomers) > 0:
            self._welcome()
        look = self._look
        matches = found.epochs
        if look is not None:
            if trail.overflows != self._overflows:
                self._overflows = trail.overflows
                self.lost += 1
                self.clear()
            steps = self._steps
            if trail.plain + steps <= trail.epoch + 1 and self._resumes <= trail.epoch:
                if not self.looks:
                    self._resume()
                look.take(self.members, trail, self.number, found.event, self._audience, matches.packed)
                if self._audience.feeding and matches.feeding:
                    matches.unpack()
                return
            if self.looks:
                self._keep_runs(trail, trail.number - 1)
        self._take(trail, found)

    def _take(self, trail: KeyTrail, found: Completions) -> None:
        """Let the trail's newest event move the runs that are kept."""
        row, time, event = trail.row, trail.time, self.number
        cell = self._one
        if cell is None:
            cell = self._cell(row, time)
            if cell is None:
                return
        out = self._found
        if out.members_upto > 0:
            out.clear()
        self._pass(cell, trail, trail.number, event)
        if out.upto > 0:
            self._complete(found.epochs, found.event)
        if cell.noted == event and self.events.grown():
            self._sweep(time)

    def _pass(self, cell: GroupCell, trail: KeyTrail, at: i64, event: i64) -> None:
        """Pass an event of the trail to a cell. `event`: its number here."""
        row, time, start, item = trail.row, trail.time, trail.start, trail.item
        if at != trail.number:  # the trail has points only
            place = at & trail.mask
            row, time, item = trail.rows[place], trail.times[place], trail.items[place]
            start = time
        cell.began = start
        cell.item = item
        cell.take(row, time, event, self._found)
        if cell.noted == event:
            self.events.add(event, row, start, time, item)

    def _keep_runs(self, trail: KeyTrail, upto: i64) -> None:
        """Make the runs that the events up to `upto` have left, and keep runs from now on. O(events of the trail)."""
        self.looks = False
        self._resumes = trail.epoch + self._steps
        cell = self._made()
        at: i64
        for at in range(trail.least(), upto + 1):
            event = self.number - (trail.number - at)
            if event > 0:
                if trail.first[at & trail.mask] == at:
                    cell.close_epoch()
                self._pass(cell, trail, at, event)
        self._found.clear()
        if trail.closed():
            cell.close_epoch()
        self.cells = {(): cell}
        self._one = cell

    def _resume(self) -> None:
        """Look back again: nothing waits that is not of the trail."""
        self.looks = True
        self.cells = {}
        self._one = None
        self.events.sweep(set())

    def _rest(self) -> None:
        """Keep runs, for whoever asks for them."""
        trail = self._trail
        if self.looks and trail is not None:
            self._keep_runs(trail, trail.number)

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

    def _complete(self, matches: EpochMatches, event: i64) -> None:
        """Write the completions of an event. O(members and paths)."""
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

    # --- upkeep and inspection ----------------------------------------------------------------------------------

    def clear(self) -> None:
        super().clear()
        trail = self._trail
        if self._look is not None and trail is not None:
            self.looks = False
            self._resumes = trail.epoch + self._steps

    def partial(self, member: Member, time: i64, position: i64, places: dict[Any, int]) -> Iterator[Begun] | None:
        self._rest()
        return super().partial(member, time, position, places)

    def statistics(self) -> dict[str, int]:
        self._rest()
        return super().statistics()

    def check_invariants(self) -> None:
        super().check_invariants()
        assert not self.looks or not self.cells
        if self._trail is not None:
            self._trail.check_invariants()

    def dump(self) -> Any:
        self._rest()
        return super().dump()

    def load(self, data: Any) -> None:
        super().load(data)
        self.looks = self._look is not None and not self.cells
        if self._trail is not None:
            self._keep_loaded(self._trail)

    def _keep_loaded(self, trail: KeyTrail) -> None:
        """Keep runs until none has an event that is not of the trail, whose next epoch may have begun before it."""
        if not self.looks:
            self._resumes = trail.epoch + self._steps + 1
