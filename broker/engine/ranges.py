"""Ranges of numbers in columns: which of many intervals cover a value (layout notes, 3.5).

Sorted by lower end, so that candidates are a prefix; of every 16 the greatest upper end, so that blocks that end too
early are skipped. A second attribute's range stands in columns beside. Bounds are closed floats: a strict bound is the
next float. A value that floats do not hold exactly is compared with every interval by exact arithmetic instead.

Here: columns and scans. Not here: which arcs are filed here (arcs).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, cast, final

from mypy_extensions import i64

from ..algebra.functions import compare
from ..algebra.normal_form import Clause
from ..algebra.terms import Attribute, Comparison, Constant, Side
from ..events.schema import Row, Value
from .columns import BLOCK, EXACT, not_above

ANY: Final = -1

M = TypeVar("M")


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """The ranges of a clause on at most two attributes (`second` is ANY for one), and the atoms that say more."""

    position: int
    low: float
    high: float
    second: int
    low2: float
    high2: float
    atoms: tuple[Comparison, ...]
    rest: Clause

    @property
    def two_sided(self) -> bool:
        return self.low > -math.inf and self.high < math.inf

    def holds(self, atom: Comparison) -> bool:
        return any(atom is own for own in self.atoms)


def bounds_of(atom: Comparison) -> tuple[int, float, float] | None:
    """(position, low, high) of an atom that compares an event's number with a constant; None for any other."""
    match atom:
        case Comparison(operator, Attribute(Side.EVENT, position, "int" | "float"), Constant(int() | float() as c)):
            if isinstance(c, bool) or abs(c) >= EXACT:
                return None  # the next float would skip an integer
            value = float(c)
        case _:
            return None
    match operator:
        case "<":
            return position, -math.inf, math.nextafter(value, -math.inf)
        case "<=":
            return position, -math.inf, value
        case ">":
            return position, math.nextafter(value, math.inf), math.inf
        case ">=":
            return position, value, math.inf
        case "=":
            return position, value, value
        case _:
            return None


def interval_of(clause: Clause) -> Interval | None:
    """The clause's ranges: first the attribute that is bounded on both sides, if any."""
    found: dict[int, tuple[float, float]] = {}
    atoms: dict[int, list[Comparison]] = {}
    for atom in clause:
        bounds = bounds_of(atom)
        if bounds is not None:
            position, low, high = bounds
            before = found.get(position, (-math.inf, math.inf))
            found[position] = (max(before[0], low), min(before[1], high))
            atoms.setdefault(position, []).append(atom)
    if not found:
        return None
    order = sorted(found, key=lambda p: (found[p][0] == -math.inf or found[p][1] == math.inf, p))
    first, second = order[0], order[1] if len(order) > 1 else ANY
    used = [*atoms[first], *(atoms[second] if second != ANY else ())]
    rest = tuple(atom for atom in clause if not any(atom is own for own in used))
    low2, high2 = found[second] if second != ANY else (-math.inf, math.inf)
    return Interval(first, *found[first], second, low2, high2, tuple(used), rest)


def as_float(value: Value) -> float:
    """A number as a float; NaN for an integer that floats do not hold exactly."""
    if isinstance(value, float):
        return value
    number = cast("int", value)
    return float(number) if -EXACT <= number <= EXACT else math.nan


@final
class Ranges(Generic[M]):
    """Intervals of one attribute, with a second one's beside. Sorted on the first search after an addition."""

    def __init__(self, position: int, second: int) -> None:
        self.position = position
        self.second = second
        self._entries: list[tuple[float, float, float, float, int]] = []
        self._added: list[M] = []
        self._lows: list[float] = []
        self._highs: list[float] = []
        self._lows2: list[float] = []
        self._highs2: list[float] = []
        self._tops: list[float] = []
        self._members: list[M] = []

    def add(self, interval: Interval, member: M) -> None:
        self._entries.append((interval.low, interval.high, interval.low2, interval.high2, len(self._added)))
        self._added.append(member)

    def find(self, row: Row, found: list[M]) -> None:
        """Append the members whose ranges hold. O(log n + n/16 in the prefix + covers)."""
        if len(self._members) != len(self._entries):
            self._sort()
        value: Value = row[self.position]
        other: Value = 0.0 if self.second == ANY else row[self.second]
        if value is None or other is None:
            return
        first, second = as_float(value), as_float(other)
        if first != first or second != second:
            self._find_exactly(value, other, found)
            return
        lows, highs, tops, members = self._lows, self._highs, self._tops, self._members
        lows2, highs2 = self._lows2, self._highs2
        upto = not_above(lows, first)
        block: i64
        j: i64
        for block in range((upto + BLOCK - 1) >> 4):
            if tops[block] >= first:
                begin = block << 4
                end = begin + BLOCK
                if end > upto:
                    end = upto
                for j in range(begin, end):
                    if highs[j] >= first and lows2[j] <= second and highs2[j] >= second:
                        found.append(members[j])

    def _find_exactly(self, value: Value, other: Value, found: list[M]) -> None:
        """For integers that floats would round: Python compares them with floats exactly."""
        for low, high, low2, high2, number in self._entries:
            if compare("<=", low, value) and compare(">=", high, value):
                if compare("<=", low2, other) and compare(">=", high2, other):
                    found.append(self._added[number])

    def _sort(self) -> None:
        order = sorted(self._entries)
        self._lows = [e[0] for e in order]
        self._highs = [e[1] for e in order]
        self._lows2 = [e[2] for e in order]
        self._highs2 = [e[3] for e in order]
        self._members = [self._added[e[4]] for e in order]
        self._tops = [max(self._highs[i : i + BLOCK]) for i in range(0, len(order), BLOCK)]
