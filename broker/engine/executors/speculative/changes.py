"""The changes of results: copies of the records of nodes, in columns, which become objects when they are read.

Here: collecting changes, and leaving out results that came and went within one batch. Hot. Not here: which results
change (timeline), reports to subscribers (the host).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ..packed import Floats, Integers, floats, integers, roomy, roomy_floats
from .arena import NONE, ORDER, START, STATE, Arena, NodeLayout, read_registers, store

ROOM: Final = 16
SUMMARY: Final = 2  # numbers of a change: the time of its last event, and whether it is added


@final
class RunNode:
    """A run. It began with the event at time `start` with number `order`, and lives as long as that event, until `end`.

    `trace` is the digest of the events that it took, `links` are these.
    """

    __slots__ = ("end", "links", "order", "registers", "start", "state", "trace")

    def __init__(self, start: i64, order: i64, end: i64, state: i64, registers: Slots, trace: i64, links: Any) -> None:
        self.start = start
        self.order = order
        self.end = end
        self.state = state
        self.registers = registers
        self.trace = trace
        self.links = links


@final
class ResultChange:
    """A result that was added (`inserted`) or removed: the run, and the time of its last event."""

    __slots__ = ("inserted", "node", "time")

    def __init__(self, inserted: bool, node: RunNode, time: i64) -> None:
        self.inserted = inserted
        self.node = node
        self.time = time


@final
class Changes:
    """A sequence of changes. Those collected so far, or, once settled, those that are left; these never change.

    `words`, `numbers`, `objects`: copies of records; `summaries`: SUMMARY numbers each. `left` are left, those that are
    `picked` or all; `links`: those of the arena, for the events that each took.
    """

    def __init__(self, layout: NodeLayout, within: i64, expected: i64 = 0) -> None:
        self.layout = layout
        self.within = within
        self.count: i64 = 0
        self.withdrawn: i64 = 0
        self.room: i64 = 0
        self.words: Integers = integers()
        self.numbers: Floats = floats()
        self.objects: list[object] = []
        self.summaries: Integers = integers()
        self.left: i64 = 0
        self.picked: list[int] = []
        self.links: Integers = integers()
        if expected > 0:
            self.reserve(expected)

    # --- collecting ---------------------------------------------------------------------------------------------

    def add(self, words: Integers, numbers: Floats, objects: list[object], node: i64, time: i64, inserted: bool) -> i64:
        """Copy a record, and return where it is. O(1), amortised."""
        layout = self.layout
        at = self.count
        if at >= self.room:
            self.reserve(at + 1)
        self.count = at + 1
        self.summaries[SUMMARY * at] = time
        self.summaries[SUMMARY * at + 1] = 1 if inserted else 0
        if not inserted:
            self.withdrawn += 1
        stride, floats = layout.stride, layout.floats
        copies = self.words
        i: i64
        for i in range(stride):
            copies[at * stride + i] = words[node * stride + i]
        if floats > 0:
            kept = self.numbers
            for i in range(floats):
                kept[at * floats + i] = numbers[node * floats + i]
        for i in range(layout.objects):
            self.objects.append(objects[node * layout.objects + i])
        return at

    def store(self, at: i64, register: i64, value: Any) -> None:
        """Set a register of a record that was added."""
        store(self.layout, self.words, self.numbers, self.objects, at, register, value)

    def reserve(self, count: i64) -> None:
        """Make room for that many changes in all. Columns fetched before are stale then."""
        if count <= self.room:
            return
        self.room = max(2 * self.room, count, ROOM)
        self.words = roomy(self.words, self.room * self.layout.stride)
        self.numbers = roomy_floats(self.numbers, self.room * self.layout.floats)
        self.summaries = roomy(self.summaries, self.room * SUMMARY)

    def settle(self, arena: Arena, cancelling: bool, lineage: bool) -> None:
        """Leave out results that came and went. O(1), or O(changes) if some are withdrawn."""
        if cancelling and 0 < self.withdrawn < self.count:
            self._cancel()
            self.left = len(self.picked)
        else:
            self.left = self.count
        if lineage:
            self.links = arena.links  # what is there is never overwritten

    def _at(self, index: i64) -> i64:
        """Where a change that is left was collected."""
        return self.picked[index] if len(self.picked) > 0 else index

    def _cancel(self) -> None:
        """Compare only the results that end with an event of which a result is withdrawn."""
        times: set[int] = set()
        at: i64
        for at in range(self.count):
            if self.summaries[SUMMARY * at + 1] == 0:
                times.add(int(self.summaries[SUMMARY * at]))
        net: dict[tuple[object, ...], int] = {}
        marks: dict[int, tuple[object, ...]] = {}
        for at in range(self.count):
            if int(self.summaries[SUMMARY * at]) in times:
                mark = marks[int(at)] = self._mark(at)
                net[mark] = net.get(mark, 0) + (1 if self.summaries[SUMMARY * at + 1] else -1)
        at = self.count
        while at > 0:  # the last change of a result decides
            at -= 1
            own = marks.get(int(at))
            if own is not None:
                if net[own] != (1 if self.summaries[SUMMARY * at + 1] else -1):
                    continue
                net[own] = 0
            self.picked.append(int(at))
        self.picked.reverse()

    def _mark(self, at: i64) -> tuple[object, ...]:
        """What a result is, as a key."""
        layout = self.layout
        first = at * layout.stride
        words = self.words
        registers = read_registers(layout, words, self.numbers, self.objects, at)
        return (
            int(self.summaries[SUMMARY * at]), int(words[first + START]), int(words[first + ORDER]),
            int(words[first + STATE]), int(words[first + layout.trace]), registers,
        )  # fmt: skip

    # --- reading ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self.left)

    def withdrawals(self) -> int:
        """How many of them are withdrawals. O(changes)."""
        found: i64 = 0
        i: i64
        for i in range(self.left):
            found += 1 - self.summaries[SUMMARY * self._at(i) + 1]
        return int(found)

    def __getitem__(self, index: int) -> ResultChange:
        """A change as objects. O(registers and lineage). Raises IndexError."""
        if not 0 <= index < self.left:
            raise IndexError(index)
        at = self._at(index)
        layout = self.layout
        words = self.words
        first = at * layout.stride
        registers = read_registers(layout, words, self.numbers, self.objects, at)
        links: list[int] = []
        link = words[first + layout.link] if len(self.links) > 0 else NONE
        while link >= 0:
            links.append(int(self.links[2 * link + 1]))
            link = self.links[2 * link]
        links.reverse()
        start, order, state = words[first + START], words[first + ORDER], words[first + STATE]
        node = RunNode(start, order, start + self.within, state, registers, words[first + layout.trace], links)
        return ResultChange(self.summaries[SUMMARY * at + 1] == 1, node, self.summaries[SUMMARY * at])

    def __iter__(self) -> Iterator[ResultChange]:
        return iter([self[index] for index in range(self.left)])
