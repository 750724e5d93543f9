"""Which events a run may skip, in any state.

Here: facts about how states stay. Not here: how an executor finds the events that it can skip.
"""

from __future__ import annotations

from ..automaton import Automaton, Stay


def asks_for_adjacent_events(automaton: Automaton) -> bool:
    """Whether some state requires the next event of the whole stream, whatever its partition."""
    return any(state.stay == Stay.NONE for state in automaton.states)


def asks_for_adjacent_events_of_a_partition(automaton: Automaton) -> bool:
    """Whether some state requires the next event of the partition."""
    return any(state.stay == Stay.FOREIGN for state in automaton.states)


def may_skip_any_event(automaton: Automaton) -> bool:
    """Whether runs stay in every state, even when they take an event."""
    return all(state.stay == Stay.ALL for state in automaton.states)
