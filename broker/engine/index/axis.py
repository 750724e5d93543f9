"""The numbers of an event that bounds are compared with.

Here: reading one from a row. Not here: bounds (intervals).
"""

from __future__ import annotations

from typing import Final, final

from ...events.schema import Row

NOTHING: Final = float("nan")  # which no bounds hold


@final
class Axis:
    """The number that bounds are compared with: `sign` times the event's value at `position`, 0 where that is -1."""

    __slots__ = ("position", "sign")

    def __init__(self, position: int, sign: float) -> None:
        self.position = position
        self.sign = sign

    def of(self, row: Row) -> float:
        """NaN, which no bounds hold, for a null."""
        if self.position < 0:
            return 0.0
        value = row[self.position]
        if isinstance(value, float):
            return value * self.sign
        # Bounds are less than 2**53, so that rounding a larger integer moves it past none of them.
        return float(value) * self.sign if isinstance(value, int) else NOTHING
