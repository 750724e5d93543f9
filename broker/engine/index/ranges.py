"""Ranges in guards: a clause's comparisons of numbers with constants, as intervals (layout notes, 3.5).

Here: reading them from a clause, and finding the members of an arc index by them. Not here: columns (intervals), which
arcs are filed here (arcs).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, final

from ...algebra.normal_form import Clause
from ...algebra.terms import Attribute, Comparison, Constant, Side
from ...events.schema import Row
from .columns import EXACT
from .intervals import Bounds, Intervals

ANY: Final = -1
NOTHING: Final = float("nan")  # no bounds contain it

M = TypeVar("M")


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """The ranges of a clause on at most two attributes (`second` is ANY for one), and the remaining atoms."""

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
        case Comparison(
            operator, Attribute(Side.EVENT, position, "int" | "float"), Constant(int() | float() as c)
        ):
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
    """The clause's ranges; the attribute that is bounded on both sides comes first, if any."""
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


@final
class Ranges(Generic[M]):
    """Members by the ranges of one attribute, and of a second one; the first search makes the columns."""

    def __init__(self, position: int, second: int) -> None:
        self.position = position
        self.second = second
        self._entries: list[tuple[Bounds, M]] = []
        self._columns: Intervals[M] | None = None

    def add(self, interval: Interval, member: M) -> None:
        self._entries.append((Bounds(interval.low, interval.high, interval.low2, interval.high2), member))

    def find(self, row: Row, found: list[M]) -> None:
        """Append the members whose ranges contain the event. O(log n + n/16 in the prefix + found)."""
        columns = self._columns
        if columns is None or len(columns) != len(self._entries):
            columns = self._columns = Intervals(self._entries, self.second != ANY)
        value = _number(row, self.position)
        columns.find(value, 0.0 if self.second == ANY else _number(row, self.second), found)


def _number(row: Row, position: int) -> float:
    """A number to compare with bounds; NaN for a null."""
    value = row[position]
    if isinstance(value, float):
        return value
    # Bounds are less than 2**53, so rounding a larger integer does not move it past any of them.
    return float(value) if isinstance(value, int) else NOTHING
