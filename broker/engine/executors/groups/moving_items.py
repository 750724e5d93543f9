"""Moving items: members with all their starts that moved at once, in heaps by the constant that they wait for.

An event takes from the top of a heap all items that it reaches, so an item costs work only when it moves, and then with
all its runs at once.

Here: items and heaps. Hot. Not here: which heaps there are, and when an item moves (next_match).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from ..packed import shifted_integers
from .blocks import MatchBlocks
from .columns import Integers, filled_integers, integers_from


@final
@mypyc_attr(acyclic=True)
class MovingItem:
    """A member with those of its starts that wait for one step.

    `paths`: the events of each start, `width` each; `times`: the times of the starts. `window`: a start is valid while
    its time, less now, is at least this.
    """

    def __init__(
        self, handle: i64, window: float, level: float, serial: i64, paths: Integers, times: Integers
    ) -> None:  # fmt: skip
        self.handle: i64 = handle
        self.window = window
        self.level = level
        self.serial: i64 = serial
        self.count: i64 = len(times)
        self.width: i64 = len(paths) // self.count
        self.paths = paths
        self.times = times

    def before(self, other: MovingItem) -> bool:
        """Whether this item leaves a heap first: by its level, then the older one."""
        return self.level < other.level or (self.level == other.level and self.serial < other.serial)

    def newest(self) -> i64:
        """The last event that its starts have taken, which is that of all."""
        return self.paths[self.count * self.width - 1]

    def holds(self, start: i64, now: i64) -> bool:
        """Whether a start is still in the window."""
        return float(start - now) >= self.window

    def expire(self, time: i64) -> None:
        """Drop the starts that are out of the window."""
        gone: i64 = 0
        while gone < self.count and not self.holds(self.times[gone], time):
            gone += 1
        if gone > 0:
            shifted_integers(self.times, gone, self.count)
            shifted_integers(self.paths, gone * self.width, self.count * self.width)
            self.count -= gone

    def take(self, event: i64) -> None:
        """Every start takes the event."""
        width, own = self.width, self.paths
        paths = filled_integers(self.count * (width + 1), event)
        i: i64
        j: i64
        for i in range(self.count):
            for j in range(width):
                paths[i * (width + 1) + j] = own[i * width + j]
        self.paths, self.width = paths, width + 1

    def tell(self, out: MatchBlocks) -> None:
        """Write a match of each start, whose last event is the current one."""
        member, path, count = out.members_upto, out.paths_upto, self.count * self.width
        out.add_member(self.handle)
        paths = out.room_for_paths(count)
        i: i64
        for i in range(count):
            paths[path + i] = self.paths[i]
        out.paths_upto = path + count
        out.close_one(member, path, self.count, self.width)

    def outlived(self, time: i64) -> bool:
        """Whether its newest start is out of its window."""
        return not self.holds(self.times[self.count - 1], time)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def oldest(self, event: i64) -> i64:
        """The oldest of its events, at most the given one."""
        i: i64
        for i in range(self.count):
            event = min(event, self.paths[i * self.width])
        return event

    def used(self, events: set[int]) -> None:
        """Add its events."""
        events.update(int(self.paths[i]) for i in range(self.count * self.width))

    def live(self, time: i64) -> list[tuple[int, ...]]:
        """The events of the starts that are still in the window."""
        found: list[tuple[int, ...]] = []
        for i in range(self.count):
            if self.holds(self.times[i], time):
                found.append(tuple([int(self.paths[j]) for j in range(i * self.width, (i + 1) * self.width)]))
        return found

    def dump(self) -> list[Any]:
        return [
            int(self.handle), self.window, self.level, int(self.serial), int(self.width),
            [int(self.paths[i]) for i in range(self.count * self.width)],
            [int(self.times[i]) for i in range(self.count)],
        ]  # fmt: skip


def restored(dumped: Any) -> MovingItem:
    """The item that `dump` has saved."""
    handle, window, level, serial, width, paths, times = dumped
    item = MovingItem(handle, window, level, serial, integers_from(list(paths)), integers_from(list(times)))
    assert item.width == width
    return item


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
