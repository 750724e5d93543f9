"""What an event bounds constants by: the values of the guards `coordinate <= value`, exactly as the guards round.

| guard                  | coordinates | value of an event                                            |
|------------------------|-------------|--------------------------------------------------------------|
| `a > c`, `a >= c`      | next(c), c  | a                                                            |
| `a < c`, `a <= c`      | next(-c), -c| -a                                                           |
| `DUR`, a count, a sum  | the same    | t - t0 + 1; the register                                     |
| WITHIN w               | -w          | -(t - t0)                                                    |
| `a > k * r`            | k and -k    | the greatest k that holds: of k if r > 0, of -k if r < 0     |
| `a > r + c`            | c           | the greatest c that holds                                    |
| any term of rows       | as `a`      | what it computes                                             |

A null satisfies nothing.

Here: the right side of that table. Hot. Not here: the left one (broker.automaton.analyses.coordinates).
"""

from __future__ import annotations

import math
from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation
from ....events.schema import Row, Value
from .columns import INFINITY, NAN, Floats

GREATEST: Final = 1.7976931348623157e308
SMALL: Final = 1e-290  # below, neighbours are looked up
ULP: Final = 1.1102230246251568e-16  # 2**-53 * (1 + 2**-52): what leads from a float to the next one
ROUNDS_MAX: Final = 8

EXACT: Final = 2.0**53  # floats hold every integer below

ATTRIBUTE: Final = 0
DURATION: Final = 1  # t - t0 + 1
SPAN: Final = 2  # t - t0
REGISTER: Final = 3
FACTOR: Final = 4
OFFSET: Final = 5
DIFFERENCE: Final = 6  # a - r
TERM: Final = 7


@final
class CoordinateBound:
    """One comparison with an unknown constant: the source of its value, and the coordinate that it bounds.

    A factor also bounds the next coordinate. `sign` is -1 for `<` and `<=`; `strict` matters only for factors and
    offsets. `term`: what computes the value of a TERM, from the event's row and `rows`, those of earlier events of the
    run by slot; `slots`: by slot the step whose event it reads, -1 for none, [] if it reads the event alone.
    """

    def __init__(
        self, coordinate: int, source: int, attribute: int = -1, sign: float = 1.0, register: int = -1,
        strict: bool = True, term: Computation | None = None, slots: list[int] | None = None,
    ) -> None:  # fmt: skip
        self.coordinate: i64 = coordinate
        self.source: i64 = source
        self.attribute: i64 = attribute
        self.sign = sign
        self.register: i64 = register
        self.strict = strict
        self.term = term
        self.slots: list[int] = [] if slots is None else slots
        self.rows: tuple[Row, ...] = ()

    @property
    def of_event(self) -> bool:
        """Whether the event alone has the value."""
        return self.source == ATTRIBUTE or (self.source == TERM and len(self.slots) == 0)

    @property
    def ascends(self) -> bool:
        """Whether a run that meets `given` of one event meets every greater one: what else is compared is the run's."""
        return self.of_event or self.source in (FACTOR, OFFSET, DIFFERENCE)

    def given(self, row: Row) -> float:
        """What the event alone gives to the comparison; NaN for null. It is the value if it is `of_event`."""
        return self.sign * (self.computed(row) if self.source == TERM else number(row, self.attribute))

    def computed(self, row: Row) -> float:
        """What the term computes; NaN for null."""
        term = self.term
        return NAN if term is None else number_of(term.value(row, (), self.rows, 0, 0))


def number(row: Row, at: i64) -> float:
    """An attribute as a float; NaN for null. An integer beyond 2**53 is rounded, but never past a coordinate."""
    return number_of(row[at])


def number_of(value: Value) -> float:
    """A value as a float; NaN for null, and for what is no number."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        return float(value)
    return NAN


def narrowed(
    bounds: list[CoordinateBound], row: Row, time: i64, start: i64, registers: Floats, first: i64, x: Floats, at: i64
) -> bool:
    """Lower the values, from `at` on, to those of an event; False if one is null. `registers`: those of its run."""
    for bound in bounds:
        source = bound.source
        j = at + bound.coordinate
        if source == ATTRIBUTE:
            given = row[bound.attribute]
            value = bound.sign * (given if isinstance(given, float) else number_of(given))
        elif source == DURATION:
            value = bound.sign * float(time - start + 1)
        elif source == SPAN:
            value = bound.sign * float(time - start)
        elif source == REGISTER:
            value = bound.sign * registers[first + bound.register]
        elif source == TERM:
            value = bound.sign * bound.computed(row)
        elif source == DIFFERENCE:
            value = bound.sign * (number(row, bound.attribute) - registers[first + bound.register])
            if not -GREATEST <= value <= GREATEST:
                return False
        elif source == OFFSET:
            sign = bound.sign
            added = sign * registers[first + bound.register]
            value = greatest(sign * number(row, bound.attribute), added, bound.strict, False)
        else:
            register = registers[first + bound.register]
            size = register if register >= 0.0 else -register
            other = j + 1
            if (bound.sign > 0.0) != (register >= 0.0):
                other, j = j, other
            attribute, strict = bound.sign * number(row, bound.attribute), bound.strict
            if attribute >= EXACT or attribute <= -EXACT:
                attribute, strict = reached(row[bound.attribute], bound.sign, strict)
            if size == 0.0:
                if not (attribute > 0.0 or (attribute == 0.0 and not strict)):
                    return False
                continue
            value = greatest(attribute, size, strict, True)
            if size > 1.0:  # a product may be infinite, which is null
                limit = greatest(GREATEST, size, False, True)
                if limit < x[other]:
                    x[other] = limit
        if value != value:
            return False
        if value < x[j]:
            x[j] = value
    return True


def reached(value: Value, sign: float, strict: bool) -> tuple[float, bool]:
    """A float to compare with others instead of a value, times a sign, that floats may not hold; and how."""
    if not isinstance(value, int):
        assert isinstance(value, float), "it has been compared as a number"
        return sign * value, strict
    signed = value if sign > 0.0 else -value
    nearest = float(signed)
    whole = int(nearest)  # compiled, an integer beside a float is compared as a float
    if whole > signed or (strict and whole == signed):
        nearest = math.nextafter(nearest, -math.inf)
    return nearest, False


def above(value: float) -> float:
    """The next float. Rump, Zimmermann, Boldo and Melquiond, Computing predecessor and successor, algorithm 1."""
    size = value if value >= 0.0 else -value
    if size < SMALL:
        return math.nextafter(value, INFINITY)
    return value + size * ULP


def below(value: float) -> float:
    """The float before."""
    size = value if value >= 0.0 else -value
    if size < SMALL:
        return math.nextafter(value, -INFINITY)
    return value - size * ULP


def greatest(value: float, register: float, strict: bool, product: bool) -> float:
    """The greatest float k with `value > k * register`, or, unless `product`, `value > k + register`, or `>=`, as that
    rounds; -inf if none. The `register` of a product is above 0."""
    if value != value or register != register:
        return NAN
    k = value / register if product else value - register
    if k > GREATEST:
        k = GREATEST
    elif k < -GREATEST:
        k = -GREATEST
    rounds: i64 = 0
    while not _holds(value, register, k, strict, product):
        if k == -GREATEST:
            return -INFINITY
        k = below(k)
        rounds += 1
        if rounds > ROUNDS_MAX:
            return searched(value, register, strict, product)
    while k < GREATEST:
        higher = above(k)
        if not _holds(value, register, higher, strict, product):
            break
        k = higher
        rounds += 1
        if rounds > ROUNDS_MAX:
            return searched(value, register, strict, product)
    return k


def searched(value: float, register: float, strict: bool, product: bool) -> float:
    """The same by bisection, for where the neighbours round to one result (near the subnormals, far from zero)."""
    low, high = -GREATEST, GREATEST
    if not _holds(value, register, low, strict, product):
        return -INFINITY
    if _holds(value, register, high, strict, product):
        return high
    while True:
        # Halve the exponents first: halving the numbers would take a thousand steps to reach the small ones.
        if low < -1.0 < high:
            middle = -1.0 if high > -1.0 and low < -4.0 else (low + high) / 2
        elif low < 0.0 < high:
            middle = 0.0
        elif (low >= 0.0 and low * 4.0 < high) or (high <= 0.0 and high * 4.0 > low):
            middle = math.copysign(math.sqrt(abs(low) or 5e-324) * math.sqrt(abs(high) or 5e-324), low + high)
        else:
            middle = low + (high - low) / 2
        if not low < middle < high:
            middle = math.nextafter(low, high)
            if middle >= high:
                return low
        if _holds(value, register, middle, strict, product):
            low = middle
        else:
            high = middle


def _holds(value: float, register: float, constant: float, strict: bool, product: bool) -> bool:
    compared = constant * register if product else register + constant
    return value > compared or (not strict and value == compared)
