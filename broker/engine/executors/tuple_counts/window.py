"""Ways through a span of states, counted for all its first events within a window, whatever the window holds.

Two stacks: the back is the product of what the newer events did, the front, for each of the older ones, the ways of all
first events from it to the last of the front. The oldest event is popped from the front; when that is empty the back is
turned over. O(states^2) an event, amortised.

Here: that. Not here: what leaves a span, witnesses (windows).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from .slots import UNCHANGING
from .tuples import packed, unpacked


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
class Window:
    """`ways[q]`: how many are in the span's state q with a first event no longer ago than `bound`; from `due` on the
    oldest event is too old. States in `fleeting` hold something for the next event only.

    `front`: ways, the oldest event last. `rows`: the product of the back, the ways that began there, and `ways`, which
    all move alike.
    """

    __slots__ = ("back", "bound", "due", "fleeting", "front", "front_times", "rows", "ways")

    def __init__(self, bound: i64, size: i64, fleeting: list[int]) -> None:
        self.bound = bound
        self.fleeting = fleeting
        self.ways: list[int] = [0] * size
        self._begin()

    def _begin(self) -> None:
        self.due: i64 = UNCHANGING
        self.front: list[list[int]] = []
        self.front_times: list[int] = []
        self._clear()

    def _clear(self) -> None:
        self.back: list[WindowEntry] = []
        self.rows = identity(len(self.ways))
        self.rows += [[0] * len(self.ways), self.ways]

    def take(self, moves: list[int], begun: list[int], time: i64) -> None:
        """An event that moves ways, (from, to), flat, late states first, and begins some. After `expire`."""
        if begun or any(self.ways):
            if not self.front and not self.back:
                self.due = time + self.bound + 1
            self._push(moves, begun, time)

    def _push(self, moves: list[int], begun: list[int], time: i64) -> None:
        rows = self.rows
        if self.fleeting:
            for row in rows:
                before = list(row)
                for state in self.fleeting:
                    row[state] = 0
                for at in range(0, len(moves), 2):
                    row[moves[at + 1]] += before[moves[at]]
        else:
            for at in range(0, len(moves), 2):
                source, target = moves[at], moves[at + 1]
                for row in rows:
                    row[target] += row[source]
        recent = rows[-2]
        for at in range(0, len(begun), 2):
            self.ways[begun[at]] += begun[at + 1]
            recent[begun[at]] += begun[at + 1]
        self.back.append(WindowEntry(time, moves, begun))

    def expire(self, time: i64) -> None:
        """Take out what is too old at that time."""
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
            if self.fleeting:
                before = [[0] * size if state in self.fleeting else list(suffix[state]) for state in range(size)]
            else:
                before = suffix  # what early states need of later ones is not changed yet
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
        """Events kept."""
        return len(self.back) + len(self.front)

    def check_invariants(self) -> None:
        assert self._current() == self.ways
        assert all(way >= 0 for way in self.ways)
        assert (self.due == UNCHANGING) == (self.size() == 0)
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

    def load_format_5(self, data: Any) -> None:
        """What was a log, or two stacks whose moves said an operand too, and whether there was a gap before."""
        if len(data) == 5:
            times, moves, entries, weights = data[3]
            back = [
                [time, moved, [entry, weight] if entry >= 0 else []]
                for time, moved, entry, weight in zip(times, moves, entries, weights)
            ]
            self.load([[], [], [[time, _pairs(moved, []), begun] for time, moved, begun in back]])
        else:
            _, _, _, back, (_, _, front), front_times, _ = data
            gone = [[time, _pairs(moved, self.fleeting if gap else []), begun] for time, gap, moved, begun in back]
            self.load([front_times, front, gone])


def _pairs(moves: Any, gone: list[int]) -> list[int]:
    """Moves without their operands, and without those from states that hold nothing any more."""
    kept = [list(moves[at : at + 2]) for at in range(0, len(moves), 3) if moves[at] not in gone]
    return [state for pair in kept for state in pair]


def identity(size: int) -> list[list[int]]:
    return [[int(i == j) for j in range(size)] for i in range(size)]
