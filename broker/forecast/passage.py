"""The probability that a chain reaches a final state within n steps, for all states and n at once.

Definition (semantics 3.8, forecasting 2.2): with final states absorbing,

    h_q(0) = 1 if q is final else 0        h_q(n) = sum_j p_qj * h_j(n - 1)

P-ToPSS 5.2.2 sums powers of the matrix instead, which counts one success at several steps and can exceed 1. h is the
distribution of the first passage: in [0, 1], not decreasing in n, and 0 below the shortest distance to a final state.
After a match the question is the next one: `following` starts from the continuation of the final state.

Here: h for all states and horizons. Not here: where rows come from (chain), several machines (combining).
"""

from __future__ import annotations

from typing import Final, final

from .chain import MarkovChain

HORIZON_MAX: Final = 100_000  # steps; tables hold states x horizon numbers


@final
class Passage:
    """h for all states and 0 .. horizon steps. Never changes."""

    def __init__(self, horizon: int, values: list[float], following: dict[int, list[float]]) -> None:
        self.horizon = horizon
        self._values = values  # state by state, horizon + 1 numbers each
        self._following = following

    def within(self, state: int, steps: int) -> float:
        """h_state(steps): a final state is reached within so many steps. O(1)."""
        return self._values[state * (self.horizon + 1) + steps]

    def next(self, state: int, steps: int) -> float:
        """The next match comes within so many steps: as `within`, but a final state has just had its match. O(1)."""
        after = self._following.get(state)
        return self.within(state, steps) if after is None else after[steps]

    def curve(self, state: int) -> list[float]:
        """`next` for 0 .. horizon steps."""
        after = self._following.get(state)
        if after is not None:
            return list(after)
        begin = state * (self.horizon + 1)
        return self._values[begin : begin + self.horizon + 1]


def first_passage(chain: MarkovChain, horizon: int) -> Passage:
    """h for all states by backward recursion. O(horizon x edges) time, O(horizon x states) memory.

    Raises ValueError for a horizon that is not from 0 to HORIZON_MAX.
    """
    if not 0 <= horizon <= HORIZON_MAX:
        raise ValueError(f"expected a horizon from 0 to {HORIZON_MAX} steps, found {horizon}")
    states = len(chain.rows)
    moving: list[int] = []  # the states that are not final, and their rows end to end
    begins: list[int] = [0]
    targets: list[int] = []
    chances: list[float] = []
    for state, row in enumerate(chain.rows):
        if state in chain.finals:
            continue
        moving.append(state)
        targets.extend(row.targets)
        chances.extend(row.chances)
        begins.append(len(targets))
    width = horizon + 1
    values = [0.0] * (states * width)
    now = [1.0 if state in chain.finals else 0.0 for state in range(states)]
    for state in sorted(chain.finals):
        values[state * width : (state + 1) * width] = [1.0] * width
    for step in range(1, width):
        later = now[:]
        for place, state in enumerate(moving):
            total = 0.0
            for edge in range(begins[place], begins[place + 1]):
                total += chances[edge] * now[targets[edge]]
            # What is true of the numbers is kept true of their roundings.
            total = min(max(total, now[state]), 1.0)
            later[state] = total
            values[state * width + step] = total
        now = later
    following = {final_state: _after(chain, final_state, values, width) for final_state in chain.continuations}
    return Passage(horizon, values, following)


def _after(chain: MarkovChain, state: int, values: list[float], width: int) -> list[float]:
    row = chain.continuations[state]
    found = [0.0]
    for step in range(1, width):
        total = sum(chance * values[target * width + step - 1] for target, chance in zip(row.targets, row.chances))
        found.append(min(max(total, found[-1]), 1.0))
    return found
