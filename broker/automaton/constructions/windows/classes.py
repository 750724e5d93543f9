"""The classes of events: which sets of conditions one event can satisfy together.

Conditions on one attribute with constants divide its values into a few regions; two values that are compared are
smaller, equal or greater. So there are far fewer classes than sets of conditions, and `name = 'A'` and `name = 'B'` are
never in one. What cannot be judged counts as possible, which is safe: such a class only never comes.

Here: that enumeration. Not here: evaluating conditions (predicate), what classes lead to (determinisation).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product
from math import prod
from operator import and_
from typing import Any, Final, TypeAlias

from ....algebra.functions import IS_NULL, compare
from ....algebra.normal_form import Clause, Form
from ....algebra.terms import Comparison, Constant, Function, Term, used
from ....events.errors import LimitExceeded
from ....language.literal_orders import comparable

CLASSES_MAX: Final = 4_096
"""The most classes of events of one subscription."""
REGIONS_MAX: Final = 65_536
"""The most combinations of regions that are looked at to find them."""

Truths: TypeAlias = dict[Comparison, bool]


class TooManyClasses(LimitExceeded):
    """Conditions divide events into too many classes; `condition` is the number of one of those that do."""

    def __init__(self, message: str, condition: int) -> None:
        super().__init__(message)
        self.condition = condition


def classes_of(atoms: tuple[Form, ...]) -> list[int]:
    """The possible classes, ascending; bit n is set where condition n holds. O(combinations of regions times atoms).

    Raises TooManyClasses beyond CLASSES_MAX.
    """
    found = {0}
    for together in _components(atoms):
        own = _classes(atoms, together)
        if len(found) * len(own) > CLASSES_MAX:
            raise TooManyClasses(
                f"expected conditions that divide events into at most {CLASSES_MAX} classes, found {len(found)} times "
                f"{len(own)}; fewer different conditions, or conditions on fewer attributes, give fewer",
                together[-1],
            )
        found = {one | other for one in found for other in own}
    return sorted(found)


def _components(atoms: tuple[Form, ...]) -> list[list[int]]:
    """The conditions in groups, of which no two compare the same value."""
    groups: list[tuple[set[Any], list[int]]] = []
    for number, atom in enumerate(atoms):
        keys = {_key(comparison) for clause in atom for comparison in clause}
        members = [number]
        for group in [group for group in groups if group[0] & keys]:
            groups.remove(group)
            keys |= group[0]
            members += group[1]
        groups.append((keys, sorted(members)))
    return [members for _, members in groups]


def _classes(atoms: tuple[Form, ...], members: list[int]) -> set[int]:
    keyed: dict[Any, dict[Comparison, None]] = {}
    for number in members:
        for clause in atoms[number]:
            for comparison in clause:
                keyed.setdefault(_key(comparison), {})[comparison] = None
    clauses = [(number, clause) for number in members for clause in atoms[number]]
    regions = [{_held(clauses, truths) for truths in _regions(list(comparisons))} for comparisons in keyed.values()]
    if prod(map(len, regions)) > REGIONS_MAX:
        if len(members) > CLASSES_MAX.bit_length():
            raise TooManyClasses(
                f"expected conditions that divide events into at most {CLASSES_MAX} classes, found {len(members)} "
                "conditions that depend on each other in too many ways",
                members[-1],
            )
        return {sum(1 << n for n, on in zip(members, chosen) if on) for chosen in product((0, 1), repeat=len(members))}
    found: set[int] = set()
    for chosen in product(*regions):
        held = reduce(and_, chosen, -1)
        found.add(sum(1 << number for number in {number for at, (number, _) in enumerate(clauses) if held >> at & 1}))
    return found


def _held(clauses: list[tuple[int, Clause]], truths: Truths) -> int:
    """The clauses that a region of one key leaves possible, as bits: the same in most regions of a long list."""
    left = [all(truths.get(comparison, True) for comparison in clause) for _, clause in clauses]
    return sum(1 << at for at, possible in enumerate(left) if possible)


def _key(comparison: Comparison) -> Any:
    """What the comparison is about: a value that is compared with constants, or two values."""
    match comparison:
        case Comparison(_, Function(name, (value,)), Constant()) if name == IS_NULL:
            return value
        case Comparison(_, value, Constant()):
            return value
    return comparison.left, comparison.right


def _regions(comparisons: list[Comparison]) -> Iterator[Truths]:
    """The ways in which comparisons of one key can hold together."""
    asked = {comparison: wanted for comparison in comparisons if (wanted := _asks_for_null(comparison)) is not None}
    yield {comparison: asked.get(comparison, False) for comparison in comparisons}  # null
    of_values = {comparison: not wanted for comparison, wanted in asked.items()}
    for truths in _regions_of_values([comparison for comparison in comparisons if comparison not in asked]):
        yield truths | of_values


def _asks_for_null(comparison: Comparison) -> bool | None:
    """What IS NULL is wanted to be; None for another comparison."""
    match comparison:
        case Comparison("=", Function(name), Constant(bool() as wanted)) if name == IS_NULL:
            return wanted
    return None


def _regions_of_values(comparisons: list[Comparison]) -> Iterator[Truths]:
    """The ways in which comparisons of one key can hold together where nothing is null."""
    constants = [_constant(comparison.right) for comparison in comparisons]
    if None in constants:
        for left in (0, 1, 2):  # smaller, equal, greater
            yield {comparison: compare(comparison.operator, left, 1) for comparison in comparisons}
        return
    if len(set(constants)) > 1:
        plain = comparable(constants)
        if plain is None:
            for comparison in comparisons:
                if isinstance(comparison.right, Constant):
                    used(comparison.right)  # a marked one cannot be compared with others
        else:
            constants = plain
    ranks = {value: rank for rank, value in enumerate(sorted(set(constants)))}
    for place in range(2 * len(ranks) + 1):  # between two constants, or one of them
        yield {
            comparison: compare(comparison.operator, place, 2 * ranks[constant] + 1)
            for comparison, constant in zip(comparisons, constants)
        }


def _constant(term: Term) -> Any:
    return term.value if isinstance(term, Constant) else None
