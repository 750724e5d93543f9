"""Lowers a composite subscription to a tree of machines.

Here: the translation of the typed form, which no later stage knows. Not here: the machines (machines.tree), their
automaton (construction).
"""

from __future__ import annotations

from ....algebra.ptopss.composite import Composite
from ....algebra.ptopss.constant_conditions import remarks
from ....algebra.structure import Both, Chain, Either, Structure
from ....algebra.timed_stream import source_in_use
from ...machines.tree import MachineTree


def decompose(composite: Composite) -> MachineTree:
    """The machines of a composite subscription. O(operands + conditions), times the depth of nesting."""
    return MachineTree(
        tuple(map(source_in_use, composite.sources)),
        composite.names,
        composite.primitives,
        composite.result_schema,
        _flat(composite.structure),
        composite.conditions,
        composite.within,
        tuple(remarks(composite)),
    )


def _flat(structure: Structure) -> Structure:
    """A structure without sequences in sequences, which mean the same without parentheses."""
    match structure:
        case int():
            return structure
        case Both(parts):
            return Both(tuple(map(_flat, parts)))
        case Either(parts):
            return Either(tuple(map(_flat, parts)))
        case Chain(parts, separators):
            symbols: list[Structure] = []
            between: list[str] = []
            for part, separator in zip(map(_flat, parts), ("", *separators)):
                inner = part if isinstance(part, Chain) else Chain((part,), ())
                symbols += inner.parts
                between += (separator, *inner.separators)
            return Chain(tuple(symbols), tuple(between[1:]))
