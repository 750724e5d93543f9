"""A P-ToPSS subscription in its typed form (P-ToPSS 3.1; semantics 3.1): what its meaning and its construction read.

Here: operands and the whole as values. Their order and their time conditions: structure. Not here: what
is a match (semantics), names and places of a text (language), machines of any kind.

An operand is known by its index, which is its place in MATCH. A match assigns one event to each operand of the branches
that were taken, distinct events to distinct operands.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...events.schema import Attribute, Schema, ValueType
from ..normal_form import Form
from ..partitioned_stream import PartitionedStream
from ..structure import Both, Chain, Condition, Either, Structure


@dataclass(frozen=True, slots=True)
class VariableJoin:
    """The event's attribute at `position` equals the variable; a null equals nothing.

    Equality is that of numbers, so that an int attribute and a float one may share a variable.
    """

    position: int
    variable: int


@dataclass(frozen=True, slots=True)
class Operand:
    """A primitive subscription: `guard` reads the event alone, in canonical form; `joins` are sorted, each once. Its
    events are those of the subscription's `source`, by number."""

    name: str
    guard: Form
    joins: tuple[VariableJoin, ...]
    source: int = 0


@dataclass(frozen=True, slots=True)
class Composite:
    """A whole subscription. `sources`: the streams whose merge is the sequence, each once, with the attributes of BY.
    Without BY all events are one partition, else an event with a null among these attributes belongs to none.
    `variables` are names without `$`, in the order of their first use; `within` bounds, in microseconds, the time
    between the first and the last event of a match."""

    sources: tuple[PartitionedStream, ...]
    operands: tuple[Operand, ...]
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
            self.sources[operand.source].schema.attributes[join.position].type
            for operand in self.operands
            for join in operand.joins
            if join.variable == variable
        ]
        return "float" if "float" in types else types[0]

    def _bound(self, structure: Structure) -> frozenset[int]:
        """The variables that every match of a structure binds."""
        match structure:
            case int():
                return frozenset(join.variable for join in self.operands[structure].joins)
            case Chain(parts) | Both(parts):
                return frozenset[int]().union(*map(self._bound, parts))
            case Either(parts):
                return self._bound(parts[0]).intersection(*map(self._bound, parts[1:]))
