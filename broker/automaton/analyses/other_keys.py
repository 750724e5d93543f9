"""Texts that differ by step: events of which each equals a text of its own, and is compared with numbers alone; or one
event, and some of the steps that it may be equal such texts.

Here: whether an automaton over arrival is that, and these texts. Not here: its template (arrival_template).
"""

from __future__ import annotations

from ...algebra.normal_form import Clause
from ...algebra.terms import Duration, Register, walk
from ..automaton import Arc, Automaton, Stay
from .event_constants import OwnText, beginning, own_text
from .template import Alternative


def own_texts(
    automaton: Automaton, begins: list[Arc], kills: list[Arc], asked: list[list[Alternative]], late: bool
) -> tuple[OwnText | None, ...]:
    """The attribute and the text of each event that has one, and of each that is forbidden; () if it is something else.
    `asked`: what each is asked; `late`: time completes a match.

    Of adjacent events and next matches all have one if the first has. Between two next matches something may be
    forbidden, or behind them: then time completes a match.
    """
    if len(begins) < 2:
        return ()
    stays = {automaton.states[arc.source].stay for arc in begins if arc.source > 0}
    if stays == {Stay.FOREIGN} and not automaton.sources[0].key:
        stays = {Stay.NONE}  # all events are of one partition
    if stays not in ({Stay.UNTAKEN}, {Stay.ALL}, {Stay.NONE}):
        return ()
    if automaton.within is None and stays != {Stay.NONE}:
        return ()
    if kills and (stays != {Stay.UNTAKEN} or len(begins) > 2):
        return ()
    forbidding = {arc.source for arc in kills}
    if not forbidding <= {begins[1].source, begins[1].target} or (late and begins[1].target not in forbidding):
        return ()
    if any(len(each) != 1 or each[0].among for each in asked):
        return ()
    clauses = [each[0].clause for each in asked]
    if not all(map(_alone, clauses)):
        return ()
    found = tuple(map(own_text, clauses))
    steps = found[: len(begins)]
    if not any(steps) or (stays != {Stay.ALL} and steps[0] is not None and None in steps):
        return ()
    return found


def own_texts_alone(asked: list[list[Alternative]]) -> tuple[OwnText | None, ...]:
    """The attribute and the text of each step that has one, if each is a match alone; () if none has."""
    found = tuple(
        own_text(alternatives[0].clause) if len(alternatives) == 1 and not alternatives[0].among else None
        for alternatives in asked
    )
    return found if any(own is not None for own in found) else ()


def _alone(clause: Clause) -> bool:
    """Whether nothing is asked of earlier events, and not with what a text begins."""
    if any(isinstance(part, Register | Duration) for atom in clause for part in walk(atom)):
        return False
    return all(beginning(atom) is None for atom in clause)
