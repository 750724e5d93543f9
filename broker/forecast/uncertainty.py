"""How far a probability may be off because its rows were estimated from finitely many transitions.

A row estimated from an effective count of w has, as a Dirichlet posterior, the covariance (diag(p) - p p') / (w + 1).
To first order the variance of h_q(N) is the sum over rows of that of sum_j g_ij p_ij (delta method, forecasting 3),
with the derivative g_ij = sum_t m_t(i) h_j(N - t - 1), where m_t(i) is the probability of being in i after t steps
without a match. One forward sweep gives them all. A row that was never seen has one successor and no spread: whether a
state has been seen at all is the effective count's to say. A product chain has two kinds of rows, those of states and
those of marks; each errs by itself, and what several pairs share errs once.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

from .chain import MarkovChain
from .counts import Context
from .passage import Passage
from .product import Product

NINETY_PERCENT: Final = 1.6448536269514722
"""Standard deviations on either side that hold nine tenths of a normal distribution."""


def standard_error(chain: MarkovChain, passage: Passage, state: int, steps: int) -> float:
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


def product_error(product: Product, passage: Passage, pair: int, steps: int) -> float:
    """As `standard_error`, from a pair of a product whose `passage` reaches so far. O(steps x edges x marks)."""
    begins, places, marks = product.begins, product.slots, product.marks
    edges = [0.0] * len(places)  # by edge, by end and by move, how much h depends on its chance
    ends = [0.0] * len(product.pairs)
    moves = [0.0] * len(product.onward)
    here = {pair: 1.0}
    for step in range(steps):
        left = steps - step - 1
        onward: dict[int, float] = {}
        for place, mass in sorted(here.items()):
            ends[place] += mass
            for edge in range(begins[place], begins[place + 1]):
                slot, going, ahead = places[edge], mass * product.chances[edge], 0.0
                for move in range(marks[slot], marks[slot + 1]):
                    target, share = product.onward[move], product.shares[move]
                    found = passage.within(target, left)
                    ahead += share * found
                    moves[move] += going * found
                    onward[target] = onward.get(target, 0.0) + going * share
                edges[edge] += mass * ahead
        here = onward
    variance = 0.0
    for place, (state, context) in enumerate(product.pairs):
        if ends[place] > 0.0:
            slopes = [*edges[begins[place] : begins[place + 1]], ends[place]]
            chances = [*product.chances[begins[place] : begins[place + 1]], product.ends[place]]
            variance += _spread(chances, slopes) / (product.pool.row(context, state).weight + 1.0)
    return sqrt(variance + _moves_variance(product, moves))


def _moves_variance(product: Product, moves: list[float]) -> float:
    """That of the rows of marks; slots that differ in the last states alone have one row."""
    shared: dict[tuple[int, Context], list[float]] = {}
    weights: dict[tuple[int, Context], tuple[float, list[float]]] = {}
    for (following, context), slot in product.places.items():
        row = product.rows[slot]
        if row is not None:
            at = following, product.pool.varying.binned(context)
            own = moves[product.marks[slot] : product.marks[slot + 1]]
            shared[at] = [a + b for a, b in zip(shared[at], own)] if at in shared else own
            weights[at] = row.weight, list(row.chances)
    variance = 0.0
    for at, slopes in shared.items():
        weight, chances = weights[at]
        variance += _spread(chances, slopes) / (weight + 1.0)
    return variance


def _spread(chances: list[float], slopes: list[float]) -> float:
    mean = sum(p * g for p, g in zip(chances, slopes))
    return sum(p * (g - mean) ** 2 for p, g in zip(chances, slopes))


def interval(probability: float, error: float, deviations: float = NINETY_PERCENT) -> tuple[float, float]:
    """The probabilities between which the true one is thought to lie, within [0, 1]."""
    return max(0.0, probability - deviations * error), min(1.0, probability + deviations * error)


def around(chance: float, middle: float, low: float, high: float) -> tuple[float, float]:
    """An interval as far around a probability as this one is around its middle."""
    return max(0.0, chance - (middle - low)), min(1.0, chance + (high - middle))
