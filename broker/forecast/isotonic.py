"""Corrects probabilities by the outcomes of earlier ones, keeping their order (isotonic regression).

Isotonic regression by pooling adjacent violators (Ayer et al., Ann. Math. Stat. 26, 1955): of all functions that do
not decrease, the one with the least squared error on the outcomes. Within a pool it is the share of trues, so over the
outcomes to which it was fitted its mean is theirs. It is fitted to the bins of a calibration: nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from .calibration import BINS, Calibration, bin_of, load_calibration

OUTCOMES_MIN: Final = 200
"""With fewer resolved predictions a correction would be noise: `fitted` answers None."""
REFIT: Final = 1.1
"""A correction is fitted again when that many times the outcomes are known."""


@final
@dataclass(frozen=True, slots=True)
class Correction:
    """The corrected probability of each bin."""

    values: tuple[float, ...]

    def corrected(self, probability: float) -> float:
        """Does not decrease with the probability; 0 and 1 stay what they are: they were never estimates. O(1)."""
        if probability <= 0.0 or probability >= 1.0:
            return min(max(probability, 0.0), 1.0)
        return self.values[bin_of(probability)]

    def dump(self) -> dict[str, Any]:
        """As plain data."""
        return {"values": list(self.values)}


def load_correction(data: Mapping[str, Any]) -> Correction:
    """What was dumped."""
    return Correction(tuple(data["values"]))


def fitted(counts: Sequence[int], hits: Sequence[int], outcomes_min: int = OUTCOMES_MIN) -> Correction | None:
    """The correction for bins with so many predictions and trues; None if they are too few. O(bins)."""
    if sum(counts) < max(outcomes_min, 1):
        return None
    filled = [place for place in range(BINS) if counts[place]]
    pools = pooled([(counts[place], hits[place]) for place in filled])
    values: list[float] = []
    for place, value in zip(filled, pools):
        # Bins that nothing fell into belong to the filled one below them, the first ones to that above.
        while len(values) < place:
            values.append(values[-1] if values else value)
        values.append(value)
    values.extend([values[-1]] * (BINS - len(values)))
    return Correction(tuple(values))


def pooled(points: Sequence[tuple[int, int]]) -> list[float]:
    """For (number, trues) in ascending order of prediction: the share of trues, pooled until none falls. O(n)."""
    pools: list[tuple[int, int, int]] = []  # number, trues, points
    for number, trues in points:
        size = 1
        # Shares are compared by cross products, which are exact.
        while pools and pools[-1][1] * number >= trues * pools[-1][0]:
            below_number, below_trues, below_size = pools.pop()
            number, trues, size = number + below_number, trues + below_trues, size + below_size
        pools.append((number, trues, size))
    return [trues / number for number, trues, size in pools for _ in range(size)]


@final
class Recalibration:
    """Learns a correction from the outcomes of predictions as they were before it. `fit_at`: how many outcomes must be
    known before it is fitted again."""

    def __init__(self) -> None:
        self.uncorrected = Calibration()
        self.correction: Correction | None = None
        self.outcomes = 0
        self.fit_at: int = OUTCOMES_MIN

    def corrected(self, probability: float) -> float:
        """The probability itself while too few outcomes are known. O(1)."""
        return probability if self.correction is None else self.correction.corrected(probability)

    def record(self, uncorrected: float, came: bool) -> None:
        """A prediction was resolved. O(1), and O(bins) now and then."""
        self.uncorrected.record(uncorrected, came)
        self.outcomes += 1
        if self.outcomes >= self.fit_at:
            self.fit_at = int(self.outcomes * REFIT) + 1
            self.correction = fitted(self.uncorrected.counts, self.uncorrected.hits)

    def dump(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "computed": self.uncorrected.dump(),
            "correction": None if self.correction is None else self.correction.dump(),
            "fit": [self.outcomes, self.fit_at],
        }


def load_recalibration(data: Mapping[str, Any]) -> Recalibration:
    """What was dumped."""
    found = Recalibration()
    found.uncorrected = load_calibration(data["computed"])
    found.correction = None if data["correction"] is None else load_correction(data["correction"])
    found.outcomes, found.fit_at = data["fit"]
    return found
