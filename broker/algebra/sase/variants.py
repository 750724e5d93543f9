"""The variants of a SASE+ pattern: the plain patterns whose matches are its matches.

A pattern whose elements may be absent stands for several plain ones, a variant for each combination of the elements
that a match may lack:

- A condition that names an absent element is not demanded. In RETURN its attributes are null, the number of its events
  and `count` are 0.
- Between elements that are there, an absent element under skip_till_next_match is a negation: no event in its place
  fits it, by the conditions on it that read nothing but earlier elements. For the strategy demands that a match takes
  the first event that fits. Under any other strategy, and before the first and behind the last element that is there,
  it says nothing.
- The streams of all elements count in all variants, so that contiguity means the same.

Two variants give their events to different variables, so no match belongs to two of them.

Here: which variants there are, what an absent element demands. Not here: lowering a variant (lowering), the order of
all matches (semantics).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Final, TypeAlias

from ...language.limits import VARIANTS_MAX
from ...language.sase.syntax import ComponentExpression, SaseQuery
from ...language.syntax import Expression
from ..resolution import refuse
from .placement import GuardedEdge, Variable, edge_of, members

Absent: TypeAlias = frozenset[str]
"""The variables of a variant that have no event."""

_NONE: Final[Absent] = frozenset()


def variants_of(query: SaseQuery, text: str) -> list[Absent]:
    """What each variant lacks, those with earlier elements first.

    Raises QueryError where a match could have no event, where a negation could stand at an end that it does not have in
    the text, and beyond VARIANTS_MAX variants.
    """
    choices = [_choices(component) for component in query.components if component.kind != "negated"]
    _check_number(query, text)
    _check_ends(query.components, text)
    return [_NONE.union(*chosen) for chosen in product(*choices)]


def _choices(component: ComponentExpression) -> list[Absent]:
    """The sets of variables that an element may lack."""
    return [_NONE] if component.least else [_NONE, frozenset((component.variable,))]


def _check_number(query: SaseQuery, text: str) -> None:
    number = 1
    for component in query.components:
        number *= 1 if component.least else 2
        if number > VARIANTS_MAX:
            found = f"expected at most {VARIANTS_MAX} combinations of elements that may be absent, found more"
            refuse(text, component.at, found)


def _check_ends(components: Sequence[ComponentExpression], text: str) -> None:
    """Of the elements on each side of a negation, if there are any, one is in every match."""
    positive = [c for c in components if c.kind != "negated"]
    if positive and not any(c.least for c in positive):
        refuse(text, positive[0].at, "expected an element that cannot be absent, found none")
    for place, component in enumerate(components):
        for word, side in (("before", components[:place]), ("behind", components[place + 1 :])):
            beside = [c for c in side if c.kind != "negated"]
            if component.kind == "negated" and beside and not any(c.least for c in beside):
                message = f"expected an element that cannot be absent {word} the negation of {component.variable!r}"
                refuse(text, beside[0].at, f"{message}, found none")


def denied_in(query: SaseQuery, absent: Absent, strategies: Mapping[str, str]) -> Absent:
    """The absent elements between others under skip_till_next_match: no event in their place may fit them."""
    there = [c.kind != "negated" and c.variable not in absent for c in query.components]
    first, last = there.index(True), len(there) - there[::-1].index(True)
    between = [component.variable for component in query.components[first:last]]
    return frozenset(v for v in between if v in absent and strategies[v] == "skip_till_next_match")


def demanded(
    conjunct: Expression,
    absent: Absent,
    denied: Collection[str],
    variables: Mapping[str, Variable],
    order: Mapping[str, int],
) -> bool:
    """Whether a variant demands a condition: it names no absent element; or one that is denied, whose first event it
    concerns, and otherwise only elements before that."""
    lacking = {member.variable for member in members(conjunct) if member.variable in absent}
    if not lacking:
        return True
    only, *more = lacking
    if more or only not in denied:
        return False
    for member in members(conjunct):
        variable = variables[member.variable]
        if member.variable == only:
            if member.aggregate is not None or edge_of(member, variable) != GuardedEdge.BEGIN:
                return False
        elif variable.negated or order[member.variable] > order[only]:
            return False
    return True


def names_of(components: Sequence[ComponentExpression]) -> Iterator[str]:
    """The variables that a match may have, in the order of the pattern."""
    return (component.variable for component in components if component.kind != "negated")
