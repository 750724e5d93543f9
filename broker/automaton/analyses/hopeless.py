"""Conditions that a run of a line fails once and for all, so that it ends there instead of waiting for its window.

What an operand of several events leaves grows in one direction: its number of events and its greatest value never
fall, its least value never rises, and a sum of values that are not negative never falls. So `a.LEN = 3` fails for ever
after the fourth event, and `max(a[].v) < 10` after the first 10. A null is never a failure: it may become a value.

Here: that fact, as conditions on the registers after an event. Not here: what ends (broker.engine.executors.kleene).
"""

from __future__ import annotations

from itertools import product
from typing import Final, TypeAlias

from ...algebra.normal_form import Form, reordered
from ...algebra.terms import Arithmetic, Attribute, Comparison, Constant, Register, Term, walk
from ...events.schema import Value
from ..automaton import Accumulated, Carry
from .line import LineOperand

CLAUSES_MAX: Final = 16  # alternatives of the answer

Trend: TypeAlias = int
"""1: never falls; -1: never rises; 0: stays."""

DEFINITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}
GROWING: Final = {"len": 1, "count": 1, "max": 1, "min": -1}


def hopeless(link: LineOperand, form: Form) -> Form | None:
    """When a condition of an operand that has taken an event will not hold any more, however many it takes; None if
    nothing shows that. O(alternatives of the condition, multiplied out to at most CLAUSES_MAX)."""
    parts = [[end for atom in clause if (end := _failing(link, atom)) is not None] for clause in form]
    number = 1
    for part in parts:
        number *= len(part)
    return reordered(tuple(product(*parts))) if parts and 0 < number <= CLAUSES_MAX else None


def never_again(link: LineOperand, atom: Comparison) -> bool:
    """Whether the atom, once it fails without a null, fails for ever."""
    return _failing(link, atom) is not None


def bounds_number(link: LineOperand, atom: Comparison) -> bool:
    """Whether the atom fails for ever once the operand has taken too many events."""
    read = [part.slot for part in walk(atom) if isinstance(part, Register)]
    sources = [] if link.take is None else [link.take.update[slot] for slot in read if slot >= 0]
    counted = any(isinstance(source, Accumulated) and source.function in ("len", "count") for source in sources)
    return counted and never_again(link, atom)


def _failing(link: LineOperand, atom: Comparison) -> Comparison | None:
    """The comparison that holds if the atom fails from now on; None if it may always hold again."""
    left, right = _trend(link, atom.left), _trend(link, atom.right)
    if left is None or right is None:
        return None
    if left * right > 0:
        return None
    apart = left - right  # above 0, the left side less the right one never falls; below 0, it never rises
    kept = {"<": apart >= 0, ">": apart <= 0, "!": apart == 0, "=": True}
    if not kept[atom.operator[0]]:
        return None
    operator = DEFINITE[atom.operator]
    if atom.operator == "=" and apart != 0:
        operator = ">" if apart > 0 else "<"
    return Comparison(operator, atom.left, atom.right)


def _trend(link: LineOperand, term: Term) -> Trend | None:
    """How a term moves as the operand takes events; None if it may rise and fall, or reads the event."""
    match term:
        case Constant():
            return 0
        case Register(slot):
            return _trend_of_slot(link, slot)
        case Arithmetic("+" | "-" as operator, left, right):
            one, other = _trend(link, left), _trend(link, right)
            if one is None or other is None:
                return None
            other = other if operator == "+" else -other
            return None if one * other < 0 else one or other
        case Arithmetic("*", Constant(factor), other) | Arithmetic("*" | "/", other, Constant(factor)):
            return _scaled(_trend(link, other), factor)
        case _:
            return None


def _scaled(trend: Trend | None, factor: Value) -> Trend | None:
    sign = _sign(factor)
    return None if trend is None or not sign else trend * sign


def _sign(value: Value) -> int | None:
    """1, 0 or -1; None for what is no number, or a literal that may be exchanged, which has a type of its own."""
    if isinstance(value, int | float) and type(value) in (int, float):
        return (value > 0) - (value < 0)
    return None


def _trend_of_slot(link: LineOperand, slot: int) -> Trend | None:
    if link.take is None or slot < 0:
        return None
    match link.take.update[slot]:
        case Carry(own) if own == slot:
            return 0
        case Accumulated("sum", position):
            return 1 if _not_negative(link, position) else None
        case Accumulated(function):
            return GROWING.get(function)
        case _:
            return None


def _not_negative(link: LineOperand, position: int) -> bool:
    """Whether the conditions on single events let the operand take no negative value there."""
    assert link.take is not None
    return all(
        any(_bounds(atom, position) for atom in clause) for arc in (link.begin, link.take) for clause in arc.guard
    )


def _bounds(atom: Comparison, position: int) -> bool:
    match atom:
        case Comparison(">" | ">=" | "=", Attribute(_, own), Constant(least)):
            return own == position and _sign(least) in (0, 1)
        case _:
            return False
