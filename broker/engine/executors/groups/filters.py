"""Filters: patterns of one event. An event finds its members by one lookup for each clause of the template.

If a template has several clauses, a stamp prevents an event from matching twice.
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, filled, floats
from .coordinates import ATTRIBUTE, number
from .members import Members
from .stamps import Stamps
from .steps import StepClause


@final
class FilterCell(GroupCell):
    """The members of a key, and the clauses with that key."""

    def __init__(self, clauses: list[StepClause], d: int, members: Members) -> None:
        super().__init__(members)
        self.clauses = clauses
        self._stamps = Stamps() if len(clauses) > 1 else None
        self._x: Floats = filled(d, INFINITY)
        self._single = len(clauses) > 1 and single(clauses)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. One lookup for each clause."""
        x, stamps = self._x, self._stamps
        j: i64
        begun = out.members_upto
        if self._single:
            for j in range(self.members.d):
                x[j] = -INFINITY
            for clause in self.clauses:
                bound = clause.bounds[0]
                value = bound.sign * number(row, bound.attribute)
                if value == value and clause.admits(row):
                    x[bound.coordinate] = value
            if self.members.find_any(x, event, out) > 0:
                out.close_alone(begun)
            return
        if stamps is not None:
            stamps.next()
        nothing: Floats = NOTHING  # a variable of the module is looked up by name
        for clause in self.clauses:
            if clause.misses(row, self.members):
                continue
            for j in range(self.members.d):
                x[j] = INFINITY
            if not clause.narrows(row, time, time, nothing, 0, x, 0):
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


def single(clauses: list[StepClause]) -> bool:
    """Whether each clause bounds one coordinate, its own, by an attribute."""
    bounds = [bound for clause in clauses for bound in clause.bounds]
    of_attributes = all(len(clause.bounds) == 1 for clause in clauses) and all(b.source == ATTRIBUTE for b in bounds)
    return of_attributes and len({int(bound.coordinate) for bound in bounds}) == len(bounds)
