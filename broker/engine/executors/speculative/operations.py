"""The operations of arcs on registers: comparisons and assignments as rows of numbers, so that a step reads columns.

The frequent forms have a number each and read packed columns; any other condition or term is evaluated by the
predicates and computations that all executors share, on the registers as values.

Here: the translation of conditions and updates. Not here: their evaluation on nodes (nodes), which arcs an event can
take (arcs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from ....algebra.comparisons import OPERATORS
from ....algebra.computation import Computation
from ....algebra.functions import INTEGER_MAX, INTEGER_MIN
from ....algebra.normal_form import Clause
from ....algebra.predicate import All, computation, conjunction
from ....algebra.terms import Arithmetic, Attribute, Comparison, Constant, Register, Side, Term
from ....automaton.automaton import Carry, Computed, SlotSource
from .arena import FLOAT, INTEGER, OBJECT, NodeLayout

WORDS: Final = 6  # of an operation: its form, register, bit of its nulls, and what the form says
EXACT_MAX: Final = 1 << 53  # an integer up to which a float is exact

# Conditions. Their last words: operator, number to add or position of the attribute, integer or object to compare.
INTEGER_CONSTANT: Final = 0  # register + added op integer
FLOAT_CONSTANT: Final = 1  # register op number
EVENT_FLOAT: Final = 2  # attribute op register
EVENT_SUM: Final = 3  # register + attribute op number
EVENT_SCALED: Final = 4  # attribute op number * register
EVENT_INTEGER: Final = 5  # attribute op register
CONDITION: Final = 6  # any
EVENT_TEXT: Final = 7  # attribute = register, texts

# Updates. Their last words: place of the source, bit of the source's nulls, integer, position or object.
ADD_INTEGER: Final = 0  # register = source + integer
SET_INTEGER: Final = 1
FROM_EVENT_INTEGER: Final = 2
ADD_EVENT: Final = 3  # register = source + attribute, floats
ADD_FLOAT: Final = 4  # register = source + number
FROM_EVENT_FLOAT: Final = 5
SET_FLOAT: Final = 6
COMPUTATION: Final = 7  # any; its second word is the register's number
FROM_EVENT_OBJECT: Final = 8  # a register that is neither an integer nor a float


@final
@dataclass(frozen=True, slots=True)
class Operation:
    """`words`: WORDS integers; `number`: a constant; `condition` or `term`: what has no form of its own."""

    words: tuple[int, ...]
    number: float = 0.0
    condition: All | None = None
    term: Computation | None = None


def conditions(layout: NodeLayout, clause: Clause) -> list[Operation]:
    """The conditions of a clause, all of which must hold; the cheap ones first."""
    found: list[Operation] = []
    others: list[Comparison] = []
    for atom in clause:
        own = _condition(layout, atom)
        if own is None:
            others.append(atom)
        else:
            found.append(own)
    if others:
        found.append(Operation((CONDITION, 0, 0, 0, 0, 0), condition=conjunction(tuple(others))))
    return found


def _condition(layout: NodeLayout, atom: Comparison) -> Operation | None:
    operator = OPERATORS[atom.operator]
    match atom:
        case Comparison("=", Attribute(Side.EVENT, position, "string"), Register(slot, -1, "string")):
            return Operation((EVENT_TEXT, layout.places[slot], 0, operator, position, 0))
        case Comparison(_, Attribute(Side.EVENT, position, type_), Register(slot, -1, other)) if type_ == other:
            form = {"float": EVENT_FLOAT, "int": EVENT_INTEGER}.get(type_, CONDITION)
            return _read(layout, form, slot, type_, operator, position, 0)
        case Comparison(
            _,
            Attribute(Side.EVENT, position, "float"),
            Arithmetic("*", Constant(float() as factor, _), Register(slot, -1, "float"), _),
        ):
            return _read(layout, EVENT_SCALED, slot, "float", operator, position, 0, factor)
        case Comparison(_, Register(slot, -1, "float"), Constant(value, _)) if _exact(value):
            return _read(layout, FLOAT_CONSTANT, slot, "float", operator, 0, 0, as_float(value))
        case Comparison(_, left, Constant(value, _)) if _exact(value) and (found := _sum(left)) is not None:
            return _read(layout, EVENT_SUM, found[0], "float", operator, found[1], 0, as_float(value))
        case Comparison(_, left, Constant(int() as value, "int")) if (counted := _count(left)) is not None:
            return _read(layout, INTEGER_CONSTANT, counted[0], "int", operator, counted[1], value)
    return None


def _read(
    layout: NodeLayout, form: int, slot: int, type_: str, operator: int, detail: int, value: int, number: float = 0.0
) -> Operation | None:
    if form == CONDITION or layout.banks[slot] != (FLOAT if type_ == "float" else INTEGER):
        return None
    return Operation((form, layout.places[slot], layout.bits[slot], operator, detail, value), number)


def _exact(value: object) -> bool:
    return type(value) is float or (type(value) is int and abs(value) <= EXACT_MAX)


def as_float(value: object) -> float:
    """The number that a constant is, as a float."""
    assert isinstance(value, int | float)
    return float(value)


def _sum(term: Term) -> tuple[int, int] | None:
    """The register and the attribute of a sum of two floats."""
    match term:
        case Arithmetic("+", Register(slot, -1, "float"), Attribute(Side.EVENT, position, "float"), _):
            return slot, position
        case Arithmetic("+", Attribute(Side.EVENT, position, "float"), Register(slot, -1, "float"), _):
            return slot, position
    return None


def _count(term: Term) -> tuple[int, int] | None:
    """The register and what is added to it, in integers."""
    match term:
        case Register(slot, -1, "int"):
            return slot, 0
        case Arithmetic("+", Constant(int() as added, "int"), Register(slot, -1, "int"), _):
            return slot, added
        case Arithmetic("+", Register(slot, -1, "int"), Constant(int() as added, "int"), _):
            return slot, added
        case Arithmetic("-", Register(slot, -1, "int"), Constant(int() as taken, "int"), _) if taken > INTEGER_MIN:
            return slot, -taken
    return None


def updates(layout: NodeLayout, sources: tuple[SlotSource, ...]) -> list[Operation]:
    """The assignments of an arc; all read the registers before it. Registers that are carried have none."""
    found: list[Operation] = []
    for register, source in enumerate(sources):
        if isinstance(source, Computed):
            own = _update(layout, register, source.term)
            if own is None:
                words = (COMPUTATION, register, 0, 0, 0, 0)
                own = Operation(words, term=computation(source.term))
            found.append(own)
        else:
            assert isinstance(source, Carry)
            assert source.slot == register, "a register is carried as itself"
    return found


def _update(layout: NodeLayout, register: int, term: Term) -> Operation | None:
    bank, place, bit = layout.banks[register], layout.places[register], layout.bits[register]
    if bank == INTEGER:
        match term:
            case Constant(int() as value, "int") if INTEGER_MIN <= value <= INTEGER_MAX:
                return Operation((SET_INTEGER, place, bit, 0, 0, value))
            case Attribute(Side.EVENT, position, "int"):
                return Operation((FROM_EVENT_INTEGER, place, bit, 0, 0, position))
        counted = _count(term)
        if counted is not None and layout.banks[counted[0]] == INTEGER:
            source, source_bit = layout.places[counted[0]], layout.bits[counted[0]]
            return Operation((ADD_INTEGER, place, bit, source, source_bit, counted[1]))
    if bank == OBJECT:
        match term:
            case Attribute(Side.EVENT, position):
                return Operation((FROM_EVENT_OBJECT, place, 0, 0, 0, position))
    if bank == FLOAT:
        match term:
            case Constant(constant, _) if _exact(constant):
                return Operation((SET_FLOAT, place, bit, 0, 0, 0), as_float(constant))
            case Attribute(Side.EVENT, position, "float" | "int"):
                return Operation((FROM_EVENT_FLOAT, place, bit, 0, 0, position))
            case Register(slot, -1, "float") if layout.banks[slot] == FLOAT:
                return Operation((ADD_FLOAT, place, bit, layout.places[slot], layout.bits[slot], 0), -0.0)
            case Arithmetic("+", Constant(float() as number, _), Register(slot, -1, "float"), _) if (
                layout.banks[slot] == FLOAT
            ):
                return Operation((ADD_FLOAT, place, bit, layout.places[slot], layout.bits[slot], 0), number)
        summed = _sum(term)
        if summed is not None and layout.banks[summed[0]] == FLOAT:
            source, source_bit = layout.places[summed[0]], layout.bits[summed[0]]
            return Operation((ADD_EVENT, place, bit, source, source_bit, summed[1]))
    return None
