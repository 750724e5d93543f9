"""The inputs of a machine by column: which of them each event of a batch satisfies, a loop a condition.

A loop over one condition of a common shape costs a third of testing all conditions event by event. Here: those loops,
over rows and columns. Hot. Not here: what is done with an event (lanes), conditions themselves (algebra).
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from ...algebra.comparisons import FloatConstant, IntegerConstant, related_floats, related_integers
from ...algebra.predicate import All, holds
from ...events.batch import Batch, FloatColumn, IntegerColumn
from ...events.schema import Row
from ..executors.packed import Integers, integers, put_integer


def filled(masks: Integers, count: i64, mask: i64) -> Integers:
    """The column with this mask for so many events. O(events)."""
    at: i64
    for at in range(count):
        if at < len(masks):
            masks[at] = mask
        else:
            masks = put_integer(masks, at, mask)
    return masks if len(masks) > 0 else integers()


def mark(masks: Integers, rows: list[Row], condition: All, bit: i64) -> None:
    """Add a bit to the masks of the events that satisfy a condition. O(events).

    Raises what the condition raises.
    """
    at: i64
    count: i64 = len(rows)
    predicate = condition.predicate
    if condition.rest is None and isinstance(predicate, FloatConstant):
        place: i64 = predicate.position
        operator = predicate.operator
        bound = predicate.constant
        for at in range(count):
            number: Any = rows[at][place]
            if number is not None and related_floats(operator, number, bound):
                masks[at] |= bit
    elif condition.rest is None and isinstance(predicate, IntegerConstant):
        place = predicate.position
        operator = predicate.operator
        least = predicate.constant
        for at in range(count):
            number = rows[at][place]
            if number is not None and related_integers(operator, number, least):
                masks[at] |= bit
    else:
        for at in range(count):
            if holds(condition, rows[at], (), (), 1, 1):
                masks[at] |= bit


def mark_column(masks: Integers, batch: Batch, condition: All, bit: i64) -> bool:
    """The same for a batch of columns, without its rows; False, and nothing is done, if that cannot be."""
    predicate = condition.predicate
    if condition.rest is not None:
        return False
    at: i64
    count: i64 = len(batch)
    if isinstance(predicate, FloatConstant):
        column = batch.columns[predicate.position]
        if not isinstance(column, FloatColumn):
            return False
        numbers = column.numbers
        operator = predicate.operator
        bound = predicate.constant
        for at in range(count):
            number = numbers[at]
            if number == number and related_floats(operator, number, bound):
                masks[at] |= bit
        return True
    if isinstance(predicate, IntegerConstant):
        column = batch.columns[predicate.position]
        if not isinstance(column, IntegerColumn):
            return False
        whole = column.numbers
        operator = predicate.operator
        least = predicate.constant
        for at in range(count):
            if related_integers(operator, whole[at], least):
                masks[at] |= bit
        return True
    return False
