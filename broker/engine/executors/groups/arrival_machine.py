"""The machine of a group whose chains ask for adjacent events of a partition, which is that of the key.

Each event of the key is an epoch of its own and the next one of its partition, so that the events of a match are the
newest of the trail (lookback). Only these are kept for results, when there are some.

Here: what an event does. Hot. Not here: making runs for those who ask (following), writing rows (rows).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...program.target import Outcome
from ..completions import Completions
from ..contract import Input
from ..trail import KeyTrail
from .following import FollowingMachine
from .making import CellRecipe


@final
class ArrivalMachine(FollowingMachine):
    """The members of one template and key."""

    def __init__(self, recipe: CellRecipe, inputs: list[Input], outcome: Outcome, events_max: int) -> None:
        super().__init__(recipe, inputs, outcome, events_max, None, True)
        self._last: i64 = 0  # the number of the newest event that is kept

    def turn(self, trail: KeyTrail) -> i64:
        return trail.number

    def follow(self, trail: KeyTrail, found: Completions) -> None:
        look = self.look
        if trail.overflows != self.overflows:
            self.overflowed(trail)
        if look is not None and self.resumes <= trail.number:
            if not self.looks:
                self.resume()
                self._last = 0
            self.number += 1
            out = self._found
            if out.members_upto > 0:  # of an event that failed
                out.clear()
            if look.ends(self.members, trail, self.number, out):
                self._note(trail)
                self._tell(found)
                if self.events.grown():
                    self.events.sweep(set())
                    self._last = 0
            return
        if self.looks:
            self.number += 1
            self.keep_runs(trail, trail.number - 1)
            self.number -= 1
        self.take(1, trail.row, trail.time, trail.position, trail.place, (), trail.item, found)

    def _note(self, trail: KeyTrail) -> None:
        """Keep the events of the match that the newest one completes. O(steps)."""
        n = trail.number - self.steps + 1
        while n < trail.number:
            event = self.number - (trail.number - n)
            if event > self._last:
                at = n & trail.mask
                time = trail.times[at]
                self.events.add(event, trail.rows[at], time, time, trail.items[at])
                self._last = event
            n += 1
