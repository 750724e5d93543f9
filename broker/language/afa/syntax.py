"""The nodes of an AFA query as written; no meaning, no schemas, no text. Expressions are in syntax.py.

`at` is as in syntax.py: where the node begins in the text, -1 if a program made it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from ...events.schema import ValueType
from ..syntax import Expression, Name


@final
@dataclass(frozen=True, slots=True)
class Label:
    """The name of a stream or a state, where it is written."""

    name: str
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class RegisterDeclaration:
    """`name TYPE = initial`."""

    name: str
    type: ValueType
    initial: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Assignment:
    """`register = value`: what the register holds after the arc."""

    register: str
    value: Expression
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class ArcExpression:
    """`name: source -> target ON stream WHEN condition SET assignments`.

    `name` is None if the text names none; `takes` is false for `~>`, which takes no event; `stream` is None for an arc
    that takes events of every stream; `condition` is None for one without WHEN.
    """

    name: str | None
    source: Label
    target: Label
    takes: bool
    stream: Label | None
    condition: Expression | None
    assignments: tuple[Assignment, ...]
    at: int = field(default=-1, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class AfaQuery:
    """A whole query: `partition` has the attributes of BY; `within` is the lifetime of an event in microseconds, None
    for one without end, and `within_at` where it is written."""

    streams: tuple[Label, ...]
    partition: tuple[Name, ...]
    registers: tuple[RegisterDeclaration, ...]
    start: Label
    finals: tuple[Label, ...]
    arcs: tuple[ArcExpression, ...]
    within: int | None
    publish: str | None
    within_at: int = field(default=-1, compare=False, repr=False)

    @property
    def at(self) -> int:
        return self.streams[0].at
