"""Conditions between an event and a run as comparisons of two numbers: what lets runs be columns of numbers.

A condition of a Kleene component that reads the event on one side and the run on the other compares a level, which is
the event's, with a measure, which is the run's and changes only when the run takes an event. Under skip till next match
a leading Kleene component followed by at most one more has exactly one run for each first event (kleene notes, 1).

Here: which patterns are of that kind, and their measures. Not here: columns (broker.engine.executors.kleene).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ...algebra.guard import Guard
from ...algebra.kleene import Aggregate, Bound, Pattern
from ...algebra.normal_form import ALWAYS, Form
from ...algebra.terms import TRUE, Arithmetic, Attribute, Comparison, Constant, Register, Term, walk
from .plan import NEXT, Plan

Kind: TypeAlias = Literal["first", "last", "avg", "sum", "min", "max", "count", "len"]

MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Measure:
    """`level operator measure`. `level` reads the event, or is a constant. The measure: of `first` and `last` the term
    `value`, which reads one row; of the others the aggregate of the attribute at `position`, times `factor` if there is
    one. `integer`: whether that attribute is an int."""

    level: Term
    operator: str
    kind: Kind
    value: Term
    position: int
    factor: float | int | None
    integer: bool


@dataclass(frozen=True, slots=True)
class Measures:
    """A whole pattern: what is tested where an event is taken, where the next component begins, at the end."""

    take: tuple[Measure, ...]
    begin: tuple[Measure, ...]
    end: tuple[Measure, ...]


def monotone(plan: Plan, measures: Measures) -> bool:
    """Whether runs that take one event are equal from then on, and what runs have taken last stays in order.

    That is so where taking asks for a new highest (or lowest) value and all else that is asked follows from the last
    event, or from that value; and where each first event could also be taken, so that it ends up in its place.
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
    step = plan.steps[0]
    always = _implies(plan.inputs[step.begin].guard, plan.inputs[step.take].guard)
    return own and known and always and take.operator in wanted


def _implies(given: Form, wanted: Form) -> bool:
    """Whether what satisfies the one satisfies the other, as far as their atoms say so."""
    return all(any(set(clause) <= set(known) for clause in wanted) for known in given)


def variant(plan: Plan, measures: Measures) -> tuple[object, float] | None:
    """What a pattern has in common with those that differ from it in one factor only, and its own factor: that of the
    measure where the next component begins. None where there is no such factor."""
    pattern = plan.pattern
    if len(plan.steps) != 2 or len(measures.begin) != 1 or pattern.output != "all" or pattern.publish is not None:
        return None
    measure = measures.begin[0]
    factor: object = measure.factor
    match measure.value:
        case Arithmetic("*", Constant(float() as factor), Register(_, _, "int" | "float") as register, _):
            plain = replace(measure, value=register)
        case _:
            plain = replace(measure, value=TRUE)
    if not isinstance(factor, float):
        return None
    first, second = pattern.components
    begin = Guard((), second.begin.static, second.begin.joins, ())
    left = replace(pattern, components=(first, replace(second, begin=begin)))
    return (left, replace(plain, factor=None)), factor


def measures_of(plan: Plan) -> Measures | None:
    """The measures of a pattern; None where it is of another kind. O(its size)."""
    steps = plan.steps
    if not 1 <= len(steps) <= 2 or plan.negations or steps[0].strategy != NEXT or steps[0].take < 0:
        return None
    if steps[0].begin_rest != ALWAYS or (len(steps) == 2 and steps[1].take >= 0):
        return None
    take = _read(plan.pattern, steps[0].take_rest)
    end = _read(plan.pattern, steps[0].end)
    begin = _read(plan.pattern, steps[1].begin_rest) if len(steps) == 2 else ()
    return None if take is None or begin is None or end is None else Measures(take, begin, end)


def _read(pattern: Pattern, form: Form) -> tuple[Measure, ...] | None:
    if len(form) != 1:
        return None
    found: list[Measure] = []
    for atom in form[0]:
        measure = _measure(pattern, atom)
        if measure is None:
            return None
        found.append(measure)
    return tuple(found)


def _measure(pattern: Pattern, atom: Comparison) -> Measure | None:
    level, operator, other = atom.left, atom.operator, atom.right
    if _reads(level) and not _reads(other):
        level, operator, other = other, MIRRORED.get(operator, operator), level
    numbers = level.type in ("int", "float") and other.type in ("int", "float")
    if operator not in MIRRORED or _reads(level) or not _only_registers(other) or not numbers:
        return None
    bound = {pattern.slots[part.slot] for part in walk(other) if isinstance(part, Register)}
    if bound == {Bound(0, True)}:
        return Measure(level, operator, "last", other, -1, None, False)
    if bound == {Bound(0, False)}:
        return Measure(level, operator, "first", other, -1, None, False)
    match other:
        case Register(slot):
            return _aggregate(pattern, level, operator, slot, None)
        case Arithmetic("*", Constant(int() | float() as factor), Register(slot)):
            return _aggregate(pattern, level, operator, slot, factor)
        case _:
            return None


def _aggregate(pattern: Pattern, level: Term, operator: str, slot: int, factor: float | int | None) -> Measure | None:
    match pattern.slots[slot]:
        case Aggregate(0, function, position):
            source = pattern.sources[pattern.components[0].source].schema
            integer = position >= 0 and source.attributes[position].type == "int"
            if isinstance(factor, int) and (function in ("len", "count") or (integer and function != "avg")):
                return None  # a product of integers, exact beyond what floats hold
            return Measure(level, operator, function, level, position, factor, integer)
        case _:
            return None


def _reads(term: Term) -> bool:
    return any(isinstance(part, Register) for part in walk(term))


def _only_registers(term: Term) -> bool:
    """Whether the term reads the run, and not the event."""
    return _reads(term) and not any(isinstance(part, Attribute) for part in walk(term))
