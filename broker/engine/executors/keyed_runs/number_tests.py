"""Conditions on the numbers of a batch, ready for evaluation: an event's, and those of the event before it.

Here: which conditions can be asked of numbers alone, and asking them. Hot. They give what `predicate` gives for the
same event and run, since a null is NaN. Not here: the numbers (number_matrix), all other conditions (broker.algebra).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.comparisons import (
    NE,
    AttributeConstant,
    AttributeRegister,
    AttributeScaled,
    CountConstant,
    DurationConstant,
    FloatConstant,
    FloatRegister,
    IntegerConstant,
    Predicate,
    related_floats,
    related_integers,
)
from ....algebra.predicate import All
from ..packed import Floats
from .number_matrix import EXACT, NumberMatrix

CONSTANT: Final = 0  # an event's number and a constant
REGISTER: Final = 1  # an event's number and that of the last event
SCALED: Final = 2  # the same, with a factor
SPAN: Final = 3  # DUR of the composition and a constant
COUNT: Final = 4  # a count of the run and a constant


@final
class NumberTest:
    """A comparison, and those behind it. `slot`, `other`: the numbers; `constant`: that, or the factor."""

    __slots__ = ("constant", "kind", "operator", "other", "rest", "slot", "whole")

    def __init__(
        self, kind: i64, operator: i64, slot: i64, other: i64, constant: float, whole: i64, rest: NumberTest | None
    ) -> None:
        self.kind = kind
        self.operator = operator
        self.slot = slot
        self.other = other
        self.constant = constant
        self.whole = whole
        self.rest = rest


@final
class Tests:
    """What a condition became. `possible`: it can be asked of numbers; `first` is None if it always holds.

    `slots` are the numbers that it reads, `counter` the register of which it asks for a count, -1 for none.
    """

    def __init__(self, condition: All | None, matrix: NumberMatrix, begun: bool) -> None:
        self.possible = True
        self.first: NumberTest | None = None
        self.slots: list[int] = []
        self.counter = -1
        self.spans = False  # it asks for the DUR of a run
        self._matrix = matrix
        self._begun = begun  # there is a run
        parts: list[Predicate] = []
        while condition is not None:
            parts.append(condition.predicate)
            condition = condition.rest
        for predicate in reversed(parts):
            made = self._test(predicate)
            if made is None:
                self.possible = False
                return
            made.rest = self.first
            self.first = made

    def _test(self, predicate: Predicate) -> NumberTest | None:
        if isinstance(predicate, FloatConstant):
            return self._constant(predicate.position, predicate.operator, predicate.constant)
        if isinstance(predicate, IntegerConstant):
            return self._constant(predicate.position, predicate.operator, predicate.constant)
        if isinstance(predicate, AttributeConstant):
            return self._constant(predicate.position, predicate.operator, predicate.constant)
        if isinstance(predicate, FloatRegister | AttributeRegister):
            register = predicate.register
            at, operator = predicate.position, predicate.operator
            return self._register(at, operator, register.slot, register.position, 1.0, REGISTER)
        if isinstance(predicate, AttributeScaled):
            register = predicate.register
            return self._register(
                predicate.position, predicate.operator, register.slot, register.position, predicate.factor, SCALED
            )
        if isinstance(predicate, DurationConstant):
            span: object = predicate.constant
            if type(span) is int and -EXACT <= span <= EXACT and predicate.composition and self._begun:
                self.spans = True
                return NumberTest(SPAN, predicate.operator, 0, 0, 0.0, span, None)
            return None
        if isinstance(predicate, CountConstant):
            counted = predicate.count.register
            least = predicate.constant - predicate.count.constant
            if counted.slot < 0 or counted.position >= 0 or not -EXACT <= least <= EXACT:
                return None
            if self.counter not in (-1, counted.slot):
                return None
            self.counter = counted.slot
            return NumberTest(COUNT, predicate.operator, 0, 0, 0.0, least, None)
        return None

    def _constant(self, position: int, operator: int, constant: object) -> NumberTest | None:
        if type(constant) is int:
            if not -EXACT <= constant <= EXACT:
                return None
            return NumberTest(CONSTANT, operator, self._slot(position), 0, float(constant), 0, None)
        if type(constant) is float:
            return NumberTest(CONSTANT, operator, self._slot(position), 0, constant, 0, None)
        return None

    def _register(
        self, position: int, operator: int, slot: int, other: int, factor: float, kind: i64
    ) -> NumberTest | None:
        if slot >= 0 or other < 0:
            return None
        return NumberTest(kind, operator, self._slot(position), self._slot(other), factor, 0, None)

    def _slot(self, position: int) -> int:
        slot = self._matrix.slot(position)
        if slot not in self.slots:
            self.slots.append(slot)
        return slot


def compared(test: NumberTest, a: float, b: float) -> bool:
    """Whether a comparison with the last event holds for these numbers."""
    if test.kind == SCALED:
        b = b * test.constant
        if b - b != 0.0:  # no finite float: null
            return False
    if test.operator == NE:
        return a == a and b == b and a != b
    return related_floats(test.operator, a, b)


def passes(test: NumberTest | None, numbers: Floats, stride: i64, at: i64, last: i64, span: i64, count: i64) -> bool:
    """Whether all comparisons hold for the event `at`, and a run whose last event is `last`."""
    while test is not None:
        kind = test.kind
        if kind <= SCALED:
            other = test.constant if kind == CONSTANT else numbers[test.other * stride + last]
            held = compared(test, numbers[test.slot * stride + at], other)
        else:
            held = related_integers(test.operator, span if kind == SPAN else count, test.whole)
        if not held:
            return False
        test = test.rest
    return True
