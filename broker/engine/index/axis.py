"""Axes: the numbers of an event that are compared with bounds.

Here: reading one from a row. Not here: bounds (intervals).
"""

from __future__ import annotations

from typing import Final, final

from ...events.schema import Row

NOTHING: Final = float("nan")  # no bounds contain it


@final
class Axis:
    """A number to compare with bounds: `sign` times the event's value at `position`; 0 if `position` is -1."""

    __slots__ = ("position", "sign")

    def __init__(self, position: int, sign: float) -> None:
        self.position = position
        self.sign = sign

    def of(self, row: Row) -> float:
        """The number; NaN, which no bounds contain, for a null."""
        if self.position < 0:
            return 0.0
        value = row[self.position]
        if isinstance(value, float):
            return value * self.sign
        # Bounds are less than 2**53, so rounding a larger integer does not move it past any of them.
        return float(value) * self.sign if isinstance(value, int) else NOTHING
