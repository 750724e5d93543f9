"""A group's runs over epochs in the form that results read, made of the events of a complete path.

Here: rows and registers of a path, its digest and its lineage. Not here: the members with the match (machine).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation, Slots
from ....algebra.predicate import computation
from ....automaton.automaton import BoundRow, Carry, Computed, EventRow, SlotSource
from ....events.schema import Row
from ..matches import Item, Lineage, PartialMatch, ids
from ..trace import mixed
from .kept_events import EventPage

CARRIED: Final = 0
BOUND: Final = 1
TAKEN: Final = 2
COMPUTED: Final = 3


@final
class SlotFill:
    """The source of a slot."""

    def __init__(self, source: SlotSource) -> None:
        self.kind: i64 = TAKEN
        self.slot: i64 = 0
        self.computation: Computation | None = None
        match source:
            case Carry(slot):
                self.kind, self.slot = CARRIED, slot
            case BoundRow():
                self.kind = BOUND
            case EventRow():
                self.kind = TAKEN
            case Computed(term):
                self.kind, self.computation = COMPUTED, computation(term)
            case _:
                raise AssertionError(f"no automaton over epochs fills a slot by {source}")


@final
class EpochRuns:
    """What each step fills slots from, and nothing if the run remembers only its last row.

    `lineage`: whether a member asks for the contributing events, or may do so.
    """

    def __init__(self, updates: tuple[tuple[SlotSource, ...], ...]) -> None:
        self.steps = [[SlotFill(source) for source in update] for update in updates]
        self.fills = any(self.steps)
        self.lineage = False

    def filled(self, step: i64, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Slots:
        """The slots behind a step, of the run's last row and slots before it."""
        fills = self.steps[step]
        if len(fills) == 0:
            return ()
        found = []
        for fill in fills:
            if fill.kind == CARRIED:
                found.append(slots[fill.slot])
            elif fill.kind == BOUND:
                found.append(bound)
            elif fill.kind == TAKEN:
                found.append(row)
            elif fill.computation is not None:
                found.append(fill.computation.value(row, bound, slots, length, span))
        return tuple(found)

    def run(self, page: EventPage, path: list[int]) -> PartialMatch:
        """The run that took these events. O(steps x log(events kept))."""
        trace: i64 = 0
        lineage: Lineage = None
        places: list[int] = []
        step: i64 = 1
        for number in path:
            at = page.place(number)
            places.append(int(at))
            trace, lineage = mixed(trace, traced(page.items[at]), step), linked(lineage, page.items[at])
            step += 1
        first = places[0]
        row = page.rows[places[-1]]
        slots: Slots = ()
        if self.fills:
            slots = self._slots(page, places)
        return PartialMatch(row, slots, page.starts[first], page.times[first], trace, lineage)

    def _slots(self, page: EventPage, places: list[int]) -> Slots:
        slots: Slots = ()
        bound: Row = ()
        began = page.starts[places[0]]
        for step, at in enumerate(places):
            row = page.rows[at]
            length, span = page.times[at] - page.starts[at] + 1, page.times[at] - began + 1
            slots, bound = self.filled(step, row, bound, slots, int(length), int(span)), row
        return slots


def traced(item: Item) -> i64:
    """An event's contribution to a digest."""
    number: i64 = item if isinstance(item, int) else item[0]
    return number


def linked(lineage: Lineage, item: Item) -> Lineage:
    """A lineage with one more event."""
    if isinstance(item, int):
        return lineage, item
    for contributed in ids(item):
        lineage = (lineage, contributed)
    return lineage
