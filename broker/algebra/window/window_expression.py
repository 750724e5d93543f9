"""A window subscription in its typed form (semantics 5): what its meaning and its construction read.

Here: windows, regular expressions, formulas and aggregates as values. Not here: what is a window (semantics), names and
places of a text (language), the automaton that executors run (broker.automaton).

A condition reads an event of a partition with `width` attributes, the last of which is its time: as `Side.EVENT` its
own, and as `Side.LAST` at `(back - 1) * width + position` those of the event that many before it in the partition. All
are null where there is no such event.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ...events.schema import Schema
from ...language.wording import UNSAID, Wording
from ..partitioned_stream import PartitionedStream
from ..terms import Term
from ..window_aggregates import ClockGrid, Keeping, WindowAggregate

RegexOperator: TypeAlias = Literal["any", "event", "then", "or", "and", "not", "times"]
FormulaOperator: TypeAlias = Literal["holds", "less", "equal", "next", "in", "not", "and", "or", "exists", "exists set"]


@dataclass(frozen=True, slots=True)
class WindowRegex:
    """A regular expression over events: one event, one that satisfies the condition `atom`, or an operator over
    `parts`.

    `times` has one part, `least` and `most`, None for no greatest number; `not` matches every non-empty sequence that
    its part does not match.
    """

    operator: RegexOperator
    parts: tuple[WindowRegex, ...] = ()
    atom: int = -1
    least: int = 0
    most: int | None = None
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WindowPair:
    """Windows whose events `body` matches, if `prefix` matches all events before them in the partition.

    `within`: the greatest time between first and last event, in microseconds; None for no bound.
    """

    prefix: WindowRegex
    body: WindowRegex
    within: int | None = None


@dataclass(frozen=True, slots=True)
class WindowFormula:
    """A formula of monadic second-order logic over the positions of a partition up to the end of the window.

    Variables are numbers, 0 that of the first event of the window, 1 that of its last one. `holds`: the event of
    `first` satisfies the condition `atom`; `less`, `equal` and `next` compare `first` with `second`, which for `next`
    is the position behind it; `in`: `first` is in the set `second`. `exists` and `exists set` bind `first`.
    """

    operator: FormulaOperator
    parts: tuple[WindowFormula, ...] = ()
    atom: int = -1
    first: int = -1
    second: int = -1
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WindowExpression:
    """A subscription: one of `pairs`, `formula` and `clock` says which windows there are.

    `atoms`: its conditions on single events; `back`: how many events they look back. `gap`: events that are further
    apart, in microseconds, are in no common window, None if unknown. `said`: the windows without short forms, as text.
    """

    source: PartitionedStream
    atoms: tuple[Term, ...]
    back: int
    pairs: tuple[WindowPair, ...]
    formula: WindowFormula | None
    clock: ClockGrid | None
    keep: Keeping
    aggregates: tuple[WindowAggregate, ...]
    schema: Schema
    gap: int | None
    publish: str | None
    said: Wording = field(default=UNSAID, compare=False)

    @property
    def width(self) -> int:
        """The number of attributes that a condition reads of an event."""
        return len(self.source.schema.attributes) + 1
