"""A group's runs over epochs in the form that results read, made of the events of a complete path.

Here: rows and registers of a path, its digest and its lineage. Not here: the members with the match (machine).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation, Slots
from ....algebra.predicate import computation
from ....automaton.automaton import Automaton, BoundRow, Carry, Computed, EventRow, SlotSource
from ....events.schema import Row
from ...trace import mixed
from ..matches import Lineage, PartialMatch, ids
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
    """The sources that the arcs of a chain use, except the last arc. None: the run remembers only its last row."""

    def __init__(self, automaton: Automaton) -> None:
        steps = [[SlotFill(source) for source in arc.update] for arc in automaton.arcs[:-1]]
        self.steps: list[list[SlotFill]] | None = steps if any(steps) else None

    def run(self, page: EventPage, path: list[int]) -> PartialMatch:
        """The run that took these events. O(steps x log(events kept))."""
        trace: i64 = 0
        lineage: Lineage = None
        places: list[int] = []
        step: i64 = 1
        for number in path:
            at = page.place(number)
            places.append(int(at))
            item = page.items[at]
            if isinstance(item, int):
                trace = mixed(trace, item, step)
                lineage = (lineage, item)
            else:
                trace = mixed(trace, item[0], step)
                for contributed in ids(item):
                    lineage = (lineage, contributed)
            step += 1
        first = places[0]
        row = page.rows[places[-1]]
        slots: Slots = ()
        if self.steps is not None:
            slots = self._filled(page, places, self.steps)
        return PartialMatch(row, slots, page.starts[first], page.times[first], trace, lineage)

    def _filled(self, page: EventPage, places: list[int], steps: list[list[SlotFill]]) -> Slots:
        slots: Slots = ()
        bound: Row = ()
        began = page.starts[places[0]]
        for at, fills in zip(places, steps):
            row = page.rows[at]
            length, span = page.times[at] - page.starts[at] + 1, page.times[at] - began + 1
            filled = []
            for fill in fills:
                if fill.kind == CARRIED:
                    filled.append(slots[fill.slot])
                elif fill.kind == BOUND:
                    filled.append(bound)
                elif fill.kind == TAKEN:
                    filled.append(row)
                elif fill.computation is not None:
                    filled.append(fill.computation.value(row, bound, slots, int(length), int(span)))
            slots, bound = tuple(filled), row
        return slots
