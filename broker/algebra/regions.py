"""The regions of rows that comparisons of attributes with constants tell apart, and the conditions that hold in one.

Constants divide the values of an attribute into classes: null, those below the first constant, the first constant,
those between it and the second, and so on. A region is a class of each of some attributes; other attributes have any
value. A condition made of such comparisons holds for all rows of a region or for none, so that one row decides, its
representative. Classes without a value, such as that of the ints between 1 and 2, are left out: every region has a row.

Here: classes, representatives, and what is known of a condition in a region. Not here: promises made of such conditions
(promises), who asks (broker.engine.disorder).
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, Final, final

from ..events.schema import Row, Schema, Value, ValueType
from .functions import INTEGER_MAX, INTEGER_MIN, IS_NULL
from .normal_form import Form
from .semantics import Environment, Occurrence, holds
from .terms import Attribute, Comparison, Constant, Function, Side, Term, walk

Cuts = Mapping[int, frozenset[Value]]
"""The constants with which the attribute at a position is compared; an attribute that is only asked whether it is null
has none."""

NO_CLASS: Final = -1


@final
class ValueAxis:
    """The classes of an attribute's values. `cuts`: the constants, ascending; `representatives`: a value of each class.

    Classes are numbered: below the first cut, the first cut, between it and the second, ..., above the last, null.
    """

    __slots__ = ("_numbers", "cuts", "nullable", "position", "representatives", "type")

    def __init__(self, position: int, type: ValueType, nullable: bool, cuts: Sequence[Any]) -> None:
        self.position = position
        self.type = type
        self.nullable = nullable
        self.cuts: list[Any] = sorted(set(cuts))
        self._numbers: list[int] = []
        self.representatives: list[Value] = []
        for at in range(2 * len(self.cuts) + 1):
            low = self.cuts[at // 2 - 1] if at >= 2 else None
            high = self.cuts[at // 2] if at < 2 * len(self.cuts) else None
            found = _equal_to(type, self.cuts[at // 2]) if at % 2 == 1 else _between(type, low, high)
            self._number(found is not None, found)
        self._number(nullable, None)

    def _number(self, inhabited: bool, value: Value) -> None:
        self._numbers.append(len(self.representatives) if inhabited else NO_CLASS)
        if inhabited:
            self.representatives.append(value)

    def __len__(self) -> int:
        return len(self.representatives)

    def number(self, value: Any) -> int:
        """The class of a value; NO_CLASS of one that no event can have. O(log constants)."""
        if value is None:
            return self._numbers[-1]
        at = bisect_left(self.cuts, value)
        return self._numbers[2 * at + (at < len(self.cuts) and self.cuts[at] == value)]

    def neighbours(self) -> list[tuple[int, int, Any]]:
        """The pairs of classes that follow each other, without null, each with a cut that tells the two apart."""
        known = [(at, number) for at, number in enumerate(self._numbers[:-1]) if number != NO_CLASS]
        return [(one, other, self.cuts[at // 2]) for (at, one), (_, other) in pairwise(known)]

    def point(self, value: Any) -> int:
        """The class that holds nothing but a constant; NO_CLASS if there is none."""
        number = self.number(value)
        return number if value in self.cuts else NO_CLASS


def axes(schema: Schema, cuts: Cuts) -> list[ValueAxis]:
    """The axes of those attributes, in the order of the schema."""
    attributes = [(position, schema.attributes[position]) for position in sorted(cuts)]
    return [ValueAxis(at, attribute.type, attribute.nullable, list(cuts[at])) for at, attribute in attributes]


def regions(along: Sequence[ValueAxis]) -> int:
    """How many there are."""
    return math.prod(map(len, along))


def rows(along: Sequence[ValueAxis], others: Sequence[Value]) -> Iterator[Row]:
    """A representative of each region, in the order of their numbers; attributes without an axis have these values."""
    row = list(others)
    for values in product(*[axis.representatives for axis in along]):
        for axis, value in zip(along, values):
            row[axis.position] = value
        yield tuple(row)


def number_of(along: Sequence[ValueAxis], row: Row) -> int:
    """The region of a row; NO_CLASS of one that no event can have. O(attributes x log constants)."""
    found = 0
    for axis in along:
        at = axis.number(row[axis.position] if axis.position < len(row) else None)
        if at == NO_CLASS:
            return NO_CLASS
        found = found * len(axis) + at
    return found


def cuts_of(term: Term) -> Cuts | None:
    """The constants of a condition that holds for all rows of a region or for none; None of any other condition."""
    match term:
        case Constant(_, "bool"):
            return {}
        case Attribute(Side.EVENT, position, "bool"):
            return {position: frozenset((True,))}
        case Comparison(_, Attribute(Side.EVENT, position), Constant(value)) if value is not None:
            return {position: frozenset((value,))}
        case Comparison(_, Function(name, (Attribute(Side.EVENT, position),)), Constant(_, "bool")) if name == IS_NULL:
            return {position: frozenset()}
        case Function(name, (Attribute(Side.EVENT, position),)) if name == IS_NULL:
            return {position: frozenset()}
        case Comparison(_, Constant(), Attribute()):
            return cuts_of(Comparison(term.operator, term.right, term.left))
        case Comparison() | Function():
            return None
        case _:
            return _all_cuts(term)


def _all_cuts(term: Term) -> Cuts | None:
    operands = getattr(term, "operands", None) or (getattr(term, "operand", None),)
    found: dict[int, frozenset[Value]] = {}
    for operand in operands:
        own = None if operand is None else cuts_of(operand)
        if own is None:
            return None
        found = joined(found, own)
    return found


def joined(one: Cuts, other: Cuts) -> dict[int, frozenset[Value]]:
    """The constants of both."""
    return {at: one.get(at, frozenset()) | other.get(at, frozenset()) for at in (*one, *other)}


def satisfied(term: Term, row: Row) -> bool:
    """Whether a row satisfies a condition on it alone."""
    return holds(term, Environment(Occurrence(row, 0, 0, ())))


def within_axes(form: Form, along: Sequence[ValueAxis]) -> dict[int, frozenset[Value]]:
    """The constants of the atoms of a condition that compare an attribute of those axes."""
    known = {axis.position for axis in along}
    found: dict[int, frozenset[Value]] = {}
    for atom in [atom for clause in form for atom in clause]:
        cuts = cuts_of(atom)
        if cuts is not None and known.issuperset(cuts):
            found = joined(found, cuts)
    return found


def estimate(form: Form, row: Row, along: Sequence[ValueAxis] | None, unknown: bool) -> bool:
    """Whether a condition holds for the rows of a region, given its representative, where an atom that the region does
    not decide is taken as `unknown`: true gives whether the condition may hold, false whether it must.

    The constants of the atoms are among the cuts of `along`; None: the row is an event, and decides all atoms that read
    nothing else.
    """
    return any(all(_atom(atom, row, along, unknown) for atom in clause) for clause in form)


def _atom(atom: Comparison, row: Row, along: Sequence[ValueAxis] | None, unknown: bool) -> bool:
    if along is None:
        leaves = [term for term in walk(atom) if not isinstance(term, (Comparison, Constant))]
        own = all(not hasattr(term, "slot") and not hasattr(term, "composition") for term in leaves)
        return satisfied(atom, row) if own else unknown
    cuts = cuts_of(atom)
    if cuts is None or not {axis.position for axis in along}.issuperset(cuts):
        return unknown
    return satisfied(atom, row)


# --- values -------------------------------------------------------------------------------------------------------


def _equal_to(type: ValueType, constant: Any) -> Value:
    """The value of a type that equals a constant; None: there is none."""
    if type == "int":
        return int(constant) if constant == int(constant) and INTEGER_MIN <= constant <= INTEGER_MAX else None
    if type == "float":
        return float(constant) if float(constant) == constant else None
    return constant  # type: ignore[no-any-return]


def _between(type: ValueType, low: Any, high: Any) -> Value:
    """The least value of a type above one constant and below another, exclusive; None: there is none."""
    found: Any
    if type == "bool":
        found = next((value for value in (False, True) if low is None or value > low), None)
    elif type == "string":
        found = "" if low is None else low + "\0"
    elif type == "int":
        found = INTEGER_MIN if low is None else max(INTEGER_MIN, math.floor(low) + 1)
        found = None if found > INTEGER_MAX else found
    else:
        found = -sys.float_info.max if low is None else float(low)
        while low is not None and found <= low:
            found = math.nextafter(found, math.inf)
        found = None if math.isinf(found) else found
    return None if found is None or (high is not None and not found < high) else found
