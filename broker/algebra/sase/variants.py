"""The variants of a SASE+ pattern: the plain patterns whose matches are its matches.

A pattern whose elements may be absent stands for several plain ones, a variant for each combination of the elements
that a match may lack:

- A condition that names an absent element is not demanded. In RETURN its attributes are null, the number of its events
  and `count` are 0.
- Between elements that are there, an absent element under skip_till_next_match is a negation: no event in its place
  fits it, by the conditions on it that read nothing but earlier elements. For the strategy demands that a match takes
  the first event that fits. Under any other strategy, and before the first and behind the last element that is there,
  it says nothing.
- Of alternatives each variant has one, or none if none has to be. The others are absent, in the place of that one: no
  event that fits them comes before it.
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
from ...language.sase.syntax import ComponentExpression, Element, ElementAlternatives, SaseQuery, components_of
from ...language.syntax import Expression
from ..resolution import refuse
from .placement import GuardedEdge, Variable, conjuncts, edge_of, members

Absent: TypeAlias = frozenset[str]
"""The variables of a variant that have no event."""

_NONE: Final[Absent] = frozenset()


def variants_of(query: SaseQuery, text: str) -> list[Absent]:
    """What each variant lacks, those with earlier elements first.

    Raises QueryError where a match could have no event, where a negation could stand at an end that it does not have in
    the text, and beyond VARIANTS_MAX variants.
    """
    choices = [_choices(element) for element in query.elements if _is_positive(element)]
    _check_number(query, text)
    _check_ends(query.elements, text)
    _check_together(query, text)
    return [_NONE.union(*chosen) for chosen in product(*choices)]


def _is_positive(element: Element) -> bool:
    return isinstance(element, ElementAlternatives) or element.kind != "negated"


def _choices(element: Element) -> list[Absent]:
    """The sets of variables that an element may lack."""
    every = frozenset(variables_of(element))
    found = [every - {variable} for variable in variables_of(element)]
    return found if element.least else [*found, every]


def variables_of(element: Element) -> list[str]:
    """The variables of an element."""
    return [component.variable for component in components_of((element,))]


def _check_number(query: SaseQuery, text: str) -> None:
    number = 1
    for element in query.elements:
        number *= len(_choices(element)) if _is_positive(element) else 1
        if number > VARIANTS_MAX:
            found = f"expected at most {VARIANTS_MAX} combinations of elements that may be absent, found more"
            refuse(text, element.at, found)


def _check_together(query: SaseQuery, text: str) -> None:
    """No condition names two alternatives, as no match has both."""
    groups = [variables_of(element) for element in query.elements if isinstance(element, ElementAlternatives)]
    for written in query.conditions if groups else ():
        for conjunct in conjuncts(written):
            named = {member.variable: member.at for member in members(conjunct)}
            for group in groups:
                both = [variable for variable in named if variable in group]
                if len(both) > 1:
                    found = f"found {both[0]!r} and {both[1]!r}; write one for each"
                    refuse(text, named[both[1]], f"expected a condition on one of several alternatives, {found}")


def _check_ends(elements: Sequence[Element], text: str) -> None:
    """Of the elements on each side of a negation, if there are any, one is in every match."""
    positive = [each for each in elements if _is_positive(each)]
    if positive and not any(each.least for each in positive):
        refuse(text, positive[0].at, "expected an element that cannot be absent, found none")
    for place, element in enumerate(elements):
        if isinstance(element, ElementAlternatives) or element.kind != "negated":
            continue
        for word, side in (("before", elements[:place]), ("behind", elements[place + 1 :])):
            beside = [each for each in side if _is_positive(each)]
            if beside and not any(each.least for each in beside):
                message = f"expected an element that cannot be absent {word} the negation of {element.variable!r}"
                refuse(text, beside[0].at, f"{message}, found none")


def places_of(query: SaseQuery) -> dict[str, int]:
    """By variable the number of its element, which alternatives have in common."""
    return {variable: at for at, element in enumerate(query.elements) for variable in variables_of(element)}


def denied_in(query: SaseQuery, absent: Absent, strategies: Mapping[str, str]) -> Absent:
    """The absent elements between others under skip_till_next_match: no event in their place may fit them.

    The place of an absent alternative is before the one that is there.
    """
    places = places_of(query)
    there = [places[variable] for variable in names_of(query.components) if variable not in absent]
    return frozenset(
        variable
        for variable in absent
        if min(there) < places[variable] <= max(there) and strategies[variable] == "skip_till_next_match"
    )


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
        elif variable.negated or order[member.variable] >= order[only]:
            return False
    return True


def names_of(components: Sequence[ComponentExpression]) -> Iterator[str]:
    """The variables that a match may have, in the order of the pattern."""
    return (component.variable for component in components if component.kind != "negated")
