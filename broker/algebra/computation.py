"""Compiles terms for execution: one final class for each kind of term.

Here: the computation of a value from an event and a run. Hot: typed for compilation. Not here: conditions (predicate),
which also chooses the class for a term.

The environment of every call, in this order: `row` has the event's attributes, `bound` the row that the run took last,
`slots` the run's other registers, `length` the event's own DUR, `span` the composition's DUR, both in microseconds.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast, final

from ..events.schema import Row, Value
from ..events.text_condition import TextCondition
from .functions import bounded, calculate, call

Slots: TypeAlias = "tuple[Any, ...]"  # each is a value, or a row that was bound earlier


class Computation:
    """A value computed from the environment."""

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        return None


@final
class ConstantValue(Computation):
    def __init__(self, constant: Value) -> None:
        self.constant = constant

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        return self.constant


@final
class EventValue(Computation):
    def __init__(self, position: int) -> None:
        self.position = position

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        return row[self.position]


@final
class RegisterValue(Computation):
    def __init__(self, slot: int, position: int) -> None:
        self.slot = slot
        self.position = position

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        if self.slot < 0:
            return bound[self.position]
        if self.position < 0:
            return cast("Value", slots[self.slot])
        return cast("Value", slots[self.slot][self.position])


@final
class DurationValue(Computation):
    def __init__(self, composition: bool) -> None:
        self.composition = composition

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        return span if self.composition else length


@final
class ArithmeticValue(Computation):
    def __init__(self, operator: str, left: Computation, right: Computation) -> None:
        self.operator = operator
        self.left = left
        self.right = right

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        left = self.left.value(row, bound, slots, length, span)
        return calculate(self.operator, left, self.right.value(row, bound, slots, length, span))


@final
class Increment(Computation):
    """`c + register` on integers, such as the counter of a FOLD."""

    def __init__(self, constant: int, register: RegisterValue) -> None:
        self.constant = constant
        self.register = register

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        count = self.register.value(row, bound, slots, length, span)
        return None if count is None else bounded(self.constant + cast("int", count))


@final
class FunctionValue(Computation):
    def __init__(self, name: str, arguments: list[Computation], type_: str) -> None:
        self.name = name
        self.arguments = arguments
        self.type: Any = type_

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        return call(self.name, [a.value(row, bound, slots, length, span) for a in self.arguments], self.type)


@final
class NullValue(Computation):
    """Whether a value is null."""

    def __init__(self, operand: Computation) -> None:
        self.operand = operand

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        return self.operand.value(row, bound, slots, length, span) is None


@final
class TextTestValue(Computation):
    """Whether a text, or one in a list, fits the pattern of LIKE, MATCHES or CIDR; null if it is null."""

    def __init__(self, operand: Computation, condition: TextCondition) -> None:
        self.operand = operand
        self.condition = condition

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        text = self.operand.value(row, bound, slots, length, span)
        if isinstance(text, tuple):
            return any(self.condition.holds(each) for each in text)
        return None if text is None else self.condition.holds(cast("str", text))
