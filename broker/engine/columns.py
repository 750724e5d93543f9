"""Columns of floats: the searches in them, each the fastest way that the running form of the code has.

Here: bisection, and the sizes that all columns share. Interpreted, the search is the standard library's, written in C;
compiled, it is a loop on machine numbers, which saves the call and the boxing. Not here: what the columns mean (family,
ranges).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

from mypy_extensions import i64

BLOCK: Final = 16  # entries that share one maximum, by which a scan skips them
EXACT: Final = 2**53  # floats hold every integer up to here
COMPILED: Final[bool] = not __file__.endswith(".py")


def below(values: list[float], level: float) -> i64:
    """How many of the ascending values are less than the level."""
    if not COMPILED:
        return bisect_left(values, level)
    low: i64 = 0
    high: i64 = len(values)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < level:
            low = middle + 1
        else:
            high = middle
    return low


def not_above(values: list[float], level: float) -> i64:
    """How many of the ascending values are not greater than the level."""
    if not COMPILED:
        return bisect_right(values, level)
    low: i64 = 0
    high: i64 = len(values)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] > level:
            high = middle
        else:
            low = middle + 1
    return low
