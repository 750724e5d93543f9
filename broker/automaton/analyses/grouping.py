"""The template of any automaton and its constants, or why it has none. Not here: what a template is (template)."""

from __future__ import annotations

from ..automaton import Automaton, TimeModel
from .arrival_template import arrival_grouping
from .epoch_template import epoch_grouping
from .template import Grouping, NoTemplate


def grouping_of(automaton: Automaton) -> Grouping | str:
    """O(size of the automaton squared)."""
    try:
        if automaton.time is TimeModel.EPOCHS:
            return epoch_grouping(automaton)
        return arrival_grouping(automaton)
    except NoTemplate as reason:
        return str(reason)
