"""Random counts, shapes and chains, and slow ways to the truth about them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

from hypothesis import strategies as st

from broker.forecast.chain import MarkovChain, Shape, TransitionRow, chain_of, normalised

Matrix: TypeAlias = list[list[float]]
Numbers: TypeAlias = list[list[int]]

VERSIONS = ("v1", "v2")
contexts = st.sampled_from([(), ("PHX",), ("PHX", 7), ("OSL", 7), (7, -1)])
transitions = st.tuples(
    st.sampled_from(VERSIONS), contexts, st.integers(0, 4), st.integers(0, 3), st.integers(0, 3), st.integers(1, 9)
)
"""version, context, generation, state, next state, count"""


@st.composite
def count_tables(draw: st.DrawFn, states_max: int = 6) -> tuple[int, Numbers]:
    """A number of states, and counts from each state to each."""
    states = draw(st.integers(2, states_max))
    row = st.lists(st.sampled_from([0, 0, 0, 1, 2, 5, 40]), min_size=states, max_size=states)
    return states, draw(st.lists(row, min_size=states, max_size=states))


@st.composite
def chains(draw: st.DrawFn, states_max: int = 6) -> MarkovChain:
    """A chain whose last state is final, and sometimes another one too; some rows are unseen."""
    states, counts = draw(count_tables(states_max))
    finals = {states - 1} | draw(st.sets(st.integers(1, states - 1), max_size=1))
    rows = []
    for state, row in enumerate(counts):
        masses = {target: float(count) for target, count in enumerate(row) if count}
        rows.append(normalised(masses, float(sum(row))) if masses else TransitionRow((state,), (1.0,)))
    return chain_of(Shape(states, frozenset(finals), tuple(range(states))), rows)


def matrix_of(chain: MarkovChain) -> Matrix:
    """The chain's matrix, final states absorbing."""
    return [[row.chance(target) for target in range(len(chain.rows))] for row in chain.rows]


def product(left: Matrix, right: Matrix) -> Matrix:
    """The product of two square matrices."""
    columns = list(zip(*right))
    return [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in left]


def density(curve: Sequence[float]) -> list[float]:
    """The probability of a match at exactly n steps, from those of within n."""
    return [later - earlier for earlier, later in zip([0.0, *curve[:-1]], curve)]


def in_sequence(curves: Sequence[Sequence[float]]) -> list[float]:
    """One independent machine after the other has matched within n steps; each begins when the one before has ended."""
    found = density(curves[0])
    for curve in curves[1:]:
        step = density(curve)
        found = [sum(found[m] * step[n - m] for m in range(n + 1)) for n in range(len(found))]
    return [min(total, 1.0) for total in accumulate(found)]


def power(matrix: Matrix, exponent: int) -> Matrix:
    """A power of a square matrix, by multiplication."""
    found = [[float(i == j) for j in range(len(matrix))] for i in range(len(matrix))]
    for _ in range(exponent):
        found = product(found, matrix)
    return found
