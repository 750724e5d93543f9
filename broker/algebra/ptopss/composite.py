"""A P-ToPSS subscription in its typed form (P-ToPSS 3.1; semantics 3.1): what its meaning and its construction read.

Here: the whole as a value. Operands, their order and their time conditions: structure. Not here: what
is a match (semantics), names and places of a text (language), machines of any kind.

An operand is known by its index, which is its place in MATCH. A match assigns one event to each operand of the branches
that were taken, distinct events to distinct operands.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...events.schema import Attribute, Schema, ValueType
from ..partitioned_stream import PartitionedStream
from ..structure import Both, Chain, Condition, Either, Primitive, Structure


@dataclass(frozen=True, slots=True)
class Composite:
    """A whole subscription. `sources`: the streams whose merge is the sequence, each once, with the attributes of BY.
    Without BY all events are one partition, else an event with a null among these attributes belongs to none.
    `names` and `primitives` by operand. `variables` are names without `$`, in the order of their first use; `within`
    bounds, in microseconds, the time between the first and the last event of a match."""

    sources: tuple[PartitionedStream, ...]
    names: tuple[str, ...]
    primitives: tuple[Primitive, ...]
    variables: tuple[str, ...]
    structure: Structure
    conditions: tuple[Condition, ...]
    within: int | None
    publish: str | None

    @property
    def result_schema(self) -> Schema:
        """One attribute a variable. A variable that int and float attributes share is a float.

        It is nullable where there are branches that do not bind it.
        """
        bound = self._bound(self.structure)
        return Schema(
            tuple(
                Attribute(name, self._variable_type(variable), variable not in bound)
                for variable, name in enumerate(self.variables)
            )
        )

    def _variable_type(self, variable: int) -> ValueType:
        types = [
            self.sources[primitive.source].schema.attributes[position].type
            for primitive in self.primitives
            for position, joined in primitive.variables
            if joined == variable
        ]
        return "float" if "float" in types else types[0]

    def _bound(self, structure: Structure) -> frozenset[int]:
        """The variables that every match of a structure binds."""
        match structure:
            case int():
                return frozenset(variable for _, variable in self.primitives[structure].variables)
            case Chain(parts) | Both(parts):
                return frozenset[int]().union(*map(self._bound, parts))
            case Either(parts):
                return self._bound(parts[0]).intersection(*map(self._bound, parts[1:]))
