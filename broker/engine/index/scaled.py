"""Arcs that compare an event's value with a multiple of a register: `price > k * first.price` for many k at once.

For one run the register is one number, so k * register grows or falls with k. The factors that hold are a prefix of the
sorted ones, which bisection finds with the *exact* test; dividing would round differently (layout notes, trap 3).

Here: that search. Not here: which arcs are filed here (arcs).
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, final

from ...algebra.comparisons import GE, GT, OPERATORS, related
from ...algebra.computation import RegisterValue, Slots
from ...algebra.terms import Arithmetic, Attribute, Comparison, Constant, Register, Side
from ...events.schema import Row

M = TypeVar("M")

ScaledKey: TypeAlias = tuple[int, int, int, int]  # event position, operator, register slot and position


@final
@dataclass(frozen=True, slots=True)
class ScaledAtom:
    key: ScaledKey
    factor: float


def scaled_of(atom: Comparison) -> ScaledAtom | None:
    """An atom `event.a op k * register` on floats with an inequality; None for any other."""
    match atom:
        case Comparison(
            ("<" | "<=" | ">" | ">=") as operator,
            Attribute(Side.EVENT, position, "float"),
            Arithmetic("*", Constant(float() as factor, _), Register(slot, at, "float"), _),
        ):
            return ScaledAtom((position, OPERATORS[operator], slot, at), factor)
        case _:
            return None


@final
class Scaled(Generic[M]):
    """Members by factor, ascending."""

    def __init__(self, key: ScaledKey) -> None:
        self.position, self.operator = key[0], key[1]
        self._register = RegisterValue(key[2], key[3])
        self._entries: list[tuple[float, int]] = []
        self._members: list[M] = []

    def add(self, factor: float, member: M) -> None:
        insort(self._entries, (factor, len(self._members)))
        self._members.append(member)

    def find(self, row: Row, bound: Row, slots: Slots, found: list[M]) -> None:
        """Append the members whose comparison holds. O(log n + found)."""
        value, register = row[self.position], self._register.value(row, bound, slots, 0, 0)
        if not isinstance(value, float) or not isinstance(register, float):
            return
        # Ascending factors make ascending products for a register that is not negative.
        rising = register >= 0.0
        upper = self.operator in (GT, GE)
        entries, members = self._entries, self._members
        low, high = 0, len(entries)
        prefix = upper is rising  # value > k * r holds for small k if the products rise
        while low < high:
            middle = (low + high) >> 1
            product = entries[middle][0] * register
            if related(self.operator, value, product) is prefix:
                low = middle + 1
            else:
                high = middle
        chosen = range(low) if prefix else range(low, len(entries))
        for j in chosen:
            product = entries[j][0] * register
            if product - product == 0.0:  # a product beyond the floats is null
                found.append(members[entries[j][1]])
