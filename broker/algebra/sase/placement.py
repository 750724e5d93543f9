"""Where the conditions of a SASE+ query are tested: on the edge of their last identifier (semantics 2.3, point 2).

Here: conditions in conjunctive normal form, and the place of each conjunct; all on syntax, where parts still know their
places in the text. Not here: types, what the edges become (lowering).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...language import syntax
from ...language.shorthand import written_out
from ...language.syntax import Expression, MemberAccess
from ..normal_form import CLAUSES_MAX
from ..resolution import refuse


class GuardedEdge(enum.IntEnum):
    """The moments of a component, in the order in which identifiers are instantiated: a[1] < a[i] < a[a.LEN]."""

    BEGIN = 0
    TAKE = 1
    PROCEED = 2


@dataclass(frozen=True, slots=True)
class GuardPlace:
    """Where a conjunct is tested: an edge of a positive component, or the match as a whole for a negated one."""

    component: int
    edge: GuardedEdge
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """What is declared by a name: `index` counts the positive and the negated components each on their own."""

    index: int
    source: int
    kleene: bool
    negated: bool


_NEGATED: Final[Mapping[syntax.ComparisonOperator, syntax.ComparisonOperator]] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}
RUNNING: Final = ("i", "i-1", "..i-1")
"""Subscripts that mean something only while a component takes."""


def conjuncts(condition: Expression) -> list[Expression]:
    """The conjunctive normal form of a condition, NOT pushed into comparisons: each conjunct a literal or an OR.

    A null makes a comparison and its NOT false, so that this says the same. An OR that would lead to more than
    CLAUSES_MAX conjuncts is one of them.
    """
    found: list[Expression] = []
    for clause in _clauses(condition, True):
        found.append(clause[0] if len(clause) == 1 else syntax.Or(clause, condition.at))
    return found


def _clauses(condition: Expression, wanted: bool) -> list[tuple[Expression, ...]]:
    whole = condition if wanted else syntax.Not(condition, condition.at)
    match condition:
        case syntax.Not(operand):
            return _clauses(operand, not wanted)
        case syntax.And(operands) | syntax.Or(operands):
            parts = [_clauses(operand, wanted) for operand in operands]
            if isinstance(condition, syntax.And) is wanted:
                return [clause for part in parts for clause in part]
            return _product(parts) or [(whole,)]
        case syntax.OneOf() | syntax.InRange():
            return _clauses(written_out(condition), wanted)
        case syntax.ComparisonExpression(operator, left, right, at) if not wanted:
            return [(syntax.ComparisonExpression(_NEGATED[operator], left, right, at),)]
        case _:
            return [(whole,)]


def _product(parts: list[list[tuple[Expression, ...]]]) -> list[tuple[Expression, ...]]:
    """The conjuncts of an OR; none if these are too many."""
    result: list[tuple[Expression, ...]] = [()]
    for part in parts:
        if len(part) > 1:
            result = [one + other for one in result for other in part]
        if len(result) > CLAUSES_MAX:
            return []
    everywhere = tuple(literal for part in parts if len(part) == 1 for literal in part[0])
    return [tuple(dict.fromkeys(one + everywhere)) for one in result]


def members(expression: object) -> Iterator[MemberAccess]:
    """The attributes of variables in an expression, in the order of the text."""
    match expression:
        case MemberAccess():
            yield expression
        case tuple():
            for part in expression:
                yield from members(part)
        case str():
            return
        case _:
            for slot in getattr(expression, "__slots__", ()):
                yield from members(getattr(expression, slot))


def is_length(member: MemberAccess, variable: Variable) -> bool:
    """Whether it is `a.LEN`, which only a Kleene variable has."""
    return variable.kleene and member.subscript is None


def edge_of(member: MemberAccess, variable: Variable) -> GuardedEdge:
    if is_length(member, variable) or member.subscript in ("LEN", ""):
        return GuardedEdge.PROCEED
    return GuardedEdge.TAKE if member.subscript in RUNNING else GuardedEdge.BEGIN


def placed(conjunct: Expression, variables: Mapping[str, Variable], text: str) -> GuardPlace | None:
    """Where a conjunct is tested; None where it names no variable at all.

    Raises QueryError where it names two negated variables, or `a[i]` together with something that comes after it.
    """
    named = [(member, variables[member.variable]) for member in members(conjunct)]
    if not named:
        return None
    place = _negated(named, text)
    if place is None:
        component, edge = max((variable.index, edge_of(member, variable)) for member, variable in named)
        place = GuardPlace(component, edge)
    for member, variable in named:
        here = not place.negated and (variable.index, GuardedEdge.TAKE) == (place.component, place.edge)
        if member.subscript in RUNNING and not here:
            refuse_running(member, text)
    return place


def _negated(named: Sequence[tuple[MemberAccess, Variable]], text: str) -> GuardPlace | None:
    place: GuardPlace | None = None
    for member, variable in named:
        if variable.negated:
            if place is not None and place.component != variable.index:
                refuse(text, member.at, f"expected one negated variable in a condition, found {member.variable!r} too")
            place = GuardPlace(variable.index, GuardedEdge.BEGIN, True)
    return place


def refuse_running(member: MemberAccess, text: str) -> None:
    """`a[i]` where `a` takes nothing any more."""
    name, attribute = member.variable, member.attribute
    found = f"{name}[{member.subscript}].{attribute}"
    meant = f"{name}[1].{attribute}, {name}[{name}.LEN].{attribute} or an aggregate such as max({name}[].{attribute})"
    refuse(text, member.at, f"expected '{found}' only beside what comes before it; of all events together: {meant}")
