"""Constants that say which events a pattern is about: what attributes must equal, and with what they must begin.

Here: finding them in conditions, and in those of all first events. Not here: what a template makes of them (template),
the attributes that partition events without a constant (keys).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, TypeAlias

from ...algebra.normal_form import Clause, Form
from ...algebra.terms import Attribute, Comparison, Constant, Function, Side
from ...events.schema import TEXTS
from ..automaton import Automaton, Kind

CLAUSES_MAX: Final = 8  # alternatives of a step

OwnText: TypeAlias = tuple[Attribute, Constant]
"""An attribute of an event, and the text that it equals."""


def shared_constants(forms: list[Form]) -> dict[Attribute, Constant]:
    """What every clause of every form wants attributes to equal, by position."""
    shared: dict[Attribute, Constant] | None = None
    for form in forms:
        for clause in form:
            own = dict(filter(None, map(equality, clause)))
            if shared is None:
                shared = own
            else:
                shared = {attribute: value for attribute, value in shared.items() if own.get(attribute) == value}
    known = shared or {}
    return {attribute: known[attribute] for attribute in sorted(known, key=_position)}


def first_key(automaton: Automaton) -> dict[int, Constant]:
    """By position the value that the events of all runs of the only stream have; empty if nothing says it, or there
    are several streams. O(arcs out of the start)."""
    if len(automaton.sources) != 1:
        return {}
    starts = [arc for arc in automaton.arcs if arc.source == 0 and len(arc.guard) > 0]
    if any(arc.kind is Kind.EPSILON for arc in starts):
        return {}
    parts = automaton.sources[0].key
    shared = shared_constants([arc.guard for arc in starts])
    return {attribute.position: value for attribute, value in shared.items() if attribute.position in parts}


def shared_beginning(forms: list[Form], positions: Collection[int]) -> Clause:
    """The beginning of an attribute that all events have: every clause of every form asks for it, or every clause of
    one form, at one of these positions, where all events have the same value. At most one, the longest."""
    each = [[{atom for atom in clause if beginning(atom) is not None} for clause in form] for form in forms]
    common = [set.intersection(*clauses) for clauses in each if clauses]
    known = set.intersection(*common) if common else set()
    for atoms in common:
        known |= {atom for atom in atoms if (own := beginning(atom)) is not None and own[0].position in positions}
    return tuple(sorted(known, key=_by_length, reverse=True)[:1])


def own_constants(forms: list[Form]) -> Form:
    """The texts that the events of each condition must equal, or begin with, as alternatives; none if some event has no
    such text, or there are too many."""
    found: dict[Clause, None] = {}
    for form in forms:
        for clause in form:
            texts = texts_in(clause)
            if not texts:
                return ()
            found[texts] = None
    return tuple(found) if len(found) <= CLAUSES_MAX else ()


def texts_in(clause: Clause) -> Clause:
    """What a conjunction says of texts that an event must equal, or begin with."""
    return tuple(atom for atom in clause if _equals_text(atom) or beginning(atom) is not None)


def own_text_of_each(clauses: Iterable[Clause]) -> tuple[OwnText, ...]:
    """By clause the only text that an event must equal; () if one asks for none, or for several."""
    found = [own_text(clause) for clause in clauses]
    known = tuple([own for own in found if own is not None])
    return known if len(known) == len(found) else ()


def own_text(clause: Clause) -> OwnText | None:
    """The only text that an event must equal; None if there is none, or are several."""
    found = [own for atom in clause if _equals_text(atom) and (own := equality(atom)) is not None]
    return found[0] if len(found) == 1 else None


def _equals_text(atom: Comparison) -> bool:
    own = equality(atom)
    return own is not None and own[1].type == "string"


def _by_length(atom: Comparison) -> tuple[int, str]:
    own = beginning(atom)
    return (0, "") if own is None else (len(own[1]), repr(atom))


def _position(attribute: Attribute) -> int:
    return attribute.position


def equality(atom: Comparison) -> tuple[Attribute, Constant] | None:
    """The attribute of the event and the constant that an atom wants to be equal, if it is that."""
    match atom:
        case Comparison("=", Attribute(Side.EVENT) as attribute, Constant() as value):
            return attribute, value
        case _:
            return None


def beginning(atom: Comparison) -> tuple[Attribute, str] | None:
    """The attribute of the event and the text with which an atom wants it to begin, if it is that."""
    match atom:
        case Comparison(
            "=", Function("starts_with", (Attribute(Side.EVENT) as attribute, Constant(str() as text))), Constant(True)
        ) if attribute.type != TEXTS:
            return attribute, text
        case _:
            return None
