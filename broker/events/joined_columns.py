"""Joins batches of columns, one behind the other, into one batch of columns: no row is made. Hot.

Here: that. Not here: making columns of what somebody gives, and checking them (column_checks).
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from .batch import Column, FloatColumn, IntegerColumn, float_zeros, zeros
from .column_checks import column_of
from .event_columns import EventColumns
from .schema import Attribute
from .stream import StreamDefinition


def joined_columns(stream: StreamDefinition, parts: list[EventColumns]) -> EventColumns | None:
    """The events of all parts, each valid for this stream; None where they have columns of other types. O(values)."""
    types: list[str] = [attribute.type for attribute in stream.schema.attributes]
    given: list[list[Column]] = []
    count = 0
    for part in parts:
        if part.types != types:
            return None
        given.append(part.columns())
        count += len(part)
    columns: list[Column] = []
    for at, attribute in enumerate(stream.schema.attributes):
        column = _joined(stream, attribute, [each[at] for each in given], count)
        if column is None:
            return None
        columns.append(column)
    return EventColumns(columns, types, count)


def _joined(stream: StreamDefinition, attribute: Attribute, given: list[Column], count: int) -> Column | None:
    found: Column | None = _floats(given, count)
    if found is None:
        found = _integers(given, count)
    if found is not None:
        return found
    values: list[Any] = []
    for column in given:
        values.extend(column.values())
    return column_of(attribute, values, stream)


def _floats(given: list[Column], count: int) -> Column | None:
    """A column of floats; None if one of those given is another."""
    numbers = float_zeros(count)
    nulls = False
    end: i64 = 0
    at: i64
    for column in given:
        if not isinstance(column, FloatColumn):
            return None
        part = column.numbers
        for at in range(len(part)):
            numbers[end + at] = part[at]
        end += len(part)
        nulls = nulls or column.nulls
    return FloatColumn(numbers, nulls)


def _integers(given: list[Column], count: int) -> Column | None:
    """A column of whole numbers; None if one of those given is another."""
    numbers = zeros(count)
    end: i64 = 0
    at: i64
    for column in given:
        if not isinstance(column, IntegerColumn):
            return None
        part = column.numbers
        for at in range(len(part)):
            numbers[end + at] = part[at]
        end += len(part)
    return IntegerColumn(numbers)
