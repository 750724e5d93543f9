"""Texts by which the steps of a chain over epochs differ: what waits for an event wants it to equal a text of its own.

Here: whether an automaton is that, and these texts. Not here: its template (epoch_template), texts of events in order
of arrival (other_keys).
"""

from __future__ import annotations

from ..automaton import Automaton, Kind
from .event_constants import OwnText, own_text_of_each


def texts_of_steps(automaton: Automaton) -> tuple[OwnText, ...]:
    """By step the attribute and the text of its event; () if the automaton is something else. O(atoms).

    The first event equals its text by what is asked of it, all others by what they are found by, which is nothing else.
    """
    states, arcs = automaton.states, automaton.arcs
    if len(states) < 2 or [(arc.source, arc.kind) for arc in arcs] != [(at, Kind.FORWARD) for at in range(len(states))]:
        return ()
    if len(arcs[0].guard) != 1 or any(len(state.theta) != 1 or len(state.theta[0]) != 1 for state in states[1:]):
        return ()
    return own_text_of_each([arcs[0].guard[0], *(state.theta[0] for state in states[1:])])
