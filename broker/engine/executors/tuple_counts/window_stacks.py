"""Windows over spans with a state that does not skip: what an event resets cannot be taken back, so two stacks.

The back is the product of the newer events, the front, for each of the older ones, the ways of all first events from it
to the last of the front. The oldest event is popped from the front; when that is empty the back is turned over.
O(states^2) an event, amortised.

Here: that. Not here: windows that subtract (window_sums).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from .archive import packed, unpacked
from .runner import NEVER
from .window_sums import UNCHANGING, Window, identity, moved


@final
@mypyc_attr(acyclic=True)
class WindowEntry:
    """An event of the back. `gap`: it was not next to the one before. `begun`: the states and numbers of new ways."""

    __slots__ = ("begun", "gap", "inner", "time")

    def __init__(self, time: i64, gap: bool, inner: list[int], begun: list[int]) -> None:
        self.time = time
        self.gap = gap
        self.inner = inner
        self.begun = begun


@final
@mypyc_attr(acyclic=True)
class WindowStacks(Window):
    """`skips` by state. `product` and `recent`: all events of the back, and the ways that began there."""

    __slots__ = ("back", "front", "front_begun", "front_times", "last", "product", "recent", "skips")

    def __init__(self, bound: i64, skips: list[bool]) -> None:
        super().__init__(bound, len(skips))
        self.skips = skips
        self.last: i64 = NEVER
        self.back: list[WindowEntry] = []
        self.product = identity(len(skips))
        self.recent: list[int] = [0] * len(skips)
        self.front: list[list[int]] = []  # the oldest event last
        self.front_times: list[int] = []
        self.front_begun: list[int] = []  # how many ways begin with the event, counted by states

    def value(self, at: i64, position: i64) -> int:
        return self.ways[at] if self.skips[at] or self.last == position - 1 else 0

    def take(self, inner: list[int], entries: list[int], weights: list[int], time: i64, position: i64) -> None:
        if self.live == 0 and not entries:
            return
        gap = position != self.last + 1
        self.last = position
        self.ways = moved(self.ways, self.skips, gap, inner)
        self.recent = moved(self.recent, self.skips, gap, inner)
        self.product = [moved(row, self.skips, gap, inner) for row in self.product]
        begun: list[int] = []
        for i in range(len(entries)):
            begun += [entries[i], weights[i]]
            self.ways[entries[i]] += weights[i]
            self.recent[entries[i]] += weights[i]
        self.live += len(entries)
        self.back.append(WindowEntry(time, gap, inner, begun))
        self._schedule()

    def _schedule(self) -> None:
        if self.live == 0:
            self.due = UNCHANGING
        else:
            oldest: i64 = self.front_times[-1] if self.front_times else self.back[0].time
            self.due = oldest + self.bound + 1

    def expire(self, time: i64) -> None:
        limit = time - self.bound
        while self.live > 0:
            if not self.front:
                if self.back[0].time >= limit:
                    break
                self._turn()
            if self.front_times[-1] >= limit:
                break
            self.front.pop()
            self.front_times.pop()
            self.live -= self.front_begun.pop()
        if self.live == 0:
            self._reset()
        else:
            self.ways = self._current()
        self._schedule()

    def _turn(self) -> None:
        """Make the back the front. O(states * arcs) an event."""
        size = len(self.skips)
        suffix = identity(size)
        ways = [0] * size
        for entry in reversed(self.back):
            ways = list(ways)
            for i in range(0, len(entry.begun), 2):
                row, weight = suffix[entry.begun[i]], entry.begun[i + 1]
                for j in range(size):
                    ways[j] += weight * row[j]
            self.front.append(ways)
            self.front_times.append(int(entry.time))
            self.front_begun.append(len(entry.begun) // 2)
            before = [list(suffix[i]) if self.skips[i] else [0] * size for i in range(size)]
            for i in range(0, len(entry.inner), 3):
                source, target = entry.inner[i], entry.inner[i + 1]
                if not entry.gap or self.skips[source]:
                    for j in range(size):
                        before[source][j] += suffix[target][j]
            suffix = before
        self.back.clear()
        self.product = identity(size)
        self.recent = [0] * size

    def _current(self) -> list[int]:
        """The ways of the front through the back, and those of the back."""
        ways = list(self.recent)
        if self.front:
            front = self.front[-1]
            for i in range(len(front)):
                if front[i]:
                    row = self.product[i]
                    for j in range(len(ways)):
                        ways[j] += front[i] * row[j]
        return ways

    def _reset(self) -> None:
        size = len(self.skips)
        self.back.clear()
        self.front.clear()
        self.front_times.clear()
        self.front_begun.clear()
        self.product = identity(size)
        self.recent = [0] * size
        self.ways = [0] * size

    def size(self) -> int:
        return len(self.back) + len(self.front)

    def check_invariants(self) -> None:
        super().check_invariants()
        assert self._current() == self.ways
        assert self.live == sum(self.front_begun) + sum(len(entry.begun) // 2 for entry in self.back)

    def dump(self) -> list[Any]:
        back = [[int(e.time), e.gap, e.inner, [packed(n) for n in e.begun]] for e in self.back]
        rows = [[[packed(n) for n in row] for row in rows] for rows in (self.product, [self.recent], self.front)]
        return [*super().dump(), int(self.last), back, rows, self.front_times, self.front_begun]

    def load(self, data: Any) -> None:
        ways, live, self.last, back, rows, times, begun = data
        super().load((ways, live))
        self.back = [WindowEntry(time, gap, list(inner), [unpacked(n) for n in new]) for time, gap, inner, new in back]
        self.product, (self.recent,), self.front = ([[unpacked(n) for n in row] for row in part] for part in rows)
        self.front_times, self.front_begun = list(times), list(begun)
        self._schedule()
