"""The probability that a chain reaches a final state within n steps, for all states and n at once.

Definition (semantics 3.8, forecasting 2.2): with final states absorbing,

    h_q(0) = 1 if q is final else 0        h_q(n) = sum_j p_qj * h_j(n - 1)

P-ToPSS 5.2.2 sums powers of the matrix instead, which counts one success at several steps and can exceed 1. h is the
distribution of the first passage: in [0, 1], not decreasing in n, and 0 below the shortest distance to a final state.
After a match the question is the next one: `following` starts from the continuation of the final state.

Most forecasts ask for one horizon alone, with rows that are used once: `reached` gives its numbers without those before
them. With Q, what leads from states that are not final to such states, h(m + n) = h(m) + Q^m h(n): a far horizon is a
sum of powers of two. Nothing is subtracted, so that what is 0 stays 0, and the relative error is that of a few sums.

Here: h for all states and horizons. Not here: where rows come from (chain), several machines (combining).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ..events.batch import Floats, Integers, packed_floats, packed_integers
from .chain import MarkovChain, TransitionRow

HORIZON_MAX: Final = 100_000  # steps; tables hold states x horizon numbers
FEW: Final = 3  # states that are not final, whose numbers are variables of one function
NEAR: Final = 12  # steps that cost less one by one


@final
class Passage:
    """h for all states and 0 .. horizon steps. Never changes. `values`: state by state, horizon + 1 numbers each."""

    def __init__(self, horizon: int, values: Floats, following: dict[int, Floats]) -> None:
        self.horizon = horizon
        self.values = values
        self._following = following

    def within(self, state: int, steps: int) -> float:
        """h_state(steps): a final state is reached within so many steps. O(1)."""
        at: i64 = state * (self.horizon + 1) + steps
        return self.values[at]

    def next(self, state: int, steps: int) -> float:
        """The next match comes within so many steps: as `within`, but a final state has just had its match. O(1)."""
        after = self._following.get(state)
        if after is None:
            return self.within(state, steps)
        at: i64 = steps
        return after[at]

    def curve(self, state: int) -> list[float]:
        """`next` for 0 .. horizon steps."""
        after = self._following.get(state)
        if after is not None:
            return list(after)
        begin: i64 = state * (self.horizon + 1)
        return list(self.values[begin : begin + self.horizon + 1])


def first_passage(chain: MarkovChain, horizon: int) -> Passage:
    """h for all states by backward recursion. O(horizon x edges) time, O(horizon x states) memory.

    Raises ValueError for a horizon that is not from 0 to HORIZON_MAX.
    """
    if not 0 <= horizon <= HORIZON_MAX:
        raise ValueError(f"expected a horizon from 0 to {HORIZON_MAX} steps, found {horizon}")
    width: i64 = horizon + 1
    moving: list[int] = []  # the states that are not final, and their rows end to end
    begins: list[int] = [0]
    leading: list[int] = []
    likely: list[float] = []
    for state, row in enumerate(chain.rows):
        if state not in chain.finals:
            moving.append(state)
            leading.extend(row.targets)
            likely.extend(row.chances)
            begins.append(len(leading))
    values = packed_floats([0.0] * (len(chain.rows) * (horizon + 1)))
    at: i64
    for final_state in chain.finals:
        begin: i64 = final_state * width
        for at in range(begin, begin + width):
            values[at] = 1.0
    targets, chances = packed_integers(leading), packed_floats(likely)
    states, edges = packed_integers(moving), packed_integers(begins)
    step: i64
    for step in range(1, width):
        place: i64
        for place in range(len(states)):
            at = states[place] * width + step
            values[at] = _stepped(values[at - 1], values, width, step, targets, chances, edges[place], edges[place + 1])
    following = {state: _after(row, values, width) for state, row in chain.continuations.items()}
    return Passage(horizon, values, following)


def _stepped(
    before: float, values: Floats, width: i64, step: i64, targets: Integers, chances: Floats, first: i64, upto: i64
) -> float:
    """h after a step by the edges from `first` to `upto`. `before`: h with a step less. O(edges)."""
    total = 0.0
    edge: i64
    for edge in range(first, upto):
        total += chances[edge] * values[targets[edge] * width + step - 1]
    # What is true of the numbers is kept true of their roundings.
    if total < before:
        return before
    return min(total, 1.0)


def _after(row: TransitionRow, values: Floats, width: i64) -> Floats:
    """h of the next match, behind a final state whose continuation is that row."""
    targets, chances = packed_integers(list(row.targets)), packed_floats(list(row.chances))
    found = packed_floats([0.0] * int(width))
    step: i64
    for step in range(1, width):
        found[step] = _stepped(found[step - 1], values, width, step, targets, chances, 0, len(targets))
    return found


def reached(rows: list[TransitionRow], horizon: int) -> list[float]:
    """h(horizon) of all states but the last, which is the final one, as `first_passage` has them: to the last digit up
    to NEAR steps or beyond FEW states, otherwise but for rounding.

    O(horizon x edges), or of few states O(log horizon)."""
    moving = len(rows) - 1
    if moving <= FEW:
        found = packed_floats([0.0] * FEW)
        reached_of_few(packed_floats(_matrix(rows)), 0, horizon, found, 0)
        return list(found)[:moving]
    begins: list[int] = [0]
    leading: list[int] = []
    likely: list[float] = []
    for state in range(moving):
        row = rows[state]
        leading.extend(row.targets)
        likely.extend(row.chances)
        begins.append(len(leading))
    targets, chances, edges = packed_integers(leading), packed_floats(likely), packed_integers(begins)
    values = packed_floats([0.0] * moving + [1.0])
    fresh = packed_floats([0.0] * moving + [1.0])
    place: i64
    for _ in range(horizon):
        for place in range(moving):
            fresh[place] = _stepped(values[place], values, 1, 1, targets, chances, edges[place], edges[place + 1])
        values, fresh = fresh, values
    return list(values)[:moving]


def _matrix(rows: list[TransitionRow]) -> list[float]:
    """The chances of few states, of each to the states that are not final, and then to the final one. An edge that is
    not there has the chance 0, which adds nothing to a sum."""
    final_state = len(rows) - 1
    matrix = [0.0] * (FEW * (FEW + 1))
    for state in range(final_state):
        row = rows[state]
        for target, chance in zip(row.targets, row.chances):
            matrix[state * (FEW + 1) + (FEW if target == final_state else target)] = chance
    return matrix


def reached_of_few(matrix: Floats, at: i64, horizon: i64, found: Floats, to: i64) -> None:
    """Write h(horizon) of FEW states from `to` on. Their rows stand from `at` on, FEW + 1 numbers each."""
    if horizon <= NEAR:
        _reached_in_steps(matrix, at, horizon, found, to)
    else:
        _reached_by_powers(matrix, at, horizon, found, to)


def _reached_in_steps(matrix: Floats, at: i64, horizon: i64, found: Floats, to: i64) -> None:
    a, b, c, into_a = matrix[at], matrix[at + 1], matrix[at + 2], matrix[at + 3]
    d, e, f, into_b = matrix[at + 4], matrix[at + 5], matrix[at + 6], matrix[at + 7]
    g, h, i, into_c = matrix[at + 8], matrix[at + 9], matrix[at + 10], matrix[at + 11]
    x = y = z = 0.0
    for _ in range(horizon):
        one = a * x + b * y + c * z + into_a
        two = d * x + e * y + f * z + into_b
        three = g * x + h * y + i * z + into_c
        # What is true of the numbers is kept true of their roundings.
        if one > x:
            x = min(one, 1.0)
        if two > y:
            y = min(two, 1.0)
        if three > z:
            z = min(three, 1.0)
    found[to], found[to + 1], found[to + 2] = x, y, z


def _reached_by_powers(matrix: Floats, at: i64, horizon: i64, found: Floats, to: i64) -> None:
    # Q^m, and u, v, w = h(m); x, y, z = h of the sum of those m that are in the horizon and were passed.
    a, b, c, u = matrix[at], matrix[at + 1], matrix[at + 2], matrix[at + 3]
    d, e, f, v = matrix[at + 4], matrix[at + 5], matrix[at + 6], matrix[at + 7]
    g, h, i, w = matrix[at + 8], matrix[at + 9], matrix[at + 10], matrix[at + 11]
    x = y = z = 0.0
    left = horizon
    while True:
        if left & 1 == 1:
            one, two, three = u + a * x + b * y + c * z, v + d * x + e * y + f * z, w + g * x + h * y + i * z
            x, y, z = one, two, three
        left >>= 1
        if left == 0:
            found[to], found[to + 1], found[to + 2] = min(x, 1.0), min(y, 1.0), min(z, 1.0)
            return
        one, two, three = u + a * u + b * v + c * w, v + d * u + e * v + f * w, w + g * u + h * v + i * w
        u, v, w = one, two, three
        aa, ab, ac = a * a + b * d + c * g, a * b + b * e + c * h, a * c + b * f + c * i
        da, db, dc = d * a + e * d + f * g, d * b + e * e + f * h, d * c + e * f + f * i
        ga, gb, gc = g * a + h * d + i * g, g * b + h * e + i * h, g * c + h * f + i * i
        a, b, c, d, e, f, g, h, i = aa, ab, ac, da, db, dc, ga, gb, gc
