"""Automata that consist of contiguous sequences, one after the other, which a common trie can recognise.

Here: finding the sequences. Not here: the trie (engine).
"""

from __future__ import annotations

from ...algebra.normal_form import ALWAYS
from ..automaton import Automaton, Stay


def sequences_of(automaton: Automaton) -> list[list[int]] | None:
    """The operands as sequences of adjacent events, with any events between two sequences.

    None if the automaton has conditions other than guards on single events. Also None if redundant conditions were
    written.
    """
    found: list[list[int]] = []
    if any(source.key for source in automaton.sources) or len(automaton.arcs) != len(automaton.states):
        return None
    tree = automaton.machines
    if automaton.within is not None or (tree is not None and tree.conditions):
        return None
    for number, (state, arc) in enumerate(zip(automaton.states, automaton.arcs)):
        if arc.source != number or arc.target != number + 1 or arc.update or arc.output or arc.elapsed:
            return None
        if arc.rest != ALWAYS:
            return None
        if state.stay is Stay.ALL:
            found.append([])
        found[-1].append(arc.operand)
    return found
