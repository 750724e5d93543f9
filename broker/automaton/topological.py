"""The order of states in which every arc leads forward.

Here: that order. Not here: what states are.
"""

from __future__ import annotations

from collections.abc import Sequence


def topological_order(targets: Sequence[Sequence[int]]) -> list[int]:
    """The states that 0 leads to, each before its targets. `targets` by state; no state leads back to itself."""
    finished: list[int] = []
    seen = [False] * len(targets)
    stack = [(0, False)]
    while stack:
        state, returned = stack.pop()
        if returned:
            finished.append(state)
        elif not seen[state]:
            seen[state] = True
            stack.append((state, True))
            stack += [(target, False) for target in reversed(targets[state])]
    return finished[::-1]
