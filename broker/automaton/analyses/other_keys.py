"""Texts that differ by step: two events, of which each equals a text of its own, and is compared with numbers alone.

Here: whether an automaton over arrival is that, and these texts. Not here: its template (arrival_template).
"""

from __future__ import annotations

from typing import Final, TypeAlias

from ...algebra.normal_form import Clause
from ...algebra.terms import Attribute, Constant, Duration, Register, walk
from ..automaton import Arc, Automaton, Stay
from .event_constants import beginning, equality
from .template import Alternative

OwnText: TypeAlias = tuple[Attribute, Constant]
STEPS: Final = 2


def own_texts(automaton: Automaton, begins: list[Arc], asked: list[list[Alternative]]) -> tuple[OwnText, ...]:
    """The attribute and the text of each event; () if it is something else. `asked`: what each is asked."""
    if len(begins) != STEPS or automaton.states[begins[1].source].stay is not Stay.UNTAKEN or automaton.within is None:
        return ()
    if any(len(each) != 1 or each[0].among for each in asked):
        return ()
    found = [_own_text(each[0].clause) for each in asked]
    return tuple(own for own in found if own is not None) if None not in found else ()


def _own_text(clause: Clause) -> OwnText | None:
    """The only text that an event must equal, if nothing else is asked of texts or of earlier events."""
    if any(isinstance(part, Register | Duration) for atom in clause for part in walk(atom)):
        return None
    if any(beginning(atom) is not None for atom in clause):
        return None
    found = [own for atom in clause if (own := equality(atom)) is not None and own[1].type == "string"]
    return found[0] if len(found) == 1 else None
