"""Measures of the least and the greatest value: a monotone stack, whose first entry behind a position is the answer.

Here: those measures. Hot. Not here: the others, and what all have in common (measures).
"""

from __future__ import annotations

from math import copysign
from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Computation, Slots
from ....events.schema import Row
from ..packed import Floats, Integers, floats, floats_of, integers, integers_of, put, put_integer
from .measures import WindowMeasure, position_of
from .window_page import ExtremeClosing, MeasureClosing, WindowPage, first_at_least


def same(one: float, other: float) -> bool:
    """Whether two floats are equal and told alike: of 0.0 and -0.0, which are equal, the first one is told."""
    return one == other and (one != 0.0 or copysign(1.0, one) == copysign(1.0, other))


@final
@mypyc_attr(acyclic=True)
class FloatExtremeMeasure(WindowMeasure):
    """The least values, or the `greatest`, behind each position: a stack in which they never fall, or rise. The stack
    is the first `top` entries of its columns."""

    def __init__(self, value: Computation, greatest: bool) -> None:
        self.value = value
        self.attribute: i64 = position_of(value)
        self.greatest = greatest
        self.top: i64 = 0
        self.positions: Integers = integers()
        self.values: Floats = floats()

    def open(self, pane: i64) -> None:
        pass

    def push(self, row: Row, times: Slots, position: i64) -> None:
        at = self.attribute
        found: Any = row[at] if at >= 0 else self.value.value(row, (), times, 1, 1)
        if found is None:
            return
        self._add(found, position)


    def _add(self, value: float, position: i64) -> None:
        values = self.values
        top = self.top
        if self.greatest:
            while top > 0 and (values[top - 1] < value or same(values[top - 1], value)):
                top -= 1
        else:
            while top > 0 and (values[top - 1] > value or same(values[top - 1], value)):
                top -= 1
        self.values = put(values, top, value)
        self.positions = put_integer(self.positions, top, position)
        self.top = top + 1

    def settle(self, page: WindowPage, pane: i64, panes: Integers) -> None:
        at = first_at_least(self.positions, self.top, panes[2 * pane])
        page.values.append(self.values[at] if at < self.top else None)

    def closing(self, first: i64) -> MeasureClosing:
        at = first_at_least(self.positions, self.top, first)
        values: list[Any] = []
        number: i64
        for number in range(at, self.top):
            values.append(self.values[number])
        return ExtremeClosing(self.positions[at : self.top], values)

    def trim(self, panes: i64, first: i64) -> None:
        at = first_at_least(self.positions, self.top, first)
        self.positions = self.positions[at : self.top]
        self.values = self.values[at : self.top]
        self.top -= at

    def reset(self) -> None:
        self.top = 0

    def dump(self) -> list[Any]:
        top = int(self.top)
        return [[int(position) for position in self.positions[:top]], list(self.values[:top])]

    def load(self, data: Any) -> None:
        self.positions, self.values = integers_of(data[0]), floats_of(data[1])
        self.top = len(self.positions)


@final
@mypyc_attr(acyclic=True)
class ExtremeMeasure(WindowMeasure):
    """The same for ints, strings and booleans."""

    def __init__(self, value: Computation, greatest: bool) -> None:
        self.value = value
        self.greatest = greatest
        self.positions: Integers = integers()
        self.values: list[Any] = []

    def open(self, pane: i64) -> None:
        pass

    def push(self, row: Row, times: Slots, position: i64) -> None:
        value: Any = self.value.value(row, (), times, 1, 1)
        if value is None:
            return
        values = self.values
        if self.greatest:
            while len(values) > 0 and values[-1] <= value:
                values.pop()
        else:
            while len(values) > 0 and values[-1] >= value:
                values.pop()
        values.append(value)
        self.positions = put_integer(self.positions, len(values) - 1, position)

    def settle(self, page: WindowPage, pane: i64, panes: Integers) -> None:
        top: i64 = len(self.values)
        at = first_at_least(self.positions, top, panes[2 * pane])
        page.values.append(self.values[at] if at < top else None)

    def closing(self, first: i64) -> MeasureClosing:
        top: i64 = len(self.values)
        at = first_at_least(self.positions, top, first)
        return ExtremeClosing(self.positions[at:top], self.values[at:])

    def trim(self, panes: i64, first: i64) -> None:
        top: i64 = len(self.values)
        at = first_at_least(self.positions, top, first)
        self.positions = self.positions[at:top]
        self.values = self.values[at:]

    def reset(self) -> None:
        self.values = []

    def dump(self) -> list[Any]:
        top = len(self.values)
        return [[int(position) for position in self.positions[:top]], list(self.values)]

    def load(self, data: Any) -> None:
        self.positions, self.values = integers_of(data[0]), list(data[1])
