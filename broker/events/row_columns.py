"""Packed columns straight from rows: the values at one place of each, without a list of them. Hot.

Made is what rows usually have: floats, whole numbers without nulls, texts of which few are different. Whoever gets None
makes a list of the values, and asks the checks of columns (column_checks), which decide about everything else, and
make the same of what is made here.

Here: that. Not here: rows as bytes (packed_rows).
"""

from __future__ import annotations

from typing import Any, Final

from .batch import NULL_NUMBER, Column, FloatColumn, IntegerColumn, TextColumn, float_zeros, zeros
from .schema import Attribute
from .text_codes import FIRST, NULL_TEXT, TextCodes

GREATEST: Final = 2**63 - 1
USUAL: Final = 2**60


def packed_column(attribute: Attribute, rows: list[tuple[Any, ...]], position: int) -> Column | None:
    """The column of an attribute, which has this place in each row; None if that is for a list of values. O(rows)."""
    match attribute.type:
        case "float":
            return _floats(rows, position, attribute.nullable)
        case "int":
            return _integers(rows, position)
        case "string":
            return _texts(rows, position, attribute.nullable)
    return None


def _floats(rows: list[tuple[Any, ...]], position: int, nullable: bool) -> Column | None:
    numbers = float_zeros(len(rows))
    nulls = False
    for at, row in enumerate(rows):
        value = row[position]
        if type(value) is float:
            number: float = value
            if number - number != 0.0:  # true only for NaN and the infinities
                return None
            numbers[at] = number
        elif value is None and nullable:
            nulls = True
            numbers[at] = NULL_NUMBER
        else:
            return None
    return FloatColumn(numbers, nulls)


def _integers(rows: list[tuple[Any, ...]], position: int) -> Column | None:
    numbers = zeros(len(rows))
    for at, row in enumerate(rows):
        value = row[position]
        if type(value) is not int or not (-USUAL < value < USUAL or -GREATEST - 1 <= value <= GREATEST):
            return None
        numbers[at] = value
    return IntegerColumn(numbers)


def _texts(rows: list[tuple[Any, ...]], position: int, nullable: bool) -> Column | None:
    codes = zeros(len(rows))
    known = TextCodes()
    for at, row in enumerate(rows):
        value = row[position]
        if type(value) is str:
            code = known.code(value)
            if code < 0:
                return None
            codes[at] = code
        elif value is None and nullable:
            codes[at] = NULL_TEXT
        else:
            return None
        if at == FIRST and 4 * len(known.texts) > 3 * FIRST:
            return None
    return TextColumn(codes, known.texts)
