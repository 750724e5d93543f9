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

An analysis runs once for all texts of a shape, whose literals are marked then (language/marked_literals). The
coordinate of a mark is a float that knows how it was made, so that it can be made of the literal of another text.

Here: the left side of that table. Not here: which guards a template has (template), values (broker.engine).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NoReturn, TypeAlias, final

from ...algebra.terms import LiteralUsed
from ...language.marked_literals import Literals, chosen, number_in

Turn: TypeAlias = Callable[[Any], "float | None"]
"""From a constant to its coordinate; None if it has none."""

EXACT: Final = 2**53  # floats hold every integer below
ADDED_MAX: Final = 2.0**969  # a constant below leads no finite number beyond the greatest float


@final
class MarkedCoordinate(float):
    """The coordinate of a marked literal. Any use but negation raises LiteralUsed: then the analysis runs for each
    text."""

    number: int
    turn: Turn

    def __new__(cls, value: float, number: int, turn: Turn) -> MarkedCoordinate:
        made = super().__new__(cls, value)
        made.number, made.turn = number, turn
        return made

    def of(self, literals: Literals) -> float | None:
        """The coordinate of the literal of another text; None if it has none."""
        return self.turn(chosen(literals, self.number))

    def __neg__(self) -> MarkedCoordinate:
        return MarkedCoordinate(-float.__pos__(self), self.number, partial(_opposite, self.turn))

    def _used(self, *others: object) -> NoReturn:
        raise LiteralUsed(self.number)

    __hash__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _used
    __repr__ = __str__ = __float__ = __int__ = __bool__ = __abs__ = __round__ = _used
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _used
    __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __pow__ = _used


def _coordinate(constant: Any, turn: Turn) -> float | None:
    """The coordinate of a constant. Raises LiteralUsed for a marked one that has none."""
    number = number_in(constant)
    if number is None:
        return turn(constant)
    value = turn(int(constant) if isinstance(constant, int) else float(constant))
    if value is None:
        raise LiteralUsed(number)
    return MarkedCoordinate(value, number, turn)


def turned(operator: str, constant: object, whole: bool = False) -> float | None:
    """The coordinate of `value operator constant`; None where floats do not hold the constant, or it is no number.

    `whole`: the values are integers.
    """
    return _coordinate(constant, _TURNS[operator, whole])


def exact(constant: object) -> float | None:
    """The constant as a float, if it is a number that floats hold, with its neighbours if it is an integer."""
    return _coordinate(constant, _exact)


def turned_offset(operator: str, constant: object) -> float | None:
    """The coordinate of `value operator register + constant`."""
    return _coordinate(constant, _OFFSETS[operator])


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


def _opposite(turn: Turn, constant: object) -> float | None:
    value = turn(constant)
    return None if value is None else -value


_OPERATORS: Final = ("<", "<=", "=", ">", ">=")
_TURNS: Final = {(each, whole): partial(_turned, each, whole) for each in _OPERATORS for whole in (False, True)}
_OFFSETS: Final = {each: partial(_turned_offset, each) for each in _OPERATORS}
