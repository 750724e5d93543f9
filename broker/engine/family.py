"""Families: sibling states that differ in thresholds only, as sorted columns instead of states (layout notes, 2).

All subscriptions `name = X AND price > c`, then the next X with `price < d`, share everything but c and d. What one
event starts in them is one run - a cohort - which stands for the prefix of the family whose c it satisfies; what the
next event completes is found by a scan of the d's of that prefix, with a maximum a block of 16 to skip by.

Here: columns and scans. Not here: which subscriptions fit (program), runs.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import Generic, TypeVar, cast, final

from mypy_extensions import i64

from ..algebra.normal_form import Clause
from ..algebra.terms import Attribute, Comparison, Constant, Side
from ..events.schema import Row
from .columns import BLOCK, EXACT, below

M = TypeVar("M")


@final
class Threshold:
    """`event.a op c` on a float attribute as `sign * a > bound` (a start) or `bound > sign * a` (a forward)."""

    __slots__ = ("bound", "position", "sign")

    def __init__(self, position: int, sign: int, bound: float) -> None:
        self.position = position
        self.sign = sign
        self.bound = bound


def _constant(atom: Comparison) -> tuple[int, float] | None:
    match atom:
        case Comparison(
            "<" | "<=" | ">" | ">=", Attribute(Side.EVENT, position, "float"), Constant(int() | float() as c)
        ):
            return (position, float(c)) if abs(c) <= EXACT else None
        case _:
            return None


def start_threshold(clause: Clause) -> Threshold | None:
    """The clause as one lower bound of `sign * a`; one that always holds if it is empty; None: not a threshold."""
    if not clause:
        return Threshold(-1, 1, -math.inf)
    found = _constant(clause[0]) if len(clause) == 1 else None
    if found is None:
        return None
    position, c = found
    match clause[0].operator:
        case ">":
            return Threshold(position, 1, c)
        case ">=":
            return Threshold(position, 1, math.nextafter(c, -math.inf))
        case "<":
            return Threshold(position, -1, -c)
        case _:
            return Threshold(position, -1, math.nextafter(-c, -math.inf))


def forward_threshold(clause: Clause) -> Threshold | None:
    """The clause as one upper bound of `sign * a`; as above."""
    if not clause:
        return Threshold(-1, 1, math.inf)
    found = _constant(clause[0]) if len(clause) == 1 else None
    if found is None:
        return None
    position, c = found
    match clause[0].operator:
        case "<":
            return Threshold(position, 1, c)
        case "<=":
            return Threshold(position, 1, math.nextafter(c, math.inf))
        case ">":
            return Threshold(position, -1, -c)
        case _:
            return Threshold(position, -1, math.nextafter(-c, math.inf))


@final
class Family(Generic[M]):
    """Members by start threshold: `starts` sorted, `forwards` and `members` in the same order, `tops` the maxima of
    `forwards` a block. Insertion and removal O(members); a scan O(members / 16 + matches)."""

    def __init__(self, start: Threshold, forward: Threshold) -> None:
        self.start_position = start.position
        self.start_sign = float(start.sign)
        self.forward_position = forward.position
        self.forward_sign = float(forward.sign)
        self.starts: list[float] = []
        self.forwards: list[float] = []
        self.members: list[M] = []
        self.tops: list[float] = []
        self.stale = False

    def __len__(self) -> int:
        return len(self.members)

    def insert(self, start: float, forward: float, member: M) -> None:
        at = bisect_right(self.starts, start)
        self.starts.insert(at, start)
        self.forwards.insert(at, forward)
        self.members.insert(at, member)
        self.stale = True

    def remove(self, start: float, member: M) -> None:
        at = bisect_left(self.starts, start)
        while self.members[at] is not member:
            at += 1
        del self.starts[at], self.forwards[at], self.members[at]
        self.stale = True

    def starts_any(self, row: Row) -> bool:
        """Whether an event starts a member at all. O(1)."""
        if self.start_position < 0:
            return True
        value = row[self.start_position]
        return value is not None and self.starts[0] < cast("float", value) * self.start_sign

    def count(self, row: Row) -> i64:
        """How many members an event starts: those before this index. O(log members)."""
        if self.start_position < 0:
            return len(self.starts)
        value = row[self.start_position]
        if value is None:
            return 0
        return below(self.starts, cast("float", value) * self.start_sign)

    def completed(self, started: Row, row: Row) -> list[M]:
        """The members that one event started and another completes. O(log members + members / 16 + found)."""
        count = self.count(started)
        if self.forward_position < 0:
            return self.members[:count]
        found: list[M] = []
        value = row[self.forward_position]
        if value is None:
            return found
        if self.stale:
            self._measure()
        level = cast("float", value) * self.forward_sign
        forwards, members, tops = self.forwards, self.members, self.tops
        block: i64
        j: i64
        for block in range((count + BLOCK - 1) >> 4):
            if tops[block] > level:
                begin = block << 4
                end = begin + BLOCK
                if end > count:
                    end = count
                for j in range(begin, end):
                    if forwards[j] > level:
                        found.append(members[j])
        return found

    def _measure(self) -> None:
        forwards = self.forwards
        self.tops = [max(forwards[i : i + BLOCK]) for i in range(0, len(forwards), BLOCK)]
        self.stale = False

    def check_invariants(self) -> None:
        assert len(self.starts) == len(self.forwards) == len(self.members)
        assert all(a <= b for a, b in zip(self.starts, self.starts[1:], strict=False))
        if not self.stale:
            forwards = self.forwards
            assert self.tops == [max(forwards[i : i + BLOCK]) for i in range(0, len(forwards), BLOCK)]
