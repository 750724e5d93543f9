"""A pattern's operands, their order as a tree of sequences, AND and OR, and time conditions between them.

Here: these as values, and questions about the tree alone. Not here: what is a match (semantics).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .normal_form import Form

Order: TypeAlias = Literal["ordered", "unordered", "exclusive"]


@dataclass(frozen=True, slots=True)
class Primitive:
    """A primitive subscription, the operand without its name: `guard` reads the event alone, in canonical form. Its
    events are those of the subscription's `source`, by number.

    `variables`, sorted, each once: (position of an attribute, variable). The attribute equals the variable; a null
    equals nothing. Equality is that of numbers, so that an int attribute and a float one may share a variable.
    """

    guard: Form
    variables: tuple[tuple[int, int], ...]
    source: int = 0


@dataclass(frozen=True, slots=True)
class Chain:
    """At least two parts; `separators[i]`, "," or ";", stands between part i and part i + 1.

    `,`: the earliest event of the right part is the very next one after the latest of the left part; `;`: it is any
    later one. A group in parentheses is a part of its own.
    """

    parts: tuple[Structure, ...]
    separators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Both:
    """AND: all parts, at least two, in any order and interleaved, with distinct events."""

    parts: tuple[Structure, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """OR: exactly one part, of at least two, is taken; an event that fits two of them makes two matches."""

    parts: tuple[Structure, ...]


Structure: TypeAlias = int | Chain | Both | Either
"""An operand is its own structure, as its index."""

_ORDERS: Final[dict[type, Order]] = {Chain: "ordered", Both: "unordered", Either: "exclusive"}


@dataclass(frozen=True, slots=True)
class Condition:
    """`t(minuend) - t(subtrahend) operator duration`, in microseconds, operands by index, as it was written.

    Between unordered operands it is on the absolute difference; it holds where one of them has no event.
    """

    minuend: int
    subtrahend: int
    operator: str
    duration: int


def parts_of(structure: Structure) -> tuple[Structure, ...]:
    """The parts of a structure; a single operand is its own only part."""
    return (structure,) if isinstance(structure, int) else structure.parts


def leaves(structure: Structure) -> Iterator[int]:
    """The operands of a structure, in the order of the text."""
    if isinstance(structure, int):
        yield structure
    else:
        for part in structure.parts:
            yield from leaves(part)


def order(structure: Structure, one: int, other: int) -> Order:
    """How two different operands of a structure stand to each other, which their first common ancestor decides.

    Chain: ordered, as their indices are; Both: unordered; Either: exclusive, no match has events for both. Linear in
    the structure times its depth.
    """
    if isinstance(structure, int):
        raise ValueError(f"expected operands {one} and {other} in one structure, found {structure} alone")
    for part in structure.parts:
        if {one, other}.issubset(leaves(part)):
            return order(part, one, other)
    return _ORDERS[type(structure)]
