"""The event log of one key value, from which numbered runs are replayed.

It has the events that a run of the window may have taken.

Under skip till next match the first event of a run decides its later events, so a match is a run's number and the place
where the run ended (kleene notes, 1). When the log moves on, unread results keep the old pages. Here: the log, and
replaying a run. Not here: writing the log (numbered_runs), matches (numbered_matches).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....algebra.predicate import holds
from ....events.schema import Row
from ...matches.sources import Item, tuple_item
from ..packed import Integers, integers, put_integer
from .run import KleeneRun, TakenEvents, Trail, extended
from .tables import BEFORE, Tables

FEW: Final = 64  # events below which turning a page costs more than it saves


@final
class EventLog:
    """Events from number `base` on; `takes` are those that can be taken. It only grows, at its end.

    `begun`: the numbers of the events that begin runs, from run `first` on; runs are numbered in this order.
    """

    __slots__ = ("base", "begun", "first", "items", "rows", "takes", "times")

    def __init__(self, base: i64, first: i64 = 0) -> None:
        self.base: i64 = base
        self.items: list[Item] = []
        self.rows: list[Row] = []
        self.times: Integers = integers()
        self.takes: list[bool] = []
        self.begun: Integers = integers()
        self.first: i64 = first

    def add(self, row: Row, time: i64, item: Item, takes: bool) -> None:
        self.items.append(item)
        self.rows.append(row)
        self.times = put_integer(self.times, len(self.times), time)
        self.takes.append(takes)

    def begin(self) -> None:
        """Record that the newest event begins a run."""
        self.begun = put_integer(self.begun, len(self.begun), self.base + len(self.items) - 1)

    def end(self) -> i64:
        """The number of the next event."""
        return self.base + len(self.items)

    def begins(self, run: i64) -> i64:
        """The number of a run's first event."""
        return self.begun[run - self.first]

    def began(self, run: i64) -> i64:
        """The time of a run's first event."""
        return self.times[self.begun[run - self.first] - self.base]

    def empty(self) -> EventLog:
        """A page for the next events if no run is left; the same page while it is short."""
        return self if len(self.items) < FEW else EventLog(self.end(), self.first + len(self.begun))

    def turned(self, run: i64) -> EventLog:
        """A page without the events before a run. O(events kept): if these are a quarter at most, amortised O(1)."""
        gone = self.begins(run) - self.base
        page = EventLog(self.base + gone, run)
        page.items = self.items[gone:]
        page.rows = self.rows[gone:]
        page.times = self.times[gone:]
        page.takes = self.takes[gone:]
        page.begun = self.begun[run - self.first :]
        return page

    def path(self, tables: Tables, run: i64, upto: i64) -> tuple[list[int], Slots]:
        """The events that a run has before number `upto`, by index in the page, and its registers then.

        O(log between its first and its last event).
        """
        edges = tables.edges[0]
        registers = tables.registers
        at = self.begins(run) - self.base
        slots = registers.begun(registers.fresh(), 0, self.rows[at])
        taken = [int(at)]
        i: i64
        for i in range(at + 1, upto - self.base):
            if self.takes[i] and (edges.take_rest is None or holds(edges.take_rest, self.rows[i], (), slots, 0, 0)):
                slots = registers.taken(slots, 0, self.rows[i])
                taken.append(int(i))
        return taken, slots

    def alone(
        self, tables: Tables, runs: list[int], position: i64, place: i64
    ) -> tuple[TakenEvents, list[KleeneRun]]:
        """These runs as single objects, before an event at that position, and their events. O(log x runs)."""
        events = TakenEvents(self.base)
        for at in range(len(self.items)):
            events.add(self.items[at], self.times[at], self.base + at)
        found: list[KleeneRun] = []
        for number in runs:
            taken, slots = self.path(tables, number, self.end())
            trail: Trail = None
            for each in taken:
                trail = extended(trail, 0, int(self.base) + each)
            first = self.begins(number)
            found.append(KleeneRun(self.began(number), first, BEFORE, slots, trail, position - 1, place - 1))
        return events, found

    def dump(self, oldest: i64) -> list[Any]:
        """The log from that number on, as plain data."""
        at = oldest - self.base
        rows, times = [list(row) for row in self.rows[at:]], [int(time) for time in self.times[at:]]
        return [int(oldest), self.items[at:], rows, times, self.takes[at:]]

    def load(self, data: Any) -> None:
        self.base, items, rows, times, takes = data
        self.items = [tuple_item(item) for item in items]
        self.rows = [tuple(row) for row in rows]
        self.takes = list(takes)
        for at, time in enumerate(times):
            self.times = put_integer(self.times, at, time)
