"""Lowers a composite subscription to a tree of machines.

Here: the translation of the typed form, which no later stage knows. Not here: the machines (machines.tree), their
automaton (construction).
"""

from __future__ import annotations

from ....algebra.ptopss.composite import Both, Chain, Composite, Either, Leaf, Operand, Structure
from ....algebra.ptopss.constant_conditions import remarks
from ....algebra.timed_stream import source_in_use
from ...machines.tree import Gate, GateNode, MachineTree, Node, Primitive, Series, WrittenCondition


def decompose(composite: Composite) -> MachineTree:
    """The machines of a composite subscription. O(operands + conditions), times the depth of nesting."""
    return MachineTree(
        tuple(map(source_in_use, composite.sources)),
        tuple([operand.name for operand in composite.operands]),
        tuple([_primitive(operand) for operand in composite.operands]),
        composite.result_schema,
        _node(composite.structure),
        tuple([WrittenCondition(c.minuend, c.subtrahend, c.operator, c.duration) for c in composite.conditions]),
        composite.within,
        tuple(remarks(composite)),
        isinstance(composite.structure, Chain) and any(isinstance(part, Chain) for part in composite.structure.parts),
    )


def _primitive(operand: Operand) -> Primitive:
    joins = tuple([(join.position, join.variable) for join in operand.joins])
    return Primitive(operand.guard, joins, operand.source)


def _node(structure: Structure) -> Node:
    match structure:
        case Leaf(operand):
            return operand
        case Both(parts):
            return GateNode(Gate.AND, tuple(map(_node, parts)))
        case Either(parts):
            return GateNode(Gate.OR, tuple(map(_node, parts)))
        case Chain(parts, separators):
            symbols: list[Node] = []
            between: list[str] = []
            for part, separator in zip(map(_node, parts), ("", *separators)):
                inner = part if isinstance(part, Series) else Series((part,), ())
                symbols += inner.symbols
                between += (separator, *inner.separators)
            return Series(tuple(symbols), tuple(between[1:]))
