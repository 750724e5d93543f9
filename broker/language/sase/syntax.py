"""The nodes of a SASE+ query as written; no meaning, no schemas, no text. Expressions are in syntax.py.

Equivalence tests `[attr]` and `[a.x = b.y]` are separate from the other conjuncts of the conditions, in the order of
the text: they may occur anywhere among them with the same meaning. `at` is as in syntax.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, final, get_args

from ..syntax import Expression, MemberAccess, Name

Kind: TypeAlias = Literal["single", "kleene", "negated"]
Strategy: TypeAlias = Literal[
    "strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match"
]
Output: TypeAlias = Literal["all", "nonoverlap", "compressed"]

STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)
OUTPUTS: Final[tuple[Output, ...]] = get_args(Output)


@final
@dataclass(frozen=True, slots=True)
class ComponentExpression:
    """`S a`, `S? a`, `S+ a[]`, `S* a[]`, `S{2,5} a[]` or `~(S a)`: `least` is 0 if a match may have no event of it.

    Only a Kleene component has a `most`, None without a bound. `at` is the position of the stream, `named_at` that of
    the variable.
    """

    stream: str
    variable: str
    kind: Kind
    least: int = 1
    most: int | None = None
    at: int = field(default=-1, compare=False, repr=False)
    named_at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class ElementAlternatives:
    """`(S a | T+ b[])`: at least two elements, of which a match has one; with `?` behind it, `least` 0, one or none."""

    options: tuple[ComponentExpression, ...]
    least: int = 1
    at: int = field(default=-1, compare=False, repr=False)


Element: TypeAlias = ComponentExpression | ElementAlternatives


@final
@dataclass(frozen=True, slots=True)
class EqualAttributes:
    """`[a.x = b.y]`: attributes of at least two variables, each once, that are equal; without subscripts."""

    members: tuple[MemberAccess, ...]
    at: int = field(default=-1, compare=False, repr=False)


EquivalenceTest: TypeAlias = Name | EqualAttributes
"""An attribute that all events share, or attributes of some variables."""


@final
@dataclass(frozen=True, slots=True)
class StrategyClause:
    """`strategy(a, b[])`: a strategy and the names of its variables."""

    strategy: Strategy
    variables: tuple[str, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class ReturnItem:
    """One value of RETURN."""

    expression: Expression
    alias: str | None
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class SaseQuery:
    """A whole query.

    `elements` are those of SEQ. `equivalence` has the tests of all brackets; `conditions` are the other conjuncts, none
    of which is an AND; `within` is in microseconds; `at` is the position of the duration after WITHIN or, without
    WITHIN, of PATTERN.
    """

    elements: tuple[Element, ...]
    selections: tuple[StrategyClause, ...]
    equivalence: tuple[EquivalenceTest, ...]
    conditions: tuple[Expression, ...]
    within: int | None
    items: tuple[ReturnItem, ...]
    output: Output
    publish: str | None
    at: int = field(default=-1, compare=False, repr=False)

    @property
    def components(self) -> tuple[ComponentExpression, ...]:
        """The elements, with alternatives one by one."""
        return components_of(self.elements)


def components_of(elements: Iterable[Element]) -> tuple[ComponentExpression, ...]:
    found: list[ComponentExpression] = []
    for element in elements:
        found += element.options if isinstance(element, ElementAlternatives) else (element,)
    return tuple(found)
