"""The tree of machines of a composite pattern: state machines and Boolean machines (P-ToPSS 4) over operands.

Here: this tree as a value, facts about it, and dividing it. Not here: decomposing a subscription and its automaton
(constructions), machines with names and triggers (decomposition).

Operands are identified by their index, in the order of the text. A sequence within a sequence means the same without
parentheses, so it is one machine; a tree of AND and OR has one machine for each gate.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ...algebra.normal_form import Form
from ...algebra.partitioned_stream import PartitionedStream
from ...events.schema import Schema

Relation: TypeAlias = Literal["ordered", "unordered", "exclusive"]
Dividing: TypeAlias = Literal["AND", "OR", ";"]


class Gate(enum.Enum):
    AND = "AND"
    OR = "OR"


@dataclass(frozen=True, slots=True)
class Series:
    """A state machine with consecutive symbols; `separators[i]`, "," or ";", stands between symbol i and symbol i + 1.
    `,`: the earliest event of the right one immediately follows the latest of the left one."""

    symbols: tuple[Node, ...]
    separators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GateNode:
    """A Boolean machine with at least two inputs. AND: all of them, in any order, interleaved, with different events.
    OR: exactly one, so an event that fits two inputs makes two matches."""

    gate: Gate
    inputs: tuple[Node, ...]


Node: TypeAlias = int | Series | GateNode


@dataclass(frozen=True, slots=True)
class Primitive:
    """A primitive subscription, which triggers a symbol: the operand without its name. `variables`: (attribute,
    variable). `source`: which of the pattern's sources its events are of.
    """

    guard: Form
    variables: tuple[tuple[int, int], ...]
    source: int = 0


@dataclass(frozen=True, slots=True)
class WrittenCondition:
    """`t(minuend) - t(subtrahend) operator duration`, in microseconds, operands by index, as it was written."""

    minuend: int
    subtrahend: int
    operator: str
    duration: int


@dataclass(frozen=True, slots=True)
class MachineTree:
    """A whole pattern. `names` and `primitives` by operand; `results` has an attribute for each variable; `remarks`
    report redundant conditions; `grouped`: a sequence was written in parentheses within a sequence."""

    sources: tuple[PartitionedStream, ...]
    names: tuple[str, ...]
    primitives: tuple[Primitive, ...]
    results: Schema
    root: Node
    conditions: tuple[WrittenCondition, ...]
    within: int | None
    remarks: tuple[str, ...] = ()
    grouped: bool = False


def symbols_of(node: Node) -> tuple[Node, ...]:
    """The symbols of a machine; a single operand is its own only symbol."""
    match node:
        case Series(symbols):
            return symbols
        case GateNode(_, inputs):
            return inputs
        case _:
            return (node,)


def leaves(node: Node) -> Iterator[int]:
    """The operands of a node, in the order of the text."""
    if isinstance(node, int):
        yield node
    else:
        for symbol in symbols_of(node):
            yield from leaves(symbol)


def relation(node: Node, one: int, other: int) -> Relation:
    """The relation of two different operands of a node, which their lowest common machine determines.

    In a series they are ordered, as their indices are; no match has events for two inputs of an OR. Linear in the node
    times its depth.
    """
    for symbol in symbols_of(node):
        if not isinstance(symbol, int) and {one, other}.issubset(leaves(symbol)):
            return relation(symbol, one, other)
    if isinstance(node, GateNode):
        return "unordered" if node.gate is Gate.AND else "exclusive"
    return "ordered"


def divided(node: Node) -> tuple[Dividing, tuple[Node, ...]]:
    """The parts of a node and the operator between them, AND, OR or `;`. An AND within an AND is flattened, and so is
    OR; adjacent operands of a series are one part, and symbols joined by `,` stay together."""
    match node:
        case GateNode(gate):
            return "AND" if gate is Gate.AND else "OR", _spliced(gate, node)
        case Series(symbols, separators):
            return ";", _phases(symbols, separators)
        case _:
            return ";", (node,)


def _spliced(gate: Gate, node: Node) -> tuple[Node, ...]:
    if not isinstance(node, GateNode) or node.gate is not gate:
        return (node,)
    return tuple(part for each in node.inputs for part in _spliced(gate, each))


def _phases(symbols: tuple[Node, ...], separators: tuple[str, ...]) -> tuple[Node, ...]:
    terms: list[list[Node]] = [[symbols[0]]]
    for separator, symbol in zip(separators, symbols[1:]):
        if separator == ",":
            terms[-1].append(symbol)
        else:
            terms.append([symbol])
    found: list[Node] = []
    leading: list[Node] = []  # adjacent operands
    for term in terms:
        if len(term) == 1 and isinstance(term[0], int):
            leading.append(term[0])
            continue
        found += _series(leading, ";")
        leading = []
        found += _series(term, ",")
    return tuple(found + _series(leading, ";"))


def _series(symbols: list[Node], separator: str) -> list[Node]:
    """One node or none."""
    return symbols if len(symbols) < 2 else [Series(tuple(symbols), (separator,) * (len(symbols) - 1))]


def part_of(tree: MachineTree, node: Node) -> MachineTree:
    """A part of a pattern as a separate pattern, with its conditions, and operands and variables renumbered."""
    own = list(leaves(node))
    place = {operand: number for number, operand in enumerate(own)}
    joined = sorted({variable for operand in own for _, variable in tree.primitives[operand].variables})
    new = {variable: number for number, variable in enumerate(joined)}
    primitives = [
        Primitive(p.guard, tuple([(position, new[variable]) for position, variable in p.variables]), p.source)
        for p in [tree.primitives[operand] for operand in own]
    ]
    conditions = [
        replace(condition, minuend=place[condition.minuend], subtrahend=place[condition.subtrahend])
        for condition in tree.conditions
        if condition.minuend in place and condition.subtrahend in place
    ]
    return MachineTree(
        tree.sources,
        tuple([tree.names[operand] for operand in own]),
        tuple(primitives),
        Schema(tuple([tree.results.attributes[variable] for variable in joined])),
        _renumbered(node, place),
        tuple(conditions),
        tree.within,
    )


def _renumbered(node: Node, place: dict[int, int]) -> Node:
    match node:
        case Series(symbols, separators):
            return Series(tuple([_renumbered(symbol, place) for symbol in symbols]), separators)
        case GateNode(gate, inputs):
            return GateNode(gate, tuple([_renumbered(each, place) for each in inputs]))
        case _:
            return place[node]
