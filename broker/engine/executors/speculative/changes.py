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
from ..trace import mixed
from .arena import NONE, ORDER, START, STATE, Arena, NodeLayout, read_register, read_registers, store, unknowns, zeros

ROOM: Final = 16
# What changes of one event have in common, their head: its time, whether they are added, and, where that event is not
# among those of the record yet, its id and the label of its arc.
HEAD: Final = 5
TIME: Final = 0
INSERTED: Final = 1
ENDED: Final = 2
ENDS: Final = 3
LABELLED: Final = 4


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
    """A sequence of changes: those collected so far, or, once settled or shown, those that are left and never change.

    `words`, `numbers`, `objects`: copies of records; `places`: of each change the place of its head in `heads`. `left`
    are left, those that are `picked` or all; `links`: those of the arena, for the events that each took, if `lineage`.
    """

    def __init__(self, layout: NodeLayout, within: i64, lineage: bool, expected: i64 = 0) -> None:
        self.layout = layout
        self.within = within
        self.lineage = lineage
        self.count: i64 = 0
        self.withdrawn: i64 = 0
        self.room: i64 = 0
        self.words: Integers = integers()
        self.numbers: Floats = floats()
        self.objects: list[object] = []
        self.places: Integers = integers()
        self.heads: Integers = zeros(HEAD)  # the first one is of no change
        self.headed: i64 = HEAD
        self.left: i64 = 0
        self.picked: list[int] = []
        self.links: Integers = integers()
        if expected > 0:
            self.reserve(expected)

    # --- collecting ---------------------------------------------------------------------------------------------

    def head(self, time: i64, inserted: bool, ended: bool, id: i64, label: i64) -> i64:
        """The place of a head, for changes that follow. O(1), amortised."""
        at = self.headed
        heads = self.heads
        added: i64 = 1 if inserted else 0
        before = at - HEAD
        if not ended and heads[before + TIME] == time and heads[before + INSERTED] == added and before > 0:
            if heads[before + ENDED] == 0:
                return before
        if at + HEAD > len(heads):
            heads = self.heads = roomy(heads, at + HEAD)
        heads[at + TIME] = time
        heads[at + INSERTED] = added
        heads[at + ENDED] = 1 if ended else 0
        heads[at + ENDS] = id
        heads[at + LABELLED] = label
        self.headed = at + HEAD
        return at

    def add(self, words: Integers, numbers: Floats, objects: list[object], node: i64, head: i64) -> i64:
        """Copy a record, and return where it is. O(1), amortised."""
        layout = self.layout
        at = self.count
        if at >= self.room:
            self.reserve(at + 1)
        self.count = at + 1
        self.places[at] = head
        self.withdrawn += 1 - self.heads[head + INSERTED]
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
        self.places = roomy(self.places, self.room)

    # --- settling -----------------------------------------------------------------------------------------------

    def settle(self, arena: Arena, cancelling: bool) -> None:
        """Leave out results that came and went. O(1), or O(changes) if some are withdrawn."""
        if cancelling and 0 < self.withdrawn < self.count:
            self._cancel()
            self.left = len(self.picked)
        else:
            self.left = self.count
        self._link(arena)

    def show(self, arena: Arena) -> None:
        """Let those collected so far be read, while more are collected and none is withdrawn. O(1)."""
        self.left = self.count
        self._link(arena)

    def _link(self, arena: Arena) -> None:
        if self.lineage:
            self.links = arena.links  # what is there is never overwritten

    def place(self, index: i64) -> i64:
        """Where a change that is left was collected."""
        if len(self.picked) > 0:
            return self.picked[index]
        return index

    def _cancel(self) -> None:
        """Leave out each change that the next one of the same result undoes. O(changes)."""
        newest: dict[int, int] = {}  # by key, the last change that is not undone; keys of which none is withdrawn lack
        before = unknowns(self.count)  # the one before it
        undone = zeros(self.count)
        at: i64
        for at in range(self.count):
            if self.heads[self.places[at] + INSERTED] == 0:
                newest[self._key(at)] = NONE
        for at in range(self.count):
            key = self._key(at)
            last = newest.get(key)
            if last is None:
                continue
            later: i64 = NONE
            other: i64 = last
            while other != NONE and not self._same(at, other):
                later, other = other, before[other]
            if other == NONE:
                before[at] = last
                newest[key] = int(at)
                continue
            undone[at] = undone[other] = 1
            if later == NONE:
                newest[key] = int(before[other])
            else:
                before[later] = before[other]
        for at in range(self.count):
            if undone[at] == 0:
                self.picked.append(int(at))
            elif self.heads[self.places[at] + INSERTED] == 0:
                self.withdrawn -= 1

    def _key(self, at: i64) -> int:
        """A number that equal results have in common."""
        words = self.words
        first = at * self.layout.stride
        key = mixed(self.digest(at), self.heads[self.places[at] + TIME], words[first + STATE])
        return int(mixed(key, words[first + START], words[first + ORDER]))

    def _same(self, one: i64, other: i64) -> bool:
        """Whether two changes are of the same result."""
        if self.heads[self.places[one] + TIME] != self.heads[self.places[other] + TIME]:
            return False
        layout = self.layout
        words = self.words
        a, b = one * layout.stride, other * layout.stride
        i: i64
        for i in range(layout.trace):
            if words[a + i] != words[b + i]:
                return False
        for i in range(layout.floats):
            if self.numbers[one * layout.floats + i] != self.numbers[other * layout.floats + i]:
                return False
        for i in range(layout.objects):
            if self.objects[one * layout.objects + i] != self.objects[other * layout.objects + i]:
                return False
        return self.digest(one) == self.digest(other)

    def digest(self, at: i64) -> i64:
        """The digest of the events that a result took."""
        layout = self.layout
        trace = self.words[at * layout.stride + layout.trace]
        head = self.places[at]
        if self.heads[head + ENDED] == 1 and self.lineage:
            return mixed(trace, self.heads[head + ENDS], self.heads[head + LABELLED])
        return trace

    # --- reading ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self.left)

    def withdrawals(self) -> int:
        """How many of them are withdrawals. O(1)."""
        return int(self.withdrawn)

    def __getitem__(self, index: int) -> ResultChange:
        """A change as objects. O(registers and lineage). Raises IndexError."""
        if not 0 <= index < self.left:
            raise IndexError(index)
        at = self.place(index)
        first = at * self.layout.stride
        start, order = self.words[first + START], self.words[first + ORDER]
        end = start + self.within
        node = RunNode(start, order, end, self.state(at), self.registers(at), self.digest(at), self.lineage_of(at))
        return ResultChange(self.inserted(at), node, self.time(at))

    def inserted(self, at: i64) -> bool:
        """Whether the result at a place was added."""
        return self.heads[self.places[at] + INSERTED] == 1

    def time(self, at: i64) -> i64:
        """The time of its last event."""
        return self.heads[self.places[at] + TIME]

    def start(self, at: i64) -> i64:
        """The time of its first event."""
        return self.words[at * self.layout.stride + START]

    def state(self, at: i64) -> i64:
        return self.words[at * self.layout.stride + STATE]

    def registers(self, at: i64) -> Slots:
        if len(self.layout.banks) == 0:
            return ()
        return read_registers(self.layout, self.words, self.numbers, self.objects, at)

    def register(self, at: i64, register: i64) -> Any:
        """One of them."""
        return read_register(self.layout, self.words, self.numbers, self.objects, at, register)

    def lineage_of(self, at: i64) -> list[int]:
        """The ids of the events that it took, in their order. O(events)."""
        found: list[int] = []
        if not self.lineage:
            return found
        head = self.places[at]
        if self.heads[head + ENDED] == 1:
            found.append(int(self.heads[head + ENDS]))
        layout, links = self.layout, self.links
        link = self.words[at * layout.stride + layout.link]
        while link >= 0:
            found.append(int(links[2 * link + 1]))
            link = links[2 * link]
        found.reverse()
        return found

    def __iter__(self) -> Iterator[ResultChange]:
        return iter([self[index] for index in range(self.left)])
