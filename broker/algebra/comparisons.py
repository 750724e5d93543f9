"""The conditions that compare two values, ready for evaluation: one final class for each shape.

Here: the evaluation of one canonical atom on an event and a run. Hot: typed for compilation, no dictionaries, no
allocation during evaluation. Not here: which class an atom gets, and conditions of several atoms (predicate).

The environment of every call is that of a computation. A null makes any comparison false (semantics 2.7).
"""

from __future__ import annotations

from typing import Any, Final, cast, final

from mypy_extensions import i64

from ..events.schema import Row, Value
from .computation import Computation, Increment, RegisterValue, Slots
from .functions import INTEGER_MAX, INTEGER_MIN

EQ: Final = 0
NE: Final = 1
LT: Final = 2
LE: Final = 3
GT: Final = 4
GE: Final = 5
OPERATORS: Final[dict[str, int]] = {"=": EQ, "!=": NE, "<": LT, "<=": LE, ">": GT, ">=": GE}


def related(operator: int, a: Any, b: Any) -> bool:
    """Return `a operator b` for values of comparable types, neither null."""
    if operator == GT:
        return bool(a > b)
    if operator == LT:
        return bool(a < b)
    if operator == EQ:
        return bool(a == b)
    if operator == GE:
        return bool(a >= b)
    if operator == LE:
        return bool(a <= b)
    return bool(a != b)


def related_floats(operator: i64, a: float, b: float) -> bool:
    """Return `a operator b` for floats, without checking their types again."""
    if operator == GT:
        return a > b
    if operator == LT:
        return a < b
    if operator == GE:
        return a >= b
    if operator == LE:
        return a <= b
    if operator == EQ:
        return a == b
    return a != b


def related_integers(operator: i64, a: i64, b: i64) -> bool:
    """Return `a operator b` for ints of 64 bits, without checking their types again."""
    if operator == GT:
        return a > b
    if operator == LT:
        return a < b
    if operator == GE:
        return a >= b
    if operator == LE:
        return a <= b
    if operator == EQ:
        return a == b
    return a != b


class Predicate:
    """One atom or a disjunction of clauses, ready for evaluation. `cost`: cheap ones are evaluated first."""

    cost: int = 9

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        return False


@final
class AttributeConstant(Predicate):
    """`event.a op c`."""

    def __init__(self, position: int, operator: int, constant: Value) -> None:
        self.position = position
        self.operator = operator
        self.constant = constant
        self.cost = 0

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        return value is not None and related(self.operator, value, self.constant)


@final
class NullTest(Predicate):
    """`event.a IS NULL`, or IS NOT NULL where `wanted` is false."""

    def __init__(self, position: int, wanted: bool) -> None:
        self.position = position
        self.wanted = wanted
        self.cost = 0

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        return (row[self.position] is None) == self.wanted


@final
class AttributeAmong(Predicate):
    """`event.a = c` for one of several constants: one probe, however many they are."""

    def __init__(self, position: int, constants: frozenset[Value]) -> None:
        self.position = position
        self.constants = constants
        self.cost = 1

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        return row[self.position] in self.constants


@final
class FloatConstant(Predicate):
    """`event.a op c` for floats."""

    def __init__(self, position: int, operator: int, constant: float) -> None:
        self.position = position
        self.operator: i64 = operator
        self.constant = constant
        self.cost = 0

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        return value is not None and related_floats(self.operator, cast("float", value), self.constant)


@final
class IntegerConstant(Predicate):
    """`event.a op c` for ints of 64 bits."""

    def __init__(self, position: int, operator: int, constant: int) -> None:
        self.position = position
        self.operator: i64 = operator
        self.constant: i64 = constant
        self.cost = 0

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        return value is not None and related_integers(self.operator, cast("i64", value), self.constant)


@final
class FloatRegister(Predicate):
    """`event.a op register` for floats."""

    def __init__(self, position: int, operator: int, register: RegisterValue) -> None:
        self.position = position
        self.operator: i64 = operator
        self.register = register
        self.cost = 1

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        other = self.register.value(row, bound, slots, length, span)
        if value is None or other is None:
            return False
        return related_floats(self.operator, cast("float", value), cast("float", other))


@final
class AttributeRegister(Predicate):
    """`event.a op register`."""

    def __init__(self, position: int, operator: int, register: RegisterValue) -> None:
        self.position = position
        self.operator = operator
        self.register = register
        self.cost = 1

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        other = self.register.value(row, bound, slots, length, span)
        return value is not None and other is not None and related(self.operator, value, other)


@final
class AttributeScaled(Predicate):
    """`event.a op k * register` for floats; a product that is not a finite float is null, hence false."""

    def __init__(self, position: int, operator: int, factor: float, register: RegisterValue) -> None:
        self.position = position
        self.operator: i64 = operator
        self.factor = factor
        self.register = register
        self.cost = 1

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        other = self.register.value(row, bound, slots, length, span)
        if value is None or other is None:
            return False
        scaled = self.factor * cast("float", other)
        return scaled - scaled == 0.0 and related_floats(self.operator, cast("float", value), scaled)


@final
class CountConstant(Predicate):
    """`c + register op k` on integers; a sum beyond 64 bits is null, hence false."""

    def __init__(self, operator: int, count: Increment, constant: int) -> None:
        self.operator = operator
        self.count = count
        self.constant = constant
        self.cost = 1

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        before = self.count.register.value(row, bound, slots, length, span)
        if before is None:
            return False
        count = self.count.constant + cast("int", before)
        if not INTEGER_MIN <= count <= INTEGER_MAX:
            return False
        operator = self.operator
        if operator == GE:
            return count >= self.constant
        if operator == GT:
            return count > self.constant
        return related(operator, count, self.constant)


@final
class DurationConstant(Predicate):
    """`DUR op c`."""

    def __init__(self, composition: bool, operator: int, constant: Value) -> None:
        self.composition = composition
        self.operator = operator
        self.constant = constant
        self.cost = 0

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        return related(self.operator, span if self.composition else length, self.constant)


@final
class ComputedPredicate(Predicate):
    """Any other comparison."""

    def __init__(self, operator: int, left: Computation, right: Computation) -> None:
        self.operator = operator
        self.left = left
        self.right = right
        self.cost = 5

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        left = self.left.value(row, bound, slots, length, span)
        if left is None:
            return False
        right = self.right.value(row, bound, slots, length, span)
        return right is not None and related(self.operator, left, right)
