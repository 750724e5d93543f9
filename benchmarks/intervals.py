"""A median and how sure it is: the interval of the bootstrap, which asks nothing of how the values are spread.

Not here: repeated measurements of one thing, told as least, median and most (measuring).
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from .measuring import DIGITS

RESAMPLES: Final = 2_000
SURE: Final = 0.95


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """A median, within `low` and `high` in SURE of all repetitions of the whole."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Interval:
        """By resampling the values, the same for the same ones. O(RESAMPLES x values)."""
        chance = random.Random(len(values))
        drawn = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
        beyond = int(RESAMPLES * (1 - SURE) / 2)
        found = drawn[beyond], statistics.median(values), drawn[-1 - beyond]
        return cls(*(float(f"{each:.{DIGITS}g}") for each in found))
