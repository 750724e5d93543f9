"""The nodes of a window query as written: what a window is, which windows are kept, and what is computed of them.

Not here: regular expressions (regex), the nodes of expressions (broker/language/syntax.py). `at` is as there: where the
node begins in the text, -1 if a program made it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, final

from ..syntax import Expression, Name
from .regex import RegexExpression

Keep: TypeAlias = Literal["each", "shortest", "longest", "earliest", "latest"]
KEEPS: Final[tuple[Keep, ...]] = ("shortest", "longest", "earliest", "latest")
"""What KEEP may be followed by; `each` is its absence."""


@final
@dataclass(frozen=True, slots=True)
class WindowSize:
    """A length: a duration in microseconds, or a number of events."""

    amount: int
    events: bool
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class PairExpression:
    """`AFTER prefix MATCHING body WITHIN within`: all that comes before a window, and the window. `within` is in
    microseconds, None for no bound."""

    prefix: RegexExpression
    body: RegexExpression
    within: int | None
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Pairs:
    pairs: tuple[PairExpression, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class ClockWindows:
    """`LAST size EVERY slide OFFSET offset`; `size` is None for `EVERY slide`, `slide` for `LAST size`."""

    size: WindowSize | None
    slide: WindowSize | None
    offset: int
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class SessionWindows:
    """`SESSION gap`, in microseconds."""

    gap: int
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class MarkedWindows:
    """`START first, END last WHERE formula`: windows by the variables of their first and last event.

    The formula is an expression in which Implication, Equivalence, QuantifiedFormula and Membership may occur.
    `prev(z).price` is a MemberAccess of the variable "prev(z)".
    """

    first: str
    last: str
    formula: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Implication:
    premise: Expression
    conclusion: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Equivalence:
    left: Expression
    right: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Membership:
    """`variable IN collection`."""

    variable: str
    collection: str
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class QuantifiedFormula:
    """`EXISTS z: formula` or, with `every`, `ALL z: formula`, of one or several variables.

    `sets`: of sets of events. `between`: only events from that of the first variable to that of the second.
    """

    every: bool
    sets: bool
    variables: tuple[str, ...]
    between: tuple[str, str] | None
    formula: Expression
    at: int = field(default=-1, compare=False, repr=False)


FORMULA_NODES: Final = (Implication, Equivalence, Membership, QuantifiedFormula)
"""What an expression has only in a formula."""


@final
@dataclass(frozen=True, slots=True)
class AggregateExpression:
    """`function(arguments) AS name`; `*` is no argument. `distinct`: of different values only."""

    function: str
    arguments: tuple[Expression, ...]
    distinct: bool
    name: str
    at: int = field(default=-1, compare=False, repr=False)
    named_at: int = field(default=-1, compare=False, repr=False)


WindowsExpression: TypeAlias = Pairs | ClockWindows | SessionWindows | MarkedWindows


@final
@dataclass(frozen=True, slots=True)
class WindowQuery:
    """A whole query: `partition` has the attributes of BY."""

    stream: str
    partition: tuple[Name, ...]
    windows: WindowsExpression
    keep: Keep
    aggregates: tuple[AggregateExpression, ...]
    publish: str | None
    at: int = field(default=-1, compare=False, repr=False)
