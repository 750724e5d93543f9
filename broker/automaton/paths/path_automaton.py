"""The acyclic automaton of a composite subscription: one path from its start to a final state is one tuple of events.

Here: immutable tables, comparable by meaning. Not here: how they are built (compilation) or counted (engine).

A state is what a match still needs to know: how far it is, which of its events open conditions refer to (`slots`), and
which variables it has bound. An arc takes one event for one operand. States are in topological order: 0 is the start,
every arc leads to a greater one.
"""

from __future__ import annotations

from dataclasses import dataclass

from .conditions import Distances


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Number `number` of a subscription's conditions: the event of operand `first` (START: of any) and the later one of
    operand `last` (FINISH: the completing one) are an allowed distance apart; where AND leaves them unordered, either
    may be the later one. `text` is for people."""

    number: int
    first: int
    last: int
    allowed: Distances
    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """An event whose time is kept: that of `operand` (START: the first one). `open` are the numbers of the limits that
    may still ask for it, `must` those of them which every way to the end does ask."""

    operand: int
    open: tuple[int, ...]
    must: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PathState:
    """`skips`: events may pass by; else its matches are of use for the very next event only. `variables`, sorted, are
    bound, beside those of the automaton's key."""

    skips: bool
    final: bool
    slots: tuple[Slot, ...]
    variables: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PathArc:
    """An event of `operand` leads from `source` to `target` if

    - `checks`: (slot of the source, limit): it is an allowed distance after the event in the slot;
    - `recents`: (n, distances): so it is after the event n positions before it;
    - `tests`: (attribute, index in the source's variables): it has the value that is bound;
    - `equals`: these pairs of its attributes are equal; and `present`: these are not null.

    `times` fills the target's slots, each from the source's slot of that index, or, -1, with the event's own time;
    `values` its variables, from those of the source likewise, or, below zero, from attribute -1 - n.
    """

    source: int
    operand: int
    target: int
    checks: tuple[tuple[int, int], ...]
    recents: tuple[tuple[int, Distances], ...]
    tests: tuple[tuple[int, int], ...]
    equals: tuple[tuple[int, int], ...]
    present: tuple[int, ...]
    times: tuple[int, ...]
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Conditions from one event on that can be counted over a window, without a key.

    `states`, ascending, are those which keep the time of that one event and nothing else; no arc between them asks for
    it. `exits` are the arcs that leave them, with the distances that each allows. `stacked`: it has a state that does
    not skip, so that an event cannot be taken out again. `ordered`: each state is fed from one other, so that what it
    holds is in the order of the spans' first events.
    """

    states: tuple[int, ...]
    exits: tuple[tuple[int, Distances], ...]
    stacked: bool
    ordered: bool


@dataclass(frozen=True, slots=True)
class PathAutomaton:
    """All of it. `key` are the variables that every operand joins, `keys` the attributes by operand that hold them:
    events with other values of these have nothing to do with each other. `spans` is None where counts need keyed cells,
    whose keys are up to `width` times. `horizon` is how long after its last event a match can be of any use, in
    microseconds; None: for ever."""

    states: tuple[PathState, ...]
    arcs: tuple[PathArc, ...]
    limits: tuple[TimeLimit, ...]
    operands: int
    variables: int
    key: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    spans: tuple[Span, ...] | None
    width: int
    horizon: int | None
