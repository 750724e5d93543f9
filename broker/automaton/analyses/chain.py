"""The distance of an automaton's states from a match: the states of a forecast's chain.

Here: numbers and labels. Not here: which states are live (engine), probabilities (forecast).
"""

from __future__ import annotations

from ..automaton import Automaton


def distances_of(automaton: Automaton) -> list[int]:
    """For each state, and the final one, the least number of events to a match. O(arcs).

    The arcs must be in the order of their sources, and these in topological order.
    """
    found = [len(automaton.arcs) + 1] * len(automaton.states) + [0]
    for arc in reversed(automaton.arcs):
        found[arc.source] = min(found[arc.source], 1 + found[arc.target])
    return found


def elementary_states(automata: tuple[Automaton, ...]) -> tuple[list[int], list[str], list[list[int]]]:
    """The waiting states of a union of automata: the least number of steps left from each, their labels, and for each
    automaton the numbers of its own states. 0 stands for the start of all."""
    far = [distances_of(automaton) for automaton in automata]
    left, labels = [min(own[0] for own in far)], ["nothing begun"]
    numbers: list[list[int]] = []
    for branch, own in enumerate(far):
        waiting = own[1:-1]
        where = f" of branch {branch + 1}" if len(automata) > 1 else ""
        numbers.append([0, *range(len(left), len(left) + len(waiting))])
        for state, distance in enumerate(waiting, 1):
            another = f" (state {state})" if distance in waiting[state:] else ""  # several states have this distance
            labels.append(f"{own[0] - distance} of {own[0]}{where}{another}")
        left += waiting
    return left, labels, numbers
