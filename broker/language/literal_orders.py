"""What of the literals of a text decides its form: the values of some, the order of others, and which are equal.

A template's literals are marked, so that nothing computes with them. Some compilers need no more of constants than
their order, as constants of one attribute divide its values into regions, or whether two are equal: they ask here, and
it is noted of which literals it was asked. Texts whose literals give the same answers are compiled alike. Others need a
sum of literals: that is a literal more, which each text has behind its own.

Here: asking, noting, comparing the literals of texts, making others of them. Not here: marks (marked_literals), who
keeps forms (engine/compiler).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from .marked_literals import Literals, chosen, mark, number_in
from .shapes import Literal

Numbers: TypeAlias = tuple[int, ...]
Order: TypeAlias = tuple[tuple[int, None] | tuple[None, Literal], ...]
"""What is put in order: literals, each by its number, or the complement of it if it is negated; and other constants."""
Made: TypeAlias = tuple[str, Order]
"""What is made of literals: their "sum", or the "floor" or "ceil" of one."""


class AskedLiterals:
    """What was asked of marked literals, in order: `orders`, `pairs` whose equality was asked, and what was `made` of
    them, each with its number, which follow the `count` literals of the text."""

    def __init__(self, count: int = 0, made: Sequence[Made] = ()) -> None:
        self.orders: dict[Order, None] = {}
        self.pairs: dict[Order, None] = {}
        self.count = count
        self.made: dict[Made, int] = {each: count + at for at, each in enumerate(made)}

    def written(self, numbers: Iterable[int]) -> set[int]:
        """The numbers of the literals of the text that these are, or are made of."""
        found: set[int] = set()
        made = list(self.made)
        for number in numbers:
            if number < self.count:
                found.add(number)
            else:
                found |= self.written(_numbers(made[number - self.count][1]))
        return found


_NOTED: Final[ContextVar[AskedLiterals | None]] = ContextVar("noted_orders", default=None)


@dataclass(frozen=True, slots=True)
class Decisive:
    """What decides the form of a text: the values of the literals `fixed`, the `orders`, which `pairs` are equal, and
    which of all literals are, if equal ones are one (`unites`). `made`: what a text has behind its own literals."""

    fixed: Numbers = ()
    orders: tuple[Order, ...] = ()
    unites: bool = False
    pairs: tuple[Order, ...] = ()
    made: tuple[Made, ...] = ()

    def whole(self, literals: Literals) -> Literals:
        """The literals of a text with those that are made of them. O(literals), if there are any."""
        if not self.made:
            return literals
        for how, of in self.made:
            values: list[Any] = [other if number is None else chosen(literals, number) for number, other in of]
            literals = (*literals, _made(how, values))
        return literals

    def of(self, literals: Literals) -> tuple[Any, ...]:
        """The same for all texts of a shape that have one form. O(literals)."""
        literals = self.whole(literals)
        values = tuple([literals[number] for number in self.fixed])
        ranks = tuple([_ranks(order, literals) for order in self.orders]) if self.orders else ()
        equal = tuple([_equal(pair, literals) for pair in self.pairs]) if self.pairs else ()
        return values, ranks, equal, first_equal(literals) if self.unites else ()

    def adding(self, fixed: Sequence[int] | set[int], asked: AskedLiterals | None = None) -> Decisive:
        """This and more."""
        orders, pairs, made = self.orders, self.pairs, self.made
        if asked is not None:
            orders = tuple(dict.fromkeys((*orders, *asked.orders)))
            pairs = tuple(dict.fromkeys((*pairs, *asked.pairs)))
            made = tuple(asked.made)
        return Decisive(tuple(sorted({*self.fixed, *fixed})), orders, self.unites, pairs, made)

    def compared(self) -> set[int]:
        """The numbers of the literals that are put in order, or compared for equality."""
        return {number for order in (*self.orders, *self.pairs) for number in _numbers(order)}


def _numbers(order: Order) -> list[int]:
    return [max(number, ~number) for number, _ in order if number is not None]


def first_equal(literals: Literals) -> Numbers:
    """For each literal the number of the first one that it equals."""
    first: dict[tuple[type, Literal], int] = {}
    return tuple([first.setdefault((type(literal), literal), number) for number, literal in enumerate(literals)])


def _ranks(order: Order, literals: Literals) -> Numbers:
    values: list[Any] = [other if number is None else chosen(literals, number) for number, other in order]
    ranks = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return tuple([ranks[value] for value in values])


def _equal(pair: Order, literals: Literals) -> bool:
    one, other = [value if number is None else chosen(literals, number) for number, value in pair]
    return one == other


@contextmanager
def noting_orders(count: int = 0, made: Sequence[Made] = ()) -> Iterator[AskedLiterals]:
    """Let the order and the equality of marked literals be asked, and others be made of them; what was asked. `count`:
    the literals of the text; `made`: what they are followed by already."""
    noted = AskedLiterals(count, made)
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def comparable(constants: Sequence[Any]) -> list[Any] | None:
    """The plain values of constants that are to be put in order; None if some are marked, and nobody notes it."""
    if all(number_in(constant) is None for constant in constants):
        return list(constants)
    noted = _NOTED.get()
    if noted is None:
        return None
    noted.orders[_named(constants)] = None
    return list(map(_plain, constants))


def equal(one: Any, other: Any) -> bool:
    """Whether two constants of one type are equal. Of marked literals that is noted; if nobody notes it, they are equal
    only if they are one."""
    if one == other:
        return True
    if number_in(one) is None and number_in(other) is None:
        return False
    noted = _NOTED.get()
    if noted is None:
        return False
    if _named((other, one)) not in noted.pairs:
        noted.pairs[_named((one, other))] = None
    return bool(_plain(one) == _plain(other))


def at_most(one: Any, other: Any) -> bool:
    """Whether a number is not above another one. Of marked literals that is noted, if it is not known of all: those of
    a text are not negative."""
    noted, number = _NOTED.get(), number_in(other)
    if one == other:
        return True
    if noted is not None and number is not None and 0 <= number < noted.count and number_in(one) is None and one <= 0:
        return True
    plain = comparable([one, other])
    assert plain is not None, "marked literals are compared where that is noted"
    return bool(plain[0] <= plain[-1])


def total(one: Any, other: Any) -> Any:
    """The sum of two numbers. Of marked literals it is one, too."""
    return _making("sum", (one, other))


def rounded(constant: Any, how: str) -> Any:
    """The "floor" or "ceil" of a number. Of a marked literal it is one, too."""
    return _making(how, (constant,))


def _making(how: str, values: tuple[Any, ...]) -> Any:
    if all(number_in(value) is None for value in values):
        return _made(how, values)
    noted = _NOTED.get()
    assert noted is not None, "others are made of marked literals where that is noted"
    made = how, tuple([_name(value) for value in values])
    return mark(_made(how, list(map(_plain, values))), noted.made.setdefault(made, noted.count + len(noted.made)))


def _made(how: str, values: Sequence[Any]) -> int:
    found: int = sum(values) if how == "sum" else math.floor(values[0]) if how == "floor" else math.ceil(values[0])
    return found


def _named(constants: Sequence[Any]) -> Order:
    return tuple(dict.fromkeys(map(_name, constants)))


def _name(constant: Any) -> tuple[int, None] | tuple[None, Literal]:
    number = number_in(constant)
    return (None, constant) if number is None else (number, None)


def _plain(constant: Any) -> Literal:
    """The value without its mark."""
    if number_in(constant) is None:
        plain: Literal = constant
        return plain
    if isinstance(constant, int):
        return int(constant)
    return float(constant) if isinstance(constant, float) else str(constant)
