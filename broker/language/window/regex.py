"""The nodes of a regular expression over events as written; no meaning, no text.

The tree keeps what a reader that prefers one match to another needs: the order of alternatives, and whether a
quantifier is reluctant. Windows are sets, for which neither makes a difference. Not here: the query around an
expression (syntax), the expressions of automata, which are simplified (broker.automaton.windows).

`at` is as in broker/language/syntax.py: where the node begins in the text, -1 if a program made it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, final

from ..syntax import Expression


@final
@dataclass(frozen=True, slots=True)
class AnyEvent:
    """`any`: one event."""

    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class EventPredicate:
    """`[predicate]`: one event that satisfies it."""

    predicate: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Concatenation:
    """At least two parts, one after the other, as one chain was written."""

    parts: tuple[RegexExpression, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Alternation:
    """`a | b`: at least two parts, the preferred one first."""

    parts: tuple[RegexExpression, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Intersection:
    """`a & b`: at least two parts, each of which matches the whole."""

    parts: tuple[RegexExpression, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Complement:
    """`!(a)`: every non-empty sequence of events that `a` does not match."""

    part: RegexExpression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Quantified:
    """`a{least,most}`, of which `*`, `+` and `?` are short forms; `most` is None without a greatest number.

    `reluctant`: as few as possible are preferred, `a*?`.
    """

    part: RegexExpression
    least: int
    most: int | None
    reluctant: bool = False
    at: int = field(default=-1, compare=False, repr=False)


RegexExpression: TypeAlias = (
    AnyEvent | EventPredicate | Concatenation | Alternation | Intersection | Complement | Quantified
)
