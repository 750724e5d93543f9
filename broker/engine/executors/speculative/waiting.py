"""Runs that wait: in a state that ignores events, a run is stored once, with the interval in which it is there.

Such a run is not copied into the block of each event that it ignores, and its results are stored nowhere: an event
computes them from the runs that wait there, and again when one of the two is withdrawn (AFA, 5.2, without its tree).

Here: the waiting runs of one timeline, in the order of the events that made them wait. Hot. Not here: which states wait
(wait_states), when an event is inserted or withdrawn (timeline).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....events.instant import FOREVER
from ..packed import Integers, integers, roomy
from .arena import ORDER, START, Arena, NodeLayout, Records

SPAN: Final = 4  # numbers of an interval: the event that made the run wait, and the last one that finds it there


@final
class WaitingRuns(Records):
    """Records of runs, and `spans`: time and order of two events.

    The last event is the one that the run did not ignore, and that ended it; an endless interval ends at FOREVER.
    """

    def __init__(self, layout: NodeLayout) -> None:
        super().__init__(layout)
        self.spans: Integers = integers()

    def insert(self, arena: Arena, node: i64, time: i64, order: i64) -> i64:
        """Enter a node of the block of that event; return where. O(1) for the newest event, else O(runs)."""
        self.reserve(self.count + 1)
        self.spans = roomy(self.spans, self.room * SPAN) if len(self.spans) < self.room * SPAN else self.spans
        at = self.first(time, order + 1)
        i: i64 = self.count
        while i > at:
            self._move(i - 1, i)
            i -= 1
        self.count += 1
        self.put(arena, node, at)
        spans = self.spans
        spans[at * SPAN] = time
        spans[at * SPAN + 1] = order
        spans[at * SPAN + 2] = FOREVER
        spans[at * SPAN + 3] = 0
        return at

    def _move(self, at: i64, to: i64) -> None:
        self.put(self, at, to)
        spans = self.spans
        i: i64
        for i in range(SPAN):
            spans[to * SPAN + i] = spans[at * SPAN + i]

    def first(self, time: i64, order: i64) -> i64:
        """Where the first run is that waits since that event or a later one. O(log runs)."""
        spans = self.spans
        low: i64 = 0
        high = self.count
        if high == 0 or spans[(high - 1) * SPAN] < time:
            return high
        while low < high:
            middle = (low + high) >> 1
            at = middle * SPAN
            if spans[at] < time or (spans[at] == time and spans[at + 1] < order):
                low = middle + 1
            else:
                high = middle
        return low

    def find(self, arena: Arena, node: i64, time: i64, order: i64) -> i64:
        """Where the run is that this node of that event's block is. O(log runs, and runs that it made wait)."""
        stride = self.layout.stride
        words, others = self.words, arena.words
        at = self.first(time, order)
        i: i64
        while True:
            assert at < self.count, "a node in a waiting state has an interval"
            i = 0
            while i < self.layout.link and words[at * stride + i] == others[node * stride + i]:
                i += 1
            if i == self.layout.link:
                return at
            at += 1

    def remove(self, at: i64) -> None:
        """O(later runs)."""
        i: i64
        for i in range(at, self.count - 1):
            self._move(i + 1, i)
        self.count -= 1

    def endless(self) -> list[int]:
        """Where the runs are that no event has ended. O(runs)."""
        return [int(at) for at in range(self.count) if self.spans[at * SPAN + 2] == FOREVER]

    def clean(self, time: i64, within: i64) -> None:
        """Forget the runs that no event at that time or later finds there. O(runs)."""
        stride = self.layout.stride
        to: i64 = 0
        at: i64
        for at in range(self.count):
            if self.words[at * stride + START] + within > time and self.spans[at * SPAN + 2] >= time:
                if to < at:
                    self._move(at, to)
                to += 1
        self.count = to

    def check_invariants(self) -> None:
        at = [SPAN * i for i in range(self.count)]
        spans = self.spans
        created = [(spans[i], spans[i + 1]) for i in at]
        assert created == sorted(created), "waiting runs are in the order of the events that made them wait"
        assert all((spans[i], spans[i + 1]) < (spans[i + 2], spans[i + 3]) for i in at), "an interval has an event"
        stride = self.layout.stride
        starts = [(self.words[i * stride + START], self.words[i * stride + ORDER]) for i in range(self.count)]
        assert all(start <= own for start, own in zip(starts, created)), "a run begins before it waits"
