"""Logistic regression on named features, by Newton's method: a ceiling to measure forecasts against, no product.

Every feature is 0 or 1; a row is the numbers of those that are 1. The penalty on the weights, not on the intercept,
keeps features finite that only one outcome has had.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Final, TypeAlias, final

PENALTY: Final = 1.0
ROUNDS: Final = 25
ENOUGH: Final = 1e-6  # a change of no weight by more than that ends it

Features: TypeAlias = tuple[str, ...]


@final
class Logistic:
    """P(true | features) = 1 / (1 + exp(-sum of the weights of what holds))."""

    def __init__(self, rows: Sequence[Features], outcomes: Sequence[bool], penalty: float = PENALTY) -> None:
        """Fit. O(rounds x (rows x features a row ** 2 + features ** 3))."""
        self.numbers: dict[str, int] = {"": 0}  # the intercept
        for row in rows:
            for feature in row:
                self.numbers.setdefault(feature, len(self.numbers))
        grouped: dict[tuple[int, ...], list[int]] = {}
        for row, outcome in zip(rows, outcomes):
            held = grouped.setdefault((0, *sorted(self.numbers[feature] for feature in row)), [0, 0])
            held[0] += 1
            held[1] += outcome
        self.weights = [0.0] * len(self.numbers)
        for _ in range(ROUNDS):
            step = self._step(grouped, penalty)
            self.weights = [weight + change for weight, change in zip(self.weights, step)]
            if max(map(abs, step)) < ENOUGH:
                break

    def probability(self, row: Features) -> float:
        """Features that were never seen say nothing. O(features of the row)."""
        score = self.weights[0]
        for feature in row:
            number = self.numbers.get(feature)
            if number is not None:
                score += self.weights[number]
        return _inverse(score)

    def _step(self, grouped: dict[tuple[int, ...], list[int]], penalty: float) -> list[float]:
        size = len(self.weights)
        gradient = [0.0, *(-penalty * weight for weight in self.weights[1:])]
        curvature = [[0.0] * size for _ in range(size)]
        for row, (count, hits) in grouped.items():
            score = 0.0
            for number in row:
                score += self.weights[number]
            said = _inverse(score)
            missing = hits - count * said
            spread = count * said * (1.0 - said)
            for place, number in enumerate(row):
                gradient[number] += missing
                line = curvature[number]
                for other in row[place:]:
                    line[other] += spread
        for one in range(size):
            curvature[one][one] += penalty if one else ENOUGH
            for other in range(one):
                curvature[one][other] = curvature[other][one]
        return solved(curvature, gradient)


def _inverse(score: float) -> float:
    return 1.0 / (1.0 + exp(-score)) if score >= 0 else 1.0 - 1.0 / (1.0 + exp(score))


def solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """x with matrix x = right, for a symmetric positive definite matrix, by elimination. O(n**3)."""
    size = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right)]
    for pivot in range(size):
        head = rows[pivot]
        for line in rows[pivot + 1 :]:
            factor = line[pivot] / head[pivot]
            if factor:
                for place in range(pivot, size + 1):
                    line[place] -= factor * head[place]
    found = [0.0] * size
    for place in range(size - 1, -1, -1):
        line = rows[place]
        known = sum(line[other] * found[other] for other in range(place + 1, size))
        found[place] = (line[size] - known) / line[place]
    return found
