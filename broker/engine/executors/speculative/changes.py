"""The changes of results: copies of the records of nodes, in columns, which become matches when they are read.

Here: collecting changes, and leaving out results that came and went within one batch. Hot. Not here: which results
change (timeline), reports to subscribers (the host).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ..packed import Integers, integers, roomy
from .arena import Arena, NodeLayout, Records, taken


@final
class Changes(Records):
    """A sequence of changes: those collected so far, or, once settled or shown, those that are left and never change.

    They are copies of records. `times`: of the last events; `added`: 1 for a result that is there, 0 for one that is
    not any more. `left` are left, those that are `picked` or all; `links`: those of the arena, for the events that each
    took.
    """

    def __init__(self, layout: NodeLayout, expected: i64 = 0) -> None:
        super().__init__(layout)
        self.withdrawn: i64 = 0
        self.times: Integers = integers()
        self.added: Integers = integers()
        self.left: i64 = 0
        self.picked: list[int] = []
        self.links: Integers = integers()
        self.reserve(expected)

    # --- collecting ---------------------------------------------------------------------------------------------

    def add(self, records: Records, node: i64, time: i64, inserted: bool) -> i64:
        """Copy a record, and return where it is. O(1), amortised."""
        at = self.count
        if at >= self.room:
            self.reserve(at + 1)
        if at >= len(self.times):
            self.times, self.added = roomy(self.times, self.room), roomy(self.added, self.room)
        self.put(records, node, at)
        self.count = at + 1
        self.times[at] = time
        self.added[at] = 1 if inserted else 0
        if not inserted:
            self.withdrawn += 1
        return at

    # --- settling -----------------------------------------------------------------------------------------------

    def settle(self, arena: Arena) -> None:
        """Leave out results that came and went. O(1), or O(changes) if some are withdrawn."""
        self.show(arena)
        if 0 < self.withdrawn < self.count:
            self._cancel()

    def show(self, arena: Arena) -> None:
        """Let those collected so far be read, while more are collected and none is withdrawn. O(1)."""
        self.left = self.count
        self.links = arena.links  # what is there is never overwritten

    def place(self, index: i64) -> i64:
        """Where a change that is left was collected."""
        if len(self.picked) > 0:
            return self.picked[index]
        return index

    def _cancel(self) -> None:
        """Leave out each change that the next one of the same result undoes. O(changes)."""
        left: dict[tuple[object, ...], int] = {}
        at: i64
        for at in range(self.count):
            start, order = self.start(at), self.order(at)
            key = (self.time(at), start, order, self.state(at), self.digest(at), self.registers(at))
            if left.pop(key, -1) < 0:
                left[key] = int(at)
        self.picked = list(left.values())
        self.left = len(self.picked)
        self.withdrawn = self.left - sum([self.added[at] for at in self.picked])

    # --- reading ------------------------------------------------------------------------------------------------

    def inserted(self, at: i64) -> bool:
        """Whether the result at a place was added."""
        return self.added[at] == 1

    def time(self, at: i64) -> i64:
        """The time of its last event."""
        return self.times[at]

    def lineage_of(self, at: i64) -> list[int]:
        """The ids of the events that it took, in their order. O(events)."""
        return taken(self.links, self.words[at * self.layout.stride + self.layout.link])
