"""A group's runs over epochs in the form that results read, made of the events of a complete path.

Here: rows and registers of a path, its digest and its lineage. Not here: the members with the match (machine).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....algebra.terms import Arithmetic, Constant, Register
from ....automaton.automaton import Carry, Computed, SlotSource
from ....events.schema import Row
from ...matches.sources import Item, Lineage, PartialMatch, ids
from ...program.transition import SlotUpdate
from ..packed import Integers
from ..trace import mixed
from .kept_events import EventPage

FOLDED: Final = 2  # steps of a fold
COUNTED_MAX: Final = 2**31  # no fold lives long enough to lead a sum of smaller steps beyond an integer


@final
class EpochRuns:
    """What each step fills slots from, and nothing if the run remembers only its last row.

    `lineage`: whether a member asks for the contributing events, or may do so. `counters`: the slots that a fold
    begins with an integer and to which each event adds one of `counter_steps`, if it changes no other slot.
    """

    def __init__(self, updates: tuple[tuple[SlotSource, ...], ...]) -> None:
        self.steps = [SlotUpdate(update) if update else None for update in updates]
        self.fills = any(self.steps)
        self.lineage = False
        self.counters: list[int] = []
        self.counter_steps: list[int] = []
        if len(updates) == FOLDED:
            self._count(*updates)

    def alike(self) -> EpochRuns:
        """The same for another group of the template."""
        other = EpochRuns(())
        other.steps, other.fills = self.steps, self.fills
        other.counters, other.counter_steps = self.counters, self.counter_steps
        return other

    def _count(self, begin: tuple[SlotSource, ...], take: tuple[SlotSource, ...]) -> None:
        """Find the counters; none if another slot changes, too."""
        if len(begin) != len(take):
            return
        for slot, (begun, taken) in enumerate(zip(begin, take)):
            match begun, taken:
                case _, Carry(other) if other == slot:
                    continue
                case (
                    Computed(Constant(int() as first)),
                    Computed(Arithmetic("+", Constant(int() as step), Register(other, -1))),
                ) if other == slot and plain(first) and plain(step):
                    self.counters.append(slot)
                    self.counter_steps.append(step)
                case _:
                    self.counters, self.counter_steps = [], []
                    return

    def filled(self, step: i64, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Slots:
        """The slots behind a step, of the run's last row and slots before it."""
        update = self.steps[step]
        return () if update is None else update.fill(row, bound, slots, length, span)

    def run(self, page: EventPage, numbers: Integers, first: i64, count: i64) -> PartialMatch:
        """The run that took the events with these numbers, so many from the first place on. O(events log)."""
        trace: i64 = 0
        lineage: Lineage = None
        slots: Slots = ()
        row: Row = ()
        at = page.place(numbers[first])
        began, born = page.start(at), page.time(at)
        step: i64
        for step in range(count):
            at = page.place(numbers[first + step])
            item = page.item(at)
            trace, lineage = mixed(trace, traced(item), step + 1), linked(lineage, item)
            bound, row = row, page.row(at)
            if self.fills:
                length, span = page.time(at) - page.start(at) + 1, page.time(at) - began + 1
                slots = self.filled(step, row, bound, slots, int(length), int(span))
        return PartialMatch(row, slots, began, born, trace, lineage)


def plain(constant: object) -> bool:
    """Whether a counter may begin with a constant or add it. A marked one is of another type."""
    return type(constant) is int and abs(constant) < COUNTED_MAX


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
