"""Items: sequences with skip_till_next_match of three steps and more, with constants of their own at each.

The first wait is symbolic (wait). A member that completes it *moves*: an item is a member with all starts that moved at
once. It lies in a heap of the step, ordered by the constant that it waits for. An event takes from the top all items
that it reaches. So a member costs work only when it moves, and then with all its runs at once. Every event is an epoch.

Here: one key. Not here: steps whose constants leave no items to move (history).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row
from .blocks import FIELDS, MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, Integers, filled, integers, integers_from, put_integer
from .members import Members
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
@mypyc_attr(acyclic=True)
class MovingItem:
    """A member with those of its starts that wait for one step.

    `paths`: the events of each start, `width` each; `times`: the times of the starts. `window`: a start is valid while
    its time, less now and `extra`, is at least this.
    """

    def __init__(self, handle: i64, point: list[float], window: float, extra: i64, level: float, serial: i64) -> None:
        self.handle: i64 = handle
        self.point = point
        self.window = window
        self.extra: i64 = extra
        self.level = level
        self.serial: i64 = serial
        self.width: i64 = 2
        self.count: i64 = 0
        self.paths: Integers = integers()
        self.times: Integers = integers()

    def before(self, other: MovingItem) -> bool:
        """Whether this item leaves a heap first: by its level, then the older one."""
        return self.level < other.level or (self.level == other.level and self.serial < other.serial)

    def holds(self, start: i64, now: i64) -> bool:
        """Whether a start is still in the window."""
        return float(start - now - self.extra) >= self.window

    def take(self, event: i64, time: i64) -> None:
        """Every start that is still useful takes the event."""
        kept: i64 = 0
        paths, width = integers(), self.width
        at: i64 = 0
        i: i64
        j: i64
        for i in range(self.count):
            if not self.holds(self.times[i], time):
                continue
            for j in range(width):
                paths = put_integer(paths, at, self.paths[i * width + j])
                at += 1
            paths = put_integer(paths, at, event)
            at += 1
            self.times[kept] = self.times[i]
            kept += 1
        self.paths, self.count, self.width = paths, kept, width + 1


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
                            self._tell(item, out)
            step -= 1
        self._move(row, time, event)
        self.waiting.start(row, time, event)
        if self.waiting.noted > self.noted:
            self.noted = self.waiting.noted

    def _tell(self, item: MovingItem, out: MatchBlocks) -> None:
        member, path = out.members_upto, out.paths_upto
        out.add_member(item.handle)
        paths = out.room_for_paths(item.count * (item.width - 1))
        at = path
        i: i64
        j: i64
        for i in range(item.count):
            for j in range(item.width - 1):  # without the event itself
                paths[at] = item.paths[i * item.width + j]
                at += 1
        out.paths_upto = at
        out.close_one(member, path, item.count, item.width - 1)

    def _move(self, row: Row, time: i64, event: i64) -> None:
        """Make items of the members that complete the first wait."""
        moved = self._moved
        moved.clear()
        self.waiting.see(row, time, event, moved)
        template, starts = self.template, self.waiting.starts
        d, window = template.wait.d, template.wait.window
        axis = template.axes[0]
        block: i64 = 0
        i: i64
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
            place: i64 = 0
            j = 0
            for i in range(first, first + count):
                number = moved.paths[i]
                item.paths = put_integer(item.paths, place, number)
                item.paths = put_integer(item.paths, place + 1, event)
                place += 2
                j = starts.since_event(number, j, starts.count)
                item.times = put_integer(item.times, item.count, starts.times[j])
                item.count += 1
            pushed(self._heaps[0], item)
            self.noted = event
        if sum(len(heap) for heap in self._heaps) > 2 * self._kept + SWEEP_MIN:
            self._sweep(time)

    def _sweep(self, time: i64) -> None:
        """Drop items whose newest start is out of its window. O(items), when they have doubled."""
        for step, heap in enumerate(self._heaps):
            kept = [item for item in heap if item.holds(item.times[item.count - 1], time)]
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
                    for i in range(item.count):
                        if item.holds(item.times[i], time):
                            path = range(i * item.width, (i + 1) * item.width)
                            found.append(tuple([int(item.paths[j]) for j in path]))
        return found

    def oldest(self, event: i64) -> i64:
        for heap in self._heaps:
            for item in heap:
                i: i64
                for i in range(item.count):
                    event = min(event, item.paths[i * item.width])
        return self.waiting.oldest(event)

    def used(self, events: set[int]) -> None:
        self.waiting.used(events)
        for heap in self._heaps:
            for item in heap:
                events.update(int(item.paths[i]) for i in range(item.count * item.width))

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        items = [
            (
                step, int(item.handle), item.point, item.window, item.level, int(item.serial), int(item.width),
                [int(item.paths[i]) for i in range(item.count * item.width)],
                [int(item.times[i]) for i in range(item.count)],
            )
            for step, heap in enumerate(self._heaps)
            for item in heap
        ]  # fmt: skip
        return {"waiting": self.waiting.dump(), "items": items, "serial": int(self._serial)}

    def load(self, dumped: dict[str, Any]) -> None:
        self.waiting.load(dumped["waiting"])
        self._serial = dumped["serial"]
        self._heaps = [[] for _ in self.template.further]
        for step, handle, point, window, level, serial, width, paths, times in dumped["items"]:
            item = MovingItem(handle, list(point), window, self.template.wait.extra, level, serial)
            item.width, item.count = width, len(times)
            item.paths, item.times = integers_from(list(paths)), integers_from(list(times))
            pushed(self._heaps[step], item)

    def statistics(self) -> dict[str, int]:
        return {**self.waiting.statistics(), "items": sum(len(heap) for heap in self._heaps)}

    def check_invariants(self) -> None:
        self.waiting.check_invariants()
        for heap in self._heaps:
            for i in range(1, len(heap)):
                assert not heap[i].before(heap[(i - 1) >> 1]), "the first one is on top"


# --- heaps ----------------------------------------------------------------------------------------------------------


def pushed(heap: list[MovingItem], item: MovingItem) -> None:
    """Put an item in its place. O(log)."""
    heap.append(item)
    at: i64 = len(heap) - 1
    while at > 0:
        above = (at - 1) >> 1
        if not item.before(heap[above]):
            break
        heap[at] = heap[above]
        at = above
    heap[at] = item


def popped(heap: list[MovingItem]) -> MovingItem:
    """Take the first item out. O(log)."""
    first = heap[0]
    item = heap.pop()
    n: i64 = len(heap)
    if n == 0:
        return first
    at: i64 = 0
    below: i64 = 1
    while below < n:
        if below + 1 < n and heap[below + 1].before(heap[below]):
            below += 1
        if not heap[below].before(item):
            break
        heap[at] = heap[below]
        at = below
        below = 2 * at + 1
    heap[at] = item
    return first


def heaped(items: list[MovingItem]) -> list[MovingItem]:
    heap: list[MovingItem] = []
    for item in items:
        pushed(heap, item)
    return heap
