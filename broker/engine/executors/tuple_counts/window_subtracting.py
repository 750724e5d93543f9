"""Windows of several states that all skip: an event's moves can be undone.

An event moves ways from state to state: a matrix. While every state skips it is unipotent, hence invertible, so the
oldest event can be taken out of the product of all in the window, and its own ways be subtracted: O(states^2) an event.

Not here: windows of one state (window_sums), with a state that does not skip (window_stacks).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from .kept_times import UNCHANGING
from .tuples import packed
from .window import Window, identity

FEW: Final = 32  # dropped events before the log is cut


@final
@mypyc_attr(acyclic=True)
class SubtractingWindow(Window):
    """A log of events, oldest first, from `head` on: `times`, `moves`, `begun`; its first one has begun something.

    `between[i][j]`: the ways from state i to state j with all events of the log.
    """

    __slots__ = ("begun", "between", "head", "moves", "times")

    def __init__(self, bound: i64, size: i64) -> None:
        super().__init__(bound, size)
        self._begin()

    def _begin(self) -> None:
        self.due = UNCHANGING
        self.head: i64 = 0
        self.times: list[int] = []
        self.moves: list[list[int]] = []
        self.begun: list[list[int]] = []
        self.between: list[list[int]] = []

    def take(self, moves: list[int], begun: list[int], time: i64) -> None:
        ways = self.ways
        if self.due == UNCHANGING:
            if not begun:
                return
            self.due = time + self.bound + 1
            self.between = identity(len(ways))
            moves = []
        between = self.between
        for at in range(0, len(moves), 2):
            source, target = moves[at], moves[at + 1]
            ways[target] = ways[target] + ways[source]
            for first in range(source + 1):  # no way leads back to an earlier state
                row = between[first]
                row[target] = row[target] + row[source]
        for at in range(0, len(begun), 2):
            ways[begun[at]] += begun[at + 1]
        self.times.append(time)
        self.moves.append(moves)
        self.begun.append(begun)

    def expire(self, time: i64) -> None:
        oldest = time - self.bound
        ways, between = self.ways, self.between
        size = len(ways)
        head, end = self.head, len(self.times)
        while head < end and (self.times[head] < oldest or not self.begun[head]):
            moves, begun = self.moves[head], self.begun[head]
            head += 1
            for at in range(0, len(moves), 2):
                target = moves[at + 1]
                row, further = between[moves[at]], between[target]
                for state in range(target, size):
                    row[state] = row[state] - further[state]
            for at in range(0, len(begun), 2):
                first, number = begun[at], begun[at + 1]
                row = between[first]
                for state in range(first, size):
                    ways[state] = ways[state] - number * row[state]
        if head == end:
            self._begin()
            return
        self.head = head
        self.due = self.times[head] + self.bound + 1
        if head > FEW and 2 * head > end:
            del self.times[:head], self.moves[:head], self.begun[:head]
            self.head = 0

    def size(self) -> int:
        return len(self.times) - int(self.head)

    def check_invariants(self) -> None:
        super().check_invariants()
        assert any(self.ways) == (self.size() > 0)
        again = SubtractingWindow(self.bound, len(self.ways))
        again.load(self.dump())
        assert again.ways == self.ways
        assert again.due == self.due
        assert self.times == sorted(self.times)

    def dump(self) -> list[Any]:
        """The oldest event moved nothing that is still there."""
        first = int(self.head)
        kept = range(first, len(self.times))
        return [[self.times[at], self.moves[at] if at > first else [], packed(self.begun[at])] for at in kept]
