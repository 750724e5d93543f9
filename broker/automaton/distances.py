"""Allowed distances in time between two events, as ranges of microseconds.

Here: this arithmetic. Not here: which distances a pattern allows (constructions).
"""

from __future__ import annotations

from typing import Final, TypeAlias

FOREVER: Final = 1 << 62  # further apart than any two events

Distances: TypeAlias = tuple[tuple[int, int], ...]
"""Sorted ranges (low, high) of microseconds, both inclusive, that neither meet nor touch."""
ANY: Final[Distances] = ((0, FOREVER),)


def distances(operator: str, duration: int) -> Distances:
    """The distances that satisfy a comparison with a duration."""
    ranges = {
        "<": ((0, duration - 1),),
        "<=": ((0, duration),),
        "=": ((duration, duration),),
        "!=": ((0, duration - 1), (duration + 1, FOREVER)),
        ">": ((duration + 1, FOREVER),),
        ">=": ((duration, FOREVER),),
    }[operator]
    clipped = ((max(low, 0), min(high, FOREVER)) for low, high in ranges)
    return joined(tuple((low, high) for low, high in clipped if low <= high))


def joined(ranges: Distances) -> Distances:
    """The ranges with touching ones merged, as for `!= -3`, which allows everything."""
    found: list[tuple[int, int]] = []
    for low, high in ranges:
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def common(one: Distances, other: Distances) -> Distances:
    """The distances in both."""
    pairs = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return tuple(sorted((low, high) for low, high in pairs if low <= high))
