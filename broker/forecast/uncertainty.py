"""How far a probability may be off because rows were estimated from finitely many transitions.

A row estimated from an effective count of w has, as a Dirichlet posterior, the covariance (diag(p) - p p') / (w + 1).
To first order the variance of h_q(N) is the sum over rows of that of sum_j g_ij p_ij (delta method, forecasting 3),
with the derivative g_ij = sum_t m_t(i) h_j(N - t - 1), where m_t(i) is the probability of being in i after t steps
without a match. One forward sweep gives them all. A row that was never seen has one successor and no spread: whether a
state has been seen at all is the effective count's to say.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

from .chain import Chain
from .passage import Passage

NINETY_PERCENT: Final = 1.6448536269514722
"""Standard deviations on either side that hold nine tenths of a normal distribution."""


def standard_error(chain: Chain, passage: Passage, state: int, steps: int) -> float:
    """The standard deviation of `passage.next(state, steps)` by the finite counts behind the chain's rows.

    O(steps x edges that are reached): for notices and displays, not for every event.
    """
    slopes: dict[int, list[float]] = {}
    here = {state: 1.0}
    for step in range(steps):
        left = steps - step - 1
        onward: dict[int, float] = {}
        for place, mass in sorted(here.items()):
            row = chain.continuations[place] if place in chain.finals else chain.rows[place]
            slope = slopes.setdefault(place, [0.0] * len(row.targets))
            for edge, (target, chance) in enumerate(zip(row.targets, row.chances)):
                slope[edge] += mass * passage.within(target, left)
                if target not in chain.finals:
                    onward[target] = onward.get(target, 0.0) + mass * chance
        here = onward
    variance = 0.0
    for place, slope in sorted(slopes.items()):
        row = chain.continuations[place] if place in chain.finals else chain.rows[place]
        mean = sum(p * g for p, g in zip(row.chances, slope))
        spread = sum(p * (g - mean) ** 2 for p, g in zip(row.chances, slope))
        variance += spread / (row.weight + 1.0)
    return sqrt(variance)


def interval(probability: float, error: float, deviations: float = NINETY_PERCENT) -> tuple[float, float]:
    """The probabilities between which the true one is thought to lie, within [0, 1]."""
    return max(0.0, probability - deviations * error), min(1.0, probability + deviations * error)
