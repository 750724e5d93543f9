"""Topological order of states: every arc leads forward."""

from __future__ import annotations

from collections.abc import Sequence


def topological_order(targets: Sequence[Sequence[int]]) -> list[int]:
    """The states reachable from 0, each before its targets. `targets`: by state; there must be no cycle. O(arcs)."""
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
