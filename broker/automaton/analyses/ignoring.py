"""What events a run may pass by, wherever it is.

Here: facts about how states stay. Not here: how an executor finds the events that it need not look at.
"""

from __future__ import annotations

from ..automaton import Automaton, Stay


def asks_for_adjacent_events(automaton: Automaton) -> bool:
    """Whether somewhere the next event of the whole stream decides, whatever its partition."""
    return any(state.stay == Stay.NONE for state in automaton.states)


def asks_for_adjacent_events_of_a_partition(automaton: Automaton) -> bool:
    """Whether somewhere the next event of the partition decides."""
    return any(state.stay == Stay.FOREIGN for state in automaton.states)


def may_skip_any_event(automaton: Automaton) -> bool:
    """Whether runs stay everywhere, also where an event is taken."""
    return all(state.stay == Stay.ALL for state in automaton.states)
