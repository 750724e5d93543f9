"""The template of any automaton and its constants, or why it has none. Not here: what a template is (template)."""

from __future__ import annotations

from ...algebra.normal_form import Form, alternatives_in
from ...algebra.terms import FALSE, TRUE, Function
from ..automaton import Automaton, TimeModel
from .arrival_template import arrival_grouping
from .epoch_template import epoch_grouping
from .template import NO_CONSTANTS, Grouping, NoTemplate


def grouping_of(automaton: Automaton) -> Grouping | str:
    """O(size of the automaton squared), and O(size of the automaton) for one that only searches texts."""
    if len(automaton.arcs) == 1 and _searches_only(automaton.arcs[0].guard):
        return NO_CONSTANTS
    try:
        if automaton.time is TimeModel.EPOCHS:
            return epoch_grouping(automaton)
        return arrival_grouping(automaton)
    except NoTemplate as reason:
        return str(reason)


def _searches_only(form: Form) -> bool:
    """Whether a condition only asks what functions say, as of texts: detection rules, thousands of them, are such."""
    for atom in [atom for clause in form for atom in clause]:
        alternatives = alternatives_in(atom)
        if alternatives and not _searches_only(alternatives):
            return False
        if not isinstance(atom.left, Function) or atom.right not in (TRUE, FALSE):
            return False
    return True
