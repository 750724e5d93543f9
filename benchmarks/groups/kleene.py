"""Kleene patterns whose constants are in the start, or in the start and the final test: one automaton for all members.

The template without those constants is run once, by whatever runs Kleene patterns. Each of its runs has a ticket here:
whom it is for was decided where it began, and stays so. With one coordinate these are the first ones of a ranking, with
more a list of their own, and a match of the run is a block (run, members) in O(1). With constants in the final test
(`LEN >= n`, a sum) the members are asked at each match.

Here: tickets. Not here: runs. A ranking that a ticket holds is never changed: who joins gets a new one.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final, final

from mypy_extensions import i64

from broker.engine.executors.groups.blocks import MatchBlocks
from broker.engine.executors.groups.cell import GroupCell
from broker.engine.executors.groups.columns import (
    INFINITY,
    Floats,
    Integers,
    filled,
    filled_integers,
    integers,
    integers_from,
    put_integer,
    with_room,
)
from broker.engine.executors.groups.coordinates import narrowed
from broker.engine.executors.groups.members import Members
from broker.engine.executors.groups.steps import StepClause
from broker.events.schema import Row

NOBODY: Final = -1


@final
class KleeneTemplate:
    """What a start must satisfy; `end`: what the final test asks of members, of registers that the host gives."""

    def __init__(self, d: int, begin: StepClause, end: StepClause | None = None) -> None:
        self.d: i64 = d
        self.begin = begin
        self.end = end
        self.ranked = d == 1 and end is None


@final
class Ranking:
    """Members by their one coordinate. `held`: tickets have it, so that a change makes a copy."""

    def __init__(self) -> None:
        self.levels: list[float] = []
        self.handles: Integers = integers()
        self.held = False

    def put(self, handle: i64, level: float) -> None:
        """A member more. O(members) moves of machine words."""
        at = bisect_right(self.levels, level)
        n: i64 = len(self.levels)
        if self.held:
            self.handles, self.held = copied(self.handles, n), False
        self.levels.insert(at, level)
        self.handles = put_integer(self.handles, n, handle)
        handles, j = self.handles, n
        while j > at:
            handles[j] = handles[j - 1]
            j -= 1
        handles[at] = handle

    def remove(self, handle: i64) -> None:
        n: i64 = len(self.levels)
        at: i64 = 0
        while self.handles[at] != handle:
            at += 1
        del self.levels[at]
        self.handles, self.held = without(self.handles, n, at), False


@final
class KleeneCell(GroupCell):
    """Tickets of a key: of each the members (a column and how many of it), the first event and the values."""

    def __init__(self, template: KleeneTemplate) -> None:
        super().__init__(Members(template.d))
        self.template = template
        self._ranking = Ranking()
        self._columns: list[Integers | None] = []
        self._counts: Integers = integers()
        self._firsts: Integers = integers()
        self._values: Floats = filled(template.d, INFINITY)  # d a ticket
        self._free: list[int] = []
        self._x: Floats = filled(template.d, INFINITY)
        self._found = MatchBlocks()

    def join(self, handle: int, point: list[float], since: int) -> None:
        self.members.put(handle, point, since)
        if self.template.ranked:
            self._ranking.put(handle, point[0])

    def leave(self, handle: int, point: list[float]) -> None:
        """The member goes, from all runs. O(tickets + members of distinct columns)."""
        self.members.remove(handle, point)
        if self.template.ranked:
            self._ranking.remove(handle)
        thinned: dict[int, tuple[int, Integers | None]] = {}
        for ticket, column in enumerate(self._columns):
            if column is None or self.template.end is not None:
                continue
            if id(column) not in thinned:
                at = next((i for i in range(len(column)) if column[i] == handle), len(column))
                fresh = without(column, len(column), at) if at < len(column) else None
                thinned[id(column)] = at, fresh
            at, fresh = thinned[id(column)]
            if fresh is not None:
                self._columns[ticket] = fresh
                if at < self._counts[ticket]:
                    self._counts[ticket] -= 1

    def begin(self, row: Row, time: i64, event: i64) -> i64:
        """The ticket of a run that an event begins; NOBODY if it is nobody's and need not be. O(log) with one
        coordinate."""
        template, x, members = self.template, self._x, self.members
        d = template.d
        j: i64
        for j in range(d):
            x[j] = INFINITY
        if not narrowed(template.begin.bounds, row, time, time, x, 0, x, 0):
            return NOBODY
        if not members.possible(x, 0) or not template.begin.admits(row):
            return NOBODY
        count: i64 = 0
        if template.ranked:
            column = self._ranking.handles
            self._ranking.held = True
            count = bisect_right(self._ranking.levels, x[0])
        elif template.end is None:
            found = self._found
            found.clear()
            count = members.find(x, 0, event, found)
            column = copied(found.members, count)
        else:
            column = self._ranking.handles  # nobody asks
            count = 1
        if count == 0:
            return NOBODY
        ticket = self._ticket()
        self._columns[ticket] = column
        self._counts[ticket] = count
        self._firsts[ticket] = event
        for j in range(d):
            self._values[ticket * d + j] = x[j]
        return ticket

    def _ticket(self) -> i64:
        if len(self._free) > 0:
            return self._free.pop()
        ticket: i64 = len(self._columns)
        self._columns.append(None)
        self._counts = put_integer(self._counts, ticket, 0)
        self._firsts = put_integer(self._firsts, ticket, 0)
        self._values = with_room(self._values, (ticket + 1) * self.template.d)
        return ticket

    def complete(
        self, ticket: i64, row: Row, time: i64, start: i64, registers: Floats, path: i64, out: MatchBlocks
    ) -> None:
        """A match of the run, whose events the host has written behind `path` of the paths, without the last."""
        template = self.template
        width = out.paths_upto - path
        end = template.end
        if end is None:
            column = self._columns[ticket]
            if column is not None and self._counts[ticket] > 0:
                out.close_prefix(column, self._counts[ticket], path, width)
            return
        x, d = self._x, template.d
        j: i64
        for j in range(d):
            x[j] = self._values[ticket * d + j]
        if not narrowed(end.bounds, row, time, start, registers, 0, x, 0) or not end.admits(row):
            return
        begun = out.members_upto
        if self.members.find(x, 0, self._firsts[ticket], out) > 0:
            out.close(begun, path, width)

    def forget(self, ticket: i64) -> None:
        """The run has ended. O(1)."""
        self._columns[ticket] = None
        self._free.append(ticket)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """What a snapshot keeps: tickets with the handles of their members."""
        d = self.template.d
        tickets = [
            (
                ticket, int(self._firsts[ticket]), [int(column[i]) for i in range(self._counts[ticket])]
                if self.template.end is None else [], [self._values[ticket * d + j] for j in range(d)],
            )
            for ticket, column in enumerate(self._columns) if column is not None
        ]  # fmt: skip
        return {"tickets": tickets}

    def load(self, dumped: dict[str, Any]) -> None:
        """Take the tickets back, under their numbers; the members have joined before."""
        d = self.template.d
        tickets = dumped["tickets"]
        self._columns, self._free = [], []
        for _ in range(max((ticket for ticket, *_ in tickets), default=-1) + 1):
            self._ticket()
        for ticket, first, handles, values in tickets:
            self._columns[ticket], self._firsts[ticket] = integers_from(handles), first
            self._counts[ticket] = len(handles)
            for j in range(d):
                self._values[ticket * d + j] = values[j]
        self._free = [ticket for ticket, column in enumerate(self._columns) if column is None]

    def statistics(self) -> dict[str, int]:
        return {**self.members.statistics(), "tickets": len(self._columns) - len(self._free)}

    def check_invariants(self) -> None:
        self.members.check_invariants()
        assert len(set(self._free)) == len(self._free)
        if self.template.ranked:
            levels = self._ranking.levels
            assert levels == sorted(levels)
            assert len(levels) == self.members.count


def copied(column: Integers, count: i64) -> Integers:
    fresh = filled_integers(count, 0)
    i: i64
    for i in range(count):
        fresh[i] = column[i]
    return fresh


def without(column: Integers, count: i64, at: i64) -> Integers:
    """A copy that lacks the number at a place."""
    fresh = filled_integers(count - 1, 0)
    i: i64
    for i in range(count - 1):
        fresh[i] = column[i] if i < at else column[i + 1]
    return fresh
