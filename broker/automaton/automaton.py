"""The register automaton of a chain of states, which the operators of the algebra compile to (semantics 6.1).

Here: states, arcs, registers and what fills them: immutable values, comparable and hashable by meaning, so that equal
states of different subscriptions are found by hashing. Not here: how they are built (constructions) or run (engine);
what composite subscriptions and patterns compile to (paths, kleene).

What a run remembers when it waits in a state is the row of the event that it bound last, and *slots*: earlier rows,
and computed values. An arc says what fills each slot of its target.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

from ..algebra.normal_form import ALWAYS, Form, describe_form
from ..algebra.terms import Term, describe
from ..events.schema import Schema


class Kind(enum.Enum):
    """What an arc is for; the stay arc, which changes nothing, is the state's `theta` negated."""

    FORWARD = "forward"
    REBIND = "rebind"


@dataclass(frozen=True, slots=True)
class Carry:
    """Slot: what was in slot `slot` of the arc's source."""

    slot: int


@dataclass(frozen=True, slots=True)
class BoundRow:
    """Slot: the row that the run had bound before this arc."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """Slot: the row of this arc's event."""


@dataclass(frozen=True, slots=True)
class Computed:
    """Slot: a value computed from the event and the source's registers as they were."""

    term: Term


SlotSource: TypeAlias = Carry | BoundRow | EventRow | Computed


@dataclass(frozen=True, slots=True)
class State:
    """Where a run waits for events of `stream`.

    An event *affects* the run if it does not overlap what the run has bound and `theta` holds; any other event leaves
    it untouched. The stay guard of semantics 6.1 is therefore NOT theta, or overlap. `stays`: whether an affected run
    stays beside its successors.
    """

    stream: str
    theta: Form = ALWAYS
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Arc:
    """`source` to `target` (indexes of states) for an affecting event that satisfies `guard`.

    The row that the target's runs have bound is the event's; `update` fills its slots. Where the source has a rebind
    arc whose guard fails, no arc is taken. An arc to the final state has `output`, the result's values, instead.
    """

    source: int
    target: int
    guard: Form
    update: tuple[SlotSource, ...] = ()
    output: tuple[Term, ...] = ()
    kind: Kind = Kind.FORWARD


@dataclass(frozen=True, slots=True)
class Automaton:
    """States in order from the start (index 0, holding no runs), one arc into each next one, rebind loops beside;
    the last arc leads to the final state, whose index is `len(states)`. `schema` is that of its results."""

    states: tuple[State, ...]
    arcs: tuple[Arc, ...]
    schema: Schema

    @property
    def final(self) -> int:
        return len(self.states)

    def forward(self, source: int) -> Arc:
        return next(a for a in self.arcs if a.source == source and a.kind is Kind.FORWARD)

    def rebind(self, source: int) -> Arc | None:
        return next((a for a in self.arcs if a.source == source and a.kind is Kind.REBIND), None)


def describe_arc(arc: Arc) -> str:
    """What an arc asks and what it newly computes, for people; nothing where it takes every event as it is."""
    parts = [] if arc.guard == ALWAYS else [describe_form(arc.guard)]
    parts += [f"keep {describe(source.term)}" for source in arc.update if isinstance(source, Computed)]
    return "; ".join(parts)
