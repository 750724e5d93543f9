"""Conditions between an event and a run as comparisons of two numbers, so that runs can be stored as columns of
numbers.

A condition of an operand of several events that reads the event on one side and the run on the other compares a level,
of the event, with a measure, of the run, which changes only when the run takes an event. If a run stays at events that
it does not take, such an operand, followed by at most one single event, has exactly one run for each first event
(kleene notes, 1).

Here: which automata are of that kind, and their measures. Not here: columns (broker.engine.executors.kleene).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ...algebra.guard import Accumulation
from ...algebra.normal_form import ALWAYS, Form
from ...algebra.terms import Arithmetic, Attribute, Comparison, Constant, Register, Term, walk
from ..automaton import Accumulated, Automaton, EventRow, Kind, Stay
from .hopeless import never_again
from .line import LineOperand, line_of

Measured: TypeAlias = Accumulation | Literal["first", "last"]

MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Measure:
    """`level operator measure`. `level` reads the event, or is a constant. The measure: for `first` and `last` the term
    `value`, which reads one row; otherwise the aggregate of the attribute at `position`, times `factor` if there is
    one. `integer`: whether that attribute is an int. `lasting`: a run that has failed it fails it for ever."""

    level: Term
    operator: str
    kind: Measured
    value: Term
    position: int
    factor: float | int | None
    integer: bool
    lasting: bool = False

    @property
    def ends(self) -> bool:
        """Whether it is tested without an event, where the operand ends."""
        return isinstance(self.level, Constant)


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures tested when an event is taken, when the next operand begins, and at the end."""

    take: tuple[Measure, ...]
    begin: tuple[Measure, ...]
    end: tuple[Measure, ...]


def monotone(automaton: Automaton, measures: Measures) -> bool:
    """Whether runs that take the same event are equal from then on, and the last events of runs stay in order.

    That holds if taking requires a new highest (or lowest) value, all other conditions follow from the last event or
    from that value, and each first event could also be taken, so that it comes in its place.
    """
    if len(measures.take) != 1:
        return False
    take = measures.take[0]
    value = take.value
    if take.factor is not None or (take.kind == "last" and not isinstance(value, Register)):
        return False
    rising = value.position if take.kind == "last" and isinstance(value, Register) else take.position
    wanted = {"max": (">", ">="), "min": ("<", "<="), "last": tuple(MIRRORED)}.get(take.kind, ())
    own = isinstance(take.level, Attribute) and take.level.position == rising
    known = all(
        other.kind == "last" or (other.kind == take.kind and other.position == rising)
        for other in (*measures.begin, *measures.end)
    )
    link = line_of(automaton)[0]
    always = link.take is not None and _implies(link.begin.guard, link.take.guard)
    return own and known and always and take.operator in wanted


def _implies(given: Form, wanted: Form) -> bool:
    """Whether `given` implies `wanted`, as far as their atoms show it."""
    return all(any(set(clause) <= set(known) for clause in wanted) for known in given)


def measures_of(automaton: Automaton) -> Measures | None:
    """The measures of an automaton within a key; None if it is of another kind. O(size of the automaton)."""
    line = line_of(automaton)
    if not 1 <= len(line) <= 2 or any(arc.kind == Kind.KILL for arc in automaton.arcs):
        return None
    first, *others = line
    if first.take is None or first.proceed is None or automaton.states[first.take.source].stay != Stay.UNTAKEN:
        return None
    if first.begin.rest != ALWAYS or any(link.take is not None for link in others):
        return None
    take = _measures(automaton, first, first.take.rest)
    end = _measures(automaton, first, first.proceed.guard)
    begin = _measures(automaton, first, others[0].begin.rest) if others else ()
    return None if take is None or begin is None or end is None else Measures(take, begin, end)


def _measures(automaton: Automaton, link: LineOperand, form: Form) -> tuple[Measure, ...] | None:
    if len(form) != 1:
        return None
    found: list[Measure] = []
    for atom in form[0]:
        measure = measure_of(automaton, link, atom)
        if measure is None:
            return None
        found.append(replace(measure, lasting=never_again(link, atom)))
    return tuple(found)


def measure_of(automaton: Automaton, link: LineOperand, atom: Comparison) -> Measure | None:
    """The comparison of an event, or a constant, with what an operand's events have left; None if it is another one."""
    level, operator, other = atom.left, atom.operator, atom.right
    if _reads(level) and not _reads(other):
        level, operator, other = other, MIRRORED.get(operator, operator), level
    numbers = level.type in ("int", "float") and other.type in ("int", "float")
    if operator not in MIRRORED or _reads(level) or not _only_registers(other) or not numbers:
        return None
    rows = {_row_in(link, part.slot) for part in walk(other) if isinstance(part, Register)}
    if len(rows) == 1 and None not in rows:
        return Measure(level, operator, "last" if rows == {"last"} else "first", other, -1, None, False)
    match other:
        case Register(slot):
            return _aggregate(automaton, link, level, operator, slot, None)
        case Arithmetic("*", Constant(int() | float() as factor), Register(slot)):
            return _aggregate(automaton, link, level, operator, slot, factor)
        case _:
            return None


def _row_in(link: LineOperand, slot: int) -> str | None:
    """Whether a slot has the first or the last row of an operand; None if neither."""
    if link.take is None or not isinstance(link.begin.update[slot], EventRow):
        return None
    return "last" if isinstance(link.take.update[slot], EventRow) else "first"


def _aggregate(
    automaton: Automaton, link: LineOperand, level: Term, operator: str, slot: int, factor: float | int | None
) -> Measure | None:
    match link.begin.update[slot]:
        case Accumulated(function, position):
            attributes = automaton.source_of(link.begin).schema.attributes
            integer = position >= 0 and attributes[position].type == "int"
            if isinstance(factor, int) and (function in ("len", "count") or (integer and function != "avg")):
                return None  # a product of integers, exact beyond the precision of floats
            return Measure(level, operator, function, level, position, factor, integer)
        case _:
            return None


def _reads(term: Term) -> bool:
    return any(isinstance(part, Register) for part in walk(term))


def _only_registers(term: Term) -> bool:
    """Whether the term reads the run, and not the event."""
    return _reads(term) and not any(isinstance(part, Attribute) for part in walk(term))
