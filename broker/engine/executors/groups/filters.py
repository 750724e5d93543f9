"""Filters: patterns of one event. An event is found by one question for each clause of the template.

Clauses of one filter may ask keys of their own (`name = 'X' AND ... OR exchange = 'Y' AND ...`): they lie in the cells
of those keys, and where a template has several clauses a stamp keeps an event from matching twice.
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, filled, floats
from .coordinates import narrowed
from .members import Members
from .stamps import Stamps
from .steps import StepClause


@final
class FilterCell(GroupCell):
    """The members of a key of whose clauses that one asks it. `stamps`: the group's, if it has several clauses; the
    host calls `stamps.next()` for each event."""

    def __init__(self, clause: StepClause, d: int, stamps: Stamps | None = None) -> None:
        super().__init__(Members(d))
        self.clause = clause
        self._stamps = stamps
        self._x: Floats = filled(d, INFINITY)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """An event of the key. One question."""
        x = self._x
        j: i64
        for j in range(self.members.d):
            x[j] = INFINITY
        if not narrowed(self.clause.bounds, row, time, time, NOTHING, 0, x, 0):
            return
        if not self.members.possible(x, 0) or not self.clause.admits(row, NOTHING, 0):
            return
        begun = out.members_upto
        self.members.find(x, 0, event, out)
        if out.members_upto > begun:
            if self._stamps is not None:
                self._stamps.thin(out, begun)
            out.close_alone(begun)

    def empty(self) -> bool:
        return self.members.count == 0


NOTHING: Floats = floats()  # a filter remembers nothing
