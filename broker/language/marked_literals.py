"""Marked literals: values that also know their number among the literals of a text, and their replacement in syntax.

A query is compiled from marked literals once for all texts of a shape. Marks pass through algebra, lowering and
automata like ordinary values; if one takes part in a computation, LiteralUsed names it (broker/algebra/terms). The
numbers of marks in an automaton are the coordinates in which the subscriptions of the shape differ.

Here: marks, and literals in syntax. Not here: marks in terms (algebra/marked_terms), finding literals in a text without
a parser (shapes), writing a text around its literals (wording).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any, Final, TypeAlias, TypeVar, final

from .shapes import Literal

Literals: TypeAlias = tuple[Literal, ...]
LiteralFields: TypeAlias = Mapping[type, tuple[str, str]]
"""For each type of syntax node: the field with the literal's value, and the field with its position in the text."""

_Syntax = TypeVar("_Syntax")


@final
class MarkedInteger(int):
    """A marked literal. The other two mark types work alike.

    It equals only itself, so that nothing merges it with a literal that is equal in this text but may differ in
    another. Negation gives it the complement of its number.
    """

    number: int

    def __neg__(self) -> MarkedInteger:
        opposite = MarkedInteger(-int(self))
        opposite.number = ~self.number
        return opposite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MarkedInteger) and other.number == self.number

    def __hash__(self) -> int:
        return hash(("integer", self.number))


@final
class MarkedFloat(float):
    number: int

    def __neg__(self) -> MarkedFloat:
        opposite = MarkedFloat(-float(self))
        opposite.number = ~self.number
        return opposite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MarkedFloat) and other.number == self.number

    def __hash__(self) -> int:
        return hash(("float", self.number))


@final
class MarkedString(str):
    __slots__ = ("number",)
    number: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MarkedString) and other.number == self.number

    def __hash__(self) -> int:
        return hash(("string", self.number))


_FIELD_NAMES: Final[dict[type, tuple[str, ...]]] = {}
_MARKED: Final[dict[type, type[Any]]] = {int: MarkedInteger, float: MarkedFloat, str: MarkedString}


def mark(literal: Literal, number: int) -> Any:
    """A literal that knows its number."""
    value = _MARKED[type(literal)](literal)
    value.number = number
    return value


def number_in(value: object) -> int | None:
    """The number of a marked literal, or its complement if it is negated; None for any other value."""
    number = getattr(value, "number", None)
    return number if isinstance(number, int) else None


def numbers_in(compiled: object) -> set[int]:
    """The numbers of the marked literals anywhere in a compiled value. O(its size)."""
    number = number_in(compiled)
    if number is not None:
        return {max(number, ~number)}
    if isinstance(compiled, tuple | frozenset):
        return {each for part in compiled for each in numbers_in(part)}
    return {each for name in field_names(type(compiled)) for each in numbers_in(getattr(compiled, name))}


def field_names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass; none of any other class. O(1) but for the first call."""
    known = _FIELD_NAMES.get(kind)
    if known is None:
        fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
        known = _FIELD_NAMES[kind] = tuple([field.name for field in fields])
    return known


def chosen(literals: Literals, number: int) -> Literal:
    """The literal with a number; for a complement, the negated literal."""
    if number >= 0:
        return literals[number]
    literal = literals[~number]
    assert not isinstance(literal, str)
    return -literal


# --- in syntax ----------------------------------------------------------------------------------------------------


def literal_nodes(syntax: object, fields: LiteralFields) -> dict[int, tuple[type, Literal]]:
    """The literals of a text by position: the type of the node, and the value."""
    found: dict[int, tuple[type, Literal]] = {}

    def visit(node: Any) -> None:
        if isinstance(node, tuple):
            for part in node:
                visit(part)
        else:
            named = fields.get(type(node))
            if named is not None and (value := getattr(node, named[0])) is not None:
                found[getattr(node, named[1])] = (type(node), value)
            for name in field_names(type(node)):
                visit(getattr(node, name))

    visit(syntax)
    return found


def with_literals(syntax: _Syntax, fields: LiteralFields, values: Mapping[int, Any]) -> _Syntax:
    """The same syntax with other values for the literals at these positions."""

    def visit(node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple([visit(part) for part in node])
        names = field_names(type(node))
        if not names:
            return node
        copied = {name: visit(getattr(node, name)) for name in names}
        named = fields.get(type(node))
        if named is not None and copied[named[0]] is not None:
            copied[named[0]] = values.get(copied[named[1]], copied[named[0]])
        return type(node)(**copied)

    copy: _Syntax = visit(syntax)
    return copy


def marked_places(
    numbers: Collection[int], places: tuple[int, ...], literals: Literals, durations: Collection[int]
) -> dict[int, Any]:
    """Marked values by position, of the literals with these numbers.

    Durations are marked as if they were not 0: the greatest of several marked numbers must not become 0.
    """
    return {places[n]: mark(literals[n] or 1 if n in durations else literals[n], n) for n in numbers}
