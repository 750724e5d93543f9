"""Windows with a state that does not skip: an event that resets a state cannot be undone, so two stacks are kept.

The back is the product of what the newer events did, the front, for each of the older ones, the ways of all first
events from it to the last of the front. The oldest event is popped from the front; when that is empty the back is
turned over. O(states^2) an event, amortised.

Not here: windows that subtract (window_subtracting).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from .kept_times import UNCHANGING
from .tuples import packed, unpacked
from .window import Window, identity


@final
@mypyc_attr(acyclic=True)
class WindowEntry:
    """An event of the back: its moves, and the ways that it begins, as (state, number), flat."""

    __slots__ = ("begun", "moves", "time")

    def __init__(self, time: i64, moves: list[int], begun: list[int]) -> None:
        self.time = time
        self.moves = moves
        self.begun = begun


@final
@mypyc_attr(acyclic=True)
class StackedWindow(Window):
    """States in `fleeting` hold something for the next event only.

    `front`: ways, the oldest event last. `rows`: the product of the back, the ways that began there, and `ways`, which
    all move alike.
    """

    __slots__ = ("back", "fleeting", "front", "front_times", "rows")

    def __init__(self, bound: i64, size: i64, fleeting: list[int]) -> None:
        super().__init__(bound, size)
        self.fleeting = fleeting
        self._begin()

    def _begin(self) -> None:
        self.due = UNCHANGING
        self.front: list[list[int]] = []
        self.front_times: list[int] = []
        self._clear()

    def _clear(self) -> None:
        self.back: list[WindowEntry] = []
        self.rows = identity(len(self.ways))
        self.rows += [[0] * len(self.ways), self.ways]

    def take(self, moves: list[int], begun: list[int], time: i64) -> None:
        if begun or any(self.ways):
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
        oldest: i64 = self.front_times[-1] if self.front_times else self.back[0].time
        self.due = oldest + self.bound + 1

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

    def size(self) -> int:
        return len(self.back) + len(self.front)

    def check_invariants(self) -> None:
        super().check_invariants()
        assert self._current() == self.ways
        times = [*reversed(self.front_times), *(int(entry.time) for entry in self.back)]
        assert times == sorted(times)

    def dump(self) -> list[Any]:
        back = [[int(entry.time), entry.moves, packed(entry.begun)] for entry in self.back]
        return [self.front_times, [packed(ways) for ways in self.front], back]

    def load(self, data: Any) -> None:
        self.front_times, self.front, back = list(data[0]), [unpacked(ways) for ways in data[1]], data[2]
        self.ways = self.rows[-1] = self._current()
        for time, moves, begun in back:
            self._push(list(moves), unpacked(begun), time)
        if self.size():
            self._schedule()
