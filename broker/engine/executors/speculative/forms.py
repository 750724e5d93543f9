"""Conditions and assignments of arcs on records: the evaluation of the forms that operations have.

Hot. Not here: the translation into forms (operations), which arcs an event can take (arcs).
"""

from __future__ import annotations

from typing import Final, cast

from mypy_extensions import i64

from ....algebra.comparisons import related_floats, related_integers
from ....algebra.computation import Computation
from ....algebra.predicate import All, holds
from ....events.schema import Row
from ..packed import Floats, Integers
from .arc_lists import ArcLists
from .arena import FIRST, NULLS, Records
from .operations import (
    ADD_FLOAT,
    ADD_INTEGER,
    COMPUTATION,
    EVENT_FLOAT,
    EVENT_INTEGER,
    EVENT_SUM,
    EVENT_TEXT,
    FLOAT_CONSTANT,
    FROM_EVENT_FLOAT,
    FROM_EVENT_INTEGER,
    FROM_EVENT_OBJECT,
    INTEGER_CONSTANT,
    SET_FLOAT,
    WORDS,
)
from .written import CLAUSES, HEAD, LENGTH, UPDATES

INTEGER_MAX: Final = 9223372036854775807


def holding(table: ArcLists, here: i64, records: Records, node: i64, row: Row) -> bool:
    """Whether one of the clauses of an arc holds for a record and an event. O(its conditions)."""
    code, constants = table.code, table.numbers
    position = here + HEAD
    clauses = code[here + CLAUSES]
    if clauses == 0:
        return True
    while clauses > 0:
        clauses -= 1
        atoms = code[position]
        position += 1
        behind = position + WORDS * atoms
        while atoms > 0:
            if code[position] <= EVENT_INTEGER:
                if not related(code, constants, position, records, node, row):
                    break
            elif code[position] == EVENT_TEXT:
                text = row[code[position + 4]]
                known = records.objects[node * records.layout.objects + code[position + 1]]
                if text is None or text != known:
                    break
            elif not holds(cast("All", table.objects[code[position + 5]]), row, (), records.registers(node), 1, 1):
                break
            atoms -= 1
            position += WORDS
        if atoms == 0:
            return True
        position = behind
    return False


def related(code: Integers, constants: Floats, at: i64, records: Records, node: i64, row: Row) -> bool:
    """Whether the condition there holds for a record."""
    words, source, place = records.words, node * records.layout.stride, code[at + 1]
    if words[source + NULLS] & code[at + 2]:
        return False
    form = code[at]
    operator = code[at + 3]
    if form == INTEGER_CONSTANT:
        added = code[at + 4]
        integer = words[source + FIRST + place]
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
        return related_integers(operator, cast("i64", given), words[source + FIRST + place])
    number = records.numbers[node * records.layout.floats + place]
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


def assign_all(
    table: ArcLists, here: i64, source: Records, node: i64, target: Records, to: i64, row: Row
) -> None:
    """Assign the registers that an arc changes to the record at `to`, from those of the run that takes it."""
    code = table.code
    position = here + code[here + LENGTH] - WORDS * code[here + UPDATES]
    while position < here + code[here + LENGTH]:
        if code[position] < COMPUTATION:
            assign(code, table.numbers, position, source, node, target, to, row)
        elif code[position] == FROM_EVENT_OBJECT:
            target.objects[to * target.layout.objects + code[position + 1]] = row[code[position + 5]]
        else:
            term = cast("Computation", table.objects[code[position + 5]])
            target.store(to, code[position + 1], term.value(row, (), source.registers(node), 1, 1))
        position += WORDS


def assign(
    code: Integers, constants: Floats, at: i64, source: Records, node: i64, target: Records, to: i64, row: Row
) -> None:
    """Assign a register of a record from those of another one and an event."""
    form, place, bit = code[at], code[at + 1], code[at + 2]
    layout, words = source.layout, target.words
    read, written = node * layout.stride, to * layout.stride
    nulled = source.words[read + NULLS] & code[at + 4] != 0  # where there is a source
    known = True
    if form <= FROM_EVENT_INTEGER:
        integer = code[at + 5]
        if form == ADD_INTEGER:
            added = integer
            integer = source.words[read + FIRST + code[at + 3]]
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
        words[written + FIRST + place] = integer if known else 0
    else:
        number = 0.0
        if form <= ADD_FLOAT:
            known = not nulled
            number = source.numbers[node * layout.floats + code[at + 3]]
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
        target.numbers[to * layout.floats + place] = number if known else 0.0
    nulls = words[written + NULLS]
    words[written + NULLS] = nulls & ~bit if known else nulls | bit
