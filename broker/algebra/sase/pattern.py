"""A SASE+ subscription in its typed form (SASE+ 2; semantics 2.1-2.3): what its meaning and its automaton are made of.

Here: components, their guards on the edges where semantics 2.3 puts them, and what guards read of earlier events. Not
here: what is a match (semantics), names and places of a text (language), what stands below the language: an automaton
(broker.automaton.constructions.pattern), which alone all other stages read.

A positive component is known by its index among the positive ones, in the order of PATTERN. A match assigns one event
to each of them, to a Kleene one at least one, in the order of the stream.

Terms read two things: the current event, `Attribute(Side.EVENT, position)`, and what the run remembers,
`Register(slot, position)`, where `slot` is an index into `Pattern.slots`: of a `Bound` the register is the attribute at
`position` of that event's row, of an `Aggregate` it is the value itself and `position` is -1. A register always says
what is so *before* the current event is consumed: `a[..i-1]` where a[i] is taken and `a[]` where `a` may end are one
slot. A position behind those of the schema is that of an event's time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...events.schema import Attribute, Schema, ValueType
from ..guard import Accumulation, Guard
from ..partitioned_stream import PartitionedStream
from ..terms import Term, nullable

Strategy: TypeAlias = Literal[
    "strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match"
]
Output: TypeAlias = Literal["all", "nonoverlap", "compressed"]


@dataclass(frozen=True, slots=True)
class Bound:
    """An event that a component has: its only or first one, or, of a Kleene component, the last one so far.

    `b.x`, `a[1].x` and first(a[].x) read the first, `a[i-1].x`, `a[a.LEN].x` and last(a[].x) the last.
    """

    component: int
    last: bool


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A value over all events that a Kleene component has so far, nulls left out: over no value at all count is 0 and
    the others are null. `len`, whose `position` is -1, counts the events; count is that where no null can be.

    sum adds from left to right, beginning with the first value, without bounds; avg is that sum divided by that count.
    Both are null where what is read leaves 64 bits or the finite floats.
    """

    component: int
    function: Accumulation
    position: int
    type: ValueType


Slot: TypeAlias = Bound | Aggregate


@dataclass(frozen=True, slots=True)
class Component:
    """A positive component. `begin` guards its only or first event.

    Of a Kleene component `take` guards all further events, and `proceed`, which reads registers only, its end: what is
    so once it has its last event. Of a single component both are None.
    """

    name: str
    source: int
    strategy: Strategy
    begin: Guard
    take: Guard | None
    proceed: Guard | None

    @property
    def kleene(self) -> bool:
        return self.take is not None


@dataclass(frozen=True, slots=True)
class Negated:
    """`~(S n)`: no event of the source, of the match's partition, satisfies `guard`, whose registers are those of the
    whole match, also of components that come later.

    `place` is how many positive components stand before it. With p of them in all (semantics 2.7 of the design):
    0 < place < p: none strictly between the last event of component place - 1 and the first of component place, in the
    order of the stream; place = 0: none whose time is above t(last) - within and below t(first); place = p: none whose
    time is above t(last) and at most t(first) + within.
    """

    name: str
    source: int
    place: int
    guard: Guard


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern without elements that may be absent: a whole subscription, or a variant of one.

    `sources` are the streams whose merge is the sequence, each once, with the attributes that partition it. `names` are
    the positive components of all variants, in the order of PATTERN. `within` bounds, in microseconds, t(last) -
    t(first), both positive. `items` are RETURN's, by name; they read registers only, of the whole match.
    """

    sources: tuple[PartitionedStream, ...]
    names: tuple[str, ...]
    components: tuple[Component, ...]
    negated: tuple[Negated, ...]
    slots: tuple[Slot, ...]
    within: int | None
    items: tuple[tuple[str, Term], ...]
    output: Output
    publish: str | None

    @property
    def result_schema(self) -> Schema:
        return Schema(tuple(Attribute(name, term.type, nullable(term)) for name, term in self.items))

    @property
    def operands(self) -> tuple[int, ...]:
        """By component its number in `names`."""
        return tuple(self.names.index(component.name) for component in self.components)

    @property
    def trailing(self) -> bool:
        """Whether a match is known only when time has passed t(first) + within."""
        return any(negated.place == len(self.components) for negated in self.negated)


Variants: TypeAlias = tuple[Pattern, ...]
"""A whole subscription, whose matches are those of each variant; at least one. They have in common all but components,
what is negated, slots, and the terms of `items`."""


def schema_of_variants(variants: Variants) -> Schema:
    """The schema of the results; a value may be null if it may be null in a variant."""
    schemas = [variant.result_schema.attributes for variant in variants]
    columns = zip(*schemas, strict=True)
    return Schema(tuple(Attribute(c[0].name, c[0].type, any(one.nullable for one in c)) for c in columns))
