"""Machines of groups that follow the trail of their key, and keep runs only while they must.

A chain looks back (lookback) for what an event completes, and keeps no runs. A snapshot or a question makes the runs
anew from the trail; they are kept until all that is not of the trail has ended, which takes as many turns as the chain
has steps: epochs, or events where each is an epoch of its own.

Here: changing between the forms. Not here: what an event does (epoch_machine, arrival_machine), finding the machines of
an event's key (broker.engine.dispatch.keyed).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mypy_extensions import i64

from ...program.target import Outcome
from ..contract import Input, Member
from ..matches import Begun
from ..trail import KeyTrail
from .cell import GroupCell
from .epoch_runs import EpochRuns
from .machine import GroupMachine
from .making import CellRecipe

LONG_AGO: Final = -(1 << 62)


class FollowingMachine(GroupMachine):
    """The members of one template and key. `looks`: whether it looks back at present, and so keeps no runs; otherwise
    it does from the turn `resumes` on."""

    def __init__(
        self, recipe: CellRecipe, inputs: list[Input], outcome: Outcome, events_max: int, runs: EpochRuns | None,
        may_look: bool,
    ) -> None:  # fmt: skip
        super().__init__(recipe, inputs, outcome, events_max, runs)
        self.follows = True
        apart = len(self._parts) > 0 or len(recipe.template.found) > 0
        self.look = recipe.look if may_look and not apart else None
        self.looks = self.look is not None
        self.steps: i64 = len(recipe.template.steps)
        self.resumes: i64 = LONG_AGO
        self.trail: KeyTrail | None = None
        self.overflows: i64 = 0

    def turn(self, trail: KeyTrail) -> i64:
        """The number of the turn of the trail's newest event."""
        raise AssertionError

    def attach(self, trail: KeyTrail) -> None:
        self.trail = trail
        self.overflows = trail.overflows
        if self.look is not None:
            trail.deepen(self.steps)
            self._keep_loaded(trail)

    def overflowed(self, trail: KeyTrail) -> None:
        """The trail has dropped events that a match may have."""
        self.overflows = trail.overflows
        self.lost += 1
        self.clear()

    def pass_event(self, cell: GroupCell, trail: KeyTrail, at: i64, event: i64) -> None:
        """Pass an event of the trail to a cell. `event`: its number here."""
        row, time, start, item = trail.row, trail.time, trail.start, trail.item
        if at != trail.number:  # the trail has points only
            place = at & trail.mask
            row, time, item = trail.rows[place], trail.times[place], trail.items[place]
            start = time
        cell.began = start
        cell.item = item
        cell.position = trail.position - (trail.number - at)
        cell.place = trail.place - (trail.number - at)
        cell.take(row, time, event, self._found)
        if cell.noted == event:
            self.events.add(event, row, start, time, item)

    def keep_runs(self, trail: KeyTrail, upto: i64) -> None:
        """Make the runs that the events up to `upto` have left, and keep runs from now on. O(events of the trail)."""
        self.looks = False
        self.resumes = self.turn(trail) + self.steps
        self.events.sweep(set())
        cell = self._made()
        at: i64
        for at in range(trail.least(), upto + 1):
            event = self.number - (trail.number - at)
            if event > 0:
                if trail.first[at & trail.mask] == at:
                    cell.close_epoch()
                self.pass_event(cell, trail, at, event)
        self._found.clear()
        if trail.closed():
            cell.close_epoch()
        self.cells = {(): cell}
        self._one = cell

    def resume(self) -> None:
        """Look back again: nothing waits that is not of the trail."""
        self.looks = True
        self.cells = {}
        self._one = None
        self.events.sweep(set())

    def _rest(self) -> None:
        """Keep runs, for whoever asks for them."""
        trail = self.trail
        if self.looks and trail is not None:
            self.keep_runs(trail, trail.number)

    # --- upkeep and inspection ----------------------------------------------------------------------------------

    def clear(self) -> None:
        super().clear()
        trail = self.trail
        if self.look is not None and trail is not None:
            self.looks = False
            self.resumes = self.turn(trail) + self.steps

    def partial(self, member: Member, time: i64, position: i64, places: dict[Any, int]) -> Iterator[Begun] | None:
        self._rest()
        return super().partial(member, time, position, places)

    def statistics(self) -> dict[str, int]:
        self._rest()
        return super().statistics()

    def check_invariants(self) -> None:
        super().check_invariants()
        assert not self.looks or not self.cells
        if self.trail is not None:
            self.trail.check_invariants()

    def dump(self) -> Any:
        self._rest()
        return super().dump()

    def load(self, data: Any) -> None:
        super().load(data)
        self.looks = self.look is not None and not self.cells
        if self.trail is not None:
            self._keep_loaded(self.trail)

    def _keep_loaded(self, trail: KeyTrail) -> None:
        """Keep runs until none has an event that is not of the trail, whose next epoch may have begun before it."""
        if not self.looks:
            self.resumes = self.turn(trail) + self.steps + 1
