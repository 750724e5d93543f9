"""An AFA subscription in its typed form (AFA, 3; semantics 4.1): what its meaning and its construction read.

Here: states, registers and arcs as values, and questions about the graph alone. Not here: what is a match (semantics),
names and places of a text (language), the automaton that executors run (broker.automaton).

A condition or an update reads the attributes of its event as `Side.EVENT`, and the registers, by their position in
`registers`, as `Side.LAST`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...events.instant import FOREVER
from ...events.schema import Row, Schema
from ..partitioned_stream import PartitionedStream
from ..terms import TRUE, Term

ALWAYS_BEGUN: Final = -FOREVER  # earlier than any event
NEVER_ENDED: Final = FOREVER


@dataclass(frozen=True, slots=True)
class RegisterArc:
    """`source` to `target`, by index. `stream` is the index of the stream whose events it takes, -1 for an arc that
    takes none. `updates` has the value of each register after the arc, () for an arc that leaves them as they are.

    An arc that takes an event exists for the events of [`begin`, `end`); one that takes none for the event taken last,
    or, out of the start, for the event that is to be taken. `name` is shared by the arcs that one line of the text
    stands for.
    """

    name: str
    source: int
    target: int
    stream: int
    condition: Term = TRUE
    updates: tuple[Term, ...] = ()
    begin: int = ALWAYS_BEGUN
    end: int = NEVER_ENDED

    @property
    def takes(self) -> bool:
        """Whether the arc takes an event."""
        return self.stream >= 0

    @property
    def ignores(self) -> bool:
        """Whether a run under way that takes an event by this arc is as it was before (semantics 4.8)."""
        return self.takes and self.source == self.target and not self.updates

    def exists(self, time: int) -> bool:
        """Whether the arc is there for an event of that time."""
        return self.begin <= time < self.end


@dataclass(frozen=True, slots=True)
class RegisterAutomaton:
    """A whole subscription. `sources`: the streams, whose merge the automaton reads, each with the positions of BY;
    `initial`: the values of the registers at the start; `within`: how long an event lives, in microseconds, None for
    ever."""

    sources: tuple[PartitionedStream, ...]
    registers: Schema
    initial: Row
    states: tuple[str, ...]
    start: int
    finals: frozenset[int]
    arcs: tuple[RegisterArc, ...]
    within: int | None
    publish: str | None = None

    def left(self) -> frozenset[int]:
        """The states that some arc leads on from."""
        return frozenset([arc.source for arc in self.arcs])

    def inserted(self, arcs: Sequence[RegisterArc], begin: int, end: int = NEVER_ENDED) -> RegisterAutomaton:
        """The same with further arcs for the events of [begin, end)."""
        return replace(self, arcs=(*self.arcs, *(replace(arc, begin=begin, end=end) for arc in arcs)))

    def deleted(self, name: str, begin: int, end: int = NEVER_ENDED) -> RegisterAutomaton:
        """The same without the arcs of that name for the events of [begin, end)."""
        kept: list[RegisterArc] = []
        for arc in self.arcs:
            if arc.name != name:
                kept.append(arc)
                continue
            before, behind = replace(arc, end=min(arc.end, begin)), replace(arc, begin=max(arc.begin, end))
            kept += [rest for rest in (before, behind) if rest.begin < rest.end]
        return replace(self, arcs=tuple(kept))
