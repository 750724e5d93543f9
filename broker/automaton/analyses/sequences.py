"""Automata that are contiguous sequences one after the other, which a trie of all of them can recognise.

Here: finding the sequences. Not here: the trie (engine).
"""

from __future__ import annotations

from ...algebra.normal_form import ALWAYS
from ..automaton import Automaton, Stay


def sequences_of(automaton: Automaton) -> list[list[int]] | None:
    """The operands as sequences of adjacent events, anything between two sequences; None where more is asked than
    guards that read one event alone, and where that was written, or groups, though they say nothing more: snapshots
    have these elsewhere."""
    found: list[list[int]] = []
    if any(source.key for source in automaton.sources) or len(automaton.arcs) != len(automaton.states):
        return None
    tree = automaton.machines
    if automaton.within is not None or (tree is not None and (tree.conditions or tree.grouped)):
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
