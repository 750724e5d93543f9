"""How far a probability may be off because its rows were estimated from finitely many transitions.

A row estimated from an effective count of w has, as a Dirichlet posterior, the covariance (diag(p) - p p') / (w + 1).
To first order the variance of h_q(N) is the sum over rows of that of sum_j g_ij p_ij (delta method, forecasting 3),
with the derivative g_ij = sum_t m_t(i) h_j(N - t - 1), where m_t(i) is the probability of being in i after t steps
without a match. One forward sweep gives them all. A row that was never seen has one successor and no spread: whether a
state has been seen at all is the effective count's to say.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

from mypy_extensions import i64

from ..events.batch import packed_floats, packed_integers
from .chain import MarkovChain
from .passage import Passage

NINETY_PERCENT: Final = 1.6448536269514722
"""Standard deviations on either side that hold nine tenths of a normal distribution."""


def standard_error(chain: MarkovChain, passage: Passage, state: int, steps: int) -> float:
    """The standard deviation of `passage.next(state, steps)` by the finite counts behind the chain's rows.

    O(states + edges + steps x (states + edges that are reached)): for notices and displays, not for every event.
    """
    states: i64 = len(chain.rows)
    rows = [chain.continuations.get(place, row) for place, row in enumerate(chain.rows)]
    begins: list[int] = [0]
    leading: list[int] = []
    likely: list[float] = []
    for row in rows:
        leading.extend(row.targets)
        likely.extend(row.chances)
        begins.append(len(leading))
    edges, targets, chances = packed_integers(begins), packed_integers(leading), packed_floats(likely)
    ends = packed_integers([int(place in chain.finals) for place in range(int(states))])
    values, width = passage.values, i64(passage.horizon + 1)
    slopes = packed_floats([0.0] * len(leading))
    here, onward = packed_floats([0.0] * int(states)), packed_floats([0.0] * int(states))
    here[state] = 1.0
    left: i64
    place: i64
    edge: i64
    for left in range(steps - 1, -1, -1):
        for place in range(states):
            mass = here[place]
            if mass == 0.0:
                continue
            here[place] = 0.0
            for edge in range(edges[place], edges[place + 1]):
                target = targets[edge]
                slopes[edge] += mass * values[target * width + left]
                if ends[target] == 0:
                    onward[target] += mass * chances[edge]
        here, onward = onward, here
    variance = 0.0
    for place in range(states):
        first, upto = int(edges[place]), int(edges[place + 1])
        variance += _spread(likely[first:upto], list(slopes[first:upto])) / (rows[place].weight + 1.0)
    return sqrt(variance)


def _spread(chances: list[float], slopes: list[float]) -> float:
    mean = sum(p * g for p, g in zip(chances, slopes))
    return sum(p * (g - mean) ** 2 for p, g in zip(chances, slopes))


def interval(probability: float, error: float, deviations: float = NINETY_PERCENT) -> tuple[float, float]:
    """The probabilities between which the true one is thought to lie, within [0, 1]."""
    return max(0.0, probability - deviations * error), min(1.0, probability + deviations * error)


def around(chance: float, middle: float, low: float, high: float) -> tuple[float, float]:
    """An interval as far around a probability as this one is around its middle."""
    return max(0.0, chance - (middle - low)), min(1.0, chance + (high - middle))
