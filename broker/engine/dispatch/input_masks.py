"""The inputs of one machine, tried with all events of a batch.

A loop over a column for one condition of a common shape costs a third of testing all conditions event by event. Here:
those loops. Hot. Not here: an index over the inputs of many machines (index.spaces), conditions themselves (algebra).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...algebra.comparisons import FloatConstant, IntegerConstant, related_floats, related_integers
from ...algebra.predicate import All, condition, holds
from ...events.batch import Batch, FloatColumn, IntegerColumn
from ...events.schema import Row
from ..executors.packed import Integers, integers, put_integer
from .matchers import Matcher


@final
class InputMasks:
    """The inputs of one machine, all of one stream: `always` are those that every event satisfies, `guards` and `bits`
    the others; `masks` those that the events of the current batch satisfy."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.always: i64 = 0
        self.masks: Integers = integers()
        self.guards: list[All] = []
        self.bits: list[int] = []
        for at, given in enumerate(matcher.machine.inputs):
            guard = condition(given.guard)
            if guard is None:
                self.always |= 1 << at
            else:
                self.guards.append(guard)
                self.bits.append(1 << at)

    def mark(self, batch: Batch) -> None:
        """Find the inputs that each event of a batch satisfies. Raises what a condition raises."""
        self.masks = filled(self.masks, len(batch), self.always)
        for guard, bit in zip(self.guards, self.bits):
            if batch.made is not None or not mark_column(self.masks, batch, guard, bit):
                mark(self.masks, batch.rows(), guard, bit)


def filled(masks: Integers, count: i64, mask: i64) -> Integers:
    """The column with this mask for so many events. O(events)."""
    at: i64
    for at in range(count):
        masks = put_integer(masks, at, mask)
    return masks


def mark(masks: Integers, rows: list[Row], guard: All, bit: i64) -> None:
    """Add a bit to the masks of the events that satisfy a condition. O(events)."""
    at: i64
    for at in range(len(rows)):
        if holds(guard, rows[at], (), (), 1, 1):
            masks[at] |= bit


def mark_column(masks: Integers, batch: Batch, guard: All, bit: i64) -> bool:
    """The same by a column; False, and nothing is done, if that cannot be. O(events)."""
    predicate = guard.predicate
    at: i64
    if guard.rest is not None:
        return False
    if isinstance(predicate, FloatConstant):
        column = batch.columns[predicate.position]
        if isinstance(column, FloatColumn):
            numbers, bound = column.numbers, predicate.constant
            for at in range(len(batch)):
                number = numbers[at]
                if number == number and related_floats(predicate.operator, number, bound):
                    masks[at] |= bit
            return True
    elif isinstance(predicate, IntegerConstant):
        column = batch.columns[predicate.position]
        if isinstance(column, IntegerColumn):
            whole, least = column.numbers, predicate.constant
            for at in range(len(batch)):
                if related_integers(predicate.operator, whole[at], least):
                    masks[at] |= bit
            return True
    return False
