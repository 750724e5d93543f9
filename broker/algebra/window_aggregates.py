"""The aggregates of windows: what they compute, from all values of a window at once; which windows are kept.

Here: what the meaning of windows, their automata and their executor have in common. From the function `aggregate`
meaning and tests take the truth, and executors what they do not compute step by step. Not here: which sequences of
events are windows (the semantics of the language).

Nulls are skipped, but by `first` and `last`. Sums, averages and deviations are exact: computed from the exact sum, and
rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from ..events.schema import Value, ValueType
from .functions import bounded
from .terms import Term

Keeping: TypeAlias = Literal["each", "shortest", "longest", "earliest", "latest"]
"""Which windows are results: each, of each start the shortest or the longest, of each end the earliest or the latest
start."""


@dataclass(frozen=True, slots=True)
class ClockGrid:
    """The windows [k * slide + offset, k * slide + offset + size) that have events, for each integer k; in
    microseconds."""

    size: int
    slide: int
    offset: int


@dataclass(frozen=True, slots=True)
class WindowAggregate:
    """A value of a window: `function` of the terms in `arguments`, of different values only if `distinct`.

    `share`: which part of the values a quantile is not below.
    """

    function: str
    arguments: tuple[Term, ...]
    distinct: bool
    name: str
    type: ValueType
    share: str = ""


def aggregate(function: str, distinct: bool, share: str, columns: Sequence[Sequence[Value]]) -> Value:
    """The value of an aggregate over at least one event. `columns`: the values of each argument, event by event.

    `sum` of ints is null beyond 64 bits, of floats beyond the finite ones. `stdev` divides by n - 1, and is null for
    one value. A quantile is one of the values: the least that at least this share of all values does not exceed.
    `argmin(x, y)` is y of the first event with the least x. O(events), a quantile O(events log events).
    """
    if function == "first":
        return columns[0][0]
    if function == "last":
        return columns[0][-1]
    if not columns:
        raise AssertionError("count(*) is the number of events")
    values: list[Any] = [value for value in columns[0] if value is not None]
    if distinct:
        values = list(dict.fromkeys(values))
    if function == "count":
        return len(values)
    if not values:
        return None
    match function:
        case "sum":
            return _sum(values)
        case "avg":
            return _average(values)
        case "min":
            return min(values)  # type: ignore[no-any-return]
        case "max":
            return max(values)  # type: ignore[no-any-return]
        case "stdev":
            return _deviation(values)
        case "quantile":
            return sorted(values)[max(math.ceil(Fraction(share) * len(values)) - 1, 0)]  # type: ignore[no-any-return]
        case "argmin" | "argmax":
            best = min(values) if function == "argmin" else max(values)
            return columns[1][list(columns[0]).index(best)]
    raise AssertionError(function)


def _sum(values: list[Any]) -> int | float | None:
    if isinstance(values[0], int):
        return bounded(sum(values))
    try:
        return bounded(math.fsum(values))
    except OverflowError:
        return None


def _average(values: list[Any]) -> int | float | None:
    try:
        total = sum(values) if isinstance(values[0], int) else math.fsum(values)
        return bounded(total / len(values))
    except OverflowError:
        return None


def _deviation(values: list[Any]) -> float | None:
    n = len(values)
    if n < 2:
        return None
    exact = [Fraction(value) for value in values]
    total = sum(exact)
    variance = (n * sum(value * value for value in exact) - total * total) / (n * (n - 1))
    try:
        return math.sqrt(variance)
    except OverflowError:
        return None
