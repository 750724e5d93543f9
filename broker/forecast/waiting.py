"""The mean number of steps of a chain to a final state.

The mean number of steps t solves t_q = 1 + sum_j p_qj t_j over the states that are not final. The states are eliminated
one by one, after Grassmann, Taksar and Heyman (Operations Research 33, 1985): all operations are sums, products and
quotients of positive numbers, so nothing cancels even where a match is very rare. Rows stay sparse: a pattern's chain,
eliminated from its most advanced state, costs a few operations an edge.
"""

from __future__ import annotations

from math import inf

from .chain import MarkovChain
from .passage import distances


def expected_waiting(chain: MarkovChain) -> list[float]:
    """The mean number of steps from each state to the first final one: 0 for final states, inf where it may never come.

    O(states + edges) for a chain of a pattern, O(states**3) at worst.
    """
    certain = _certain(chain)
    order = [state for state in range(len(chain.rows)) if certain[state] and state not in chain.finals]
    place = {state: number for number, state in enumerate(order)}
    times = [1.0] * len(order)
    ends = [0.0] * len(order)  # the probability of a final state next
    rows: list[dict[int, float]] = []
    for number, state in enumerate(order):
        row = chain.rows[state]
        rows.append({place[t]: p for t, p in zip(row.targets, row.chances) if t not in chain.finals and p > 0.0})
        ends[number] = sum(p for t, p in zip(row.targets, row.chances) if t in chain.finals)
    sources: list[set[int]] = [set() for _ in order]
    for number, outgoing in enumerate(rows):
        for target in outgoing:
            sources[target].add(number)
    for last in range(len(order) - 1, -1, -1):
        outgoing = rows[last]
        leaving = ends[last] + sum(p for target, p in sorted(outgoing.items()) if target < last)
        outgoing.pop(last, None)
        times[last] /= leaving
        ends[last] /= leaving
        for target in outgoing:
            outgoing[target] /= leaving
        for source in sorted(source for source in sources[last] if source < last):
            share = rows[source].pop(last)
            times[source] += share * times[last]
            ends[source] += share * ends[last]
            for target, chance in outgoing.items():
                rows[source][target] = rows[source].get(target, 0.0) + share * chance
                sources[target].add(source)
    found = [0.0 if state in chain.finals else inf for state in range(len(chain.rows))]
    for number, state in enumerate(order):  # a row now names states before its own only
        times[number] += sum(chance * times[target] for target, chance in sorted(rows[number].items()))
        found[state] = times[number]
    return found


def _certain(chain: MarkovChain) -> list[bool]:
    """Whether a final state is reached with probability one: nothing on the way leads where there is no way back."""
    doubtful = [steps is None for steps in distances(chain)]
    before: list[list[int]] = [[] for _ in chain.rows]
    for state, row in enumerate(chain.rows):
        for target, chance in zip(row.targets, row.chances):
            if chance > 0.0 and state not in chain.finals:
                before[target].append(state)
    pending = [state for state, doubt in enumerate(doubtful) if doubt]
    while pending:
        for source in before[pending.pop()]:
            if not doubtful[source]:
                doubtful[source] = True
                pending.append(source)
    return [not doubt for doubt in doubtful]
