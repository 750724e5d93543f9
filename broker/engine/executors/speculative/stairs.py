"""Stairs: how far a run must have reached at its start, given what its last event reaches, to be some member's.

Of the members whose last limit a value reaches, the least first limit: a step function, as the limits are fixed. A
register compared with it leaves out the runs of which nobody has a result.

Here: that function. Hot. Not here: who reads it (operations), whose a result is (limit_table).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

from mypy_extensions import i64

from ..packed import Floats, floats_of


@final
class Stairs:
    """`first`, `last`: the limits of each member at the first and at the last arc, times the signs of these."""

    def __init__(self, first: Sequence[float], last: Sequence[float], first_sign: float, last_sign: float) -> None:
        """O(members log members)."""
        order = sorted(range(len(first)), key=last.__getitem__)
        least, steps = math.inf, list[float]()
        for member in order:
            least = min(least, first[member])
            steps.append(least)
        self._limits: Floats = floats_of([last[member] for member in order])
        self._steps: Floats = floats_of(steps)
        self._first_sign = first_sign
        self._last_sign = last_sign
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
