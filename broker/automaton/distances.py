"""Allowed distances in time between two events, as ranges of microseconds.

A bound may be a literal that is marked: then it is noted what is asked of it (language/literal_orders), and the result
holds for all texts of which that is true.

Here: this arithmetic. Not here: which distances a pattern allows (constructions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from ..language.literal_orders import at_most, total

FOREVER: Final = 1 << 62  # further apart than any two events

Distances: TypeAlias = tuple[tuple[int, int], ...]
"""Sorted ranges (low, high) of microseconds, both inclusive, that neither meet nor touch."""
ANY: Final[Distances] = ((0, FOREVER),)


def distances(operator: str, duration: Any) -> Distances:
    """The distances that satisfy a comparison with a duration."""
    ranges: Mapping[str, Callable[[], tuple[tuple[Any, Any], ...]]] = {
        "<": lambda: ((0, total(duration, -1)),),
        "<=": lambda: ((0, duration),),
        "=": lambda: ((duration, duration),),
        "!=": lambda: ((0, total(duration, -1)), (total(duration, 1), FOREVER)),
        ">": lambda: ((total(duration, 1), FOREVER),),
        ">=": lambda: ((duration, FOREVER),),
    }
    clipped = [(greatest(low, 0), least(high, FOREVER)) for low, high in ranges[operator]()]
    return tuple([(low, high) for low, high in clipped if at_most(low, high)])


def common(one: Distances, other: Distances) -> Distances:
    """The distances in both."""
    pairs = [(greatest(a, c), least(b, d)) for a, b in one for c, d in other]
    return tuple([(low, high) for low, high in pairs if at_most(low, high)])


def covers(allowed: Distances, low: Any, high: Any) -> bool:
    """Whether all distances of a range are allowed."""
    return any(at_most(a, low) and (b == FOREVER or at_most(high, b)) for a, b in allowed)


def least(one: Any, other: Any) -> Any:
    """The smaller of two distances, none of which is greater than FOREVER."""
    if one == FOREVER or other == FOREVER:
        return other if one == FOREVER else one
    return one if at_most(one, other) else other


def greatest(one: Any, other: Any) -> Any:
    """The greater of two distances."""
    return one if at_most(other, one) else other
