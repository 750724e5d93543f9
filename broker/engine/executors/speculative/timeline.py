"""A timeline: the events of one key in the order of their times, each with its block, and the one repair.

The block of an event depends only on the previous block and on the event. So after any change at an event (it is
inserted, withdrawn, or its arcs change), the blocks after it are computed again until one does not change; then no
later block changes. Runs that began later than the change cannot change and are skipped.

Here: one key. Hot. Not here: keys (speculation), blocks (nodes).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from .arena import ORDER, START, STATE
from .changes import Changes
from .entries import TimelineEntry
from .nodes import BlockStepper
from .visits import Visits
from .waiting import WaitingRuns


@final
class Timeline:
    """`entries`: the events that are not final. `cleaned` nodes from `kept` on are the block of the last event that was
    dropped.
    """

    def __init__(self, stepper: BlockStepper, key: Row, sharing: bool, visits: Visits | None) -> None:
        self.stepper = stepper
        self.arena = stepper.arena
        self.key = key
        self.sharing = sharing
        self.entries: list[TimelineEntry] = []
        self.kept: i64 = 0
        self.cleaned: i64 = 0
        self.ended: i64 = 0  # finals among the cleaned nodes
        self.visited: i64 = 0
        self.visits = visits
        self.runs: WaitingRuns | None = None if visits is None else WaitingRuns(stepper.arena.layout)

    # --- changes ------------------------------------------------------------------------------------------------

    def insert(self, entry: TimelineEntry, changes: Changes) -> None:
        """Insert an event at its time. O(log events), its block, and the changes that it causes."""
        entries = self.entries
        n: i64 = len(entries)
        at = n if n == 0 or entries[n - 1].time < entry.time else self.place(entry.time, entry.order)
        self._make(at, entry)
        if at == n:
            entries.append(entry)
        else:
            entries.insert(at, entry)
        if self.runs is not None and self.visits is not None:
            self.visits.event(self.runs, entries, at, changes, True)
        if entry.finals > 0:
            self._differ(entry.first, entry.count, 0, 0, True, at, changes)
        if at < n:
            self.repair(at + 1, entry.time, entry.order, changes)

    def remove(self, at: i64, changes: Changes) -> None:
        """Remove the event there. Costs as `insert`."""
        entry = self.entries[at]
        if self.runs is not None and self.visits is not None:
            self.visits.event(self.runs, self.entries, at, changes, False)
        if entry.finals > 0:
            self._differ(entry.first, entry.count, 0, 0, False, at, changes)
        del self.entries[at]
        self.repair(at, entry.time, entry.order, changes)

    def place(self, time: i64, order: i64) -> i64:
        """The index of an event, present or not. O(log events)."""
        entries = self.entries
        n: i64 = len(entries)
        if n == 0 or entries[n - 1].time < time:
            return n
        low: i64 = 0
        high: i64 = n
        while low < high:
            middle = (low + high) >> 1
            entry = entries[middle]
            if entry.time < time or (entry.time == time and entry.order < order):
                low = middle + 1
            else:
                high = middle
        return low

    def repair(self, at: i64, time: i64, order: i64, changes: Changes) -> None:
        """Compute the blocks from there on again, for runs begun by that event or earlier, until one is unchanged."""
        entries = self.entries
        n: i64 = len(entries)
        while at < n:
            entry = entries[at]
            self.visited += 1
            before, count = self._before(at)
            count = self._begun_upto(before, count, time, order)
            made: i64 = 0
            if count > 0:
                made = self._step(entry, before, count, False)
            upto = self._begun_upto(entry.first, entry.count, time, order)
            if not self._exchange(at, upto, made, changes):
                return
            at += 1

    def renew(self, first: i64, upto: i64, changes: Changes) -> None:
        """Compute the blocks of these events, whose arcs have changed, again, and later ones until one is unchanged."""
        entries = self.entries
        n: i64 = len(entries)
        at = first
        changed = False
        while at < n and (changed or at < upto):
            entry = entries[at]
            before, count = self._before(at)
            made = self._step(entry, before, count, True)
            changed = self._exchange(at, entry.count, made, changes)
            at += 1

    def _exchange(self, at: i64, upto: i64, made: i64, changes: Changes) -> bool:
        """Exchange the first `upto` nodes of a block for the newest `made` nodes, unless these are equal."""
        arena = self.arena
        first = arena.count - made
        if self._equal(self.entries[at].first, upto, first, made):
            arena.count = first
            return False
        self._replace(at, upto, first, made, changes)
        return True

    def _replace(self, at: i64, upto: i64, first: i64, made: i64, changes: Changes) -> None:
        """Exchange the first `upto` nodes of a block for those that were made, `made` nodes from `first` on."""
        entry = self.entries[at]
        finals = self.stepper.finals if made > 0 else 0
        if entry.finals > 0:
            self._differ(entry.first, upto, first, made, False, at, changes)
        if finals > 0:
            self._differ(first, made, entry.first, upto, True, at, changes)
        if entry.finals > 0:
            finals += self.marked_nodes(entry.first + upto, entry.count - upto)
        self.arena.append(self.arena, entry.first + upto, entry.count - upto)
        entry.first = first
        entry.count = made + entry.count - upto
        entry.finals = finals

    def _make(self, at: i64, entry: TimelineEntry) -> None:
        """Compute the block of an event that is inserted there."""
        before, count = self._before(at)
        finals = self.entries[at - 1].finals if at > 0 else self.ended
        stepper = self.stepper
        if finals == 0 and self.sharing:
            table = stepper.table
            if table.shares(table.enter(entry.time), entry.klass):
                entry.first, entry.count, entry.finals = before, count, 0
                return
        made = self._step(entry, before, count, True)
        entry.first = self.arena.count - made
        entry.count = made
        entry.finals = stepper.finals

    def compute_all(self) -> None:
        """Compute all blocks again, without changes of results. O(events and nodes)."""
        at: i64
        for at in range(len(self.entries)):
            self._make(at, self.entries[at])

    def _step(self, entry: TimelineEntry, before: i64, count: i64, whole: bool) -> i64:
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

    def newest_nodes(self) -> list[int]:
        """Where the nodes of the newest block are that wait in no interval and are no result. O(its nodes)."""
        first, count = self._before(len(self.entries))
        words, stride, marked = self.arena.words, self.arena.layout.stride, self.stepper.marked
        return [int(i) for i in range(first, first + count) if marked[words[i * stride + STATE]] == 0]

    def marked_nodes(self, first: i64, count: i64) -> i64:
        """How many nodes are results or wait."""
        words = self.arena.words
        stride = self.arena.layout.stride
        marked = self.stepper.marked
        found: i64 = 0
        i: i64
        for i in range(first, first + count):
            if marked[words[i * stride + STATE]] == 1:
                found += 1
        return found

    def _tell(self, node: i64, at: i64, inserted: bool, changes: Changes) -> None:
        """A result of the event there, or a run that waits since then, is there or not any more."""
        arena = self.arena
        if arena.words[node * arena.layout.stride + STATE] >= self.stepper.table.final:
            changes.add(arena, node, self.entries[at].time, inserted)
            return
        assert self.visits is not None
        assert self.runs is not None
        if inserted:
            self.visits.begin(self.runs, self.entries, at, node, changes)
        else:
            self.visits.end(self.runs, self.entries, at, node, changes)

    def _differ(
        self, first: i64, count: i64, other: i64, others: i64, inserted: bool, place: i64, changes: Changes
    ) -> None:
        """Tell the nodes that are in one block and not in the other; both are in the order of their starts."""
        arena = self.arena
        words = arena.words
        stride = arena.layout.stride
        marked = self.stepper.marked
        j = other
        end = other + others
        i: i64
        for i in range(first, first + count):
            at = i * stride
            if marked[words[at + STATE]] == 0:
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
                self._tell(i, place, inserted, changes)

    # --- time ---------------------------------------------------------------------------------------------------

    def clean(self, time: i64) -> None:
        """No event before that time comes any more: forget the earlier events, but keep the last one's block.

        O(events dropped).
        """
        upto = self.place(time, -(1 << 62))
        if upto == 0:
            return
        last = self.entries[upto - 1]
        self.kept, self.cleaned, self.ended = last.first, last.count, last.finals
        del self.entries[:upto]
        if self.runs is not None:
            self.runs.clean(time, self.stepper.within)

    def idle(self, time: i64) -> bool:
        """Whether the timeline has no state for an event at that time or later."""
        if len(self.entries) > 0:
            return False
        runs = self.runs
        if runs is not None:
            runs.clean(time, self.stepper.within)
            if runs.count > 0:
                return False
        words, stride, within = self.arena.words, self.arena.layout.stride, self.stepper.within
        return not any(words[i * stride + START] + within > time for i in self.newest_nodes())

    def check_invariants(self) -> None:
        marked = self.stepper.marked
        places = [(entry.time, entry.order) for entry in self.entries]
        assert places == sorted(set(places)), "events are in the order of their times"
        words, stride = self.arena.words, self.arena.layout.stride
        for entry in self.entries:
            assert entry.first + entry.count <= self.arena.count, "a block lies in the arena"
            block = [node * stride for node in range(entry.first, entry.first + entry.count)]
            starts = [(words[at + START], words[at + ORDER]) for at in block]
            assert starts == sorted(starts), "a block is in the order of the runs' first events"
            assert entry.finals == len([at for at in block if marked[words[at + STATE]] == 1])
        if self.runs is not None:
            self.runs.check_invariants()
