"""Bounds of runs that wait: which of them an event can affect, by one comparison in sorted columns (Cayuga 3.2).

A stay guard is a disjunction of clauses. In each, conditions on the event alone are asked once for all runs; of those
that compare a value of the event with one of the run, one is the pivot, and the runs are sorted by its value there. So
an event finds a range of runs: of `$2.price > 1.1 * $1.price` those whose 1.1 * price is below its own. What else the
guard asks is left to test.

Here: plans, and columns. Not here: the key that comes first (spaces), runs (keyed_runs.cells).
"""

from __future__ import annotations

import math
from typing import Any, Final, Generic, TypeVar, final

from mypy_extensions import i64
from sortedcontainers import SortedList

from ...algebra.computation import Computation, Slots
from ...algebra.functions import MIRRORED
from ...algebra.normal_form import Clause, Form
from ...algebra.predicate import All, computation, condition, holds
from ...algebra.terms import Attribute, Comparison, Constant, Duration, Register, Term, walk
from ...events.schema import Row, Value

EVENT: Final = "event"
RUN: Final = "run"
BOTH: Final = "both"

M = TypeVar("M")


@final
class Pivot:
    """A comparison of a value of the event (`left`) with one of the run (`right`).

    Without them it is one of DUR with `constant`: the event's time has that distance to the start of the run.
    """

    def __init__(self, operator: str, left: Computation | None, right: Computation | None, constant: int) -> None:
        self.operator = operator
        self.left = left
        self.right = right
        self.constant = constant

    def of_event(self, row: Row, length: int, time: int) -> Value:
        if self.left is None:
            return time + 1 - self.constant
        return self.left.value(row, (), (), length, length)

    def of_run(self, row: Row, slots: Slots, start: int) -> Value:
        if self.right is None:
            return start
        return self.right.value((), row, slots, 1, 1)


@final
class WaitingClause:
    """What a clause asks of the event alone, and its pivot; None if there is none."""

    def __init__(self, clause: Clause) -> None:
        alone = tuple(atom for atom in clause if _reads(atom) == EVENT)
        self.gate: All | None = condition((alone,)) if alone else None
        self.pivot: Pivot | None = None
        for pivot in map(_pivot, clause):
            if pivot is not None and (self.pivot is None or (pivot.operator == "=" and self.pivot.operator != "=")):
                self.pivot = pivot


def waiting_clauses(theta: Form) -> list[WaitingClause] | None:
    """The clauses of a stay guard; None if one lets every event affect every run, as far as an index can tell."""
    clauses = [WaitingClause(clause) for clause in theta]
    if any(clause.gate is None and clause.pivot is None for clause in clauses):
        return None
    return clauses


@final
class Bounded(Generic[M]):
    """Members of one place, by clause in the order of its bounds, and all of them by their serial numbers."""

    def __init__(self, clauses: list[WaitingClause]) -> None:
        self._clauses = clauses
        self._columns: list[Any] = [SortedList() for _ in clauses]
        self.members: dict[int, M] = {}

    def add(self, serial: int, member: M, row: Row, slots: Slots, start: int) -> None:
        """Add a member with the registers and the start of its run. O(log members)."""
        self.members[serial] = member
        for at, clause in enumerate(self._clauses):
            if clause.pivot is not None:
                bound = clause.pivot.of_run(row, slots, start)
                if bound is not None:  # else nothing compares with it
                    self._columns[at].add((bound, serial))

    def remove(self, serial: int, row: Row, slots: Slots, start: int) -> None:
        """Undo one `add`. O(log members)."""
        del self.members[serial]
        for at, clause in enumerate(self._clauses):
            if clause.pivot is not None:
                bound = clause.pivot.of_run(row, slots, start)
                if bound is not None:
                    self._columns[at].remove((bound, serial))

    def find(self, row: Row, length: int, time: int, found: dict[int, M]) -> None:
        """Add the members that an event may affect. O(log members + found) for each clause with a pivot."""
        at: i64
        for at in range(len(self._clauses)):
            clause = self._clauses[at]
            if clause.gate is not None and not holds(clause.gate, row, (), (), length, length):
                continue
            if clause.pivot is None:
                found.update(self.members)
                return
            value = clause.pivot.of_event(row, length, time)
            if value is not None:
                for _, serial in _range(self._columns[at], clause.pivot.operator, value):
                    found[serial] = self.members[serial]


def _range(column: Any, operator: str, value: Value) -> Any:
    """The entries whose bound stands in that relation to a value: the value first."""
    before, behind = (value,), (value, math.inf)
    if operator == ">":
        return column.irange(None, before)
    if operator == ">=":
        return column.irange(None, behind)
    if operator == "<":
        return column.irange(behind, None)
    return column.irange(before, behind if operator == "=" else None)


def _reads(term: Term) -> str:
    """Of what a term is computed; of the event if of nothing. A comparison is a term."""
    leaves = list(walk(term))
    run = any(isinstance(leaf, Register) or (isinstance(leaf, Duration) and leaf.composition) for leaf in leaves)
    event = any(isinstance(leaf, Attribute) or (isinstance(leaf, Duration) and not leaf.composition) for leaf in leaves)
    return BOTH if run and event else RUN if run else EVENT


def _pivot(atom: Comparison) -> Pivot | None:
    if atom.operator == "!=":
        return None
    left, right, operator = atom.left, atom.right, atom.operator
    if isinstance(left, Duration) and left.composition and isinstance(right, Constant):
        whole: object = right.value
        return Pivot(operator, None, None, whole) if type(whole) is int else None
    sides = (_reads(left), _reads(right))
    if sides == (RUN, EVENT):
        left, right, operator = right, left, MIRRORED[operator]
    elif sides != (EVENT, RUN):
        return None
    if any(isinstance(leaf, Duration) for side in (left, right) for leaf in walk(side)):
        return None
    return Pivot(operator, computation(left), computation(right), 0)
