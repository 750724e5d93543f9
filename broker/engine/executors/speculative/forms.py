"""Conditions and assignments on the packed columns of nodes: the evaluation of the forms that operations have.

Hot. Not here: the translation into forms (operations), conditions without a form (nodes).
"""

from __future__ import annotations

from typing import Final, cast, final

from mypy_extensions import i64

from ....algebra.comparisons import related_floats, related_integers
from ....events.schema import Row
from ..packed import Floats, Integers, floats, integers
from .arena import FIRST, NULLS
from .operations import (
    ADD_FLOAT,
    ADD_INTEGER,
    EVENT_FLOAT,
    EVENT_INTEGER,
    EVENT_SUM,
    FLOAT_CONSTANT,
    FROM_EVENT_FLOAT,
    FROM_EVENT_INTEGER,
    INTEGER_CONSTANT,
    SET_FLOAT,
)

INTEGER_MAX: Final = 9223372036854775807


@final
class Record:
    """A record in columns: its words and its numbers begin at `word` and at `number`. Made once, and moved about."""

    def __init__(self) -> None:
        self.words: Integers = integers()
        self.numbers: Floats = floats()
        self.word: i64 = 0
        self.number: i64 = 0

    def move(self, words: Integers, numbers: Floats, word: i64, number: i64) -> None:
        """Be another record."""
        self.words = words
        self.numbers = numbers
        self.word = word
        self.number = number


def related(
    code: Integers, constants: Floats, at: i64, words: Integers, numbers: Floats, source: i64, floats: i64, row: Row
) -> bool:
    """Whether the condition there holds for the record at `source` of the words and at `floats` of the numbers."""
    if words[source + NULLS] & code[at + 2]:
        return False
    form = code[at]
    operator = code[at + 3]
    if form == INTEGER_CONSTANT:
        added = code[at + 4]
        integer = words[source + FIRST + code[at + 1]]
        if added > 0:
            if integer > INTEGER_MAX - added:
                return False
        elif integer < -INTEGER_MAX - 1 - added:
            return False
        return related_integers(operator, integer + added, code[at + 5])
    if form == EVENT_INTEGER:
        given = row[code[at + 4]]
        if given is None:
            return False
        return related_integers(operator, cast("i64", given), words[source + FIRST + code[at + 1]])
    number = numbers[floats + code[at + 1]]
    if form == FLOAT_CONSTANT:
        return related_floats(operator, number, constants[at + 5])
    value = row[code[at + 4]]
    if value is None:
        return False
    event = cast("float", value)
    if form == EVENT_FLOAT:
        return related_floats(operator, event, number)
    if form == EVENT_SUM:
        number = number + event
        return number - number == 0.0 and related_floats(operator, number, constants[at + 5])
    number = number * constants[at + 5]
    return number - number == 0.0 and related_floats(operator, event, number)


def assign(code: Integers, constants: Floats, at: i64, source: Record, target: Record, row: Row) -> None:
    """Assign a register of a record from those of another one and an event."""
    form, place, bit = code[at], code[at + 1], code[at + 2]
    nulled = source.words[source.word + NULLS] & code[at + 4] != 0  # where there is a source
    known = True
    if form <= FROM_EVENT_INTEGER:
        integer = code[at + 5]
        if form == ADD_INTEGER:
            added = integer
            integer = source.words[source.word + FIRST + code[at + 3]]
            if nulled:
                known = False
            elif added > 0:
                known = integer <= INTEGER_MAX - added
            else:
                known = integer >= -INTEGER_MAX - 1 - added
            integer += added
        elif form == FROM_EVENT_INTEGER:
            given = row[integer]
            if given is None:
                known = False
            else:
                integer = cast("i64", given)
        target.words[target.word + FIRST + place] = integer if known else 0
    else:
        number = 0.0
        if form <= ADD_FLOAT:
            known = not nulled
            number = source.numbers[source.number + code[at + 3]]
        if form == SET_FLOAT:
            number = constants[at + 5]
        elif form == ADD_FLOAT:
            number = number + constants[at + 5]
        else:
            value = row[code[at + 5]]
            if value is None:
                known = False
            elif form == FROM_EVENT_FLOAT:
                number = float(cast("float", value))  # it may be an integer
            else:
                number = number + cast("float", value)
        if number - number != 0.0:
            known = False
        target.numbers[target.number + place] = number if known else 0.0
    nulls = target.words[target.word + NULLS]
    target.words[target.word + NULLS] = nulls & ~bit if known else nulls | bit
