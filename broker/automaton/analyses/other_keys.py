"""Texts that differ by step: events of which each equals a text of its own, and is compared with numbers alone; one
event, and some of the steps that it may be equal such texts; or an operand that repeats has one text, and the event
behind it another.

Here: whether an automaton over arrival is that, and these texts. Not here: its template (arrival_template).
"""

from __future__ import annotations

from ...algebra.normal_form import Clause
from ...algebra.terms import Attribute, Comparison, Duration, Register, Side, walk
from ..automaton import Arc, Automaton, Stay
from .event_constants import OwnText, beginning, own_text, texts_in
from .line import LineOperand
from .template import Alternative


def own_texts(
    automaton: Automaton,
    begins: list[Arc],
    kills: list[Arc],
    asked: list[list[Alternative]],
    late: bool,
) -> tuple[OwnText | None, ...]:
    """The attribute and the text of each event that has one, and of each that is forbidden; () if it is something else.
    `asked`: what each is asked; `late`: time completes a match.

    Of adjacent events and next matches all have one if the first has. Between two next matches something may be
    forbidden, or behind the last: then time completes a match. Of any matches something may be between the last two.
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
    forbidding, end = {arc.source for arc in kills}, begins[-1]
    if stays == {Stay.UNTAKEN}:
        waiting = {*(arc.source for arc in begins[1:]), end.target}
    else:
        waiting = {end.source} if stays == {Stay.ALL} else set()
    if not forbidding <= waiting or (late and end.target not in forbidding):
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


def own_texts_behind(line: tuple[LineOperand, ...]) -> tuple[OwnText | None, ...]:
    """The text that all events of a run equal, and that of a last single event behind a repetition, None for none; ()
    if neither has one, or they are something else.

    A run goes on when it has been completed, so that the last event's text decides only whose match it is. Where this
    event must have the text of an earlier one, that is its text.
    """
    if len(line) < 2 or line[-1].take is not None or line[-2].take is None:
        return ()
    *before, last = line
    taking = [arc for link in before for arc in (link.begin, link.take) if arc is not None]
    first = {texts_in(clause) for arc in taking for clause in arc.guard}
    behind = {texts_in(clause) for clause in last.begin.guard}
    if len(first) != 1 or len(behind) != 1:
        return ()
    (known,), (others,) = first, behind
    run, end = own_text(known), own_text(others)
    if len(known) != (0 if run is None else 1) or len(others) != (0 if end is None else 1):
        return ()
    if run is not None and end is None:
        at = run[0].position
        if all(any(repeats_text(atom, at) for atom in clause) for clause in last.begin.rest):
            end = run
    return () if run is None and end is None else (run, end)


def repeats_text(atom: Comparison, position: int) -> bool:
    """Whether an event must have there what an earlier one has there."""
    match atom:
        case (
            Comparison("=", Attribute(Side.EVENT, own), Register(_, other))
            | Comparison("=", Register(_, other), Attribute(Side.EVENT, own))
        ):
            return own == position == other
        case _:
            return False


def _alone(clause: Clause) -> bool:
    """Whether nothing is asked of earlier events, and not with what a text begins."""
    if any(isinstance(part, Register | Duration) for atom in clause for part in walk(atom)):
        return False
    return all(beginning(atom) is None for atom in clause)
