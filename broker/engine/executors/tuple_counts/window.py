"""Ways through a span of states, counted for all its first events within a window, by two stacks.

The back is the product of what the newer events did, the front, for each of the older ones, the ways of all first
events from it to the last of the front. The oldest event is popped from the front; when that is empty the back is
turned over. O(states^2) an event, amortised.

Not here: ways that leave a span, and witnesses (window_counting).
"""

from __future__ import annotations

from collections import deque
from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from .kept_times import UNCHANGING
from .tuples import packed, unpacked


@final
@mypyc_attr(acyclic=True)
class WindowEntry:
    """An event: its moves, and the ways that it begins, as (state, number), flat."""

    __slots__ = ("begun", "moves", "time")

    def __init__(self, time: i64, moves: list[int], begun: list[int]) -> None:
        self.time = time
        self.moves = moves
        self.begun = begun


@final
@mypyc_attr(acyclic=True)
class Window:
    """`ways[q]`: how many are in the span's state q with a first event no longer ago than `bound`; from `due` on that
    changes. States in `fleeting` hold something for the next event only.

    `front`: ways, the oldest event last. `rows`: the product of the back, the ways that began there, and `ways`, which
    all move alike. `waiting`: the events that are nearer than `nearest`, which only a span of one state asks for.
    """

    __slots__ = (
        "back", "bound", "due", "fleeting", "front", "front_times", "nearest", "rows", "waiting", "ways",
    )  # fmt: skip

    def __init__(self, bound: i64, size: i64, fleeting: list[int], nearest: i64) -> None:
        self.bound = bound
        self.due: i64 = UNCHANGING
        self.nearest = nearest
        self.fleeting = fleeting
        self.ways: list[int] = [0] * size
        self.waiting: deque[WindowEntry] = deque()
        self._begin()

    def _begin(self) -> None:
        self.front: list[list[int]] = []
        self.front_times: list[int] = []
        self._clear()
        self._schedule()

    def _clear(self) -> None:
        self.back: list[WindowEntry] = []
        self.rows = identity(len(self.ways))
        self.rows += [[0] * len(self.ways), self.ways]

    def take(self, moves: list[int], begun: list[int], time: i64) -> None:
        """An event that moves ways, (from, to), flat, late states first, and begins some, (state, number), flat. After
        `expire`; neither list is changed later."""
        if self.nearest > 0:
            self.waiting.append(WindowEntry(time, moves, begun))
            self.due = min(self.due, time + self.nearest)
        elif begun or any(self.ways):
            if not self.front and not self.back:
                self.due = time + self.bound + 1
            self._push(moves, begun, time)

    def _push(self, moves: list[int], begun: list[int], time: i64) -> None:
        rows = self.rows
        for row in rows:
            before = list(row)
            for state in self.fleeting:
                row[state] = 0
            for at in range(0, len(moves), 2):
                row[moves[at + 1]] += before[moves[at]]
        recent = rows[-2]
        for at in range(0, len(begun), 2):
            self.ways[begun[at]] += begun[at + 1]
            recent[begun[at]] += begun[at + 1]
        self.back.append(WindowEntry(time, moves, begun))

    def expire(self, time: i64) -> None:
        """Let in what is no longer too near at that time, and drop what is too old."""
        while self.waiting and self.waiting[0].time <= time - self.nearest:
            entry = self.waiting.popleft()
            self._push(entry.moves, entry.begun, entry.time)
        oldest = time - self.bound
        while self.front or self.back:
            if not self.front:
                if self.back[0].time >= oldest:
                    break
                self._turn()
            if self.front_times[-1] >= oldest:
                break
            self.front.pop()
            self.front_times.pop()
        self.ways = self.rows[-1] = self._current()
        if any(self.ways):
            self._schedule()
        else:
            self._begin()

    def _schedule(self) -> None:
        self.due = UNCHANGING
        if self.front or self.back:
            oldest: i64 = self.front_times[-1] if self.front_times else self.back[0].time
            self.due = oldest + self.bound + 1
        if self.waiting:
            self.due = min(self.due, self.waiting[0].time + self.nearest)

    def _turn(self) -> None:
        """Make the back the front. O(states * moves) an event."""
        size = len(self.ways)
        suffix = identity(size)
        ways = [0] * size
        for entry in reversed(self.back):
            ways = list(ways)
            for at in range(0, len(entry.begun), 2):
                row, number = suffix[entry.begun[at]], entry.begun[at + 1]
                for state in range(size):
                    ways[state] += number * row[state]
            self.front.append(ways)
            self.front_times.append(int(entry.time))
            before = [[0] * size if state in self.fleeting else list(suffix[state]) for state in range(size)]
            for at in range(len(entry.moves) - 2, -1, -2):
                row, further = before[entry.moves[at]], suffix[entry.moves[at + 1]]
                for state in range(size):
                    row[state] += further[state]
            suffix = before
        self._clear()

    def _current(self) -> list[int]:
        """The ways of the front through the back, and those of the back."""
        size = len(self.ways)
        ways = list(self.rows[size])
        if self.front:
            front = self.front[-1]
            for first in range(size):
                number = front[first]
                if number:
                    row = self.rows[first]
                    for state in range(size):
                        ways[state] += number * row[state]
        return ways

    def holds(self, at: i64) -> bool:
        """Whether a later event can find ways in the span's state of that number."""
        return self.ways[at] != 0 or len(self.waiting) > 0

    def size(self) -> int:
        """Events kept."""
        return len(self.back) + len(self.front) + len(self.waiting)

    def check_invariants(self) -> None:
        assert all(way >= 0 for way in self.ways)
        assert self.size() > 0 or self.due == UNCHANGING  # the latest time is as far as what is never due
        assert self._current() == self.ways
        later = [int(entry.time) for entries in (self.back, self.waiting) for entry in entries]
        times = [*reversed(self.front_times), *later]
        assert times == sorted(times)

    def dump(self) -> list[Any]:
        """The state as plain values."""
        later = [[[int(e.time), e.moves, packed(e.begun)] for e in each] for each in (self.back, self.waiting)]
        return [self.front_times, [packed(ways) for ways in self.front], *later]

    def load(self, data: Any) -> None:
        """The inverse of `dump`, into a new window."""
        self.front_times, self.front = list(data[0]), [unpacked(ways) for ways in data[1]]
        self.ways = self.rows[-1] = self._current()
        for time, moves, begun in data[2]:
            self._push(list(moves), unpacked(begun), time)
        self.waiting.extend([WindowEntry(time, list(moves), unpacked(begun)) for time, moves, begun in data[3]])
        self._schedule()


def identity(size: int) -> list[list[int]]:
    return [[int(i == j) for j in range(size)] for i in range(size)]
