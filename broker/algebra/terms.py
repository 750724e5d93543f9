"""Typed terms: values computed from an event, from what a pattern has bound, and from constants.

Here: the tree and its types, without evaluation. Not here: names and positions in a text (language), evaluation
(semantics, predicate), canonical forms (normal_form).

A term is immutable and hashable. Two terms are equal exactly if they compute the same value in the same way; names,
which are only for display, do not count.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ..events.schema import Value, ValueType
from ..events.text_operators import TEXT_OPERATORS
from .functions import CASE, IS_NULL, MEMBER


class Side(enum.Enum):
    """The input whose attribute a term reads (Cayuga's `$2`, `$1` and `$`)."""

    EVENT = "event"  # the incoming event, or the only input of a selection or projection
    FIRST = "first"  # the left input
    LAST = "last"  # FOLD: the left input after the last iteration


@dataclass(frozen=True, slots=True)
class Constant:
    value: Value
    type: ValueType

    def __hash__(self) -> int:
        # 1, 1.0 and TRUE are one dictionary key in Python but three constants here.
        return hash((self.type, self.value))


class LiteralUsed(Exception):
    """Raised when a computation uses a literal that must stay exchangeable (see broker.language.marked_literals).

    `number` is the literal's, or the complement of it.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


def used(constant: Constant) -> Value:
    """Return the value for a computation. Raises LiteralUsed if it is marked, that is, if it has a type of its own."""
    check_plain(constant.value)
    return constant.value


def check_plain(value: Any) -> None:
    """Raise LiteralUsed if a value is marked, before a computation."""
    if type(value) not in _PLAIN:
        raise LiteralUsed(value.number)


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an input, by its position in that input's schema."""

    side: Side
    position: int
    type: ValueType
    name: str = field(default="", compare=False)
    nullable: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Register:
    """A value that a run remembers. `slot` -1 is the row that it bound last, read at `position`. Any other slot holds
    an earlier row, read at `position`, or a computed value if `position` is -1."""

    slot: int
    position: int
    type: ValueType
    name: str = field(default="", compare=False)
    nullable: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Duration:
    """DUR = t1 - t0 + 1 (Cayuga, 2.1), in microseconds, of the event alone or of the whole composition."""

    composition: bool
    type: ValueType = "int"


@dataclass(frozen=True, slots=True)
class Instant:
    """CEL's `time` and, with `begins`, `start`: when an input ended or began, in microseconds. An automaton reads both
    as attributes of a timed stream (timed_stream) instead."""

    side: Side
    begins: bool
    type: ValueType = "int"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`+ - * / ^ %`; null if an operand is null, the divisor is zero or the result exceeds 64 bits."""

    operator: str
    left: Term
    right: Term
    type: ValueType


class KnownOnce:
    """Keeps what is asked again and again of a term that may be large, on its way to an index: its hash, for many
    tables, its leaves, its `key`, which only equal terms have (normal_form), and what it asks of a text (text_tests).

    None of these is a field, so that they are not pickled: another process hashes texts differently.
    """

    __slots__ = ("_asked", "_hash", "_key", "_leaves")
    _asked: object
    _hash: int
    _key: str
    _leaves: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Function(KnownOnce):
    """A scalar function of `functions.py` by name, a text operator with its pattern, IS NULL or CASE."""

    name: str
    arguments: tuple[Term, ...]
    type: ValueType

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash((self.name, self.arguments, self.type)))
            return self._hash


@dataclass(frozen=True, slots=True)
class Comparison(KnownOnce):
    """`= != < <= > >=`; false if an operand is null, and then its negation is false as well."""

    operator: str
    left: Term
    right: Term
    type: ValueType = "bool"

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash((self.operator, self.left, self.right)))
            return self._hash


@dataclass(frozen=True, slots=True)
class Conjunction:
    operands: tuple[Term, ...]
    type: ValueType = "bool"


@dataclass(frozen=True, slots=True)
class Disjunction:
    operands: tuple[Term, ...]
    type: ValueType = "bool"


@dataclass(frozen=True, slots=True)
class Negation:
    operand: Term
    type: ValueType = "bool"


Term: TypeAlias = (
    Constant
    | Attribute
    | Register
    | Duration
    | Instant
    | Arithmetic
    | Function
    | Comparison
    | Conjunction
    | Disjunction
    | Negation
)

_BETWEEN: Final = (*TEXT_OPERATORS, MEMBER)  # what is written between its arguments
_PREFIXES: Final = {Side.EVENT: "", Side.FIRST: "$1.", Side.LAST: "$."}

TRUE: Final = Constant(True, "bool")
FALSE: Final = Constant(False, "bool")


def children(term: Term) -> tuple[Term, ...]:
    match term:
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return (left, right)
        case Function(_, arguments):
            return arguments
        case Conjunction(operands) | Disjunction(operands):
            return operands
        case Negation(operand):
            return (operand,)
        case _:
            return ()


def walk(term: Term) -> Iterator[Term]:
    """Yield the term and all terms in it, parents first."""
    waiting = [term]
    while waiting:
        term = waiting.pop()
        yield term
        waiting += reversed(children(term))


def leaves(term: Term) -> tuple[Term, ...]:
    """The constants, and what the term reads, from left to right. O(1) for a condition or function that was asked."""
    if not isinstance(term, KnownOnce):
        below = children(term)
        return tuple([leaf for part in below for leaf in leaves(part)]) if below else (term,)
    try:
        return term._leaves
    except AttributeError:
        found = tuple([leaf for part in children(term) for leaf in leaves(part)])
        object.__setattr__(term, "_leaves", found)
        return found


def replace(term: Term, leaf: Callable[[Term], Term]) -> Term:
    """Return the term with `leaf` applied to every leaf."""
    match term:
        case Arithmetic(operator, left, right, type_):
            return Arithmetic(operator, replace(left, leaf), replace(right, leaf), type_)
        case Comparison(operator, left, right):
            return Comparison(operator, replace(left, leaf), replace(right, leaf))
        case Function(name, arguments, type_):
            return Function(name, tuple(replace(a, leaf) for a in arguments), type_)
        case Conjunction(operands):
            return Conjunction(tuple(replace(o, leaf) for o in operands))
        case Disjunction(operands):
            return Disjunction(tuple(replace(o, leaf) for o in operands))
        case Negation(operand):
            return Negation(replace(operand, leaf))
        case _:
            return leaf(term)


def both(left: Term, right: Term) -> Term:
    """Return `left AND right`, flat and without constants that have no effect."""
    if left == TRUE:
        return right
    if right == TRUE:
        return left
    parts: list[Term] = []
    for term in (left, right):
        parts.extend(term.operands if isinstance(term, Conjunction) else (term,))
    return Conjunction(tuple(parts))


def nullable(term: Term) -> bool:
    """Return whether the term can be null although all attributes declared as not null are not null."""
    match term:
        case Constant(value, _):
            return value is None
        case Attribute() | Register():
            return term.nullable
        case Arithmetic():
            return True
        case Function("coalesce", arguments):
            return all(nullable(a) for a in arguments)
        case Function(name, arguments) if name == IS_NULL:
            return False
        case Function(name, arguments) if name == CASE:
            return any(nullable(value) for value in (*arguments[1::2], arguments[-1]))
        case Function(name, arguments):
            return name == "sqrt" or any(nullable(a) or a.type in ("int", "float") for a in arguments)
        case _:
            return False


def describe(term: Term) -> str:
    """Return the term as text for diagrams, `explain` and messages."""
    match term:
        case Constant(value, type_):
            if type_ == "string":
                return "'" + str(value).replace("'", "''") + "'"
            return str(value).upper() if isinstance(value, bool) or value is None else repr(value)
        case Attribute(side, position, _, name):
            return _PREFIXES[side] + (name or f"#{position}")
        case Register(slot, position, _, name):
            return "$." + (name or f"register {slot}:{position}")
        case Duration(composition):
            return "DUR" if composition else "DUR(event)"
        case Instant(side, begins):
            return _PREFIXES[side] + ("start" if begins else "time")
        case Arithmetic(operator, left, right):
            return f"({describe(left)} {operator} {describe(right)})"
        case Function(name, arguments) if name == IS_NULL:
            return _null_test(arguments[0], True)
        case Function(name, arguments) if name == CASE:
            branches = zip(arguments[:-1:2], arguments[1::2], strict=True)
            parts = [f"WHEN {describe(when)} THEN {describe(then)}" for when, then in branches]
            return " ".join(("CASE", *parts, "ELSE", describe(arguments[-1]), "END"))
        case Function(name, (operand, pattern)) if name in _BETWEEN:
            return f"{describe(operand)} {name.upper().removeprefix('ANY ')} {describe(pattern)}"
        case Function(name, arguments):
            return f"{name}({', '.join(describe(a) for a in arguments)})"
        case Comparison("=", Function(name, (operand,)), Constant(bool() as wanted)) if name == IS_NULL:
            return _null_test(operand, wanted)
        case Comparison("=", Function(name) as test, Constant(bool() as wanted)) if name in _BETWEEN:
            return describe(test) if wanted else f"NOT {describe(test)}"
        case Comparison(operator, left, right):
            return f"{describe(left)} {operator} {describe(right)}"
        case Conjunction(operands):
            return " AND ".join(f"({describe(o)})" if isinstance(o, Disjunction) else describe(o) for o in operands)
        case Disjunction(operands):
            return " OR ".join(describe(o) for o in operands)
        case Negation(operand):
            return f"NOT ({describe(operand)})"


def _null_test(operand: Term, wanted: bool) -> str:
    shown = describe(operand)
    if isinstance(operand, Comparison | Conjunction | Disjunction | Negation):
        shown = f"({shown})"
    return f"{shown} IS {'' if wanted else 'NOT '}NULL"
