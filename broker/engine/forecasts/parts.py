"""What forecasts of a large subscription are put together from: the parts of AND, of OR, and of a sequence with `;`.

The path automaton of a whole subscription grows with the product of its parts, those of the parts with their sum. A
part is a subscription of its own: its operands, the conditions between them, its variables, BY and WITHIN. What lies
between parts is not in it: conditions across them, a variable that only some share, and that no event counts twice.
Leaves that follow each other in a sequence are one part, and what `,` joins stays together.

Here: finding them. Not here: how they are counted and put together (combination).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal, TypeAlias, final

from ...algebra.composite import Both, Chain, Composite, Either, Join, Leaf, Structure, leaves
from ...automaton.paths import PathAutomaton, compile_paths
from ...automaton.paths.configurations import flattened
from ...events.errors import DefinitionError
from .states import States, states_of_paths

PRODUCT_STATES_MAX: Final = 64
"""States of partial matches up to which the whole is one chain."""

Kind: TypeAlias = Literal["AND", "OR", ";"]


@final
class PartPlan:
    """One part: `number` from 1; `operands` are those of the whole that are its own, in its order; `numbers` the
    elementary states of its automaton's."""

    def __init__(
        self, number: int, operands: list[int], paths: PathAutomaton, states: States, numbers: list[int]
    ) -> None:
        self.number = number
        self.operands = operands
        self.paths = paths
        self.states = states
        self.numbers = numbers

    def version(self, whole: str) -> str:
        """What its counts are kept under."""
        return f"{whole}/{self.number}"


@final
class Division:
    """The parts, at least two, and how they belong together. `within`: the whole subscription's, in microseconds."""

    def __init__(self, kind: Kind, parts: list[PartPlan], within: int | None) -> None:
        self.kind: Kind = kind
        self.parts = parts
        self.within = within


def division(composite: Composite, sets: bool) -> Division | None:
    """The parts of a subscription; None where there are none, as in a chain of leaves. O(their automata).

    Raises LimitExceeded where `sets` are wanted and a part is too large for these.
    """
    structure = flattened(composite.structure)
    kind: Kind
    match structure:
        case Leaf():
            return None
        case Both(structures):
            kind = "AND"
        case Either(structures):
            kind = "OR"
        case Chain(within_chain, separators):
            kind, structures = ";", phases(within_chain, separators)
    parts: list[PartPlan] = []
    for each in structures:
        try:
            paths = compile_paths(part_of(composite, each))
        except DefinitionError:  # a branch of OR that nothing can satisfy
            continue
        states, numbers = states_of_paths(paths, sets)
        parts.append(PartPlan(len(parts) + 1, list(leaves(each)), paths, states, numbers))
    return Division(kind, parts, composite.within) if len(parts) > 1 else None


def phases(parts: tuple[Structure, ...], separators: tuple[str, ...]) -> tuple[Structure, ...]:
    """A chain cut at `;`, but not between leaves."""
    words: list[list[Structure]] = [[parts[0]]]
    for separator, part in zip(separators, parts[1:]):
        if separator == ",":
            words[-1].append(part)
        else:
            words.append([part])
    found: list[Structure] = []
    leading: list[Structure] = []  # leaves that follow each other
    for word in words:
        if len(word) == 1 and isinstance(word[0], Leaf):
            leading.append(word[0])
            continue
        found += _chained(leading, ";")
        leading = []
        found += _chained(word, ",")
    return tuple(found + _chained(leading, ";"))


def _chained(parts: list[Structure], separator: str) -> list[Structure]:
    """One part or none."""
    return parts if len(parts) < 2 else [Chain(tuple(parts), (separator,) * (len(parts) - 1))]


def part_of(composite: Composite, structure: Structure) -> Composite:
    """A part of a composite subscription as one of its own: operands and variables numbered anew."""
    own = list(leaves(structure))
    place = {operand: number for number, operand in enumerate(own)}
    joined = sorted({join.variable for operand in own for join in composite.operands[operand].joins})
    variable = {old: new for new, old in enumerate(joined)}
    operands = [
        replace(
            composite.operands[operand],
            joins=tuple([Join(j.position, variable[j.variable]) for j in composite.operands[operand].joins]),
        )
        for operand in own
    ]
    conditions = [
        replace(condition, minuend=place[condition.minuend], subtrahend=place[condition.subtrahend])
        for condition in composite.conditions
        if condition.minuend in place and condition.subtrahend in place
    ]
    return replace(
        composite,
        operands=tuple(operands),
        variables=tuple([composite.variables[old] for old in joined]),
        structure=_renumbered(structure, place),
        conditions=tuple(conditions),
        publish=None,
    )


def _renumbered(structure: Structure, place: dict[int, int]) -> Structure:
    match structure:
        case Leaf(operand):
            return Leaf(place[operand])
        case Both(parts) | Either(parts):
            return type(structure)(tuple([_renumbered(part, place) for part in parts]))
        case Chain(parts, separators):
            return Chain(tuple([_renumbered(part, place) for part in parts]), separators)
