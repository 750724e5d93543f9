"""The data of a run: its state, its slots, and its events with the arcs that took them.

Here: events and runs as values. Not here: the effect of an event on a run (interpreter), the conditions of an arc
(arcs).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, final

from ....algebra.computation import Slots
from ....automaton.automaton import Arc
from ....events.instant import FOREVER
from ....events.schema import Row
from ...matches.sources import Item


@final
class SeenEvent:
    """An event of the automaton's streams: `number` counts the events before it, `item` identifies it in a match.

    `partition`: the values of its source's key; None if one of them is null, so that it is in no partition.
    """

    __slots__ = ("end", "item", "number", "partition", "row", "start", "stream")

    def __init__(
        self, number: int, stream: str, start: int, end: int, row: Row, item: Item, partition: Row | None
    ) -> None:
        self.number = number
        self.stream = stream
        self.start = start
        self.end = end
        self.row = row
        self.item = item
        self.partition = partition


@final
class Consumed(NamedTuple):
    """An event, and the arc that took it."""

    arc: Arc
    event: SeenEvent


Path: TypeAlias = tuple[Consumed, ...]


@final
class ReferenceRun:
    """`taken`: the events of the run, in the order in which it took them; () at the start.

    `ended`: the epoch whose event has ended it; it sees the other events of that epoch.
    """

    __slots__ = ("ended", "slots", "state", "taken")

    def __init__(self, state: int, slots: Slots, taken: Path) -> None:
        self.state = state
        self.slots = slots
        self.taken = taken
        self.ended = FOREVER

    def first(self) -> SeenEvent:
        return self.taken[0].event

    def last(self) -> SeenEvent:
        return self.taken[-1].event


@final
class CompletedRun(NamedTuple):
    """A match: its events, the values of the result, and the slots that the run had before the last event."""

    taken: Path
    values: Row
    slots: Slots = ()

    def order(self) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
        """The order of matches that become known at once: earlier events first, then earlier operands."""
        numbers = tuple([event.number for _, event in self.taken])
        return numbers[0], numbers[-1], numbers, tuple([arc.operand for arc, _ in self.taken])

    def order_of_epochs(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The order over epochs: first the run that was earlier in the state that they leave, or in the one before it.

        Among the successors of one run, the one that took a loop comes first.
        """
        return tuple([event.number for _, event in self.taken[::-1]]), tuple([arc.target for arc, _ in self.taken])


@final
class ForbiddenRun(NamedTuple):
    """A run with all its events, and the event that forbids it, with the arc that says so."""

    run: ReferenceRun
    kill: Arc
    event: SeenEvent


@final
class Notes:
    """What an interpreter notes for reasons: all events, and the runs that were matches or forbidden, since `clear`."""

    def __init__(self) -> None:
        self.seen: list[SeenEvent] = []
        self.completed: list[CompletedRun] = []
        self.forbidden: list[ForbiddenRun] = []
