"""The nodes of an expression as written, shared by every language: no meaning, no types, no text.

A node's `at` is the 0-based offset in the query's text of the word or sign that names it (of an infix operator: of its
sign), and -1 if the node was not parsed from a text; it does not count in equality. Chains of AND and OR are one n-ary
node, because they may be long. All other nodes nest, to a depth that limits.py limits for parsed texts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, final

ArithmeticOperator: TypeAlias = Literal["+", "-", "*", "/", "^", "%"]
ComparisonOperator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
TextOperator: TypeAlias = Literal["like", "like~", "matches", "matches~", "cidr"]


@final
@dataclass(frozen=True, slots=True)
class Number:
    """A number of at least 0: `5` is an int, `5.0` a float, `80%` the float 0.8, `5 min` the int of its
    microseconds."""

    value: int | float
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class String:
    value: str
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Boolean:
    value: bool
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class DurationExpression:
    """The word DUR: the duration of the composite event."""

    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Name:
    """An attribute; `qualifier` is None for `a`, "" for `$.a`, "1" for `$1.a`, "2" for `$2.a`."""

    qualifier: str | None
    attribute: str
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class MemberAccess:
    """An attribute of the events of a pattern's variable (SASE+).

    `subscript` is the text in the brackets, None if there are none: `b.x`, `a[1].x`, `a[i].x`, `a[i-1].x`, "LEN" for
    `a[a.LEN].x`. "" and "..i-1" mean several events and need an aggregate: `avg(a[].x)`, `max(a[..i-1].x)`.
    """

    variable: str
    subscript: str | None
    attribute: str
    aggregate: str | None = None
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Negative:
    operand: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Not:
    operand: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class ArithmeticExpression:
    operator: ArithmeticOperator
    left: Expression
    right: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class ComparisonExpression:
    operator: ComparisonOperator
    left: Expression
    right: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class OneOf:
    """`operand IN (values)`, at least one; `negated`: NOT IN. `shorthand.py` says what it stands for."""

    operand: Expression
    values: tuple[Expression, ...]
    negated: bool = False
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class InRange:
    """`operand BETWEEN low AND high`; `negated`: NOT BETWEEN. `shorthand.py` says what it stands for."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class TextTest:
    """`operand LIKE (patterns)`, at least one of which must fit, or MATCHES or CIDR; `negated`: NOT LIKE."""

    operator: TextOperator
    operand: Expression
    patterns: tuple[String, ...]
    negated: bool = False
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class IsNull:
    """`operand IS NULL`; `negated`: IS NOT NULL."""

    operand: Expression
    negated: bool = False
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class CaseBranch:
    """`WHEN condition THEN value`."""

    condition: Expression
    value: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class CaseExpression:
    """`CASE branches ELSE otherwise END`: the value of the first branch, of at least one, whose condition holds."""

    branches: tuple[CaseBranch, ...]
    otherwise: Expression | None = None
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class And:
    """At least two operands, as one unparenthesised chain was written."""

    operands: tuple[Expression, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Or:
    """At least two operands, as one unparenthesised chain was written."""

    operands: tuple[Expression, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Call:
    """A function by its written name, which may be unknown."""

    function: str
    arguments: tuple[Expression, ...]
    at: int = field(default=-1, compare=False, repr=False)


Expression: TypeAlias = (
    Number
    | String
    | Boolean
    | DurationExpression
    | Name
    | MemberAccess
    | Negative
    | Not
    | ArithmeticExpression
    | ComparisonExpression
    | OneOf
    | InRange
    | TextTest
    | IsNull
    | CaseExpression
    | And
    | Or
    | Call
)
