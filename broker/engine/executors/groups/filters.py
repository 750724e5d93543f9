"""Filters: patterns of one event. An event finds its members by one lookup for each clause of the template.

Clauses of one filter may have different keys (`name = 'X' AND ... OR exchange = 'Y' AND ...`); they are in the cells of
those keys. If a template has several clauses, a stamp prevents an event from matching twice.
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
    """The members of a key, and the clauses with that key.

    `stamps`: the group's, if clauses have several keys; the host then calls `stamps.next()` for each event.
    """

    def __init__(
        self, clauses: list[StepClause], d: int, stamps: Stamps | None = None, members: Members | None = None
    ) -> None:
        super().__init__(Members(d) if members is None else members)
        self.clauses = clauses
        self._stamps = Stamps() if stamps is None and len(clauses) > 1 else stamps
        self._own = stamps is None and len(clauses) > 1
        self._x: Floats = filled(d, INFINITY)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. One lookup for each clause."""
        x, stamps = self._x, self._stamps
        if stamps is not None and self._own:
            stamps.next()
        begun = out.members_upto
        for clause in self.clauses:
            if clause.misses(row, self.members):
                continue
            j: i64
            for j in range(self.members.d):
                x[j] = INFINITY
            if not narrowed(clause.bounds, row, time, time, NOTHING, 0, x, 0):
                continue
            if not self.members.possible(x, 0) or not clause.admits(row):
                continue
            found = out.members_upto
            self.members.find(x, 0, event, out)
            if stamps is not None and out.members_upto > found:
                stamps.thin(out, found)
        if out.members_upto > begun:
            out.close_alone(begun)

    def quiet(self, time: i64) -> bool:
        return True


NOTHING: Floats = floats()  # a filter has no state
