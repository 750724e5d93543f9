"""Items: sequences with skip_till_next_match of three steps and more, with constants of their own at each.

The first wait is symbolic, and knows what a negation forbids meanwhile (wait). A member that completes it *moves*, as
an item with all starts that moved at once (moving_items), to the heap of the step that it waits for. Every event is an
epoch.

Here: one key. Not here: steps whose constants leave no items to move (history), with texts of their own (other_keys).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import FIELDS, MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, filled
from .members import Members
from .moving_items import MovingItem, heaped, popped, pushed, restored
from .steps import StepClause
from .wait import WaitCell
from .wait_template import WaitTemplate

SWEEP_MIN: Final = 128


@final
class ItemsTemplate:
    """The first two steps as a wait, and the further ones, each with one bound; `axes`: their coordinates.

    `within`: the common window, -1 for none, unless the wait has an own one.
    """

    def __init__(self, wait: WaitTemplate, further: list[StepClause]) -> None:
        assert wait.arrival
        assert all(len(clause.bounds) == 1 for clause in further)
        self.wait = wait
        self.further = further
        self.axes = [int(clause.bounds[0].coordinate) for clause in further]
        self.within: i64 = wait.within


@final
class ItemsCell(GroupCell):
    """The waiting members of a key, and a heap of items for each further step."""

    def __init__(self, template: ItemsTemplate, members: Members | None = None) -> None:
        waiting = WaitCell(template.wait, members)
        waiting.keeps_points = True
        super().__init__(waiting.members)
        self.template = template
        self.waiting = waiting
        self._heaps: list[list[MovingItem]] = [[] for _ in template.further]
        self._moved = MatchBlocks()
        self._x: Floats = filled(template.wait.d, INFINITY)
        self._serial: i64 = 0
        self._kept: i64 = 0

    def forget(self, handle: int) -> None:
        """O(items)."""
        for step, heap in enumerate(self._heaps):
            self._heaps[step] = heaped([item for item in heap if item.handle != handle])

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. As in a wait, and O(log items) for each item that moves."""
        template, x = self.template, self._x
        last: i64 = len(template.further) - 1
        step = last
        while step >= 0:  # from the end, so that an item that moves now waits for the next event
            heap = self._heaps[step]
            if len(heap) > 0:
                clause = template.further[step]
                axis = template.axes[step]
                x[axis] = INFINITY
                if clause.narrows(row, time, time, x, 0, x, 0) and clause.admits(row):
                    while len(heap) > 0 and heap[0].level <= x[axis]:
                        item = popped(heap)
                        item.take(event, time)
                        if item.count == 0:
                            continue
                        if step < last:
                            item.level = item.point[template.axes[step + 1]]
                            pushed(self._heaps[step + 1], item)
                            self.noted = event
                        else:
                            item.tell(out)
            step -= 1
        self._move(row, time, event)
        self.waiting.start(row, time, event)
        if self.waiting.noted > self.noted:
            self.noted = self.waiting.noted

    def _move(self, row: Row, time: i64, event: i64) -> None:
        """Make items of the members that complete the first wait."""
        moved = self._moved
        moved.clear()
        self.waiting.see(row, time, event, moved)
        template, starts = self.template, self.waiting.starts
        d, window = template.wait.d, template.wait.window
        axis = template.axes[0]
        block: i64 = 0
        j: i64
        while block < moved.upto:
            member, first, count = moved.blocks[block + 3], moved.blocks[block + 5], moved.blocks[block + 6]
            block += FIELDS
            point = [0.0] * d
            for j in range(d):
                point[j] = self.waiting.points[member * d + j]
            own = -float(template.within) if template.within >= 0 else -INFINITY
            if window >= 0:
                own = point[window]
            item = MovingItem(moved.members[member], point, own, template.wait.extra, point[axis], self._serial)
            self._serial += 1
            item.begin(moved, first, count, event, starts)
            pushed(self._heaps[0], item)
            self.noted = event
        if sum(len(heap) for heap in self._heaps) > 2 * self._kept + SWEEP_MIN:
            self._sweep(time)

    def _sweep(self, time: i64) -> None:
        """Drop items whose newest start is out of its window. O(items), when they have doubled."""
        for step, heap in enumerate(self._heaps):
            kept = [item for item in heap if not item.outlived(time)]
            self._heaps[step] = heaped(kept)
        self._kept = sum(len(heap) for heap in self._heaps)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        self._sweep(time)
        return self._kept == 0 and self.waiting.quiet(time)

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        found = self.waiting.live(handle, point, since, time)
        for heap in self._heaps:
            for item in heap:
                if item.handle == handle:
                    found += item.live(time)
        return found

    def oldest(self, event: i64) -> i64:
        for heap in self._heaps:
            for item in heap:
                event = item.oldest(event)
        return self.waiting.oldest(event)

    def used(self, events: set[int]) -> None:
        self.waiting.used(events)
        for heap in self._heaps:
            for item in heap:
                item.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        items = [[step, *item.dump()] for step, heap in enumerate(self._heaps) for item in heap]
        return {"waiting": self.waiting.dump(), "items": items, "serial": int(self._serial)}

    def load(self, dumped: dict[str, Any]) -> None:
        self.waiting.load(dumped["waiting"])
        self._serial = dumped["serial"]
        self._heaps = [[] for _ in self.template.further]
        for step, *item in dumped["items"]:
            pushed(self._heaps[step], restored(item, self.template.wait.extra))

    def statistics(self) -> dict[str, int]:
        return {**self.waiting.statistics(), "items": sum(len(heap) for heap in self._heaps)}

    def check_invariants(self) -> None:
        self.waiting.check_invariants()
        for heap in self._heaps:
            for i in range(1, len(heap)):
                assert not heap[i].before(heap[(i - 1) >> 1]), "the first one is on top"
