"""Stairs: how far a run must have reached at its start, given what its last event reaches, to be some member's.

Of the members whose last limit a value reaches, the least first limit: a step function, as the limits are fixed. A
register compared with it leaves out the runs of which nobody has a result.

Here: that function, and it as a constant of an automaton. Hot. Not here: who reads it (operations), whose a result is
(limit_table).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import final

from mypy_extensions import i64

from ...index.columns import ascending
from ..packed import Floats, floats_of


@final
class Stairs:
    """`limits` at the last arc, ascending, and for each the least one at the first arc of those up to it, `steps`. Both
    are times the signs of their arcs."""

    def __init__(self, first_sign: float, last_sign: float, limits: Sequence[float], steps: Sequence[float]) -> None:
        self._first_sign = first_sign
        self._last_sign = last_sign
        self._limits: Floats = floats_of(limits)
        self._steps: Floats = floats_of(steps)
        self._value = math.nan  # that was asked last, and its answer
        self._found = math.nan

    def least(self, value: float) -> float:
        """The least value at the start; beyond all values, if no member's last limit is reached. O(log members), and
        O(1) for the value of the previous call."""
        if value == self._value:
            return self._found
        limits = self._limits
        reached = self._last_sign * value
        low: i64 = 0
        high: i64 = len(limits)
        while low < high:
            middle = (low + high) >> 1
            if limits[middle] <= reached:
                low = middle + 1
            else:
                high = middle
        self._value = value
        self._found = self._first_sign * (math.inf if low == 0 else self._steps[low - 1])
        return self._found


def stairs_text(first: Floats, last: Floats, first_sign: float, last_sign: float) -> str:
    """The stairs of members with these limits at the first and the last arc as a text, since a constant of an automaton
    is a value that can be compared. O(members log members)."""
    order = ascending(last)
    limits: list[float] = []
    steps: list[float] = []
    least = math.inf
    at: i64
    for at in range(len(order)):
        member = order[at]
        if first[member] < least:
            least = first[member]
        limits.append(last[member])
        steps.append(least)
    return array("d", [first_sign, last_sign, *limits, *steps]).tobytes().hex()


def stairs_of(text: str) -> Stairs:
    """The inverse."""
    numbers = array("d", bytes.fromhex(text)).tolist()
    middle = 1 + len(numbers) // 2
    return Stairs(numbers[0], numbers[1], numbers[2:middle], numbers[middle:])
