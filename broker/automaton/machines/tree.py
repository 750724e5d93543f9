"""The tree of machines of a composite pattern: state machines and Boolean machines (P-ToPSS 4) over operands.

Here: this tree as a value, and dividing it. Not here: decomposing a subscription and its automaton (constructions),
machines with names and triggers (decomposition).

A chain is one state machine, whose parts are its symbols. A chain within a chain means the same without parentheses, so
the tree has none; a tree of AND and OR has one machine for each gate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ...algebra.partitioned_stream import PartitionedStream
from ...algebra.structure import Both, Chain, Condition, Either, Primitive, Structure, leaves
from ...events.schema import Schema

Dividing: TypeAlias = Literal["AND", "OR", ";"]


@dataclass(frozen=True, slots=True)
class MachineTree:
    """A whole pattern. `names` and `primitives` by operand; `results` has an attribute for each variable; `remarks`
    report redundant conditions."""

    sources: tuple[PartitionedStream, ...]
    names: tuple[str, ...]
    primitives: tuple[Primitive, ...]
    results: Schema
    root: Structure
    conditions: tuple[Condition, ...]
    within: int | None
    remarks: tuple[str, ...] = ()


def divided(node: Structure) -> tuple[Dividing, tuple[Structure, ...]]:
    """The parts of a node and the operator between them, AND, OR or `;`. An AND within an AND is flattened, and so is
    OR; adjacent operands of a series are one part, and symbols joined by `,` stay together."""
    match node:
        case Both():
            return "AND", _spliced(Both, node)
        case Either():
            return "OR", _spliced(Either, node)
        case Chain(parts, separators):
            return ";", _phases(parts, separators)
        case _:
            return ";", (node,)


def _spliced(gate: type[Both | Either], node: Structure) -> tuple[Structure, ...]:
    if not isinstance(node, gate):
        return (node,)
    return tuple(part for each in node.parts for part in _spliced(gate, each))


def _phases(symbols: tuple[Structure, ...], separators: tuple[str, ...]) -> tuple[Structure, ...]:
    terms: list[list[Structure]] = [[symbols[0]]]
    for separator, symbol in zip(separators, symbols[1:]):
        if separator == ",":
            terms[-1].append(symbol)
        else:
            terms.append([symbol])
    found: list[Structure] = []
    leading: list[Structure] = []  # adjacent operands
    for term in terms:
        if len(term) == 1 and isinstance(term[0], int):
            leading.append(term[0])
            continue
        found += _series(leading, ";")
        leading = []
        found += _series(term, ",")
    return tuple(found + _series(leading, ";"))


def _series(symbols: list[Structure], separator: str) -> list[Structure]:
    """One node or none."""
    return symbols if len(symbols) < 2 else [Chain(tuple(symbols), (separator,) * (len(symbols) - 1))]


def part_of(tree: MachineTree, node: Structure) -> MachineTree:
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


def _renumbered(node: Structure, place: dict[int, int]) -> Structure:
    match node:
        case int():
            return place[node]
        case Chain(parts, separators):
            return Chain(tuple([_renumbered(part, place) for part in parts]), separators)
        case Both(parts):
            return Both(tuple([_renumbered(part, place) for part in parts]))
        case Either(parts):
            return Either(tuple([_renumbered(part, place) for part in parts]))
