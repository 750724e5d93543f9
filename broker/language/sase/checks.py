"""Checks of a SASE+ query that its grammar leaves open: each variable is declared once, and used as its kind asks.

Here: checks of names and kinds. Not here: streams and attributes (broker.algebra.sase), reading a text (parser).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, final

from lark import Token

from ...events.nearest import suggestion
from ..diagnostics import Misread, quoted
from ..expression import place
from ..limits import OPERANDS_MAX, REPETITIONS_MAX
from ..syntax import MemberAccess
from .syntax import ComponentExpression, EqualAttributes, Kind, Strategy

NOT_KLEENE: Final = MappingProxyType({"single": "stands for one event", "negated": "is negated"})


@final
@dataclass(frozen=True, slots=True)
class Covered:
    """A variable under a strategy, as it is written."""

    name: str
    brackets: bool
    at: int


def check_names(
    components: Sequence[ComponentExpression], selections: Iterable[tuple[Strategy, list[Covered], int]]
) -> None:
    """Check that each variable is declared once and has at most one strategy. Raises Misread."""
    if len(components) > OPERANDS_MAX:
        raise Misread(components[OPERANDS_MAX].at, f"expected at most {OPERANDS_MAX} components in SEQ, found more")
    kinds: dict[str, Kind] = {}
    for component in components:
        if component.variable in kinds:
            message = f"expected each variable once, found a second {component.variable!r}"
            raise Misread(component.named_at, message)
        kinds[component.variable] = component.kind
    chosen: set[str] = set()
    for _, covered, _ in selections:
        for variable in covered:
            kind = _kind(variable.name, variable.at, kinds)
            if variable.brackets and kind != "kleene":
                message = f"expected '{variable.name}' without '[]', since it {NOT_KLEENE[kind]}"
                raise Misread(variable.at, message)
            if variable.name in chosen:
                raise Misread(variable.at, f"expected one strategy for each variable, found two for {variable.name!r}")
            chosen.add(variable.name)


def count(number: Token) -> int:
    """Return a bound on the number of events. Raises Misread for another number."""
    if not number.isdigit() or len(number) > len(str(REPETITIONS_MAX)) or int(number) > REPETITIONS_MAX:
        raise Misread(place(number), f"expected a whole number of at most {REPETITIONS_MAX:,}, found {quoted(number)}")
    return int(number)


def checked_bounds(component: ComponentExpression, at: int) -> ComponentExpression:
    """Return the component. Raises Misread at the greater bound if no number of events is within both."""
    least, most = max(component.least, 1), component.most
    if most is not None and most < least:
        raise Misread(at, f"expected at least {least} as the greatest number of events, found {most}")
    return component


def checked_test(test: EqualAttributes, kinds: Mapping[str, Kind]) -> EqualAttributes:
    """Return a test `[a.x = b.y]` without the brackets behind its Kleene variables.

    Raises Misread where it names a variable twice, or brackets follow one that is not Kleene.
    """
    named: set[str] = set()
    for member in test.members:
        kind, name = _kind(member.variable, member.at, kinds), member.variable
        if member.subscript is not None and kind != "kleene":
            raise Misread(member.at, f"expected '{name}.{member.attribute}' without '[]', since it {NOT_KLEENE[kind]}")
        if name in named:
            raise Misread(member.at, f"expected each variable once in an equivalence test, found {name!r} twice")
        named.add(name)
    return replace(test, members=tuple(replace(member, subscript=None) for member in test.members))


def _kind(variable: str, at: int, kinds: Mapping[str, Kind]) -> Kind:
    if variable not in kinds:
        near = suggestion(variable, kinds) or f"; expected one of {', '.join(list(kinds)[:8])}"
        raise Misread(at, f"unknown variable {quoted(variable)}{near}")
    return kinds[variable]


def check_member(member: MemberAccess, kinds: Mapping[str, Kind]) -> None:
    """Check that exactly the Kleene variables have a subscript. Raises Misread."""
    kind, name, attribute = _kind(member.variable, member.at, kinds), member.variable, member.attribute
    if kind == "kleene" and member.subscript is None and attribute.upper() != "LEN":
        forms = (
            f"{name}[1].{attribute}, {name}[i].{attribute}, {name}[{name}.LEN].{attribute} or avg({name}[].{attribute})"
        )
        raise Misread(member.at, f"expected a subscript, since '{name}' is a Kleene variable: {forms}")
    if kind != "kleene" and member.subscript is not None:
        message = f"expected '{name}.{attribute}' without a subscript, since '{name}' {NOT_KLEENE[kind]}"
        raise Misread(member.at, message)
