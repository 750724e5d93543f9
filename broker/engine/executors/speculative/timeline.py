"""A timeline: the events of one key in the order of their times, each with its block, and the one repair.

The block of an event depends only on the previous block and on the event. So after any change at an event (it is
inserted, withdrawn, or its arcs change), the blocks after it are computed again until one does not change; then no
later block changes. Runs that began later than the change cannot change and are skipped.

Here: one key. Hot. Not here: keys (speculation), nodes (nodes).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from .nodes import Node, Stepper


@final
class Entry:
    """An event and its block; `finals`: the number of its nodes that are results.

    Events of one time are in the order of `order`.
    """

    __slots__ = ("block", "finals", "id", "item", "klass", "order", "row", "stream", "time")

    def __init__(self, stream: i64, time: i64, order: i64, id: i64, item: Any, row: Row, klass: i64) -> None:
        self.stream = stream
        self.time = time
        self.order = order
        self.id = id
        self.item = item
        self.row = row
        self.klass = klass
        self.block: list[Node] = []
        self.finals: i64 = 0


@final
class Change:
    """A result that was added (`inserted`) or removed: the run, and the time of its last event."""

    __slots__ = ("entry", "inserted", "node", "time")

    def __init__(self, inserted: bool, node: Node, time: i64) -> None:
        self.inserted = inserted
        self.node = node
        self.time = time


@final
class Timeline:
    """`entries` and, beside them, their `times`; `changes`: changes of results that are not yet taken."""

    def __init__(self, stepper: Stepper, key: Row, begins: Node, within: i64) -> None:
        self.stepper = stepper
        self.key = key
        self.entries: list[Entry] = []
        self.times: list[int] = []
        self.cleaned: list[Node] = []  # the block of the last event that was dropped
        self.begins = begins
        self.within = within
        self.visited: i64 = 0

    # --- changes ------------------------------------------------------------------------------------------------

    def insert(self, entry: Entry, changes: list[Change]) -> None:
        """Insert an event at its time. O(log events), its block, and the changes that it causes."""
        at = self.place(entry.time, entry.order)
        n: i64 = len(self.entries)
        entry.block = self._made(at, entry, -1, 0, True)
        self._count(entry)
        if at == n:
            self.entries.append(entry)
            self.times.append(entry.time)
        else:
            self.entries.insert(at, entry)
            self.times.insert(at, entry.time)
        if entry.finals > 0:
            self._told(entry.block, len(entry.block), True, entry.time, changes)
        if at < n:
            self.repair(at + 1, entry.time, entry.order, changes)

    def remove(self, at: i64, changes: list[Change]) -> None:
        """Remove the event there. Costs as `insert`."""
        entry = self.entries[at]
        del self.entries[at]
        del self.times[at]
        if entry.finals > 0:
            self._told(entry.block, len(entry.block), False, entry.time, changes)
        self.repair(at, entry.time, entry.order, changes)

    def place(self, time: i64, order: i64) -> i64:
        """The index of an event, present or not. O(log events)."""
        times = self.times
        n: i64 = len(times)
        if n == 0 or times[n - 1] < time:
            return n
        low: i64 = 0
        high: i64 = n
        while low < high:
            middle = (low + high) >> 1
            at = times[middle]
            if at < time or (at == time and self.entries[middle].order < order):
                low = middle + 1
            else:
                high = middle
        return low

    def repair(self, at: i64, time: i64, order: i64, changes: list[Change]) -> None:
        """Compute the blocks from there on again, for runs begun by that event or earlier, until one is unchanged."""
        entries = self.entries
        n: i64 = len(entries)
        while at < n:
            entry = entries[at]
            self.visited += 1
            old = entry.block
            upto = _begun_upto(old, time, order)
            new = self._made(at, entry, time, order, False)
            if _equal(old, upto, new):
                return
            self._replace(entry, old, upto, new, changes)
            at += 1

    def renew(self, first: i64, upto: i64, changes: list[Change]) -> None:
        """Compute the blocks of these events, whose arcs have changed, again, and later ones until one is unchanged."""
        entries = self.entries
        n: i64 = len(entries)
        at = first
        while at < n:
            entry = entries[at]
            old = entry.block
            new = self._made(at, entry, -1, 0, True)
            if _equal(old, len(old), new):
                if at >= upto:
                    return
            else:
                self._replace(entry, old, len(old), new, changes)
            at += 1

    def _replace(self, entry: Entry, old: list[Node], upto: i64, new: list[Node], changes: list[Change]) -> None:
        made: i64 = len(new)
        if entry.finals > 0:
            self._differ(old, upto, new, made, False, entry.time, changes)
        self._differ(new, made, old, upto, True, entry.time, changes)
        new.extend(old[upto:])
        entry.block = new
        self._count(entry)

    def _made(self, at: i64, entry: Entry, time: i64, order: i64, whole: bool) -> list[Node]:
        """The block of an event: all of it, or of the runs that began with that other event or before."""
        before = self.entries[at - 1].block if at > 0 else self.cleaned
        upto: i64 = len(before)
        begins: Node | None = None
        if whole:
            first = self.begins
            end = entry.time + self.within
            begins = Node(entry.time, entry.order, end, first.state, first.registers, first.trace, None)
        else:
            upto = _begun_upto(before, time, order)
        return self.stepper.block(before, upto, entry.row, entry.klass, entry.time, entry.id, begins)

    # --- results ------------------------------------------------------------------------------------------------

    def _count(self, entry: Entry) -> None:
        finals: i64 = 0
        for node in entry.block:
            if node.state >= self.stepper.table.final:
                finals += 1
        entry.finals = finals

    def _told(self, block: list[Node], upto: i64, inserted: bool, time: i64, changes: list[Change]) -> None:
        i: i64
        for i in range(upto):
            if block[i].state >= self.stepper.table.final:
                changes.append(Change(inserted, block[i], time))

    def _differ(
        self, block: list[Node], upto: i64, other: list[Node], upto_other: i64, inserted: bool, time: i64,
        changes: list[Change],
    ) -> None:  # fmt: skip
        """Report the results that are in one block and not in the other; both are in the order of their starts."""
        final_state = self.stepper.table.final
        j: i64 = 0
        i: i64
        for i in range(upto):
            node = block[i]
            if node.state < final_state:
                continue
            while j < upto_other and _earlier(other[j], node):
                j += 1
            k = j
            while k < upto_other and other[k].start == node.start and other[k].order == node.order:
                if other[k].same(node):
                    break
                k += 1
            if k == upto_other or other[k].start != node.start or other[k].order != node.order:
                changes.append(Change(inserted, node, time))

    # --- time ---------------------------------------------------------------------------------------------------

    def clean(self, time: i64) -> list[int]:
        """No event before that time comes any more: forget the earlier events, but keep the last one's block.

        Returns the ids of these events. O(events dropped).
        """
        upto = self.place(time, -(1 << 62))
        if upto == 0:
            return []
        gone = [int(entry.id) for entry in self.entries[:upto]]
        self.cleaned = self.entries[upto - 1].block
        del self.entries[:upto]
        del self.times[:upto]
        return gone

    def idle(self, time: i64) -> bool:
        """Whether the timeline has no state for an event at that time or later."""
        if len(self.entries) > 0:
            return False
        final_state = self.stepper.table.final
        return all(node.end <= time or node.state >= final_state for node in self.cleaned)

    def check_invariants(self) -> None:
        final_state = self.stepper.table.final
        assert self.times == [entry.time for entry in self.entries], "times are those of the entries"
        places = [(entry.time, entry.order) for entry in self.entries]
        assert places == sorted(set(places)), "events are in the order of their times"
        for entry in self.entries:
            starts = [(node.start, node.order) for node in entry.block]
            assert starts == sorted(starts), "a block is in the order of the runs' first events"
            assert entry.finals == len([node for node in entry.block if node.state >= final_state])


def _begun_upto(block: list[Node], time: i64, order: i64) -> i64:
    """The number of nodes whose runs began with that event or before."""
    n: i64 = len(block)
    while n > 0:
        node = block[n - 1]
        if node.start < time or (node.start == time and node.order <= order):
            return n
        n -= 1
    return 0


def _earlier(node: Node, other: Node) -> bool:
    return node.start < other.start or (node.start == other.start and node.order < other.order)


def _equal(old: list[Node], upto: i64, new: list[Node]) -> bool:
    if len(new) != upto:
        return False
    i: i64 = 0
    while i < upto and (old[i] is new[i] or old[i].same(new[i])):
        i += 1
    return i == upto
