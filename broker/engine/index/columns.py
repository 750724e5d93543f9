"""Columns of floats, packed if the code is compiled: searches in them.

Here: the column type, bisection, order, and the sizes that all columns share. Compiled, a column is an array of
machine numbers (librt.vecs) and a search is a loop on them; interpreted, it is a list, and the standard library has
searches in C. Not here: the meaning of columns (intervals, pieces).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from mypy_extensions import i64

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import append, vec

BLOCK: Final = 16  # entries that share one maximum, by which a scan skips them
EXACT: Final = 2**53  # floats hold every integer up to here
COMPILED: Final[bool] = not __file__.endswith(".py")

if not COMPILED:
    globals()["vec"] = {float: list, i64: list}  # `vec[float](...)` makes a list: interpreted code is faster with it

Column = vec[float]


def column(values: Iterable[float] = ()) -> vec[float]:
    return vec[float](values)


def not_above(values: vec[float], level: float, low: i64, high: i64) -> i64:
    """In ascending values from `low` to `high`, the index of the first one greater than the level."""
    if not COMPILED:
        return bisect_right(values, level, low, high)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] > level:
            high = middle
        else:
            low = middle + 1
    return low


def maxima(values: vec[float]) -> vec[float]:
    """The greatest value of each block."""
    tops = column()
    n: i64 = len(values)
    if not COMPILED:
        return column(max(values[i : i + BLOCK]) for i in range(0, n, BLOCK))
    begin: i64 = 0
    while begin < n:
        end = begin + BLOCK
        if end > n:
            end = n
        top = values[begin]
        j: i64
        for j in range(begin + 1, end):
            if values[j] > top:
                top = values[j]
        tops = append(tops, top)
        begin = end
    return tops


def ascending(values: vec[float]) -> vec[i64]:
    """The places of values in their order, those of equal ones as they come. O(n log n)."""
    n: i64 = len(values)
    if not COMPILED:
        return vec[i64](sorted(range(n), key=values.__getitem__))
    places, keys = vec[i64](range(n)), values[:]
    other_places, other_keys = places[:], values[:]
    width: i64 = 1
    while width < n:
        begin: i64 = 0
        while begin < n:
            middle = begin + width
            end = middle + width
            if middle > n:
                middle = n
            if end > n:
                end = n
            left, right = begin, middle
            to: i64
            for to in range(begin, end):
                if right == end or (left < middle and keys[left] <= keys[right]):
                    other_keys[to], other_places[to] = keys[left], places[left]
                    left += 1
                else:
                    other_keys[to], other_places[to] = keys[right], places[right]
                    right += 1
            begin = end
        places, other_places = other_places, places
        keys, other_keys = other_keys, keys
        width *= 2
    return places
