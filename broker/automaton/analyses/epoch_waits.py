"""Whether runs over epochs wait for an event of their key that numbers decide: CEL's NEXT compares the event with
constants, or with a factor of the first event's number, and nothing more is asked of it.

Here: that question, also of an automaton with marked literals. Not here: its template (epoch_template).
"""

from __future__ import annotations

from typing import Final

from ...algebra.terms import Arithmetic, Attribute, Comparison, Constant, Register, Side, walk
from ..automaton import Automaton
from .event_constants import shared_constants

OPERATORS: Final = ("=", "<", "<=", ">", ">=")
NUMBERS: Final = ("int", "float")


def waits_for_numbers(automaton: Automaton) -> bool:
    """Whether it has two events with a key of constants, and its runs wait for the second one until numbers are
    reached. O(atoms)."""
    if len(automaton.states) != 2 or len(automaton.arcs) != 2:
        return False
    theta, guard = automaton.states[1].theta, automaton.arcs[1].guard
    if len(theta) != 1 or len(guard) != 1 or not set(guard[0]) <= set(theta[0]):
        return False
    keys = {joined(atom) for atom in theta[0]} - {-1}
    constants = {one.position for one in shared_constants([automaton.arcs[0].guard])}
    return len(keys) > 0 and keys <= constants and _asks_for_numbers([a for a in theta[0] if joined(a) < 0])


def joined(atom: Comparison) -> int:
    """The attribute in which an event is to equal the one before; -1 for any other condition."""
    match atom:
        case Comparison("=", Attribute(Side.EVENT, position), Register(-1, other)) if position == other:
            return position
        case _:
            return -1


def _asks_for_numbers(atoms: list[Comparison]) -> bool:
    """Whether one compares the event with a number, and earlier events matter in such comparisons only."""
    others = [atom for atom in atoms if not _compares_number(atom)]
    alone = not any(isinstance(part, Register) for atom in others for part in walk(atom))
    return alone and len(others) < len(atoms)


def _compares_number(atom: Comparison) -> bool:
    match atom:
        case Comparison(operator, Attribute(Side.EVENT, _, kind), Constant()):
            return operator in OPERATORS and kind in NUMBERS
        case Comparison(operator, Attribute(Side.EVENT, _, kind), Arithmetic("*" | "+", Constant(), Register())):
            return operator in OPERATORS and kind in NUMBERS
        case _:
            return False
