"""Windows of one state: nothing moves within them, so the ways at an allowed distance are a running sum.

Each entry comes into the sum once, when it is `nearest` ago, and leaves it once: O(1) an event, amortised. Only here
may an event have to be some time ago.

Not here: windows of several states (window_subtracting, window_stacks).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from .kept_times import UNCHANGING
from .tuples import packed
from .window import Window

FEW: Final = 32  # dropped entries before the log is cut


@final
@mypyc_attr(acyclic=True)
class SumWindow(Window):
    """Entries, oldest first: `times` and `numbers`, of ways that began then. Those from `head` up to `entered` are in
    the sum, `ways[0]`; those behind are nearer than `nearest`."""

    __slots__ = ("entered", "head", "nearest", "numbers", "times")

    def __init__(self, bound: i64, nearest: i64) -> None:
        super().__init__(bound, 1)
        self.nearest = nearest
        self.head: i64 = 0
        self.entered: i64 = 0
        self.times: list[int] = []
        self.numbers: list[int] = []

    def take(self, moves: list[int], begun: list[int], time: i64) -> None:
        number = begun[1]
        for at in range(3, len(begun), 2):
            number += begun[at]
        self.times.append(time)
        self.numbers.append(number)
        if self.nearest == 0:
            self.ways[0] += number
            self.entered += 1
            if self.due == UNCHANGING:
                self.due = time + self.bound + 1
        else:
            self.due = min(self.due, time + self.nearest)

    def expire(self, time: i64) -> None:
        times, numbers = self.times, self.numbers
        head, entered, end = self.head, self.entered, len(times)
        total = self.ways[0]
        while entered < end and times[entered] <= time - self.nearest:
            total += numbers[entered]
            entered += 1
        while head < entered and times[head] < time - self.bound:
            total -= numbers[head]
            head += 1
        self.ways[0] = total
        self.due = UNCHANGING
        if head < entered:
            self.due = times[head] + self.bound + 1
        if entered < end:
            self.due = min(self.due, times[entered] + self.nearest)
        if head == end or (head > FEW and 2 * head > end):
            del times[:head], numbers[:head]
            entered -= head
            head = 0
        self.head, self.entered = head, entered

    def holds(self, at: i64) -> bool:
        return self.size() > 0

    def size(self) -> int:
        return len(self.times) - int(self.head)

    def check_invariants(self) -> None:
        super().check_invariants()
        assert self.times == sorted(self.times)
        assert self.ways == [sum(self.numbers[self.head : self.entered])]

    def dump(self) -> list[Any]:
        kept = range(int(self.head), len(self.times))
        return [[self.times[at], [], packed([0, self.numbers[at]])] for at in kept]
