"""A timeline: the events of one key in the order of their times, each with its block, and the one repair.

The block of an event depends only on the previous block and on the event. So after any change at an event (it is
inserted, withdrawn, or its arcs change), the blocks after it are computed again until one does not change; then no
later block changes. Runs that began later than the change cannot change and are skipped.

Here: one key. Hot. Not here: keys (speculation), blocks (nodes).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from .arena import ORDER, START, STATE
from .changes import Changes
from .nodes import Stepper


@final
class Entry:
    """An event and its block, `count` nodes from `first` on in the arena; `finals`: how many of them are results.

    Events of one time are in the order of `order`.
    """

    __slots__ = ("count", "finals", "first", "id", "item", "klass", "order", "row", "stream", "time")

    def __init__(self, stream: i64, time: i64, order: i64, id: i64, item: Any, row: Row, klass: i64) -> None:
        self.stream = stream
        self.time = time
        self.order = order
        self.id = id
        self.item = item
        self.row = row
        self.klass = klass
        self.first: i64 = 0
        self.count: i64 = 0
        self.finals: i64 = 0


@final
class Timeline:
    """`entries` and, beside them, their `times`; `changes`: changes of results that are not yet taken.

    `cleaned` nodes from `kept` on are the block of the last event that was dropped. `queued`: whether the timeline
    waits for a punctuation.
    """

    def __init__(self, stepper: Stepper, key: Row, sharing: bool) -> None:
        self.stepper = stepper
        self.arena = stepper.arena
        self.key = key
        self.sharing = sharing
        self.entries: list[Entry] = []
        self.times: list[int] = []
        self.kept: i64 = 0
        self.cleaned: i64 = 0
        self.ended: i64 = 0  # finals among the cleaned nodes
        self.visited: i64 = 0
        self.queued = False

    # --- changes ------------------------------------------------------------------------------------------------

    def insert(self, entry: Entry, changes: Changes) -> None:
        """Insert an event at its time. O(log events), its block, and the changes that it causes."""
        times = self.times
        n: i64 = len(times)
        at = n if n == 0 or times[n - 1] < entry.time else self.place(entry.time, entry.order)
        self._make(at, entry)
        if at == n:
            self.entries.append(entry)
            times.append(entry.time)
        else:
            self.entries.insert(at, entry)
            times.insert(at, entry.time)
        if entry.finals > 0:
            self._told(entry, True, changes)
        if at < n:
            self.repair(at + 1, entry.time, entry.order, changes)

    def remove(self, at: i64, changes: Changes) -> None:
        """Remove the event there. Costs as `insert`."""
        entry = self.entries[at]
        del self.entries[at]
        del self.times[at]
        if entry.finals > 0:
            self._told(entry, False, changes)
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

    def repair(self, at: i64, time: i64, order: i64, changes: Changes) -> None:
        """Compute the blocks from there on again, for runs begun by that event or earlier, until one is unchanged."""
        entries = self.entries
        arena = self.arena
        n: i64 = len(entries)
        while at < n:
            entry = entries[at]
            self.visited += 1
            upto = self._begun_upto(entry.first, entry.count, time, order)
            before, count = self._before(at)
            count = self._begun_upto(before, count, time, order)
            first = arena.top
            made: i64 = 0
            if count > 0:
                made = self._step(entry, before, count, False)
            if self._equal(entry.first, upto, first, made):
                arena.top = first
                return
            self._replace(entry, upto, first, made, changes)
            at += 1

    def renew(self, first: i64, upto: i64, changes: Changes) -> None:
        """Compute the blocks of these events, whose arcs have changed, again, and later ones until one is unchanged."""
        entries = self.entries
        arena = self.arena
        n: i64 = len(entries)
        at = first
        while at < n:
            entry = entries[at]
            before, count = self._before(at)
            begun = arena.top
            made = self._step(entry, before, count, True)
            begun = arena.top - made
            if self._equal(entry.first, entry.count, begun, made):
                arena.top = begun
                if at >= upto:
                    return
            else:
                self._replace(entry, entry.count, begun, made, changes)
            at += 1

    def _replace(self, entry: Entry, upto: i64, first: i64, made: i64, changes: Changes) -> None:
        """Exchange the first `upto` nodes of a block for those that were made, `made` nodes from `first` on."""
        finals = self.stepper.finals if made > 0 else 0
        if entry.finals > 0:
            self._differ(entry.first, upto, first, made, False, entry.time, changes)
        if finals > 0:
            self._differ(first, made, entry.first, upto, True, entry.time, changes)
        if entry.finals > 0:
            finals += self._finals(entry.first + upto, entry.count - upto)
        self.arena.copy(entry.first + upto, entry.count - upto)
        entry.first = first
        entry.count = made + entry.count - upto
        entry.finals = finals

    def _make(self, at: i64, entry: Entry) -> None:
        """Compute the block of an event that is inserted there."""
        before: i64
        count: i64
        finals: i64
        if at > 0:
            previous = self.entries[at - 1]
            before, count, finals = previous.first, previous.count, previous.finals
        else:
            before, count, finals = self.kept, self.cleaned, self.ended
        stepper = self.stepper
        if finals == 0 and self.sharing:
            table = stepper.table
            if table.shares(table.enter(entry.time), entry.klass):
                entry.first, entry.count = before, count
                return
        made = self._step(entry, before, count, True)
        entry.first = self.arena.top - made
        entry.count = made
        entry.finals = stepper.finals

    def _step(self, entry: Entry, before: i64, count: i64, whole: bool) -> i64:
        return self.stepper.block(
            before, before + count, entry.row, entry.klass, entry.time, entry.order, entry.id, whole
        )

    def _before(self, at: i64) -> tuple[i64, i64]:
        """The block before an event: where it is, and its number of nodes."""
        if at > 0:
            entry = self.entries[at - 1]
            return entry.first, entry.count
        return self.kept, self.cleaned

    # --- blocks -------------------------------------------------------------------------------------------------

    def _begun_upto(self, first: i64, count: i64, time: i64, order: i64) -> i64:
        """The number of nodes whose runs began with that event or before."""
        words = self.arena.words
        stride = self.arena.layout.stride
        while count > 0:
            at = (first + count - 1) * stride
            if words[at + START] < time or (words[at + START] == time and words[at + ORDER] <= order):
                return count
            count -= 1
        return 0

    def _equal(self, first: i64, count: i64, other: i64, made: i64) -> bool:
        if count != made:
            return False
        i: i64 = 0
        while i < count and self.arena.same(first + i, other + i):
            i += 1
        return i == count

    def _finals(self, first: i64, count: i64) -> i64:
        """How many nodes are results."""
        words = self.arena.words
        stride = self.arena.layout.stride
        final_state = self.stepper.table.final
        found: i64 = 0
        i: i64
        for i in range(first, first + count):
            if words[i * stride + STATE] >= final_state:
                found += 1
        return found

    def _told(self, entry: Entry, inserted: bool, changes: Changes) -> None:
        words = self.arena.words
        stride = self.arena.layout.stride
        final_state = self.stepper.table.final
        i: i64
        for i in range(entry.first, entry.first + entry.count):
            if words[i * stride + STATE] >= final_state:
                changes.add(self.arena, i, entry.time, inserted)

    def _differ(
        self, first: i64, count: i64, other: i64, others: i64, inserted: bool, time: i64, changes: Changes
    ) -> None:
        """Report the results that are in one block and not in the other; both are in the order of their starts."""
        arena = self.arena
        words = arena.words
        stride = arena.layout.stride
        final_state = self.stepper.table.final
        j = other
        end = other + others
        i: i64
        for i in range(first, first + count):
            at = i * stride
            if words[at + STATE] < final_state:
                continue
            start, order = words[at + START], words[at + ORDER]
            while j < end and (
                words[j * stride] < start or (words[j * stride] == start and words[j * stride + ORDER] < order)
            ):
                j += 1
            k = j
            while k < end and words[k * stride] == start and words[k * stride + ORDER] == order:
                if arena.same(k, i):
                    break
                k += 1
            if k == end or words[k * stride] != start or words[k * stride + ORDER] != order:
                changes.add(arena, i, time, inserted)

    # --- time ---------------------------------------------------------------------------------------------------

    def clean(self, time: i64, ids: dict[int, Entry]) -> None:
        """No event before that time comes any more: forget the earlier events, but keep the last one's block.

        O(events dropped).
        """
        upto = self.place(time, -(1 << 62))
        if upto == 0:
            return
        i: i64
        for i in range(upto):
            del ids[int(self.entries[i].id)]
        last = self.entries[upto - 1]
        self.kept, self.cleaned, self.ended = last.first, last.count, last.finals
        del self.entries[:upto]
        del self.times[:upto]

    def idle(self, time: i64) -> bool:
        """Whether the timeline has no state for an event at that time or later."""
        if len(self.entries) > 0:
            return False
        words = self.arena.words
        stride = self.arena.layout.stride
        final_state = self.stepper.table.final
        within = self.stepper.within
        i: i64
        for i in range(self.kept, self.kept + self.cleaned):
            if words[i * stride] + within > time and words[i * stride + STATE] < final_state:
                return False
        return True

    def check_invariants(self) -> None:
        final_state = self.stepper.table.final
        assert self.times == [entry.time for entry in self.entries], "times are those of the entries"
        places = [(entry.time, entry.order) for entry in self.entries]
        assert places == sorted(set(places)), "events are in the order of their times"
        words, stride = self.arena.words, self.arena.layout.stride
        for entry in self.entries:
            assert entry.first + entry.count <= self.arena.top, "a block lies in the arena"
            block = [node * stride for node in range(entry.first, entry.first + entry.count)]
            starts = [(words[at + START], words[at + ORDER]) for at in block]
            assert starts == sorted(starts), "a block is in the order of the runs' first events"
            assert entry.finals == len([at for at in block if words[at + STATE] >= final_state])
