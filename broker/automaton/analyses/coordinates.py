"""Constants as coordinates: each turned so that its guard reads `coordinate <= value`, exactly as the guard rounds.

| guard                  | coordinates | value of an event                                            |
|------------------------|-------------|--------------------------------------------------------------|
| `a > c`, `a >= c`      | next(c), c  | a                                                            |
| `a < c`, `a <= c`      | next(-c), -c| -a                                                           |
| `DUR`, a count, a sum  | the same    | t - t0 + 1; the register                                     |
| WITHIN w               | -w          | -(t - t0)                                                    |
| `a > k * r`            | k and -k    | the greatest k that holds: of k if r > 0, of -k if r < 0     |
| `a > r + c`            | c           | the greatest c that holds                                    |
| any term of rows       | as `a`      | what it computes                                             |

A constant that floats do not hold exactly has no coordinate: its subscription has no group. Nor has a float from 2**53
on where it is compared with integers, which would be rounded to it.

Here: the left side of that table. Not here: which guards a template has (template), literals that are not known yet
(traced), values (broker.engine).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from .traced import coordinate_of

EXACT: Final = 2**53  # floats hold every integer below
ADDED_MAX: Final = 2.0**969  # a constant below leads no finite number beyond the greatest float


def turned(operator: str, constant: object, whole: bool = False) -> float | None:
    """The coordinate of `value operator constant`; None where floats do not hold the constant, or it is no number.

    `whole`: the values are integers.
    """
    return coordinate_of(constant, _TURNS[operator, whole])


def exact(constant: object) -> float | None:
    """The constant as a float, if it is a number that floats hold, with its neighbours if it is an integer."""
    return coordinate_of(constant, _exact)


def turned_factor(constant: object) -> tuple[float, float] | None:
    """The two coordinates of `value operator constant * register`."""
    value = exact(constant)
    return None if value is None else (value, -value)


def turned_offset(operator: str, constant: object) -> float | None:
    """The coordinate of `value operator register + constant`."""
    return coordinate_of(constant, _OFFSETS[operator])


def _exact(constant: object) -> float | None:
    if type(constant) is float:
        return constant if math.isfinite(constant) else None
    if type(constant) is int:  # most are one of both, and each subscription that joins asks
        return float(constant) if -EXACT < constant < EXACT else None
    if isinstance(constant, bool) or not isinstance(constant, int | float):
        return None
    if isinstance(constant, int) and abs(constant) >= EXACT:
        return None
    return float(constant) if math.isfinite(constant) else None


def _turned(operator: str, whole: bool, constant: object) -> float | None:
    value = _exact(constant)
    if value is None or (whole and abs(value) >= EXACT):
        return None
    if operator in ("<", "<="):
        value = -value
    return math.nextafter(value, math.inf) if operator in ("<", ">") else value


def _turned_offset(operator: str, constant: object) -> float | None:
    value = _exact(constant)
    if value is None or abs(value) >= ADDED_MAX:
        return None
    return value if operator in (">", ">=") else -value


# One function for each, so that a trace makes each coordinate once.
_OPERATORS: Final = ("<", "<=", "=", ">", ">=")
_TURNS: Final = {(each, whole): partial(_turned, each, whole) for each in _OPERATORS for whole in (False, True)}
_OFFSETS: Final = {each: partial(_turned_offset, each) for each in _OPERATORS}
