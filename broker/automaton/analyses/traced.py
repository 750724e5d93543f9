"""Coordinates of literals that are not known yet: an analysis runs once for all texts of a shape, and is traced.

A text's literals are marked while its template is compiled. In a trace the coordinate of a mark is a float that knows
how it was made, and notes each comparison with its outcome. Other literals whose comparisons have the same outcomes
would have led the analysis to the same answer, so that only the coordinates are computed for them. Any other use of
such a float raises LiteralUsed: then the analysis runs for each text.

Here: marks, coordinates of marks, traces. Not here: what a coordinate is (coordinates), who traces (broker.engine).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NoReturn, TypeAlias, final

from ...algebra.terms import LiteralUsed

Turn: TypeAlias = Callable[[Any], "float | None"]
"""From a literal to its coordinate; None if it has none."""

_PLAIN: Final = frozenset((int, float, str, bool, type(None)))


@final
class Trace:
    """What an analysis has made of marked literals, and what it has asked of that.

    `turns`: for each coordinate the number of its literal, and how it is made, or of which one it is the opposite;
    `missing`: those that have no value. `asked`: comparisons of a coordinate with a number, or another coordinate, and
    the outcome.
    """

    def __init__(self) -> None:
        self.turns: list[tuple[int, Turn | int]] = []
        self._places: dict[tuple[int, Turn | int], int] = {}
        self.missing: set[int] = set()
        self.asked: list[tuple[Callable[[Any, Any], bool], int, int | None, float, bool]] = []

    def made(self, number: int, turn: Turn, plain: object) -> Coordinate | None:
        place, value = self._place(number, turn), turn(plain)
        if value is None:
            self.missing.add(place)
            return None
        return Coordinate(value, self, place)

    def opposite(self, known: Coordinate) -> Coordinate:
        number, _ = self.turns[known.place]
        return Coordinate(-float.__pos__(known), self, self._place(number, known.place))

    def _place(self, number: int, turn: Turn | int) -> int:
        place = self._places.setdefault((number, turn), len(self.turns))
        if place == len(self.turns):
            self.turns.append((number, turn))
        return place

    def values(self, literals: Sequence[Any]) -> list[float] | None:
        """The coordinates of other literals; None if the analysis of these might have another outcome.

        O(coordinates and comparisons).
        """
        found: list[float] = []
        missing = self.missing
        for number, turn in self.turns:
            if isinstance(turn, int):
                found.append(-found[turn])
                continue
            value = turn(literals[number] if number >= 0 else -literals[~number])
            if value is None:
                if len(found) not in missing:
                    return None
                value = 0.0
            elif missing and len(found) in missing:
                return None
            found.append(value)
        for compare, place, other, number_compared, outcome in self.asked:
            right = number_compared if other is None else found[other]
            if compare(found[place], right) is not outcome:
                return None
        return found


_CURRENT: Final[ContextVar[Trace | None]] = ContextVar("trace", default=None)


@contextmanager
def tracing() -> Iterator[Trace]:
    """While this is open, marked literals have coordinates, which are traced."""
    trace = Trace()
    before = _CURRENT.set(trace)
    try:
        yield trace
    finally:
        _CURRENT.reset(before)


def coordinate_of(constant: Any, turn: Turn) -> float | None:
    """The coordinate of a literal, traced if it is marked. Raises LiteralUsed for a marked one outside a trace."""
    if type(constant) in _PLAIN:
        return turn(constant)
    trace = _CURRENT.get()
    if trace is None:
        raise LiteralUsed(constant.number)
    if isinstance(constant, str):
        return turn(str(constant))
    return trace.made(constant.number, turn, int(constant) if isinstance(constant, int) else float(constant))


def _compared(compare: Callable[[Any, Any], bool]) -> Callable[[Coordinate, object], Any]:
    def compared(one: Coordinate, other: object) -> Any:
        if not isinstance(other, int | float):
            return NotImplemented
        place, value = (other.place, 0.0) if isinstance(other, Coordinate) else (None, float(other))
        outcome = compare(float.__pos__(one), value if place is None else float.__pos__(other))
        one.trace.asked.append((compare, one.place, place, value, outcome))
        return outcome

    return compared


def _used(one: Coordinate, *others: object) -> NoReturn:
    raise LiteralUsed(one.trace.turns[one.place][0])


@final
class Coordinate(float):
    """The coordinate of a marked literal, by its place in a trace."""

    trace: Trace
    place: int

    def __new__(cls, value: float, trace: Trace, place: int) -> Coordinate:
        made = super().__new__(cls, value)
        made.trace, made.place = trace, place
        return made

    def __neg__(self) -> Coordinate:
        return self.trace.opposite(self)

    __eq__ = _compared(operator.eq)
    __ne__ = _compared(operator.ne)
    __lt__ = _compared(operator.lt)
    __le__ = _compared(operator.le)
    __gt__ = _compared(operator.gt)
    __ge__ = _compared(operator.ge)
    __hash__ = _used
    __repr__ = __str__ = __float__ = __int__ = __bool__ = __abs__ = __round__ = _used
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _used
    __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __pow__ = _used
