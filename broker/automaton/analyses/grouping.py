"""The template of any automaton and its constants, or why it has none. Not here: what a template is (template)."""

from __future__ import annotations

from ..automaton import Automaton, TimeModel
from .arrival_template import arrival_grouping
from .epoch_template import epoch_grouping
from .mechanism import layout_of
from .template import Grouping, NoTemplate


def grouping_of(automaton: Automaton) -> Grouping | str:
    """O(size of the automaton squared)."""
    try:
        if automaton.time is TimeModel.EPOCHS:
            return epoch_grouping(automaton)
        found = arrival_grouping(automaton)
    except NoTemplate as reason:
        return str(reason)
    if found.template.kills and found.template.constants and isinstance(layout_of(found), str):
        try:  # more can be forbidden where each event has a text of its own, even if all have the same
            return arrival_grouping(automaton, apart=True)
        except NoTemplate:
            pass
    return found
