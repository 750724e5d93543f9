"""What of the literals of a text decides its form: the values of some, the order of others, and which are equal.

A template's literals are marked, so that nothing computes with them. Some compilers need no more of constants than
their order, as constants of one attribute divide its values into regions, or whether two are equal: they ask here, and
it is noted of which literals it was asked. Texts whose literals give the same answers are compiled alike.

Here: asking, noting, comparing the literals of texts. Not here: marks (marked_literals), who keeps forms
(engine/compiler).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from .marked_literals import Literals, chosen, number_in
from .shapes import Literal

Numbers: TypeAlias = tuple[int, ...]
Order: TypeAlias = tuple[tuple[int, None] | tuple[None, Literal], ...]
"""What is put in order: literals, each by its number, or the complement of it if it is negated; and other constants."""



class AskedLiterals:
    """What was asked of marked literals, in order: `orders`, and `pairs` whose equality was asked."""

    def __init__(self) -> None:
        self.orders: dict[Order, None] = {}
        self.pairs: dict[Order, None] = {}


_NOTED: Final[ContextVar[AskedLiterals | None]] = ContextVar("noted_orders", default=None)


@dataclass(frozen=True, slots=True)
class Decisive:
    """What decides the form of a text: the values of the literals `fixed`, the `orders`, which `pairs` are equal, and
    which of all literals are, if equal ones are one (`unites`)."""

    fixed: Numbers = ()
    orders: tuple[Order, ...] = ()
    unites: bool = False
    pairs: tuple[Order, ...] = ()

    def of(self, literals: Literals) -> tuple[Any, ...]:
        """The same for all texts of a shape that have one form. O(literals)."""
        values = tuple([literals[number] for number in self.fixed])
        ranks = tuple([_ranks(order, literals) for order in self.orders]) if self.orders else ()
        equal = tuple([_equal(pair, literals) for pair in self.pairs]) if self.pairs else ()
        return values, ranks, equal, first_equal(literals) if self.unites else ()

    def adding(self, fixed: Sequence[int] | set[int], asked: AskedLiterals | None = None) -> Decisive:
        """This and more."""
        orders, pairs = self.orders, self.pairs
        if asked is not None:
            orders = tuple(dict.fromkeys((*orders, *asked.orders)))
            pairs = tuple(dict.fromkeys((*pairs, *asked.pairs)))
        return Decisive(tuple(sorted({*self.fixed, *fixed})), orders, self.unites, pairs)

    def compared(self) -> set[int]:
        """The numbers of the literals that are put in order, or compared for equality."""
        numbers = [number for order in (*self.orders, *self.pairs) for number, _ in order]
        return {max(number, ~number) for number in numbers if number is not None}


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
def noting_orders() -> Iterator[AskedLiterals]:
    """Let the order and the equality of marked literals be asked; what was asked."""
    noted = AskedLiterals()
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


def _named(constants: Sequence[Any]) -> Order:
    order: dict[tuple[int, None] | tuple[None, Literal], None] = {}
    for constant in constants:
        number = number_in(constant)
        order[(None, constant) if number is None else (number, None)] = None
    return tuple(order)


def _plain(constant: Any) -> Literal:
    """The value without its mark."""
    if number_in(constant) is None:
        plain: Literal = constant
        return plain
    if isinstance(constant, int):
        return int(constant)
    return float(constant) if isinstance(constant, float) else str(constant)
