"""What of the literals of a text decides its form: the values of some, and the order of others.

A template's literals are marked, so that nothing computes with them. Some compilers need no more of constants than
their order, as constants of one attribute divide its values into regions: they ask here, and it is noted of which
literals the order was asked. Texts whose literals have the same order are compiled alike.

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

_NOTED: Final[ContextVar[dict[Order, None] | None]] = ContextVar("noted_orders", default=None)


@dataclass(frozen=True, slots=True)
class Decisive:
    """What decides the form of a text: the values of the literals `fixed`, the `orders`, and if equal literals are one
    (`unites`), which are equal."""

    fixed: Numbers = ()
    orders: tuple[Order, ...] = ()
    unites: bool = False

    def of(self, literals: Literals) -> tuple[Any, ...]:
        """The same for all texts of a shape that have one form. O(literals)."""
        values = tuple([literals[number] for number in self.fixed])
        ranks = tuple([_ranks(order, literals) for order in self.orders])
        return values, ranks, first_equal(literals) if self.unites else ()

    def adding(self, fixed: Sequence[int] | set[int], orders: Sequence[Order] = ()) -> Decisive:
        """This and more."""
        united = tuple(dict.fromkeys((*self.orders, *orders)))
        return Decisive(tuple(sorted({*self.fixed, *fixed})), united, self.unites)

    def ordered(self) -> set[int]:
        """The numbers of the literals that are put in order."""
        numbers = [number for order in self.orders for number, _ in order]
        return {max(number, ~number) for number in numbers if number is not None}


def first_equal(literals: Literals) -> Numbers:
    """For each literal the number of the first one that it equals."""
    first: dict[tuple[type, Literal], int] = {}
    return tuple([first.setdefault((type(literal), literal), number) for number, literal in enumerate(literals)])


def _ranks(order: Order, literals: Literals) -> Numbers:
    values: list[Any] = [other if number is None else chosen(literals, number) for number, other in order]
    ranks = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return tuple([ranks[value] for value in values])


@contextmanager
def noting_orders() -> Iterator[dict[Order, None]]:
    """Let the order of marked literals be asked; the orders that were asked."""
    noted: dict[Order, None] = {}
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def comparable(constants: Sequence[Any]) -> list[Any] | None:
    """The plain values of constants that are to be put in order; None if some are marked, and nobody notes it."""
    noted = _NOTED.get()
    numbers = [number_in(constant) for constant in constants]
    if all(number is None for number in numbers):
        return list(constants)
    if noted is None:
        return None
    order: dict[tuple[int, None] | tuple[None, Literal], None] = {}
    for number, constant in zip(numbers, constants):
        order[(None, constant) if number is None else (number, None)] = None
    noted[tuple(order)] = None
    return [constant if number is None else _plain(constant) for number, constant in zip(numbers, constants)]


def _plain(marked: Any) -> Literal:
    if isinstance(marked, int):
        return int(marked)
    return float(marked) if isinstance(marked, float) else str(marked)
