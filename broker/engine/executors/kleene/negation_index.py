"""Negated events, by the part of the key that they share with matches. Usually only the newest position is stored.

A negated event whose guard reads only its own values and the key is a mark: it takes back all matches whose event
before it is older (SASE+ 3; kleene notes, 5). If the guard reads more, the events of the window are stored in a log,
and a complete match is tested against the possible ones.

Here: marks and logs of one negation and key. Not here: their place in a pattern (runs).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....algebra.predicate import holds
from ....events.schema import Row
from ...program.account import Account
from .tables import BEFORE, Denial


@final
class NegationIndex:
    """The events of one negation under one key. `users`: the cells that refer to it.

    `position`: the newest one's number in the stream; `time`: its time; `earlier`: the newest time before that.
    """

    __slots__ = ("denial", "earlier", "position", "positions", "rows", "time", "times", "users")

    def __init__(self, denial: Denial) -> None:
        self.denial = denial
        self.position: i64 = BEFORE
        self.time: i64 = BEFORE
        self.earlier: i64 = BEFORE
        self.users = 0
        self.times: list[int] = []
        self.positions: list[int] = []
        self.rows: list[Row] = []

    def take(self, row: Row, time: i64, position: i64, oldest: i64, most: int) -> bool:
        """Record a negated event, and forget logged ones before `oldest`. Returns whether there were too many."""
        if time > self.time:
            self.earlier = self.time
        self.time = time
        self.position = position
        if not self.denial.logged:
            return False
        times = self.times
        times.append(time)
        self.positions.append(position)
        self.rows.append(row)
        if len(times) & 15 and len(times) <= most:
            return False
        gone = bisect_left(times, oldest)
        full = len(times) - gone > most
        if full:
            gone = len(times) - most
        if gone * 2 > len(times) or full:
            del times[:gone]
            del self.positions[:gone]
            del self.rows[:gone]
        return full

    def lead(self, time: i64) -> i64:
        """The newest event's time, or the one before, which is earlier than `time`."""
        return self.time if self.time < time else self.earlier

    def between(self, after: i64, before: i64) -> list[Row]:
        """The logged events strictly between two positions in the stream."""
        return self.rows[bisect_right(self.positions, after) : bisect_left(self.positions, before)]

    def during(self, after: i64, upto: i64) -> list[Row]:
        """The logged events whose time is above one time and at most the other."""
        return self.rows[bisect_right(self.times, after) : bisect_right(self.times, upto)]

    def denies(self, rows: list[Row], slots: Slots, account: Account) -> bool:
        """Whether one of these logged events takes back a match with these registers. O(rows)."""
        account.spend(len(rows))
        for row in rows:  # noqa: SIM110  a generator here would allocate on the hot path
            if holds(self.denial.rest, row, (), slots, 0, 0):
                return True
        return False

    def dump(self) -> list[Any]:
        marks = [int(self.position), int(self.time), int(self.earlier)]
        return [*marks, self.times, self.positions, [list(row) for row in self.rows]]

    def load(self, data: Any) -> None:
        self.position, self.time, self.earlier, times, positions, rows = data
        self.times, self.positions, self.rows = list(times), list(positions), [tuple(row) for row in rows]
